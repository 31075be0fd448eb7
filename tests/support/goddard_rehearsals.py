"""Rehearsals of the paper's cell, sound and with planted defects, each made once and judged."""

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import freefloat as ff
from freefloat.hil import read_log, rehearse
from freefloat.hil.defects import DefectiveFacility, Defects
from freefloat.hil.judging import Evidence, judge_rehearsal
from freefloat.scenarios.goddard import GoddardRehearsal


@cache
def goddard_evidence(variant, **settings):
    """Evidence of a sound cell with other settings."""
    return _rehearsed(replace(GoddardRehearsal.variants()[variant], **settings), Defects())


def falsified(variant, seed=0, **defects):
    """Evidence of a cell with defects between its sensors and the loop."""
    return _rehearsed(replace(GoddardRehearsal.variants()[variant], seed=seed), Defects(**defects))


def _rehearsed(scenario, defects):
    path, made = Path(tempfile.mkdtemp()) / "cycles.log", scenario.rehearsal()
    run = rehearse(made, DefectiveFacility(scenario.facility(), defects), log=path)
    simulated = _simulated(scenario)
    claims = tuple(scenario.mission_claims(run, simulated))
    return Evidence(made, run, read_log(path), scenario.declared_world(), simulated, claims, scenario.acceptance())


def _simulated(scenario):
    plain = replace(scenario, delay_ms=0.0, lag="first", seed=0)
    return _prediction(plain)


@cache
def _prediction(scenario):
    return ff.simulate(scenario.build())


def judged(evidence):
    return judge_rehearsal(evidence)


def criterion(verdict, name):
    return next(found for found in verdict.criteria if found.name == name)
