"""COLLADA: what the scene shows, in metres; everything else is a sentence."""

import numpy as np
import pytest

from freefloat.readers.mesh_files import MeshError, read_mesh

SCENE = """<node id="top"><translate>0 0 3</translate>
  <node><rotate>0 0 1 90</rotate><scale>2 1 1</scale><instance_geometry url="#square"/></node>
  <node><matrix>1 0 0 5  0 1 0 0  0 0 1 0  0 0 0 1</matrix><instance_geometry url="#square"/></node></node>"""


def collada(scene=SCENE, part="polylist", inside="<vcount>4</vcount><p>0 9 1 9 2 9 3 9</p>", before=""):
    return f"""<?xml version="1.0"?>{before}<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema">
    <asset><unit meter="0.001"/><up_axis>Y_UP</up_axis></asset>
    <library_geometries><geometry id="square"><mesh>
      <source id="s"><float_array count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
        <technique_common><accessor stride="3"/></technique_common></source>
      <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
      <{part}><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>
        {inside}</{part}></mesh></geometry></library_geometries>
    <library_visual_scenes><visual_scene>{scene}</visual_scene></library_visual_scenes></COLLADA>"""


def read(tmp_path, text):
    path = tmp_path / "part.dae"
    path.write_text(text)
    return read_mesh(path)


def test_the_scene_is_read_in_metres(tmp_path):
    vertices, faces = read(tmp_path, collada())
    assert faces.shape == (4, 3)
    corners = sorted(np.round(1e3 * vertices, 12).tolist())
    # The unit square, doubled along x and turned a quarter, and another one 5 further; both 3 up, in millimetres.
    one = [[-1, 0, 3], [-1, 2, 3], [0, 0, 3], [0, 2, 3]]
    other = [[5, 0, 3], [5, 1, 3], [6, 0, 3], [6, 1, 3]]
    np.testing.assert_allclose(corners, sorted(one + other), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("part", "inside"),
    [("triangles", "<p>0 9 1 9 2 9 0 9 2 9 3 9</p>"), ("polygons", "<p>0 9 1 9 2 9 3 9</p>")],
)
def test_other_primitives_are_the_same(tmp_path, part, inside):
    np.testing.assert_array_equal(read(tmp_path, collada(part=part, inside=inside))[1], read(tmp_path, collada())[1])


def test_without_a_scene_every_geometry_is_shown(tmp_path):
    vertices, faces = read(tmp_path, collada(scene=""))
    assert (len(vertices), len(faces)) == (4, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (collada()[:400], "cannot be read"),
        (collada(before='<!DOCTYPE COLLADA [<!ENTITY a "1">]>'), "DOCTYPE"),
        (collada().replace("#square", "#circle"), "lacks a part that it refers to: 'circle'"),
        (collada().replace('semantic="POSITION"', 'semantic="COLOR"'), "lacks a part"),
        (collada().replace("0 9 1 9", "0 9 x 9"), "cannot be read"),
        (collada().replace("0 9 1 9", "0 9 7 9"), "no sound triangles"),
        (collada().replace("0 0 0 1 0 0", "0 0 0 1 0 nan"), "no sound triangles"),
        (collada(scene='<node id="a"><instance_node url="#a"/></node>'), "more than 10000 nodes"),
        ("<COLLADA/>", "no sound triangles"),
    ],
)
def test_what_cannot_be_drawn_is_said(tmp_path, text, said):
    with pytest.raises(MeshError, match=r"part\.dae") as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
