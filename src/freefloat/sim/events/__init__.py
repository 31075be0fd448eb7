"""What happens within a step: contacts, latches, brakes, clearances; when it happens, and what it changes."""
