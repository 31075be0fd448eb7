"""Robots that nobody would write, and XML that was made to do harm: read, or refused by name."""

import copy
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freefloat.model import Spacecraft
from freefloat.readers import read_urdf
from freefloat.readers.reports import ReadingNote
from freefloat.readers.safe_xml import parse_xml
from freefloat.values import ModelError

DATA = Path(__file__).parents[3] / "examples" / "data"
_ROBOTS = [path.read_text(encoding="utf-8") for path in (DATA / "servicer.urdf", DATA / "robots" / "gripper.urdf")]
_JUNK = st.one_of(
    st.floats().map(str),
    st.lists(st.floats(), max_size=6).map(lambda numbers: " ".join(map(str, numbers))),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12),
    st.sampled_from(
        ["", " ", "1e308", "-1e308", "1e400", "5e-324", "0 0 0", "nan", "inf", "base", "world", "a/b", ".", ".."]
    ),
)


def _read_or_refuse(text: str) -> Spacecraft | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        try:
            return read_urdf(text)
        except ModelError as fault:
            assert len(str(fault)) > 10  # noqa: PT017 (it may be read as well)
            return None


@settings(max_examples=50, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_robots(data: st.DataObject) -> None:
    robot = ET.fromstring(data.draw(st.sampled_from(_ROBOTS)))
    for _ in range(data.draw(st.integers(1, 4))):
        elements = list(robot.iter())
        one, other = (elements[data.draw(st.integers(0, len(elements) - 1))] for _ in range(2))
        kind = data.draw(st.sampled_from(["attribute", "attribute", "remove", "copy", "tag", "text"]))
        if kind == "attribute" and one.attrib:
            one.set(data.draw(st.sampled_from(sorted(one.attrib))), data.draw(_JUNK))
        elif kind == "remove" and len(one):
            one.remove(one[data.draw(st.integers(0, len(one) - 1))])
        elif kind == "copy":
            one.append(copy.deepcopy(other))
        elif kind == "tag":
            one.tag = other.tag
        else:
            one.text = data.draw(_JUNK)
    _read_or_refuse(ET.tostring(robot, encoding="unicode"))


@settings(max_examples=120, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=st.text(max_size=60).map("<{}".format) | st.text(st.sampled_from("<>/?!&;[]-\"'= arobotlink\n\0"), max_size=60)
)
def test_text_that_is_no_robot(text: str) -> None:
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        assert _read_or_refuse(text) is None


_LINK = (
    '<link name="base"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
_SECRET = "root:x:0:0"


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE robot SYSTEM "file://{secret}">',
        '<!DOCTYPE robot [<!ENTITY a SYSTEM "file://{secret}">]>',
        '<!DOCTYPE robot [<!ENTITY % a SYSTEM "file://{secret}"> %a;]>',
        '<?xml version="1.0"?><?x <!-- ?><!DOCTYPE robot [<!ENTITY a SYSTEM "file://{secret}">]><?x --> ?>',
        '<?xml version="1.0" standalone="no"?><!DOCTYPE robot PUBLIC "-//x" "{secret}">',
        '<!-- ?> --><!DOCTYPE robot [<!ENTITY a "b">]>',
    ],
)
def test_document_types_are_refused_wherever_they_hide(head: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(_SECRET)
    text = head.format(secret=secret) + f'<robot name="r">&a;{_LINK}</robot>'
    with pytest.raises(ModelError, match="DOCTYPE") as refused:
        read_urdf(text if text.startswith("<") else "<" + text)
    assert _SECRET not in str(refused.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "cp037"])
def test_no_encoding_hides_a_document_type(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"/>'
    with pytest.raises(Exception, match=r"DOCTYPE|not well-formed|encoding|syntax|multi-byte"):
        parse_xml(text.encode(encoding))


def test_processing_instructions_are_left_out() -> None:
    text = (
        f'<?xml version="1.0"?><?xml-stylesheet href="http://evil.example/x"?><robot name="r"><?php x ?>{_LINK}</robot>'
    )
    assert read_urdf(text).name == "r"


def test_elements_nested_for_ever_are_refused() -> None:
    with pytest.raises(ModelError, match="nested more than 200 deep"):
        read_urdf("<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>")


def test_names_that_no_file_could_hold_are_refused_with_their_remedy() -> None:
    link = _LINK.replace('"base"', '"arm/base"')
    with pytest.raises(ModelError, match="a slash separates folders"):
        read_urdf(
            f'<robot name="r">{_LINK}{link}<joint name="j" type="revolute"><parent link="base"/><child '
            'link="arm/base"/><axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint></robot>'
        )
    craft = Spacecraft.from_base("hub", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for name in ("a/b", "/", ".", "a\n", "a\0"):
        with pytest.raises(ModelError, match="cannot be called"):
            craft.with_frame(name, body="base")
        with pytest.raises(ModelError, match="cannot be called"):
            craft.with_link(name, parent="base", joint="revolute", mass=1.0, inertia=(1.0, 1.0, 1.0))
