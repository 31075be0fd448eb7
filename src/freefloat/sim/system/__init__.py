"""What a system is: its parts and wires, its state, its ports for numbers from outside, and the checks of its parts."""
