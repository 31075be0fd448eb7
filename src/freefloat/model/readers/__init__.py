"""Spacecraft from files, and back into them."""
