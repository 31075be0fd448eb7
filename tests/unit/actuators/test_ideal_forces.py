"""Forces at frames push where and along what their parts say, as a wrench from outside does."""

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.values import record, static

CRAFT = (
    ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 2.0, 3.0))
    .with_link("rod", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.5, 0.0, 0.0))
    .with_frame("tip", body="rod", at=ff.Pose.from_rpy_deg((20.0, 30.0, 40.0), (1.0, 0.1, 0.2)))
)


@record
class Push(ff.Software):
    """Pushes frames as a test says."""

    frames: tuple[str, ...] = static()
    forces: jnp.ndarray
    axes: str = static(default="z")

    def command(self, memory, y, clock):
        return ff.FrameForces(self.frames, jnp.asarray(self.forces), self.axes)


def run(*parts, **inputs):
    return ff.simulate(CRAFT, *parts, duration=0.5, dt=0.01, inputs=inputs.get("inputs"))


@pytest.mark.parametrize(("frames", "axes", "wrench"), [
    (("tip",), "x", [1, 0, 0]), (("tip",), "y", [0, 1, 0]), (("tip",), "z", [0, 0, 1]),
    (("tip", "tip"), "zx", [2, 0, 1]), (("tip", "tip"), "yy", [0, 3, 0]),
])  # fmt: skip
def test_a_force_at_a_frame_is_a_wrench_there(frames, axes, wrench):
    commanded = run(Push(frames, np.arange(1.0, 1.0 + len(frames)), axes))
    outside = run(inputs={"tip.wrench": [*map(float, wrench), 0.0, 0.0, 0.0]})
    np.testing.assert_allclose(commanded.values("state.v"), outside.values("state.v"), rtol=1e-12, atol=1e-15)
    parts = list(commanded["frames.force"].coords["pushed_frame"].values)
    assert parts == {"zx": ["tip/z", "tip/x"]}.get(axes, ["tip"])


def test_axes_that_cannot_be_are_refused():
    for axes, said in (("xy", "one letter for all or one for each of 1 frames"), ("w", "must be x, y or z")):
        with pytest.raises(ff.SoftwareError, match=said):
            run(Push(("tip",), np.ones(1), axes))
    with pytest.raises(ff.SoftwareError, match="no frame 'hand'"):
        run(Push(("hand",), np.ones(1)))
