"""The record of a run: its channels, its description, its file."""
