"""Exact beams: the integrals of the cantilever, and brute-force sums over material points."""

import numpy as np
import pytest

import freefloat as ff
from freefloat.flex import beam
from freefloat.values import ModelError

MASS, LENGTH, EI = 0.83, 0.635, 0.46  # one appendage of the Goddard experiment [kg, m, N m2]
GODDARD = {"length": LENGTH, "mass": MASS, "bending_stiffness": EI}


def test_goddard_integrals_l2():
    body = beam(**GODDARD, modes=5, planes="y", normalisation="l2")
    p = [0.78299176, 0.43393590, 0.25442530, 0.18189802, 0.14147084]
    h = [0.56882574, 0.09076679, 0.03241637, 0.01654234, 0.01000703]
    np.testing.assert_allclose(body.modal_moment[1] / MASS, p, atol=5.1e-9)  # every printed digit
    np.testing.assert_allclose(body.mixed_moment[:, 0, 1] / (MASS * LENGTH), h, atol=5.1e-9)
    np.testing.assert_allclose(body.modal_mass, MASS * np.eye(5), atol=1e-13)
    np.testing.assert_allclose(body.node("tip").translation[1], 2.0 * (-1.0) ** np.arange(5), rtol=1e-12)


def test_goddard_integrals_tip():
    body = beam(**GODDARD, modes=3, planes="y")
    np.testing.assert_allclose(body.modal_moment[1] / MASS, [0.39149588, -0.21696795, 0.12721265], atol=5.1e-9)
    h = body.mixed_moment[:, 0, 1] / (MASS * LENGTH)
    np.testing.assert_allclose(h, [0.28441287, -0.04538339, 0.01620819], atol=5.1e-9)
    np.testing.assert_allclose(np.diag(body.modal_mass), MASS / 4.0, rtol=1e-13)
    tip = body.node("tip")
    np.testing.assert_allclose(tip.translation[1], 1.0, rtol=1e-13)
    np.testing.assert_allclose(tip.rotation[2] * LENGTH, [1.37650548, 4.78077841, 7.84866605], atol=5.1e-9)
    np.testing.assert_allclose(body.frequencies() / (2.0 * np.pi), [0.823285, 5.15944, 14.44658], atol=5.1e-6)


def test_closed_forms_to_rounding():
    """int phi = 2 sigma / b and int xi phi = 2 / b^2."""
    body = beam(**GODDARD, modes=8, planes="y", normalisation="l2")
    b = ff.flex.BeamModes(8).eigenvalues
    sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    np.testing.assert_allclose(body.modal_moment[1] / MASS, 2.0 * sigma / b, rtol=1e-13)
    np.testing.assert_allclose(body.mixed_moment[:, 0, 1] / (MASS * LENGTH), 2.0 / b**2, rtol=1e-12)
    np.testing.assert_allclose(np.diag(body.stiffness), EI / LENGTH**3 * b**4, rtol=1e-13)


def test_completeness():
    body = beam(**GODDARD, modes=20, planes="y", normalisation="l2")
    sums = np.cumsum((body.modal_moment[1] / MASS) ** 2)
    np.testing.assert_allclose(
        sums[[0, 1, 2, 4, 9, 19]], [0.613076, 0.801376, 0.866109, 0.919210, 0.959505, 0.979740], atol=5.1e-7
    )
    turning = 3.0 * np.cumsum((body.mixed_moment[:, 0, 1] / (MASS * LENGTH)) ** 2)
    np.testing.assert_allclose(turning[:3], [0.970688, 0.995404, 0.998556], atol=5.1e-7)


def everything(normalisation="tip", **more):
    return beam(
        length=2.0,
        mass=3.0,
        bending_stiffness=(5.0, 7.0),
        modes={"y": 3, "z": 2, "torsion": 2, "axial": 1},
        torsion_stiffness=4.0,
        axial_stiffness=900.0,
        section_inertia=0.02,
        tip_mass=0.6,
        normalisation=normalisation,
        **more,
    )


def test_integrals_equal_brute_force_point_sums():
    """20000 slices, each a ring of eight, moved by the node functions at many stations: an independent sum."""
    slices = 400
    x = (np.arange(slices) + 0.5) * 2.0 / slices
    stations = {f"s{k}": float(value) for k, value in enumerate(x)}
    body = everything(stations=stations)
    r = np.sqrt(0.02 / 3.0)
    angles = np.arange(8) * np.pi / 4.0
    sums = {"mixed": 0.0, "pair": 0.0, "modal": 0.0, "second": 0.0}
    points = [
        (body.node(f"s{k}"), np.array([x[k], r * np.cos(a), r * np.sin(a)]), 3.0 / slices / 8)
        for k in range(slices)
        for a in angles
    ]
    points.append((body.node("tip"), np.array([2.0, 0.0, 0.0]), 0.6))
    for node, position, mass in points:
        twist = np.where(
            [name.startswith("torsion") for name in body.mode_names], node.rotation, 0.0
        )  # sections do not tilt
        phi = node.translation + np.cross(twist.T, position - node.position).T
        sums["mixed"] = sums["mixed"] + mass * np.einsum("a,bj->jab", position, phi)
        sums["pair"] = sums["pair"] + mass * np.einsum("ai,bj->ijab", phi, phi)
        sums["modal"] = sums["modal"] + mass * phi
        sums["second"] = sums["second"] + mass * np.outer(position, position)
    # 400 midpoints: error of order (b / 400)^2 / 24 of third modes, 1e-5 of the largest entry.
    for mine, brute in (
        (body.mixed_moment, sums["mixed"]),
        (body.pair_moment, sums["pair"]),
        (body.modal_moment, sums["modal"]),
        (body.second_moment, sums["second"]),
    ):
        np.testing.assert_allclose(mine, brute, atol=5e-5 * np.max(np.abs(brute)))


def test_normalisation_only_scales():
    """Quantities of a motion, not of a coordinate: the same in every normalisation."""
    bodies = [everything(n, stiffening=True) for n in ("tip", "l2", "mass")]
    for body in bodies[1:]:
        scale = np.sqrt(np.diag(bodies[0].modal_mass) / np.diag(body.modal_mass))
        scale = scale * np.sign(
            np.sum(bodies[0].node("tip").translation * body.node("tip").translation, axis=0)
            + np.sum(bodies[0].node("tip").rotation * body.node("tip").rotation, axis=0)
        )
        pair = np.multiply.outer(scale, scale)
        np.testing.assert_allclose(body.modal_moment * scale, bodies[0].modal_moment, atol=1e-12)
        np.testing.assert_allclose(body.pair_moment * pair[:, :, None, None], bodies[0].pair_moment, atol=1e-12)
        np.testing.assert_allclose(body.stiffness * pair, bodies[0].stiffness, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(body.short_moment * pair[:, :, None], bodies[0].short_moment, atol=1e-11)
    np.testing.assert_allclose(bodies[2].modal_mass, np.eye(8), atol=1e-12)


def test_foreshortening_keeps_the_axis_length():
    """chi is minus the integral of slopes: finite differences of the node functions."""
    stations = {f"s{k}": 2.0 * k / 200 for k in range(201)}
    body = beam(length=2.0, mass=1.0, bending_stiffness=1.0, modes=2, stations=stations, stiffening=True)
    slopes = np.array([[body.node(s).rotation[2], -body.node(s).rotation[1]] for s in stations])
    products = np.einsum("kdi,kdj->kij", slopes, slopes)
    trapezoid = np.concatenate([np.zeros((1, 4, 4)), np.cumsum(0.005 * (products[1:] + products[:-1]), axis=0)])
    chi = np.array([body.node(s).foreshortening[0] for s in stations])
    np.testing.assert_allclose(chi, -trapezoid, atol=1e-3 * np.max(trapezoid))  # h^2 of the trapezoids
    assert not np.any([body.node(s).foreshortening[1:] for s in stations])
    # y and z modes do not shorten together
    assert not np.any(body.short_moment[:2, 2:])


def test_without_stiffening_there_is_none():
    body = everything()
    assert not np.any(body.short_moment)
    assert not np.any(body.short_mixed_moment)
    assert not np.any(body.node("tip").foreshortening)


def test_damping_is_that_of_each_mode():
    body = everything(damping_ratio=0.0072)
    omega = np.sqrt(np.diag(body.stiffness) / np.diag(body.modal_mass))
    np.testing.assert_allclose(np.diag(body.damping), 2.0 * 0.0072 * omega * np.diag(body.modal_mass), rtol=1e-10)


def test_rail_follows_the_beam():
    body = beam(length=4.0, mass=1.0, bending_stiffness=1.0, modes=2, rail_stations=9, stations={"mid": 2.0})
    rail = body.rail
    assert rail is not None
    mid = body.node("mid")
    np.testing.assert_allclose(rail.translation[4], mid.translation, atol=1e-14)
    np.testing.assert_allclose(rail.rotation[4], mid.rotation, atol=1e-14)
    np.testing.assert_allclose(rail.translation_slope[4, 1], mid.rotation[2], atol=1e-14)
    np.testing.assert_allclose(rail.position[:, 0], np.linspace(0.0, 4.0, 9))
    near = beam(length=4.0, mass=1.0, bending_stiffness=1.0, modes=2, stations={"a": 1.999, "b": 2.001})
    slope = (near.node("b").rotation - near.node("a").rotation) / 0.002
    np.testing.assert_allclose(rail.rotation_slope[4], slope, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": -1.0}, "length -1. Give a positive number"),
        ({"mass": float("nan")}, "mass must be finite"),
        ({"bending_stiffness": -3.0}, "y stiffness -3"),
        ({"modes": {"twist": 1}}, "Motions: y, z, torsion, axial"),
        ({"modes": {"torsion": 1}}, "no torsion_stiffness"),
        ({"torsion_stiffness": 1.0}, "section_inertia"),
        ({"stations": {"far": 9.0}}, "Station 'far' at 9 m is not on beam"),
        ({"damping_ratio": -0.1}, "would create energy"),
        ({"planes": "xy"}, "planes 'xy'"),
        ({"damping_ratio": (0.1, 0.2, 0.3, 0.4)}, "4 damping ratios for 6 modes"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(ModelError, match=message):
        beam(**{"length": 1.0, "mass": 1.0, "bending_stiffness": 1.0, "modes": 3, **change})
