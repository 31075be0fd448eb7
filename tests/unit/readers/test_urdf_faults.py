"""Every fault of a URDF is named with its part and remedy, all of them in one go."""

import pytest

from freefloat.readers import read_urdf
from freefloat.readers.urdf.reader import lint_urdf
from freefloat.values import ModelError


def link(name, ixx="1", mass="1"):
    inertia = f'<mass value="{mass}"/><inertia ixx="{ixx}" iyy="1" izz="1"/>'
    return f'<link name="{name}"><inertial>{inertia}</inertial></link>'


def joint(name="j", kind="continuous", parent="base", child="a", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*parts):
    return '<robot name="arm">' + "".join(parts) + "</robot>"


PAIR = link("base") + link("a")
POINT = '<link name="a"><inertial><mass value="{}"/><inertia ixx="0" iyy="0" izz="0"/></inertial></link>'
WHEEL = '<freefloat><wheel name="{}" link="{}" axis="{}" inertia="{}"/></freefloat>'

FAULTS = {
    "bad xml": ("<robot><link></robot>", ["not well-formed XML", "line 1, column 16"]),
    "not a robot": ("<sdf/>", ["<sdf>", "not <robot>"]),
    "doctype": ("<!DOCTYPE robot []><robot name='a'/>", ["DOCTYPE", "Remove it"]),
    "xacro": (
        '<robot name="a" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arm/></robot>',
        ["xacro source", "Expand it first"],
    ),
    "empty": (robot(), ["robot", "no <link>"]),
    "nameless link": (robot("<link/>"), ["link number 1", "no name", 'Add name="..."']),
    "two links of a name": (robot(link("a"), link("a")), ["link 'a'", "two links of this name", "Rename"]),
    "two joints of a name": (
        robot(PAIR, link("b"), joint(), joint(child="b")),
        ["joint 'j'", "two joints", "Rename"],
    ),
    "missing parent": (
        robot(PAIR, joint(parent="x")),
        ["joint 'j'", "parent link 'x' does not exist", "base, a"],
    ),
    "missing child": (
        robot(PAIR, joint(child="x")),
        ["joint 'j'", "child link 'x' does not exist", "base, a"],
    ),
    "no parent element": (
        robot(PAIR, '<joint name="j" type="fixed"><child link="a"/></joint>'),
        ["joint 'j'", "no <parent>", "Add"],
    ),
    "no link attribute": (
        robot(PAIR, '<joint name="j" type="fixed"><parent/><child link="a"/></joint>'),
        ["joint 'j'", "<parent> has no link"],
    ),
    "no type": (
        robot(PAIR, '<joint name="j"><parent link="base"/><child link="a"/></joint>'),
        ["joint 'j'", "<joint> has no type"],
    ),
    "several roots": (robot(PAIR), ["2 links have no parent: base, a", "join them"]),
    "two parents": (
        robot(PAIR, link("b"), joint(), joint("k", child="b"), joint("l", parent="b")),
        ["link 'a'", "child of 2 joints: j, l", "keep one"],
    ),
    "cycle beside the root": (
        robot(PAIR, link("b"), joint(parent="a", child="b"), joint("k", parent="b", child="a")),
        ["cycle", "b -> a -> b", "Remove one"],
    ),
    "cycle without root": (robot(link("a"), joint(parent="a")), ["cycle", "a -> a", "Remove one"]),
    "moving link without mass": (
        robot(link("base"), '<link name="a"/>', joint()),
        ["link 'a'", "moves on joint 'j'", "no mass", "make joint 'j' fixed"],
    ),
    "zero mass and inertia": (
        robot(link("base"), POINT.format(0), joint()),
        ["link 'a'", "moves on joint 'j'", "no mass"],
    ),
    "base without mass": (
        robot('<link name="hub"/>'),
        ["link 'hub'", "free base", "no mass", "Add <inertial>"],
    ),
    "moving point mass": (
        robot(link("base"), POINT.format(1), joint()),
        ["link 'a'", "moves on joint 'j'", "smallest principal moment is 0 kg m2"],
    ),
    "zero mass": (robot(link("base", mass="0")), ["link 'base'", "mass must be positive, got 0 kg"]),
    "negative mass": (robot(link("base", mass="-2")), ["link 'base'", "mass must be positive, got -2 kg"]),
    "triangle": (
        robot(link("base", ixx="2.5")),
        ["link 'base'", "triangle inequality: 1 + 1 < 2.5 kg m2, by 0.5"],
    ),
    "not positive": (robot(link("base", ixx="-1")), ["link 'base'", "positive definite", "-1 kg m2"]),
    "no inertia": (
        robot('<link name="base"><inertial><mass value="1"/></inertial></link>'),
        ["link 'base'", "<inertial> has no <inertia>", "Add it"],
    ),
    "no moment": (
        robot('<link name="base"><inertial><mass value="1"/><inertia ixx="1"/></inertial></link>'),
        ["link 'base'", "<inertia iyy> is missing", "<inertia izz> is missing"],
    ),
    "nan": (robot(link("base", ixx="nan")), ["link 'base'", "<inertia ixx>: 'nan' is not a finite number"]),
    "infinite": (
        robot(link("base", mass="inf")),
        ["link 'base'", "<mass value>: 'inf' is not a finite number"],
    ),
    "no number": (robot(link("base", mass="${m}")), ["link 'base'", "'${m}' is not a finite number"]),
    "underscore": (robot(link("base", mass="1_0")), ["link 'base'", "'1_0' is not a finite number"]),
    "vector length": (
        robot(PAIR, joint(inside='<origin xyz="0 1"/>')),
        ["joint 'j'", "<origin xyz> needs 3 numbers, got '0 1'"],
    ),
    "comma": (
        robot(PAIR, joint(inside='<axis xyz="0,0,1"/>')),
        ["joint 'j'", "needs 3 numbers", "by blanks"],
    ),
    "zero axis": (
        robot(PAIR, joint(inside='<axis xyz="0 0 0"/>')),
        ["joint 'j'", "<axis xyz> is zero", "0 0 1"],
    ),
    "axis without xyz": (robot(PAIR, joint(inside="<axis/>")), ["joint 'j'", "<axis xyz> is missing"]),
    "two origins": (
        robot(PAIR, joint(inside="<origin/><origin/>")),
        ["joint 'j'", "2 <origin> elements", "Keep one"],
    ),
    "no leader": (robot(PAIR, joint(inside='<mimic joint="k"/>')), ["joint 'j'", "mimics 'k'", "remove <mimic>"]),
    "mimics itself": (robot(PAIR, joint(inside='<mimic joint="j"/>')), ["joint 'j'", "mimics 'j'", "Let one"]),
    "mimics a fixed joint": (
        robot(PAIR, link("b"), joint("k", "fixed", child="b"), joint(inside='<mimic joint="k"/>')),
        ["joint 'j'", "mimics 'k', which is fixed", "Make it fixed too"],
    ),
    "mimics what it carries": (
        robot(PAIR, link("b"), joint(inside='<mimic joint="k"/>'), joint("k", parent="a", child="b")),
        ["joint 'j'", "mimics 'k', which it carries itself", "instead"],
    ),
    "mimic without joint": (robot(PAIR, joint(inside="<mimic/>")), ["joint 'j'", "<mimic> has no joint"]),
    "negative friction": (
        robot(PAIR, joint(inside='<dynamics friction="-0.1"/>')),
        ["joint 'j'", "friction> is -0.1", "zero or more"],
    ),
    "enormous": (robot(link("base", mass="1e200")), ["link 'base'", "beyond 1e+100", "SI units"]),
    "negative damping": (
        robot(PAIR, joint(inside='<dynamics damping="-1"/>')),
        ["joint 'j'", "damping> is -1", "zero"],
    ),
    "planar": (robot(PAIR, joint(kind="planar")), ["joint 'j'", "'planar' is not modelled", "two prismatic"]),
    "unknown type": (
        robot(PAIR, joint(kind="ball")),
        ["joint 'j'", "'ball' is not modelled", "Types: revolute"],
    ),
    "floating inside": (robot(PAIR, joint(kind="floating")), ["joint 'j'", "'floating'", "file of its own"]),
    "loop": (robot(link("base"), "<loop_joint/>"), ["<loop_joint>", "cut the loop"]),
    "limits exchanged": (
        robot(PAIR, joint(kind="revolute", inside='<limit lower="1" upper="-1" velocity="1" effort="1"/>')),
        ["joint 'j'", "lower 1 above upper -1", "Exchange"],
    ),
    "negative effort": (
        robot(PAIR, joint(inside='<limit velocity="1" effort="-1"/>')),
        ["joint 'j'", "<limit effort> is -1", "positive"],
    ),
    "misspelt element": (
        robot(PAIR, joint(inside="<limits/>")),
        ["joint 'j'", "<limits>", "'limit' was meant"],
    ),
    "misspelt attribute": (
        robot(PAIR, joint(inside='<dynamics dampng="1"/>')),
        ["joint 'j'", "'dampng'", "'damping' was meant"],
    ),
    "wheel on nothing": (
        robot(link("base"), WHEEL.format("w", "x", "1 0 0", "0.1")),
        ["wheel 'w'", "'x' does not exist"],
    ),
    "wheel too large": (
        robot(link("base"), WHEEL.format("w", "base", "1 0 0", "2")),
        ["wheel 'w'", "exceed"],
    ),
    "wheel without axis": (
        robot(link("base"), WHEEL.format("w", "base", "0 0 0", "0.1")),
        ["wheel 'w'", "not all zero"],
    ),
    "wheel named as a joint": (
        robot(PAIR, joint(), WHEEL.format("j", "base", "1 0 0", "0.1")),
        ["wheel 'j'", "name of a joint", "Rename"],
    ),
    "rotor of no joint": (
        robot(PAIR, joint(), '<freefloat><rotor joint="k" inertia="1"/></freefloat>'),
        ["<rotor>", "no moving joint 'k'", "Moving joints: j"],
    ),
    "rotor with negative inertia": (
        robot(PAIR, joint(), '<freefloat><rotor joint="j" inertia="-1"/></freefloat>'),
        ["<rotor>", "joint 'j' is -1", "zero or more"],
    ),
    "two rotors": (
        robot(PAIR, joint(), '<freefloat><rotor joint="j" inertia="1"/><rotor joint="j" inertia="1"/></freefloat>'),
        ["<rotor>", "joint 'j' has two", "Remove one"],
    ),
    "keep what is not fixed": (
        robot(PAIR, joint(), '<freefloat><keep joint="j"/></freefloat>'),
        ["<keep>", "no fixed joint 'j'", "Fixed joints: none"],
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_named_with_its_remedy(case):
    text, said = FAULTS[case]
    with pytest.raises(ModelError) as caught:
        read_urdf(text)
    message = str(caught.value)
    assert message.startswith("URDF 'XML text': ")
    for words in said:
        assert words in message
    errors = [finding for finding in lint_urdf(text) if finding.severity == "error"]
    assert all(str(error) in message for error in errors)
    # One fault is one line: nothing follows from it.
    assert len(errors) == (2 if case == "no moment" else 1), errors


def test_all_faults_are_reported_together(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        robot(link("base", ixx="5"), link("a", mass="x"), joint(inside='<axis xyz="0 0 0"/><mimic joint="k"/>'))
    )
    with pytest.raises(ModelError) as caught:
        read_urdf(path)
    first, *lines = str(caught.value).splitlines()
    assert first == f"URDF 'arm.urdf': {len(lines)} faults:"
    expected = {"triangle": "link 'base'", "'x'": "link 'a'", "zero": "joint 'j'", "mimic": "joint 'j'"}
    for words, part in expected.items():
        assert any(line.startswith(f"  {part}: ") and words in line for line in lines)


def test_errors_come_before_warnings():
    found = lint_urdf(robot("<gazebo/>", link("base", mass="-1")))
    assert [finding.severity for finding in found] == ["error", "warning"]


@pytest.mark.parametrize("reader", [read_urdf, lambda path: [str(f) for f in lint_urdf(path)]])
def test_files_that_cannot_be_read_are_named(tmp_path, reader):
    def said(path):
        try:
            return "\n".join(reader(path))
        except ModelError as fault:
            return str(fault)

    assert f"there is no file '{tmp_path / 'no.urdf'}'" in said(tmp_path / "no.urdf")
    assert "cannot be read" in said(tmp_path)
    latin = tmp_path / "latin.urdf"
    latin.write_bytes('<robot name="é"/>'.encode("latin-1"))
    assert "Save the file as UTF-8" in said(latin)


def test_entities_do_not_expand():
    """The billion laughs: 1e9 characters, and a test that never ends, if anyone expands it."""
    lines = ['<!ENTITY a0 "ha">'] + [f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10)]
    text = f'<?xml version="1.0"?><!DOCTYPE robot [{"".join(lines)}]><robot name="r"><link name="&a9;"/></robot>'
    with pytest.raises(ModelError, match="DOCTYPE"):
        read_urdf(text)


def test_a_document_type_cannot_hide():
    """A comment that begins in one processing instruction and ends in another is none for the parser."""
    entity = '<!DOCTYPE robot [<!ENTITY a "1">]>'
    with pytest.raises(ModelError, match="DOCTYPE"):
        read_urdf(f"<?x <!-- ?>{entity}<?y --> ?><robot name='r'><link name='&a;'/></robot>")
