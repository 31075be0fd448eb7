"""Planning a capture: solve, check between the instants, refine; if there is no motion, find the limits in the way."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass

from freefloat.planning.curves import Curve, rest_to_rest
from freefloat.planning.margins import Margin, motion_margins
from freefloat.planning.node_rows import PlanningScene
from freefloat.planning.plan import Plan
from freefloat.planning.programme import Programme
from freefloat.planning.programs import Programs, compile_programs
from freefloat.planning.solver import SolverAnswer, require_ipopt, solve
from freefloat.planning.task import CaptureTask
from freefloat.planning.task_limits import goal_numbers, planning_limits, start_numbers
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError

_FAMILIES = (
    *("clearance", "base force", "base torque", "joint torque", "joint rate", "joint acceleration", "joint range"),
    *("approach", "cell range", "cell rate", "cell acceleration"),
)


_BROKEN_BETWEEN = "solved at its instants, limits broken between them"


@dataclass(frozen=True)
class PlanSettings:
    """Resolution of the search for a motion, and of the check of its limits."""

    points: int = 12  # control points of every number
    instants: int = 25  # at which the solver keeps the limits, in the first round
    samples: int = 241  # at which the limits are checked afterwards
    reserve: float = 0.02  # share of the limits that is kept free for the motion between instants
    rounds: int = 3  # each with twice the instants and the reserve
    iterations: int = 250  # of the solver, each round
    seconds: float = 60.0  # of a processor, each round; iterations end it sooner, unless the machine is slow
    exact_curvature: bool = True  # else IPOPT estimates it from slopes
    explain: bool = True  # find the limits that prevent a motion, where there is none

    def __post_init__(self) -> None:
        require_number("PlanSettings.seconds", self.seconds, "s", above=0.0)
        if self.points < 7 or self.instants < 5 or self.samples < 2 * self.instants or self.rounds < 1:
            raise ModelError(
                "PlanSettings needs 7 control points or more, 5 instants or more, at least twice as many samples, and "
                f"a round or more, got {self}."
            )


def plan_capture(task: CaptureTask, settings: PlanSettings | None = None) -> Plan:
    """Plan of the motion of least effort within all limits; if none is found, the plan lists the limits in the way."""
    require_ipopt()
    settings = settings or PlanSettings()
    scene = task.scene()
    programs = compile_programs(scene, curvature=settings.exact_curvature)
    plan = _refine(task, scene, programs, settings)
    if plan.solved or not settings.explain:
        return plan
    way = tuple(_explain(task, scene, programs, settings, plan))
    return dataclasses.replace(plan, in_the_way=way)


def straight_capture(task: CaptureTask, settings: PlanSettings | None = None) -> Plan:
    """Plan of the quintic in pose and joints from the start to the task's posture at the ring, with its margins."""
    settings = settings or PlanSettings()
    scene = task.scene(with_cell=False)
    began = time.process_time()
    start = start_numbers(task, scene)
    end = goal_numbers(task, scene, start)
    curve = Curve.of(rest_to_rest(start[0], start[1], end, task.duration, settings.points), task.duration)
    seconds = time.process_time() - began
    programs = compile_programs(scene, curvature=False)
    margins = motion_margins(task, scene, programs, curve, settings.samples)
    return Plan(
        "straight", curve, scene.chart, task.start, task.client_start, margins, "not optimised", True, seconds=seconds
    )


def _refine(
    task: CaptureTask, scene: PlanningScene, programs: Programs, settings: PlanSettings, ignored: tuple[str, ...] = ()
) -> Plan:
    """Solve and check, with more instants and more reserve until no limit is broken between the instants."""
    instants, reserve, began = settings.instants, settings.reserve, time.process_time()
    guess, answers, plan = None, [], None
    for number in range(1, settings.rounds + 1):
        task_limits = planning_limits(task, scene, instants, reserve, ignored)
        if guess is None:
            end = goal_numbers(task, scene, task_limits.start)
            guess = rest_to_rest(task_limits.start[0], task_limits.start[1], end, task.duration, settings.points)
        near = guess if number < settings.rounds else None  # in the last round every row counts
        programme = Programme(programs, task_limits, settings.points, task.duration, near)
        answer = solve(programme, programme.free_points(guess), settings.iterations, settings.seconds)
        answers.append(answer)
        guess = programme.control_points(answer.x)
        curve = Curve.of(guess, task.duration)
        margins = motion_margins(task, scene, programs, curve, settings.samples)
        plan = _plan(task, scene, curve, margins, answers, time.process_time() - began)
        broken = [margin for margin in plan.broken_limits if not margin.name.startswith(ignored)]
        if not answer.solved or not broken:
            break
        instants, reserve = 2 * instants - 1, 2.0 * reserve
    assert plan is not None
    return plan


def _plan(
    task: CaptureTask,
    scene: PlanningScene,
    curve: Curve,
    margins: tuple[Margin, ...],
    answers: list[SolverAnswer],
    seconds: float,
) -> Plan:
    last = answers[-1]
    return Plan(
        kind="optimised",
        curve=curve,
        chart=scene.chart,
        start=task.start,
        client_start=task.client_start,
        margins=margins,
        status=last.words if not last.solved or all(margin.holds for margin in margins) else _BROKEN_BETWEEN,
        solved=last.solved,
        effort=last.effort,
        iterations=sum(answer.iterations for answer in answers),
        rounds=len(answers),
        seconds=seconds,
    )


def _explain(
    task: CaptureTask, scene: PlanningScene, programs: Programs, settings: PlanSettings, failed: Plan
) -> Iterator[str]:
    """Kinds of limits without which, one at a time, there is a motion; each with the value that it would need."""
    suspects = [
        family for family in _FAMILIES if any(margin.name.startswith(family) for margin in failed.broken_limits)
    ]
    once = dataclasses.replace(settings, rounds=1)
    for family in suspects or _FAMILIES:
        lifted = _refine(task, scene, programs, once, (family,))
        if lifted.solved:
            worst = [margin for margin in lifted.broken_limits if margin.name.startswith(family)]
            yield str(min(worst, key=lambda margin: margin.margin)) if worst else family
