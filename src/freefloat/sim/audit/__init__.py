"""Checks of a run: conservation, equations of motion, the error of the step, and the accuracy of its channels."""
