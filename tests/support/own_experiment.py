"""A file as a user would write it: a robot and software of their own."""

MINE = '''"""A hub of my own that swings its rod.

More words.
"""
import jax.numpy as jnp
import freefloat as ff


@ff.record
class Swing(ff.Software):
    """Swings the rod to and fro."""

    gain: float = 2.0

    def command(self, memory, y, clock):
        error = 0.5 * jnp.sin(0.5 * clock.t) - y["joints.position"]
        return ff.JointTorques(("rod",), self.gain * error - 2.0 * y["joints.rate"])


def build(gain: float = 2.5, duration: float = 2.0):
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    return ff.Experiment.of(craft, Swing(gain=gain), duration=duration)
'''
