"""A spacecraft whose base is itself flexible: a free beam, held in its own frame at its middle, that nothing holds in
space. Its frequencies are those of a free-free beam, (beta L)^2 = 22.37, 61.67, ..., from above.
"""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import eigh

import freefloat as ff
from freefloat.analysis import linearise_free, vibration_modes
from freefloat.dynamics import mass_matrix, natural_frequencies
from freefloat.flex import meshed_beam, truncate_modes
from freefloat.model import ModalBody, RigidBody
from freefloat.model.drawing import drawing
from freefloat.spatial import Pose

LENGTH, DENSITY, STIFFNESS = 2.0, 1.5, 1.0  # [m], [kg/m], [N m2]
FREE_FREE = np.array([22.37328545, 61.67282287, 120.90339173])  # (beta L)^2


def beam(modes: int, elements: int = 40, **more) -> ModalBody:
    """Both halves clamped at the middle, with so many modes each; it bends along z."""
    whole = meshed_beam(
        length=LENGTH,
        mass_per_length=DENSITY,
        bending_stiffness_z=STIFFNESS,
        section_inertia=1e-6,
        planes="z",
        elements=elements,
        ends=("free", "free"),
        stations={"left": 0.0, "right": LENGTH, "middle": 0.5 * LENGTH},
        held=("middle",),
        **more,
    ).place_at(Pose(position=np.array([-0.5 * LENGTH, 0.0, 0.0])))
    return truncate_modes(whole, 2 * modes).body("beam")


def in_beta(frequencies: np.ndarray) -> np.ndarray:
    return frequencies * LENGTH**2 * np.sqrt(DENSITY / STIFFNESS)


@pytest.fixture(scope="module")
def craft() -> ff.Spacecraft:
    return ff.Spacecraft.from_body("beam", beam(2))


@pytest.mark.parametrize(("modes", "error"), [(1, 1.06e-2), (2, 4.7e-4), (3, 7.0e-5)])
def test_a_free_beam_has_the_frequencies_of_one(modes, error):
    found = in_beta(natural_frequencies(ff.Spacecraft.from_body("beam", beam(modes))))
    assert found[0] / FREE_FREE[0] - 1 == pytest.approx(error, rel=0.02)
    assert found[1] > FREE_FREE[1]  # always from above


def test_enough_modes_give_three_frequencies():
    found = in_beta(natural_frequencies(ff.Spacecraft.from_body("beam", beam(12))))
    assert found[:3] == pytest.approx(FREE_FREE, rel=1e-5)


def test_where_it_is_held_does_not_matter(craft):
    """Every freedom of the mesh, held at a third of the length instead of the middle: the same free beam."""
    found = []
    for place in (0.5, 1.0 / 3.0):
        whole = meshed_beam(
            length=LENGTH,
            mass_per_length=DENSITY,
            bending_stiffness_z=STIFFNESS,
            planes="z",
            section_inertia=1e-13,  # it resists turning of the whole but not of a bent section
            elements=6,
            ends=("free", "free"),
            stations={"here": place * LENGTH},
            held=("here",),
        )
        found.append(natural_frequencies(ff.Spacecraft.from_body("beam", whole.body())))
    np.testing.assert_allclose(found[0][:8], found[1][:8], rtol=1e-9)
    held = natural_frequencies(craft)
    assert not np.allclose(held[0], craft.bodies[0].frequencies()[0], rtol=0.1)  # held in space it would be slower


def test_modes_are_told_by_name(craft):
    modes = vibration_modes(craft)
    assert modes.labels[:6] == ("base.x", "base.y", "base.z", "base.rx", "base.ry", "base.rz")
    assert modes.labels[6] == "base.modes 1"
    assert modes.bodies == ("base",) * 4
    assert modes.base_motions[0] == "z"  # the middle of the first bending moves along z


# ---- motion


@pytest.fixture(scope="module")
def run(craft):
    q = 1e-3 * np.array([1.0, -0.4, 0.3, 0.2])
    start = craft.in_motion(craft.at_rest(q), velocity=(0.01, 0.0, -0.02), rate=(0.3, 0.2, -0.1))
    return ff.simulate(craft, state=start, duration=2.0, dt=0.001)


def test_momentum_and_energy_are_kept(run):
    assert run.audit.holds
    for name in ("momentum.linear", "momentum.angular"):
        values = run[name].values
        assert np.max(np.abs(values - values[0])) < 1e-11  # of 0.2, over 2000 steps: rounding
    assert np.ptp(run["energy.elastic"].values) > 1e-5  # it does vibrate


def test_the_base_has_channels_of_its_own_and_a_picture(craft, run):
    names = ("base.rate", "base.modes", "base.modal_rates", "base.left.displacement", "base.attitude")
    assert all(name in run.data for name in names)
    assert run["base.modes"].values.shape[1] == 4
    body = drawing(craft)["bodies"][0]
    assert body["name"] == "base"
    assert len(body["flexible"]) == 2  # one line from the middle to either end


def test_small_motion_is_the_linear_one(craft):
    """Nonlinear against exp(A t) of the exact derivatives: what is left shrinks with the amplitude."""
    from scipy.linalg import expm

    model = linearise_free(craft, craft.at_rest(), np.zeros(craft.layout.nv))
    q = np.array([1.0, -0.4, 0.3, 0.2])
    step = expm(np.asarray(model.A) * 0.5) @ np.concatenate([np.zeros(6), q, np.zeros(10)])
    errors = []
    for amplitude in (1e-3, 1e-6):
        found = ff.simulate(craft, state=craft.at_rest(amplitude * q), duration=0.5, dt=0.00025)
        moved = np.concatenate([found["base.position"].values[-1], found["base.modes"].values[-1]]) / amplitude
        errors.append(np.max(np.abs(moved - np.concatenate([step[:3], step[6:10]]))))
    assert errors[1] < 1e-6
    assert errors[1] < errors[0]


@pytest.mark.slow
def test_measurements_of_the_base_modes_reach_software(craft):
    software = _Damper(tuple(craft.bodies[0].modal_moment[2]), period=0.01)
    start = craft.at_rest(1e-3 * np.array([1.0, 0.0, 0.0, 0.0]))
    free = ff.simulate(craft, state=start, duration=1.0, dt=0.001)
    damped = ff.simulate(craft, software, state=start, duration=1.0, dt=0.001)
    assert damped["energy.elastic"].values[-200:].max() < 0.9 * free["energy.elastic"].values[-200:].max()
    assert damped.audit.holds


@ff.record
class _Damper(ff.Software):
    """Pushes the middle after the mass that bends away from it: what the modes then feel is opposed to their rates."""

    moments: tuple[float, ...] = ff.static()  # along z, of each mode [kg]

    def command(self, memory, y, clock):
        import jax.numpy as jnp

        return ff.BaseWrench(jnp.zeros(6).at[2].set(4.0 * (np.array(self.moments) @ y["base.modal_rates"])))


@pytest.mark.slow
def test_a_hand_can_be_grasped_at_the_end_of_a_flexible_base(craft):
    """A connection at a node of the base: momentum is handed over, and both ends stay together."""
    box = ff.Spacecraft.from_base("box", mass=0.5, inertia=(0.01, 0.01, 0.01))
    world = ff.World(beam=craft, box=box).connection("grip", "beam.base.right", "box.base", on=True)
    placed = dataclasses.replace(box.at_rest(), p_NB=np.array([1.0, 0.0, 0.0]))
    moving = craft.in_motion(velocity=(0.0, 0.0, 0.01))
    run = ff.simulate(world, state={"beam": moving, "box": placed}, duration=0.3, dt=0.001)
    assert run.audit.holds
    assert np.max(np.abs(run["box.base.position"].values - _right_end(run))) < 1e-8


def _right_end(run) -> np.ndarray:
    from freefloat.spatial.rotations import rotation_matrix

    R = np.array([np.asarray(rotation_matrix(quat)) for quat in run["beam.base.attitude"].values])
    inside = run["beam.base.right.displacement"].values + np.array([1.0, 0.0, 0.0])
    return run["beam.base.position"].values + np.einsum("tab,tb->ta", R, inside)


# ---- what it is made of


def test_mass_matrix_of_a_flexible_base_is_that_of_the_same_beam_on_a_light_hub(craft):
    """The beam as base, and as a body fixed to a base that is hardly there."""
    hub = ff.Spacecraft.from_base("hub", mass=1e-9, inertia=(1e-9,) * 3).mount(craft.bodies[0], name="beam")
    q = np.array([0.01, -0.02, 0.03, 0.01])
    np.testing.assert_allclose(mass_matrix(craft, q), mass_matrix(hub, q), atol=3e-9)


def test_a_rigid_base_may_be_given_as_a_body():
    body = RigidBody("some", mass=2.0, com=(0, 0, 0), inertia=(1, 1, 1))
    assert ff.Spacecraft.from_body("craft", body).body_names == ("base",)


def test_held_stations_must_exist():
    with pytest.raises(ff.ModelError, match=r"no station 'centre' to be held. Stations: root, tip, left"):
        meshed_beam(
            length=1.0,
            mass_per_length=1.0,
            bending_stiffness=1.0,
            ends=("free", "free"),
            stations={"left": 0.2},
            held=("centre",),
        )


def test_foreshortening_is_counted_from_where_the_beam_is_held():
    """A spinning beam held in the middle stiffens like its two halves, whichever way its frame is counted."""
    common = {"length": LENGTH, "mass_per_length": DENSITY, "bending_stiffness_z": STIFFNESS, "planes": "z"}
    whole = meshed_beam(
        **common, elements=4, ends=("free", "free"), stations={"middle": 0.5 * LENGTH}, held=("middle",)
    ).body(stiffening=True)
    half = meshed_beam(**{**common, "length": 0.5 * LENGTH}, elements=2).body(stiffening=True)
    # int x chi dm about the held place: what centrifugal force works against.
    about_middle = whole.short_mixed_moment[:, :, 0, 0] - 0.5 * LENGTH * whole.short_moment[:, :, 0]
    right = np.ix_(range(4, 8), range(4, 8))
    np.testing.assert_allclose(about_middle[right], half.short_mixed_moment[:, :, 0, 0], atol=1e-12)
    squared = eigh(about_middle[:4, :4], eigvals_only=True)
    np.testing.assert_allclose(squared, eigh(half.short_mixed_moment[:, :, 0, 0], eigvals_only=True), atol=1e-12)
