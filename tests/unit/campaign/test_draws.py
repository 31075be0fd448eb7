import numpy as np
import pytest
from scipy import stats

import freefloat as ff
from freefloat.campaign import (
    CampaignError,
    CorrelatedDispersion,
    Discrete,
    Dispersion,
    ListedDispersion,
    LogNormal,
    Normal,
    Uniform,
)
from freefloat.campaign.designs import shares
from freefloat.campaign.draws import Draws
from freefloat.campaign.physical_draws import impossible_bodies
from freefloat.campaign.random_words import noise_numbers, philox, uniforms
from freefloat.model.physical_checks import inertia_faults
from support import pushed_craft

EXPERIMENT = pushed_craft.pushed()


def draws(*dispersions, runs: int = 4096, **options) -> Draws:
    return Draws(EXPERIMENT, dispersions, **{"seed": 1, "runs": runs, **options})


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [  # known answers of the authors (Random123, kat_vectors)
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_known_answers(counter, key, words):
    assert tuple(map(int, philox(np.array(counter, np.uint64), key))) == words


def test_a_run_draws_the_same_in_any_company_and_whatever_the_number_of_runs():
    alone = uniforms(7, np.array([123_456]), 5)
    among = uniforms(7, np.arange(123_000, 124_000), 5)
    assert np.array_equal(alone[0], among[456])
    made = [draws(Dispersion("base.mass", Normal(1.0, 0.1), "scale"), runs=n).of(np.array([9])) for n in (10, 1000)]
    assert np.array_equal(made[0].numbers, made[1].numbers)


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        (Normal(2.0, 3.0), stats.norm(2.0, 3.0)),
        (Normal(2.0, 3.0, low=1.0, high=4.0), stats.truncnorm(-1 / 3, 2 / 3, loc=2.0, scale=3.0)),
        (Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
        (LogNormal(2.0, 0.5), stats.lognorm(0.5, scale=2.0)),
    ],
)
def test_distributions_agree_with_those_of_scipy(own, theirs):
    share = np.linspace(1e-6, 1.0 - 1e-6, 1001)
    np.testing.assert_allclose(own.value(share), theirs.ppf(share), rtol=1e-9, atol=1e-12)


def test_discrete_values_come_as_often_as_their_weights_say():
    values = Discrete((1.0, 2.0, 5.0), (1.0, 0.0, 3.0)).value((np.arange(1000) + 0.5) / 1000)
    assert {float(v): int(n) for v, n in zip(*np.unique(values, return_counts=True), strict=True)} == {
        1.0: 250,
        5.0: 750,
    }
    assert (values[0], values[-1]) == (1.0, 5.0)


def test_correlated_numbers_have_their_covariance():
    covariance = np.array([[4.0, 3.0, 0.0], [3.0, 9.0, 1.0], [0.0, 1.0, 1.0]]) * 1e-6
    found = draws(CorrelatedDispersion(("start.velocity",), covariance, mean=(1.0, 2.0, 3.0)), runs=200_000).of(
        np.arange(200_000)
    )
    # Standard error of a covariance of n normal numbers: sqrt((s11 s22 + s12^2) / n) < 3e-8 here; five of them.
    np.testing.assert_allclose(np.cov(found.draws.T), covariance, atol=1.5e-7)
    np.testing.assert_allclose(found.numbers, found.draws)  # the body starts at rest
    np.testing.assert_allclose(found.draws.mean(0), (1.0, 2.0, 3.0), atol=5 * 3e-3 / 447)


def test_each_row_and_column_of_a_latin_hypercube_is_taken_once():
    found = shares("latin-hypercube", 5, 64, np.arange(64), 3)
    assert np.array_equal(np.sort((found * 64).astype(int), axis=0), np.repeat(np.arange(64)[:, None], 3, 1))


def test_pieces_of_a_sobol_sequence_are_those_of_the_whole():
    whole = shares("sobol", 5, 256, np.arange(256), 4)
    assert np.array_equal(whole[100:130], shares("sobol", 5, 256, np.arange(100, 130), 4))
    assert np.array_equal(np.sort((whole * 256).astype(int), axis=0)[:, 0], np.arange(256))


def test_saltelli_runs_share_all_coordinates_but_one():
    found = shares("saltelli", 5, 40, np.arange(40), 3).reshape(8, 5, 3)
    for a, b, *mixed in found:
        for k, row in enumerate(mixed):
            assert row[k] == b[k]
            assert np.array_equal(np.delete(row, k), np.delete(a, k))


def test_a_scale_keeps_an_inertia_symmetric_and_one_entry_changes_both_sides():
    made = draws(Dispersion("base.inertia", Normal(1.0, 0.05), "scale")).of(np.arange(3))
    np.testing.assert_allclose(made.numbers, made.draws * np.diag([20.0, 25.0, 30.0]).ravel())
    one = draws(Dispersion("base.inertia.xy", Normal(0.0, 0.5))).of(np.arange(3))
    assert np.array_equal(one.numbers[:, 0], one.numbers[:, 1])


def test_turning_a_start_turns_it_by_that_angle():
    made = draws(Dispersion("start.attitude", Normal(0.0, 0.1), "add")).of(np.arange(50))
    angle = 2.0 * np.arctan2(np.linalg.norm(made.numbers[:, 1:], axis=1), made.numbers[:, 0])
    np.testing.assert_allclose(angle, np.linalg.norm(made.draws, axis=1), rtol=1e-12)


def test_impossible_bodies_are_those_that_the_inertia_lint_refuses():
    rng = np.random.default_rng(3)
    mass = rng.normal(1.0, 1.0, 500)
    inertia = np.diag([1.0, 1.2, 1.5]) + 0.4 * rng.normal(size=(500, 3, 3))
    inertia[:400] = 0.5 * (inertia[:400] + np.swapaxes(inertia[:400], 1, 2))
    found = impossible_bodies(mass, inertia)
    assert np.array_equal(found, [bool(inertia_faults(m, i)) for m, i in zip(mass, inertia, strict=True)])
    assert 50 < found.sum() < 500


def test_impossible_draws_are_refused_or_redrawn_and_counted():
    wide = Dispersion("base.inertia", Normal(0.0, 8.0), "add")
    refused = draws(wide).of(np.arange(500))
    assert 0 < refused.refused.sum() < 500
    assert not refused.attempts.any()
    again = draws(wide, impossible="redraw").of(np.arange(500))
    assert not again.refused.any()
    assert np.array_equal(again.attempts > 0, refused.refused)
    kept = ~refused.refused
    assert np.array_equal(again.numbers[kept], refused.numbers[kept])  # the others are as they were
    assert np.array_equal(again.numbers[7:9], draws(wide, impossible="redraw").of(np.array([7, 8])).numbers)


def test_what_a_part_refuses_is_impossible_too():
    late = Dispersion("WrenchPulse.stop", Normal(1.0, 1.0))  # before it starts where it is negative
    found = draws(late).of(np.arange(400))
    assert np.array_equal(found.refused, found.draws[:, 0] < 0.0)
    assert found.refused.any()


def test_listed_values_are_taken_run_by_run():
    values = np.array([90.0, 100.0, 120.0])
    assert np.array_equal(draws(ListedDispersion("base.mass", values), runs=3).of(np.arange(3)).numbers[:, 0], values)


@pytest.mark.parametrize(
    ("dispersions", "said"),
    [
        ((Dispersion("bas.mass", Normal(1.0, 0.1)),), "Did you mean base.mass"),
        ((Dispersion("base.com.w", Normal(1.0, 0.1)),), "Entries: x, y, z"),
        ((Dispersion("base.mass", Normal(1.0, 0.1), "times"),), "set, add, scale"),  # pyright: ignore[reportArgumentType]
        ((Dispersion("start.attitude", Normal(0.0, 0.1)),), "how = 'add'"),
        ((Dispersion("base.com", Normal(0.0, 0.1)), Dispersion("base.com.x", Normal(0.0, 0.1))), "the same number"),
        ((CorrelatedDispersion(("base.mass",), [[-1.0]]),), "negative eigenvalue"),
        ((CorrelatedDispersion(("base.mass", "base.com.x"), [[1.0, 0.5], [0.4, 1.0]]),), "not symmetric"),
        ((ListedDispersion("base.mass", [[1.0, 2.0]]),), "takes 1 finite numbers"),
    ],
)
def test_wrong_dispersions_are_refused_with_what_would_do(dispersions, said):
    with pytest.raises(CampaignError, match=said):
        draws(*dispersions)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Normal(1.0, 0.0), "sigma above 0"),
        (lambda: Normal(1.0, float("nan")), "finite"),
        (lambda: Normal(0.0, 1.0, low=50.0, high=60.0), "nothing lies between"),
        (lambda: Uniform(2.0, 1.0), "low below high"),
        (lambda: LogNormal(-1.0, 1.0), "median and sigma above 0"),
        (lambda: Discrete(()), "some finite values"),
        (lambda: Discrete((1.0,), (1.0, 2.0)), "one weight"),
    ],
)
def test_wrong_distributions_are_refused(make, said):
    with pytest.raises(CampaignError, match=said):
        make()


def test_sensors_know_which_run_it_is():
    craft = ff.Spacecraft.from_base("box", mass=1.0, inertia=(1.0, 1.0, 1.0))
    experiment = ff.Experiment.of(craft, ff.sensors.Gyro(noise=0.1), duration=1.0, dt=0.1)
    made = Draws(experiment, (), seed=1, runs=10)
    system, _ = made.numbers.system_and_start(np.zeros(0), np.asarray(5))
    assert int(system.sensors[0].imperfection.run) == 5


def test_other_campaigns_have_other_noise():
    runs = np.arange(1_000_000)
    assert np.array_equal(noise_numbers(0, runs), runs)
    assert np.intersect1d(noise_numbers(1, runs), noise_numbers(2, runs)).size == 0
    assert np.unique(noise_numbers(1, runs)).size == runs.size
