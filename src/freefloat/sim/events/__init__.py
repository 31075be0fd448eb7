"""Events within a step: of contacts, latches, brakes and clearances; when they occur, and what they change."""
