"""Numbers that may become others without compiling again, by dotted path."""

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.sim.system.varied_numbers import number_names
from freefloat.values import record


@record
class Swing(ff.Software):
    """The joint rate in a sine."""

    rate: float  # [rad/s]

    def command(self, memory, y, clock):
        return ff.JointRates(("arm",), self.rate * jnp.sin(3.0 * clock.t)[None])


def one_arm():
    body = ff.Spacecraft.from_base("hub", mass=80.0, inertia=(8.0, 9.0, 10.0))
    return body.with_link(
        "arm",
        parent="base",
        joint="revolute",
        at=ff.Pose(position=(0.3, 0.1, 0.2)),
        mass=12.0,
        com=(0.4, 0.02, 0.1),
        inertia=(0.3, 0.7, 0.8),
    )


def run(craft, **options):
    return ff.simulate(craft, Swing(0.3, period=0.04), duration=0.4, dt=0.02, **options)


def test_every_number_has_a_name():
    world = ff.World(servicer=one_arm(), client=one_arm())
    experiment = ff.Experiment.of(world, Swing(0.3, period=0.04, on="servicer"), duration=1.0)
    names = list(number_names(experiment.system).values())
    assert {"servicer.base.mass", "client.arm.inertia", "client.arm.limits.rate", "Swing.rate"} <= set(names)


@pytest.mark.parametrize("vary", ["all", "nothing", ("base.mass",), ("base.mass", "arm")])
def test_what_varies_changes_nothing_but_rounding(vary):
    for mass in (80.0, 93.0):
        craft = one_arm().with_value("base.mass", mass)
        one, other = run(craft, vary=vary), run(craft, vary="nothing")
        np.testing.assert_allclose(one["state.v"], other["state.v"], rtol=0, atol=1e-14)
        assert one.audit.holds


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        (("base.mas",), "there is no number 'base.mas' in this experiment. Did you mean base.mass"),
        ("base.mass", "vary must be 'all', 'nothing' or a tuple of dotted paths, got 'base.mass'"),
    ],
)
def test_a_wrong_path_is_refused_by_name(vary, said):
    with pytest.raises(ff.ModelError) as error:
        run(one_arm(), vary=vary)
    assert said in str(error.value)
