"""What is kept of a run: its channels, its description, its file."""
