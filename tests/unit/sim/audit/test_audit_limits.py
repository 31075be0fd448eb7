"""What the audit permits, number by number: rounding, the integrator's own loss, and never more than a thousandth."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.sim.audit.audit import AuditEntry, IntegratorLoss, audit
from freefloat.sim.audit.balances import AT_EVERY_INSTANT, CRAFT_BALANCES, Sizes
from freefloat.sim.audit.step_error import _chosen_stretches, _RepeatedStretches, _total_loss
from freefloat.values.labelled import LabelledArrays

EPS = 2.0**-52
TIME = np.array([0.0, 1.0, 2.0])  # [s]
VECTORS = ("momentum.linear", "impulse.linear", "momentum.angular_com", "impulse.angular_com")
ENERGIES = ("energy.inner", "energy.elastic", "energy.inner_work", "energy.dissipated")


def motion(size: float = 2.0, rounded: float = 0.0, at_instants: float = 2.0) -> Sizes:
    return Sizes(
        dict.fromkeys(CRAFT_BALANCES, size),
        dict.fromkeys(CRAFT_BALANCES, rounded),
        dict.fromkeys(AT_EVERY_INSTANT, at_instants + 0 * TIME),
    )


def records(**changed: np.ndarray) -> LabelledArrays:
    """A run in which nothing happens, but for what is given."""
    values = {name: np.zeros((3, 3)) for name in (*VECTORS, "open.force", "open.torque")}
    values |= {name: np.zeros(3) for name in (*ENERGIES, "open.power")}
    values["base.attitude"] = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    values |= {name.replace("__", "."): value for name, value in changed.items()}
    arrays = {name: (("time", f"{name}.axis")[: value.ndim], value) for name, value in values.items()}
    return LabelledArrays(arrays, {"time": ("time", TIME)})


def verdict(data: LabelledArrays, sizes: Sizes) -> dict[str, bool]:
    """Of every balance, of a run in no step."""
    return {entry.name: entry.holds for entry in audit(data, IntegratorLoss("", steps=0), sizes).entries}


# ---- rounding


@pytest.mark.parametrize("steps", [0, 1000])
def test_rounding_is_64_units_and_one_for_each_step(steps):
    exact = IntegratorLoss("", steps=steps)
    for book in CRAFT_BALANCES:
        # Of the motion and of what is only rounded in it, alike.
        assert exact.permitted_imbalance(book, motion(2.0, 5.0)) == pytest.approx((64.0 + steps) * EPS * 7.0, rel=1e-12)


@pytest.mark.parametrize(("off", "holds"), [(0.99, True), (1.01, False)])
def test_an_imbalance_of_just_so_much_is_permitted(off, holds):
    energy = np.array([0.0, 0.0, off * 64.0 * EPS * 2.0])
    found = verdict(records(energy__inner=energy), motion())
    assert found.pop("inner energy: change = work - dissipation") is holds
    assert all(found.values())


@pytest.mark.parametrize(("off", "holds"), [(0.99, True), (1.01, False)])
def test_the_laws_of_motion_hold_at_every_instant_to_64_units(off, holds):
    """Of the terms that cancel at that instant, and an eps of the largest of the run."""
    sizes = dataclasses.replace(motion(), at_instants=dict.fromkeys(AT_EVERY_INSTANT, np.array([2.0, 1e-20, 2.0])))
    for row, size in ((0, 2.0), (1, 2.0 * EPS)):
        power = off * 64.0 * EPS * size * np.eye(3)[row]
        assert verdict(records(open__power=power), sizes)["power = rate of inner energy"] is holds


@pytest.mark.parametrize(("off", "holds"), [(0.9e-12, True), (1.1e-12, False)])
def test_a_quaternion_is_unit_to_a_millionth_of_a_millionth(off, holds):
    attitude = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    attitude[2, 0] += off
    assert verdict(records(base__attitude=attitude), motion())["unit quaternion"] is holds


def test_what_is_not_a_number_never_holds():
    found = verdict(records(energy__inner=np.array([0.0, np.nan, 0.0])), motion())
    assert not found["inner energy: change = work - dissipation"]
    assert not AuditEntry("a balance", "at most", np.inf, np.nan, "J", 0.0).holds
    assert not AuditEntry("a balance", "at most", np.inf, np.inf, "J", 0.0).holds


# ---- the integrator


def test_the_integrator_may_lose_what_it_was_found_to_lose_but_never_a_thousandth():
    sizes, rounding = motion(2.0, 5.0), (64.0 + 10.0) * EPS * 7.0
    for book in CRAFT_BALANCES:
        lost = IntegratorLoss("", steps=10, lost={book: 1e-5})
        assert lost.permitted_imbalance(book, sizes) == pytest.approx(1e-5 + rounding, rel=1e-12)
        # Linear momentum may lose a millionth of the drift besides: its velocity is kept in axes that turn.
        most = 1e-3 * 2.0 + (1e-6 * 5.0 if book == "linear" else 0.0)
        assert lost.largest_loss(book, sizes) == pytest.approx(most, rel=1e-12)
        for coarse in (1.0, np.inf, np.nan):
            assert IntegratorLoss("", 10, lost={book: coarse}).permitted_imbalance(book, sizes) == pytest.approx(
                most + rounding
            )


def test_an_adaptive_run_may_lose_its_tolerance_in_each_step():
    accuracy = IntegratorLoss.of_adaptive(1e-9, 300)
    assert accuracy.permitted_imbalance("energy", motion()) == pytest.approx(300e-9 * 2.0, rel=1e-6)
    assert "never more than 0.001" not in accuracy.reason
    assert "never more than 0.001" in IntegratorLoss.of_adaptive(1e-5, 300).reason


def test_four_times_the_difference_to_half_the_step_is_permitted():
    """One step and its two halves, from one state: what either does to the energy is known from two runs."""
    craft = ff.Spacecraft.from_base("top", mass=3.0, inertia=(1.0, 2.0, 2.5))
    start = dataclasses.replace(craft.at_rest(), v=np.array([0.0, 0.0, 0.0, 1.0, 0.8, 1.2]))

    def run(dt):
        return ff.simulate(craft, state=start, duration=0.2, dt=dt, record_dt=0.2, check=False)

    def gained(run):
        return np.diff(run["energy.inner"].values - run["energy.inner_work"].values + run["energy.dissipated"].values)[
            0
        ]

    whole, half = run(0.2), run(0.1)
    entry = next(entry for entry in whole.audit.entries if entry.unit == "J")
    energy = float(np.max(np.abs(whole["energy.inner"].values)))
    lost = abs(gained(whole) - gained(half))
    assert 4.0 * lost < 1e-3 * energy  # so that the bound does not count
    assert lost > 1e4 * EPS * energy
    assert entry.limit == pytest.approx(4.0 * lost + 65.0 * EPS * energy, rel=1e-6)


def test_long_runs_repeat_an_eighth_of_their_steps_or_4096():
    """Half of them where the books change most, half spread over the rest, of stretches of 100 steps."""
    change = np.zeros(1000)
    change[[10, 500, 990]] = [3.0, 2.0, 1.0]
    made, sizes = {"energy": change}, Sizes({"energy": 1.0}, {"energy": 0.0}, {})
    for stretches, repeated in ((1000, 125), (100, 40), (30, 30)):
        largest, spread = _chosen_stretches(
            {"energy": change[:stretches]}, sizes, np.full(stretches, 100), 100 * stretches
        )
        assert len(largest) + len(spread) == repeated
        assert not set(largest) & set(spread)
    largest, spread = _chosen_stretches(made, sizes, np.full(1000, 100), 100_000)
    assert {10, 500, 990} <= set(largest)
    assert (spread[0], spread[-1]) == (min(set(range(1000)) - set(largest)), max(set(range(1000)) - set(largest)))


def test_what_was_not_repeated_is_taken_to_lose_in_proportion():
    made = np.array([8.0, 1.0, 1.0, 2.0])
    repeated = _RepeatedStretches(np.array([0]), np.array([2]), {"energy": np.array([4.0, 0.25])}, {})
    assert _total_loss(made, repeated, "energy") == pytest.approx(4.0 + 0.25 * (1.0 + 1.0 + 2.0))
    worse = dataclasses.replace(repeated, lost={"energy": np.array([4.0, 5.0])})
    assert _total_loss(made, worse, "energy") == pytest.approx(4.0 + 4.0)  # never more than was made
