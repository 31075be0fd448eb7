"""One thing that somebody waits for, in a process of its own; what it took is the last line that it prints, as JSON.

python benchmarks/first_answer_cases.py CASE FOLDER [WORD ...]

`benchmarks/latency.py` starts it, for this checkout and, with `--beside`, for another one.
"""

import sys
from pathlib import Path

import first_answer_clock

CLOCK = first_answer_clock.Clock()  # before anything else is imported
if __name__ == "__main__":
    CLOCK.start()

import contextlib  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

START_DEG = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)
CAMPAIGN_CASE = 3  # the run of the campaign that is replayed

SOFTWARE = '''"""Software of a user's own: the hand goes straight ahead."""

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.control import RateSoftware


@ff.record
class MySoftware(RateSoftware):
    """Rates that move the hand of a floating spacecraft."""

    craft: ff.Spacecraft

    @property
    def joints(self):
        return self.craft.joint_names

    def rates(self, memory, y, clock):
        J = ff.dynamics.generalized_jacobian(self.craft, y["joints.position"], "hand")
        return jnp.linalg.solve(J, SPEED * np.eye(6)[0])  # [m/s]
'''


# ---- the example of README, and with software of a user's own


def readme_parts(look: str = "") -> tuple[Any, ...]:
    """Spacecraft and software of README; `look`: colour or shape of the base changed."""
    import freefloat as ff

    craft = ff.library.ets7()
    if look:
        from freefloat.model.shapes import Box, Shape

        box = Box((1.0, 1.0, 1.1 if look == "shape" else 1.0))
        craft = craft.with_shapes("base", Shape(box, colour="#102030" if look == "colour" else "bus"))
    path = ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01)
    return craft, ff.ResolvedMotion(craft=craft, frame="hand", path=path)


def simulate(*parts: Any) -> Any:
    """As README does it."""
    import freefloat as ff

    return ff.simulate(*parts, joints_deg=START_DEG, duration=22.0, dt=0.05)


def call(*parts: Any) -> dict[str, Any]:
    """The call alone; what it imports on its way is listed apart."""
    return {"call": CLOCK.of(lambda: simulate(*parts))}


def readme(folder: Path, look: str = "") -> dict[str, Any]:
    """`simulate` of README."""
    return call(*readme_parts(look))


def script(folder: Path) -> dict[str, Any]:
    """README as a whole: a process with its imports, that prints what it prints."""
    import numpy as np

    run = simulate(*readme_parts())
    with contextlib.redirect_stdout(sys.stderr):
        print(np.rad2deg(run["base.roll_pitch_yaw"].values[-1]), run.audit.holds)
        print(bool(np.all(abs(run["hand.position_error"]) < 1e-9)))
    return {"process": CLOCK.times()}


def write_software(folder: Path, speed: str) -> Any:
    """The software's module as it is on disk now."""
    sys.dont_write_bytecode = True  # Python compares times of files in seconds
    (folder / "my_software.py").write_text(SOFTWARE.replace("SPEED", speed))
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    known = sys.modules.get("my_software")
    return importlib.reload(known) if known else importlib.import_module("my_software")


def software(folder: Path, *speeds: str) -> dict[str, Any]:
    """A call with the software, and with every edit of it in the same process."""
    import freefloat as ff

    craft, found = ff.library.ets7(), {}
    for name, speed in zip(("call", "again"), speeds, strict=False):
        found |= {name: call(craft, write_software(folder, speed).MySoftware(craft))["call"]}
    return found


# ---- commands


def command(folder: Path, *words: str) -> dict[str, Any]:
    """`freefloat` with these words, files and page included."""
    from freefloat.cli import main

    sys.argv = ["freefloat", *words]
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
        main()
    return {"process": CLOCK.times()}


def campaign_case(folder: Path) -> dict[str, Any]:
    """`simulate` of one case of the campaign in the folder."""
    import freefloat as ff
    from freefloat.campaign.replaying import case

    return {"call": CLOCK.of(lambda: ff.simulate(case(_campaign(folder), CAMPAIGN_CASE), check=False))}


def campaign_replay(folder: Path) -> dict[str, Any]:
    """The same case replayed."""
    from freefloat.campaign.replaying import replay_from_store

    return {"call": CLOCK.of(lambda: replay_from_store(_campaign(folder), folder / "campaign", CAMPAIGN_CASE))}


def _campaign(folder: Path) -> Any:
    from freefloat.campaign.store import Store
    from freefloat.campaign.toml_files import campaign_of_store

    return campaign_of_store(Store(folder / "campaign").described)


# ---- steps


def _small(**options: Any) -> Any:
    import freefloat as ff

    rod = {"mass": 5.0, "com": (0.5, 0.0, 0.0), "inertia": (0.01, 0.42, 0.42)}  # [kg], [m], [kg m2]
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
    hub = hub.with_link("rod", parent="base", joint="revolute", **rod)
    return ff.Experiment.of(hub, duration=10.0, dt=0.01, **options), ("base.position", "base.attitude")


def _ports() -> Any:
    """The small one, with a wrench and a torque that come from outside at every step."""
    import numpy as np

    return _small(inputs={"base.wrench": np.zeros(6), "command.joints.torque": np.zeros(1)})


def _mission() -> Any:
    from freefloat.scenarios import find

    scenario = next(iter(find("envisat-capture").variants().values()))
    return scenario.build(), ("servicer.base.position", "servicer.base.attitude")


def _advance(system: Any, loop: Any, parts: Any, inputs: Any) -> Any:
    """A step as `simulate` takes it."""
    from freefloat.sim import step

    return step(system, loop, inputs, parts)


def step(folder: Path, model: str) -> dict[str, Any]:
    """Seconds of one step of `stepper`, and of one in the rollout that `simulate` makes."""
    import numpy as np

    import freefloat as ff
    from freefloat.sim.system.varied_numbers import compile_system

    experiment, names = {"small": _small, "ports": _ports, "mission": _mission}[model]()
    outside = ff.stepper(experiment, measure=names)
    system, loop = experiment.begin()
    held = np.full((), 1, np.int32), dict(experiment.inputs)
    program = compile_system(_advance, system, loop, *held)
    steps = min(500, round(experiment.duration / system.dt))

    def rollout() -> None:
        program.rollout(loop, *held, steps=steps)

    def stepped() -> None:
        for _ in range(steps):
            outside.step(held[1])

    saved, best = outside.save(), {"stepper": float("inf"), "simulate": float("inf")}
    for _ in range(4):  # the first warms up
        outside.restore(saved)
        for name, work in (("stepper", stepped), ("simulate", rollout)):
            begun = time.thread_time()
            work()
            best[name] = min(best[name], (time.thread_time() - begun) / steps)
    return {"step": best}


CASES: dict[str, Callable[..., dict[str, Any]]] = {
    case.__name__: case for case in (readme, script, software, command, campaign_case, campaign_replay, step)
}


def main() -> None:
    name, folder, *words = sys.argv[1:]
    found = CASES[name](Path(folder), *words)
    import freefloat

    print(json.dumps(found | {"package": str(Path(freefloat.__file__).parents[1])}))


if __name__ == "__main__":
    main()
