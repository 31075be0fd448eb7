"""Two cells that are ready to use: one for a client and a servicer, one for a hub with flexible beams."""

from __future__ import annotations

import numpy as np

from freefloat.hil.cell.beams import HangingBeams
from freefloat.hil.cell.gripper import Gripper
from freefloat.hil.cell.mjcf import Station
from freefloat.hil.cell.mockups import client_frame, grasp_ring, probe, servicer_arm
from freefloat.hil.cell.robots import kr120, sia10d
from freefloat.hil.cell.settings import CellSettings, SensorSettings, ServoSettings
from freefloat.hil.cell.virtual import VirtualCell
from freefloat.spatial.poses import Pose

ENVISAT_GRASP = (1.85, 0.0, 1.4)  # p_FG [m]: grasp point at the start
_FLOOR_DISTANCE = 4.3  # [m] between the feet of the two robots


def envisat_cell(
    settings: CellSettings | None = None,
    *,
    arm: bool = True,
    stiffness: float = 1e5,
    distance: float = _FLOOR_DISTANCE,
    gripper: Gripper | None = None,
) -> VirtualCell:
    """Two six-axis robots face each other: `client` carries a ring, `servicer` an arm of seven joints, or a bare probe.

    `stiffness` of the ring's springs [N/m]; `distance` between the robots' feet [m]; `gripper` at the arm's tool or the
    probe's end, by default one with default settings.
    """
    hand = gripper or Gripper()
    tool = servicer_arm(gripper=hand) if arm else probe(servicer_arm().X_PM, gripper=hand)
    stations = (
        Station("client", kr120(), Pose(), grasp_ring(client_frame(), stiffness=stiffness)),
        Station("servicer", kr120(), Pose((distance, 0.0, 0.0), np.diag([-1.0, -1.0, 1.0])), tool),
    )
    return VirtualCell(stations, settings, name="envisat")


def envisat_start(p_CB: np.ndarray | None = None) -> dict[str, Pose]:
    """Poses X_FM of both robots at the start, the servicer's base at p_CB [m] in the client's frame."""
    client = Pose(np.array(ENVISAT_GRASP) - np.array([2.9, 0.0, 0.0]))
    base = np.array([4.391844, 0.0, -0.671642]) if p_CB is None else np.asarray(p_CB, dtype=float)
    return {"client": client, "servicer": client @ Pose(base, np.diag([-1.0, -1.0, 1.0]))}


def goddard_cell(settings: CellSettings | None = None, beams: HangingBeams | None = None) -> VirtualCell:
    """A seven-axis robot on a pedestal carries two flexible beams above itself; M is the flange, the hub's centre."""
    station = Station("hub", sia10d(), Pose((0.0, 0.0, 0.6)), (beams or HangingBeams()).mockup(), pedestal=0.6)
    return VirtualCell((station,), settings or goddard_settings(), name="goddard")


def goddard_settings(bandwidth: float = 2.5, delay: float = 0.0) -> CellSettings:
    """Settings with a servo of first order [Hz], a transport delay [s], and a sensor for the motion in the plane."""
    return CellSettings(
        servo=ServoSettings(lag="first", bandwidth=bandwidth, delay=delay),
        sensor=SensorSettings(passed=(True, True, False, False, False, True)),
    )


GODDARD_START = Pose((0.3, -0.2, 1.55))  # X_FM: the hub drifts along y
