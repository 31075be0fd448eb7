"""Parts of `envisat-capture`: the servicer with its camera, its start error, its sensors and filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from freefloat.scenarios.settings import NotNegative, Positive, Seconds, Unit

if TYPE_CHECKING:
    from freefloat.model import Part, Spacecraft, State

Three = tuple[float, float, float]
CAMERA, RING, GRASP = "camera", "client.ring", "grasp"
CLIENT_PORT, SERVICER_PORT = "client.ring.wrench", "servicer.tool.wrench"
FLOOR_DISTANCE = 5.0  # [m] between the feet of the robots, assumed
NARROWEST_HALF_RANGE = np.deg2rad(95.0)  # [rad], of joint a2 of the robots
TARE_SAMPLES = 1000  # of the wrist sensors before a run
_CAMERA_AT = (0.9, 0.0, 0.4)  # on the base, above the foot of the arm [m], assumed
_OWN_ORBIT = ("base.position", "base.velocity")  # from the servicer's own orbit determination; only differences matter


@dataclass(frozen=True)
class Times:
    """When each phase begins; synchronisation begins at the start."""

    approach: Seconds = 9.1
    grasp: Seconds = 32.6
    rigidise: Seconds = 33.0
    done: Seconds = 43.0


@dataclass(frozen=True)
class StartError:
    """Errors of the servicer at the start, which synchronisation removes, base axes."""

    position_mm: Annotated[Three, Unit("mm")] = (30.0, -20.0, 20.0)
    attitude_deg: Annotated[Three, Unit("deg")] = (1.0, -1.0, 1.0)  # roll, pitch, yaw
    velocity_mm_s: Annotated[Three, Unit("mm/s")] = (5.0, -5.0, 5.0)  # beyond that of co-rotation
    rate_deg_s: Annotated[Three, Unit("deg/s")] = (0.1, -0.1, 0.1)

    def apply(self, craft: Spacecraft, state: State, client: State) -> State:
        """State of the servicer with the error added; co-rotation is that of the displaced position."""
        from freefloat.spatial import Pose, angular, linear

        off = Pose.from_rpy_deg(self.attitude_deg, 1e-3 * np.asarray(self.position_mm))
        X_NB = state.X_NB @ off
        V = (client.X_NB.inverse() @ X_NB).twist_to_B(client.V_NB)
        there = craft.at_rest(state.q, at=Pose(np.asarray(X_NB.p), np.asarray(X_NB.R)))
        velocity = np.asarray(linear(V)) + 1e-3 * np.asarray(self.velocity_mm_s)
        return craft.in_motion(
            there, velocity=velocity, rate=np.asarray(angular(V)) + np.deg2rad(np.asarray(self.rate_deg_s))
        )


@dataclass(frozen=True)
class Sensors:
    """Star tracker, gyro, encoders and a camera; each noise is one sigma of a sample."""

    star_hz: Positive = 5.0
    star_noise_deg: NotNegative = 0.003
    gyro_noise_deg_s: NotNegative = 0.002
    encoder_noise_deg: NotNegative = 0.001
    joint_rate_noise_deg_s: NotNegative = 0.005
    camera_hz: Positive = 5.0
    camera_noise_mm: Positive = 1.0
    camera_noise_deg: Positive = 0.1
    camera_dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.1  # share of the pictures that are lost
    tumble_error_deg_s: Annotated[Three, Unit("deg/s")] = (0.1, -0.1, 0.1)  # of the tumbling rate that is known before
    seed: Annotated[int, Field(ge=0)] = 0

    def parts(self, period: float) -> tuple[Part, ...]:
        """Sensors on the servicer; gyro and encoders at the software's period [s]."""
        from freefloat.sensors import Gyro, Ideal, Imperfection, MotorEncoder, RelativePoseCamera, StarTracker

        errors = Imperfection(seed=self.seed)
        star = float(np.deg2rad(self.star_noise_deg))
        common = {"on": "servicer", "imperfection": errors}
        return (
            StarTracker(cross_noise=star, roll_noise=star, period=1.0 / self.star_hz, **common),
            Gyro(noise=float(np.deg2rad(self.gyro_noise_deg_s)), period=period, **common),
            MotorEncoder(
                noise=float(np.deg2rad(self.encoder_noise_deg)),
                rate_noise=float(np.deg2rad(self.joint_rate_noise_deg_s)),
                period=period,
                **common,
            ),
            RelativePoseCamera(
                CAMERA,
                RING,
                noise=1e-3 * self.camera_noise_mm,
                angle_noise=float(np.deg2rad(self.camera_noise_deg)),
                period=1.0 / self.camera_hz,
                on="servicer",
                imperfection=Imperfection(seed=self.seed, dropout=self.camera_dropout),
            ),
            Ideal(_OWN_ORBIT, on="servicer"),
        )

    def filters(self, servicer: Spacecraft, client: Spacecraft, spin_deg_s: float, period: float) -> tuple[Part, ...]:
        """Filters that run before the capture software: own attitude from stars and gyro, Envisat from images."""
        from freefloat.control import AttitudeFilter, Disturbance, PictureNoise, TargetFilter, TargetGuess

        star, angle = (float(np.deg2rad(x)) for x in (self.star_noise_deg, self.camera_noise_deg))
        gyro = float(np.deg2rad(self.gyro_noise_deg_s)) * period**0.5
        guess = TargetGuess(
            rate=np.deg2rad(np.array([0.0, spin_deg_s, 0.0]) + np.asarray(self.tumble_error_deg_s)),
            rate_sigma=float(np.deg2rad(0.1)),
            velocity_sigma=0.01,  # [m/s]
            com_sigma=0.01,  # [m]
            shape_sigma=0.02,
        )
        return (
            AttitudeFilter.steady(1.0 / self.star_hz, star, gyro, 1e-7, on="servicer", period=period),
            TargetFilter(
                servicer,
                client,
                CAMERA,
                RING,
                PictureNoise(1e-3 * self.camera_noise_mm, angle, own_angle=star),
                guess=guess,
                disturbance=Disturbance(rate=1e-5, velocity=3e-4),  # the filter has no model of the grasp
                on="servicer",
                period=period,
            ),
        )


def servicer_with_camera() -> Spacecraft:
    """The servicer with a camera on its base that looks ahead."""
    from freefloat.library import servicer
    from freefloat.library.servicer import ARM_MOUNT
    from freefloat.spatial import Pose

    return servicer().with_frame(CAMERA, body="base", at=Pose(np.array(_CAMERA_AT), np.asarray(ARM_MOUNT.R)))
