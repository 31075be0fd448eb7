"""A scalar graph as a CUDA kernel: one instance per thread, a whole rollout in one launch."""
