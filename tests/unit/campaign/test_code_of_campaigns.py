"""Code of a campaign is named while it is made, and found again: by replays, and by other processes."""

import dataclasses

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.campaign import Campaign, Dispersion, Metric, Normal, replay, run_campaign
from freefloat.campaign.replaying import case
from freefloat.engine import on_making
from freefloat.engine.runtime import lookup
from support import pushed_craft


@ff.record
class Damp(ff.Software):
    """A torque against the rate that is measured."""

    def command(self, memory, y, clock):
        return ff.BaseWrench(jnp.concatenate([jnp.zeros(3), -5.0 * y["gyro.base.rate"]]))  # [N m s]


def noisy(**changes: object) -> Campaign:
    """A campaign whose sensor knows which run it is in."""
    craft = ff.Spacecraft.from_base("box", mass=100.0, inertia=(20.0, 25.0, 30.0))
    gyro = ff.sensors.Gyro(name="gyro", noise=1e-3)
    experiment = ff.Experiment.of(craft, gyro, Damp(), duration=0.5, dt=0.1, record_dt=0.1)
    given: dict = {
        "dispersions": (Dispersion("base.mass", Normal(1.0, 0.1), "scale"),),
        "metrics": (Metric("rate", "norm(base.rate)", "max"),),
    }
    return Campaign(experiment, 4, **(given | changes))


def test_a_replay_traces_no_more_than_simulate(own_cache, traces):
    made = pushed_craft.campaign(4)
    run_campaign(made)
    before = len(traces)
    ff.simulate(case(made, 2))
    by_simulate = len(traces) - before
    assert by_simulate > 0
    replay(made, 2)
    assert len(traces) == before + by_simulate


def test_a_second_process_traces_nothing(own_cache, traces):
    for campaign in (lambda: pushed_craft.campaign(4), noisy):
        run_campaign(campaign())
        first = replay(campaign(), 1)
        before = len(traces)
        lookup.forget()
        run_campaign(campaign())
        again = replay(campaign(), 1)
        assert len(traces) == before
        assert np.array_equal(first.metrics, again.metrics)
        assert all(np.array_equal(first.run.values(x), again.run.values(x)) for x in first.run.channels)
    assert not [name for name in lookup.traced_again() if "campaign" in name]


def test_runs_differ_in_their_noise_but_not_in_their_code(own_cache, traces):
    made = noisy()
    kept, first = run_campaign(made), replay(made, 1)
    before = len(traces)
    other = replay(made, 2)
    assert len(traces) == before
    assert [first.metrics[0], other.metrics[0]] == list(kept.metric("rate")[1:3])
    assert first.metrics[0] != other.metrics[0]


def test_what_is_not_drawn_is_part_of_the_code(own_cache):
    """The negative control: a number that the campaign does not vary, and which number it varies, make other code."""
    experiment = pushed_craft.pushed()
    push = dataclasses.replace(experiment.system.effects[0], wrench=np.array([8.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    stronger = dataclasses.replace(experiment, system=dataclasses.replace(experiment.system, effects=(push,)))
    given = dataclasses.asdict(pushed_craft.campaign(4)).keys() - {"experiment", "runs"}
    plain = pushed_craft.campaign(4)
    other = Campaign(stronger, 4, **{name: getattr(plain, name) for name in given})
    elsewhere = pushed_craft.campaign(
        4, dispersions=(Dispersion("base.inertia.xx", Normal(1.0, 0.1), "scale"), plain.dispersions[1])
    )
    names = [lookup.name_of(one.preparation.program.rules.start, ()) for one in (plain, other, elsewhere)]
    assert len({name.digest for name in names if name is not None}) == 3
    slow, fast = run_campaign(plain), run_campaign(other)
    np.testing.assert_allclose(fast.metric("speed"), 2.0 * slow.metric("speed"), rtol=0.03)


def test_the_nominal_value_of_a_drawn_number_is_not_part_of_the_code(own_cache):
    def rules(mass: float):
        craft = ff.Spacecraft.from_base("box", mass=mass, inertia=(20.0, 25.0, 30.0))
        experiment = ff.Experiment.of(craft, duration=0.5, dt=0.1)
        drawn = (Dispersion("base.mass", Normal(1.0, 0.1), "scale"),)
        made = Campaign(experiment, 4, dispersions=drawn, metrics=(Metric("speed", "norm(base.velocity)"),))
        return made.preparation.program.rules

    light, heavy = (lookup.name_of(rules(mass).start, ()) for mass in (100.0, 200.0))
    assert light is not None
    assert light == heavy


def test_code_of_a_campaign_is_named(own_cache):
    heard = []
    with on_making(heard.append):
        run_campaign(pushed_craft.campaign(4, title="pushes"))
    assert {event.what for event in heard} == {"the campaign 'pushes'"}
    assert {event.phase for event in heard} == {"tracing", "compiling"}
    heard.clear()
    with on_making(heard.append):
        run_campaign(pushed_craft.campaign(4, title="pushes"))
    assert not heard
