"""Run files that are broken or ill-meant: the page still opens, and nothing in them is executed."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.report import page
from freefloat.sim import Run
from freefloat.values.labelled import LabelledArrays
from support.recorded import made_up

_EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>$$\\unsafe$$"


def _opened(run: Run, open_tab: Any, tmp_path: Path) -> Any:
    file = page(run.save(tmp_path / "run.nc"), tmp_path / "page.html")
    tab = open_tab(file.as_uri())
    tab.page.wait_for_timeout(200)
    assert tab.page.evaluate("typeof window.hacked") == "undefined"
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("blob:", "data:"))] == [file.as_uri()]
    return tab


def test_names_with_markup_in_them_stay_text(gjm_run: Run, open_tab: Any, tmp_path: Path) -> None:
    name = _EVIL.replace("/", "")  # NetCDF itself refuses a slash in a name
    data = gjm_run.data.assign({name: (("time", "xyz"), gjm_run["base.position"].values, {"units": _EVIL})})
    data[name].attrs |= {"long_name": _EVIL, "frame": _EVIL}
    scene = gjm_run.scene | {"name": _EVIL, "bodies": [{**b, "name": _EVIL} for b in gjm_run.scene["bodies"]]}
    claim = {**gjm_run.claims[0], "claim": _EVIL, "source": _EVIL, "unit": _EVIL}
    run = dataclasses.replace(
        gjm_run,
        recorded=LabelledArrays.of(data),
        status=_EVIL,
        scenario={"scenario": _EVIL, _EVIL: _EVIL},
        description=dataclasses.replace(
            gjm_run.description,
            title=_EVIL,
            summary=_EVIL,
            source=_EVIL,
            notes=(_EVIL,),
            outcome=_EVIL,
            units={_EVIL: _EVIL},
            parts=({"part": _EVIL, "kind": _EVIL, _EVIL: _EVIL},),
        ),
        claims=(claim, {"claim": _EVIL}),
        versions={_EVIL: _EVIL},
        scene=scene,
        events=({"time": 3.0, "label": _EVIL},),
    )
    tab = _opened(run, open_tab, tmp_path)
    tab.page.evaluate("(name) => freefloat.plots.show(name)", name)
    tab.page.wait_for_timeout(200)
    assert tab.page.evaluate("typeof window.hacked") == "undefined"
    assert tab.complaints == []
    assert re.search(r"<script>window\.hacked", tab.page.inner_text("h1"))
    tab.keep("hostile-names")


def test_numbers_that_are_none(gjm_run: Run, open_tab: Any, tmp_path: Path) -> None:
    data = gjm_run.data.copy(deep=True)
    for name in ("base.roll_pitch_yaw", "bodies.position", "bodies.attitude", "hand.position"):
        data[name].values[100:140] = np.nan
    data["joints.rate"].values[:] = np.inf
    data["momentum.angular_com"].values[5, 0] = -np.inf
    tab = _opened(dataclasses.replace(gjm_run, recorded=LabelledArrays.of(data)), open_tab, tmp_path)
    assert "40 samples are not finite" in tab.page.inner_text("#plots")
    tab.page.evaluate("freefloat.setTime(6)")
    tab.keep("hostile-nan")


def test_channels_that_are_missing(gjm_run: Run, open_tab: Any, tmp_path: Path) -> None:
    bare = dataclasses.replace(gjm_run, recorded=LabelledArrays.of(gjm_run.data[["joints.rate"]]), claims=())
    tab = _opened(bare, open_tab, tmp_path)
    assert tab.page.locator(".plot").count() == 1
    assert "nothing to draw" in tab.page.locator("#scene").get_attribute("data-message")


def test_no_channel_at_all(open_tab: Any, tmp_path: Path) -> None:
    empty = dataclasses.replace(made_up(2, 1), recorded=LabelledArrays())
    tab = _opened(empty, open_tab, tmp_path)
    assert tab.page.locator(".plot").count() == 0


def test_ten_million_samples(open_tab: Any, tmp_path: Path) -> None:
    run = made_up(10_000_000, 1, components=1)
    run.data["channel.0"].values[7_654_321, 0] = 40.0  # one sample in ten million
    file = page(run, tmp_path / "page.html")
    assert file.stat().st_size < 6e6
    tab = open_tab(file.as_uri())
    largest = tab.page.evaluate("Math.max(...freefloat.plots.open.get('channel.0').lines[0].y)")
    assert largest == 40.0
    assert tab.complaints == []
    tab.keep("hostile-ten-million")
