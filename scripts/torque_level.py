"""Every ETS-VII claim again with motors at the joints: how far is torque level from the reference?

python scripts/torque_level.py                 # all five scenarios, some minutes
python scripts/torque_level.py ets7-rns        # one of them

Motors are stiff and without friction. Exit status 1 if a number is off by more than 2 % and by more than its own
tolerance. Bounds are shown only: what is zero at rate level is rounding there, and the servo's error here.
"""

import sys
from dataclasses import replace
from functools import cache

from freefloat.scenarios import find
from freefloat.scenarios.ets7.parts import TORQUE_LEVEL_DT, Servo
from freefloat.scenarios.runner import judge_run, simulate_variant
from freefloat.sim import Run
from freefloat.values.claims import Claim

SCENARIOS = ("ets7-gjm", "ets7-satellite-based", "ets7-rns", "ets7-gravity-gradient", "ets7-capture")
STEPS = {"ets7-gravity-gradient": 0.05, "ets7-capture": 0.5 * TORQUE_LEVEL_DT}  # [s]
SOFT = {"ets7-gravity-gradient": Servo(bandwidth=5.0)}  # [rad/s]; nothing moves, and the run is long
WITHIN = 0.02


def claims_with_motors(name: str, variant: str) -> list[Claim]:
    """The claims of a rate-level variant, judged on its run with motors."""
    scenario = find(name)
    motors = {"servo": SOFT.get(name, Servo()), "dt": STEPS.get(name, TORQUE_LEVEL_DT)}
    moved = replace(scenario.variants()[variant], **motors)
    return list(map(Claim.from_dict, judge_run(moved, simulate_variant(moved, variant), _rate_level).claims))


@cache
def _rate_level(name: str, variant: str) -> Run:
    return simulate_variant(find(name).variants()[variant], variant)


def main() -> int:
    """Print a row for each claim; 1 if one is off."""
    off = 0
    for name in sys.argv[1:] or SCENARIOS:
        for variant, scenario in find(name).variants().items():
            if scenario.as_dict()["servo"] is not None or "camera" in variant:
                continue
            for claim in claims_with_motors(name, variant):
                bound = claim.relation not in ("about", "within") or not claim.limit
                share = 0.0 if bound else abs(claim.value / claim.limit - 1.0)
                wrong = share > WITHIN and not claim.holds
                off += wrong
                words = "bound" if bound else f"{100.0 * share:.2f} %{'  OFF' if wrong else ''}"
                row = f"{name} {variant}: {claim.name}: {claim.statement}, torque level {claim.value:.5g}, {words}"
                sys.stdout.write(row + "\n")
    return int(off > 0)


if __name__ == "__main__":
    sys.exit(main())
