"""Records of a rehearsal: its log, its run, its channels, its tables."""
