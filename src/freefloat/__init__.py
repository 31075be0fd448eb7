"""freefloat: simulate, control and rehearse on-orbit robotic servicing.

    import freefloat as ff

    chaser = ff.library.ets7()
    law = ff.ResolvedMotion(craft=chaser, frame="hand", path=ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01))
    run = ff.simulate(chaser, law, joints_deg=(0, 0, 10, -32.8, 0, 0), duration=22.0)

Names are loaded when they are first used, so importing the package costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from freefloat import (
        analysis,
        campaign,
        control,
        dynamics,
        effects,
        engine,
        flex,
        hil,
        library,
        model,
        onboard,
        planning,
        report,
        scenarios,
        sensors,
        sim,
        spatial,
        values,
    )
    from freefloat.analysis import identify
    from freefloat.control import Line, ResolvedMotion
    from freefloat.effects import CompliantContact, WrenchPulse
    from freefloat.hil import Carried, OnBoard, Rehearsal, fly, rehearse
    from freefloat.model import (
        BaseWrench,
        Brake,
        Clearance,
        Clock,
        Effect,
        Field,
        FrameForces,
        Interaction,
        JointFlexibility,
        JointRates,
        JointTorques,
        Latch,
        Release,
        Sensor,
        Software,
        Spacecraft,
        State,
        ThrusterDuty,
        WheelTorques,
        World,
        read_mjcf,
        read_sdf,
        read_urdf,
        write_urdf,
    )
    from freefloat.planning import CaptureTask, plan_capture
    from freefloat.report import compare, map_page, page
    from freefloat.report.linear_pages import linear_page
    from freefloat.sim import Experiment, Run, RunFailed, Steps, check_software, continue_run, simulate, stepper
    from freefloat.spatial import Pose
    from freefloat.values import Channel, LawError, ModelError, record, static

_NAMES = {
    "BaseWrench": "model",
    "Brake": "model",
    "CaptureTask": "planning",
    "Carried": "hil",
    "Channel": "values",
    "Clearance": "model",
    "Clock": "model",
    "CompliantContact": "effects",
    "Effect": "model",
    "Experiment": "sim",
    "Field": "model",
    "FrameForces": "model",
    "Interaction": "model",
    "JointFlexibility": "model",
    "JointRates": "model",
    "JointTorques": "model",
    "LawError": "values",
    "Latch": "model",
    "Line": "control",
    "ModelError": "values",
    "OnBoard": "hil",
    "Pose": "spatial",
    "Rehearsal": "hil",
    "Release": "model",
    "ResolvedMotion": "control",
    "Run": "sim",
    "RunFailed": "sim",
    "Sensor": "model",
    "Software": "model",
    "Spacecraft": "model",
    "State": "model",
    "Steps": "sim",
    "ThrusterDuty": "model",
    "WheelTorques": "model",
    "World": "model",
    "WrenchPulse": "effects",
    "check_software": "sim",
    "compare": "report",
    "continue_run": "sim",
    "fly": "hil",
    "identify": "analysis",
    "linear_page": "report.linear_pages",
    "map_page": "report",
    "page": "report",
    "plan_capture": "planning",
    "read_mjcf": "model",
    "read_sdf": "model",
    "read_urdf": "model",
    "record": "values",
    "rehearse": "hil",
    "simulate": "sim",
    "static": "values",
    "stepper": "sim",
    "write_urdf": "model",
}

__all__ = [
    "BaseWrench",
    "Brake",
    "CaptureTask",
    "Carried",
    "Channel",
    "Clearance",
    "Clock",
    "CompliantContact",
    "Effect",
    "Experiment",
    "Field",
    "FrameForces",
    "Interaction",
    "JointFlexibility",
    "JointRates",
    "JointTorques",
    "Latch",
    "LawError",
    "Line",
    "ModelError",
    "OnBoard",
    "Pose",
    "Rehearsal",
    "Release",
    "ResolvedMotion",
    "Run",
    "RunFailed",
    "Sensor",
    "Software",
    "Spacecraft",
    "State",
    "Steps",
    "ThrusterDuty",
    "WheelTorques",
    "World",
    "WrenchPulse",
    "analysis",
    "campaign",
    "check_software",
    "compare",
    "continue_run",
    "control",
    "dynamics",
    "effects",
    "engine",
    "flex",
    "fly",
    "hil",
    "identify",
    "library",
    "linear_page",
    "map_page",
    "model",
    "onboard",
    "page",
    "plan_capture",
    "planning",
    "read_mjcf",
    "read_sdf",
    "read_urdf",
    "record",
    "rehearse",
    "report",
    "scenarios",
    "sensors",
    "sim",
    "simulate",
    "spatial",
    "static",
    "stepper",
    "values",
    "write_urdf",
]

_PACKAGES = tuple(name for name in __all__ if name not in _NAMES)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        if name == "engine":  # it stands alone and switches nothing on; reached through us, it computes in float64
            importlib.import_module("freefloat.values")
        return importlib.import_module(f"freefloat.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"freefloat.{_NAMES[name]}"), name)
    raise AttributeError(f"freefloat has no '{name}'. Names: {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
