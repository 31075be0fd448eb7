"""The loop of a rehearsal: one cycle, its checks, and running it in lockstep or in real time."""
