"""A scalar graph as one C99 file with its header."""
