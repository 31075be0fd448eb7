"""What a system is: its parts and wires, its state, its input ports, and the checks of its parts."""
