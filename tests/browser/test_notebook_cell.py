"""The page of a run within the output of a notebook's cell: it draws, in its sandbox, and asks for nothing."""

from support.browsing import not_blank


def test_a_run_in_a_cell_draws_its_scene_and_plots(gjm_run, open_tab, tmp_path):
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><body>{gjm_run._repr_html_()}</body>", encoding="utf-8")
    tab = open_tab(cell.as_uri(), ready="iframe")
    frame = tab.page.frames[1]
    frame.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
    tab.page.wait_for_timeout(1500)  # the plots are drawn one after the other
    tab.keep("notebook-cell")
    tab.page = frame
    assert not_blank(tab, "#canvas") > 10
    assert frame.locator("#plots > *").count() >= 2
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("file:", "blob:", "about:", "data:"))] == []
