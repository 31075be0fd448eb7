"""Flexible bodies made of mass points with random shapes: every integral is a plain sum that a test can repeat."""

from dataclasses import dataclass

import numpy as np

from freefloat.model import ModalBody, Node


@dataclass(frozen=True)
class Cloud:
    """Mass points with mode shapes, and two of them where something may be mounted."""

    x: np.ndarray  # (points, 3) at rest
    mass: np.ndarray  # (points,)
    phi: np.ndarray  # (points, 3, modes)
    rotation: np.ndarray  # (2, 3, modes): of the two nodes
    chi: np.ndarray  # (points, modes, modes, 3): second-order displacement
    stiffness: np.ndarray
    damping: np.ndarray

    def body(self, name: str = "cloud") -> ModalBody:
        """The same as a flexible body."""
        x, m, phi, chi = self.x, self.mass, self.phi, self.chi
        nodes = tuple(
            Node(
                name=label,
                position=x[k],
                translation=phi[k],
                rotation=self.rotation[k],
                foreshortening=np.moveaxis(chi[k], -1, 0),
            )
            for k, label in enumerate(("tip", "middle"))
        )
        return ModalBody(
            name=name,
            mass=float(m.sum()),
            moment=m @ x,
            second_moment=np.einsum("k,ki,kj->ij", m, x, x),
            modal_moment=np.einsum("k,kij->ij", m, phi),
            mixed_moment=np.einsum("k,ka,kbj->jab", m, x, phi),
            pair_moment=np.einsum("k,kai,kbj->ijab", m, phi, phi),
            modal_mass=np.einsum("k,kai,kaj->ij", m, phi, phi),
            stiffness=self.stiffness,
            damping=self.damping,
            short_moment=np.einsum("k,kija->ija", m, chi),
            short_mixed_moment=np.einsum("k,ka,kijb->ijab", m, x, chi),
            nodes=nodes,
        )


def random_cloud(rng: np.random.Generator, modes: int, *, stiffening: bool = False, points: int = 25) -> Cloud:
    """A cloud about a metre across, a few kilograms, with shapes of a few decimetres."""
    chi = 0.05 * rng.normal(size=(points, modes, modes, 3)) if stiffening else np.zeros((points, modes, modes, 3))
    root = rng.normal(size=(modes, modes))
    return Cloud(
        x=rng.normal(size=(points, 3)),
        mass=rng.uniform(0.05, 0.3, points),
        phi=0.3 * rng.normal(size=(points, 3, modes)),
        rotation=0.2 * rng.normal(size=(2, 3, modes)),
        chi=chi + np.swapaxes(chi, 1, 2),
        stiffness=root @ root.T + 4.0 * np.eye(modes),
        damping=np.zeros((modes, modes)),
    )
