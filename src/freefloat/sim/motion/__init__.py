"""How a system moves at an instant and over a smooth step: forces, accelerations, held connections, integrators."""
