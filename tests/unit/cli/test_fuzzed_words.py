"""Settings and scenario files that nobody would write: they become a scenario, or get a sentence."""

import string
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from freefloat.cli.run import resolve
from freefloat.scenarios import Scenario, find
from freefloat.scenarios.runner import build_experiment
from freefloat.scenarios.settings import settings_of

_BUDGET = settings(
    max_examples=150, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
_NAMES = ("ets7-gjm", "goddard-symmetric")
_PATHS = [s.path for name in _NAMES for s in settings_of(find(name)())] + [
    "craft.base.mass",
    "craft.base.inertia",
    "craft",
]
_NUMBERS = st.floats() | st.integers() | st.sampled_from([1e308, -1e308, 5e-324, 2**63, 10**400, 0, -0.0])
_VALUES = st.one_of(
    _NUMBERS.map(str),
    st.lists(_NUMBERS, max_size=7).map(str),
    st.text(max_size=20),
    st.sampled_from(["true", "{}", "{a=1}", "[[", "''", '"', "nan", "none", "1_0", "0x10", "1979-05-27", "1,2,3", "="]),
)
_TEXTS = st.tuples(st.sampled_from(_PATHS) | st.text(string.ascii_letters + "._- =[]", max_size=20), _VALUES)


def _require_sentence(name: str, given: list[str], variant: str | None = None) -> None:
    """Resolved and buildable, or refused with words."""
    try:
        scenario, _ = resolve(name, given, variant)
        assert isinstance(scenario, Scenario)
        build_experiment(scenario)
    except ValueError as fault:
        assert len(str(fault)) > 10  # noqa: PT017 (it may be read as well)


@_BUDGET
@given(name=st.sampled_from(_NAMES), given=st.lists(_TEXTS, min_size=1, max_size=3))
@example(name="ets7-gjm", given=[("duration", "1e308")])
@example(name="ets7-gjm", given=[("dt", "1e-308")])
@example(name="ets7-gjm", given=[("craft.base.inertia", "[[1e308,0,0],[0,1e308,0],[0,0,1e308]]")])
@example(name="ets7-gjm", given=[("craft.base.mass", "1e308")])
@example(name="ets7-gjm", given=[("path", "[" * 3000 + "]" * 3000)])
@example(name="ets7-gjm", given=[(".".join(["a"] * 5000), "1")])
@example(name="ets7-gjm", given=[("duration", "9" * 5000)])
@example(name="goddard-symmetric", given=[("beam_length", "1e308")])
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")  # numbers that overflow say so, and then a sentence
def test_settings_on_the_command_line(name: str, given: list[tuple[str, str]]) -> None:
    _require_sentence(name, [f"{path}={value}" for path, value in given])


def _inline(table: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"


_KEYS = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=8)
_TREES = st.recursive(
    st.sampled_from(["1", "1.5", "nan", "-inf", "true", '"word"', "1979-05-27", "[1, 2]", "[[[]]]", "9" * 5000]),
    lambda inner: st.dictionaries(_KEYS, inner, max_size=3).map(_inline),
    max_leaves=6,
)


_LINES = st.one_of(
    st.tuples(st.sampled_from(["scenario", "variant", *_PATHS[:8]]) | _KEYS, _TREES).map(" = ".join),
    st.text(max_size=30),
    _KEYS.map(lambda key: f"[{key}]"),
)


@_BUDGET
@given(lines=st.lists(_LINES, max_size=5), named=st.booleans())
@example(lines=["x = " + "[" * 3000 + "]" * 3000], named=True)
@example(lines=[".".join(["a"] * 5000) + " = 1"], named=True)
@example(lines=["variant = [1]"], named=True)
@example(lines=["scenario = 1"], named=False)
def test_scenario_files(lines: list[str], named: bool) -> None:
    head = ['scenario = "ets7-gjm"'] if named else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fuzzed.toml"
        file.write_text("\n".join([*head, *lines]), encoding="utf-8", errors="surrogatepass")
        _require_sentence(str(file), [])
