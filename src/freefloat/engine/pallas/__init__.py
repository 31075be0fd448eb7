"""A scalar graph as a GPU kernel: one instance per lane, a whole rollout in one launch."""
