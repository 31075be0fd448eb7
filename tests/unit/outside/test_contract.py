"""The contract of on-board software: as text and back, and what is refused by name."""

import numpy as np
import pytest

from freefloat.model import Command
from freefloat.outside import Contract, ContractError, ContractField
from freefloat.outside.contract import STANDARD_PORTS, merge_fields
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.program import InProcess, SoftwareFault, flatten_answer

WHOLE = Contract(
    "pilot",
    0.1,
    reads=(
        ContractField("base.rate", (3,), "rad/s"),
        ContractField("phase"),
        ContractField("speed", unit="m/s"),
        ContractField("matrix", (2, 3), "1"),
    ),
    gives=(
        ContractField("joints.torque", parts=("arm.1", "arm.2")),
        ContractField("base.wrench"),
        ContractField("latch", parts=("grasp",)),
    ),
    tells=(ContractField("capture.phase", (), "1", integer=True),),
)


def test_text_and_back() -> None:
    assert Contract.parse(WHOLE.text()) == WHOLE
    assert "gives joints.torque[arm.1,arm.2] 2 N m, N\n" in WHOLE.text()
    assert "tells capture.phase scalar:int32 1\n" in WHOLE.text()
    assert WHOLE.width == 2 + 6 + 1 + 1
    assert Contract.parse(Contract("pilot", np.float64(0.1)).text()).period == 0.1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("reads", "says no name"),
        ("reads a b", "'b' is no shape"),
        ("reads a 3\nreads a 3", "announces 'a' twice"),
        ("reads a 1x2x3x4x5", "is no shape"),
        ("reads a 999999", "cannot have the shape"),
        ("gives warp.drive", "must name what its command 'warp.drive' is for"),
        ("gives joints.torque", "must name what its command 'joints.torque' is for"),
        ("gives joints.torque[a,b] 3", "takes 'joints.torque' to have the shape (3,), but it has (2,)"),
        ("gives base.wrench 6 lbf", "to have the unit lbf, but it has N, N m"),
        ("tells a 60000\ntells b 60000", "has more than 100000 numbers"),
        ("tells a", "must say the shape of the message 'a'"),
        ("hopes a 3", "is no line of a contract"),
        ("name other", "is no line of a contract"),
    ],
)
def test_what_cannot_be_is_refused(line, said) -> None:
    with pytest.raises(ContractError, match=r"\w") as fault:
        Contract.parse(f"freefloat software 1\nname pilot\nperiod 0.1\n{line}\n")
    assert said in str(fault.value)


@pytest.mark.parametrize("period", ["0", "-1", "nan", "inf", "soon", ""])
def test_a_period_is_a_time(period) -> None:
    with pytest.raises(ContractError, match="period"):
        Contract.parse(f"freefloat software 1\nname pilot\nperiod {period}\n")


def test_another_version_is_refused() -> None:
    with pytest.raises(ContractError, match="in place of 'freefloat software 1'"):
        Contract.parse("freefloat software 2\nname pilot\nperiod 1\n")


def test_random_text_is_a_contract_or_an_error() -> None:
    rng = np.random.default_rng(17)
    letters = [
        *list("abz.[],:x 0193\n\t\x00é"),
        "reads ",
        "gives ",
        "tells ",
        "name ",
        "period ",
        "base.wrench",
        "scalar",
    ]
    for _ in range(2000):
        text = "".join(rng.choice(letters, size=rng.integers(0, 40)))
        try:
            Contract.parse("freefloat software 1\nname p\nperiod 1\n" + text)
        except ContractError:
            continue


def test_what_both_sides_say_must_agree() -> None:
    known = ContractField("base.rate", (3,), "rad/s")
    assert merge_fields("it", ContractField("base.rate"), known) == known
    assert merge_fields("it", ContractField("x", unit="furlong"), ContractField("x", (1,))).unit == "furlong"
    with pytest.raises(ContractError, match=r"takes 'base.rate' to have the unit deg/s, but it has rad/s"):
        merge_fields("it", ContractField("base.rate", unit="deg/s"), known)


def test_an_object_says_its_contract() -> None:
    class MySoftware:
        period, reads, commands = 0.2, {"base.rate": "rad/s"}, {"wheels.torque": ("x", "y")}

        def begin(self, y) -> None: ...

        def step(self, t, y): ...

    contract = Contract.of(MySoftware())
    assert (contract.name, contract.reads[0].unit, contract.gives[0].shape) == ("MySoftware", "rad/s", (2,))
    MySoftware.reads, MySoftware.commands = "base.rate", {"brake": "elbow"}  # one name is not a list of letters
    assert [one.name for one in Contract.of(MySoftware()).reads] == ["base.rate"]
    assert Contract.of(MySoftware()).gives[0].parts == ("elbow",)
    with pytest.raises(ContractError, match=r"object is no on-board software: it has no `period`. It needs period"):
        Contract.of(object())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base.wrench": np.zeros(5)}, "answered 5 numbers as 'base.wrench', 6 are announced"),
        ({"base.wrench": None}, "'base.wrench'"),
        ({"base.wrench": "push"}, "answered no numbers as 'base.wrench'"),
        ({"joints.torque": (0.0, np.nan)}, r"answered nan as 'joints.torque' \(arm.2\)"),
        ({"capture.phase": np.inf}, "answered inf as 'capture.phase'"),
        ({"thrust": 1.0}, "answered 'thrust', which it has not announced"),
    ],
)
def test_answers_that_are_none(change, said) -> None:
    good = {"joints.torque": (1.0, 2.0), "base.wrench": np.zeros(6), "latch": True, "capture.phase": 3}
    assert flatten_answer(WHOLE, good).tolist() == [1.0, 2.0, *6 * [0.0], 1.0, 3.0]
    with pytest.raises(SoftwareFault, match=f"software 'pilot' .*{said}"):
        flatten_answer(WHOLE, good | change)
    with pytest.raises(SoftwareFault, match="left 'latch' out of its answer"):
        flatten_answer(WHOLE, {name: value for name, value in good.items() if name != "latch"})
    with pytest.raises(SoftwareFault, match="answered with NoneType in place of numbers by name"):
        flatten_answer(WHOLE, None)


def test_measurements_by_name() -> None:
    layout = MeasurementLayout((ContractField("a", (2, 2)), ContractField("b", ()), ContractField("none", (0,))))
    y = layout.read(np.arange(layout.width, dtype=float))
    assert y["a"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (float(y["b"]), y["none"].size) == (5.0, 0)
    assert (y.taken("b"), y.valid("b"), list(y)) == (7.0, True, ["a", "b", "none"])
    with pytest.raises(KeyError, match=r"'c' was not asked for. Measurements: a, b, none"):
        y["c"]
    with pytest.raises(ValueError, match="read-only"):
        y["a"][0] = 1.0


def test_an_object_that_fails_is_named() -> None:
    class MySoftware:
        name, period, reads, commands = "damper", 0.2, (), {"base.wrench": ()}

        def begin(self, y) -> None:
            raise ZeroDivisionError("by zero")

        def step(self, t, y): ...

    with pytest.raises(SoftwareFault, match="software 'damper' failed in begin: ZeroDivisionError: by zero"):
        InProcess(MySoftware()).begin(np.zeros(1))


def test_the_standard_ports_are_those_of_the_commands() -> None:
    """The contract needs no JAX, so it has a table of its own."""
    assert {kind.kind: (kind.unit, kind.size) for kind in Command.kinds if kind.kind} == STANDARD_PORTS
