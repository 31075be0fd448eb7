"""Families of random runs for the audit: one file each."""
