"""Rehearsal: the same experiment with its contact and motion in a facility of robots, virtual or real."""
