"""Compiled functions that Python can call: buffers, threads, the disk cache, rollouts."""
