"""The loop of a rehearsal: one cycle, its checks, and the drivers in lockstep and in real time."""
