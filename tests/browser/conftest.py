"""A real browser, without a screen: headless Chromium with software WebGL."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from support.browsing import Tab, note
from support.recorded import gjm_file, gjm_folder, gjm_run  # noqa: F401

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",  # a stranger's name may lead to this machine
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; the tests are skipped, with the reason, where it is not installed."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=list(_FLAGS))
        yield running
        running.close()


@pytest.fixture
def open_tab(browser: Any) -> Iterator[Any]:
    """A function that opens a URL in a fresh tab; `scheme` is light or dark."""
    contexts = []

    def opened(url: str, scheme: str = "light", ready: str = "html[data-ready]") -> Tab:
        context = browser.new_context(viewport={"width": 1366, "height": 768}, color_scheme=scheme)
        contexts.append(context)
        tab = Tab(context.new_page())
        tab.page.on("console", lambda message: note(tab, message))
        tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.page.on("request", lambda request: tab.requests.append(request.url))
        tab.page.goto(url)
        tab.page.wait_for_selector(ready, state="attached", timeout=60_000)
        return tab

    yield opened
    for context in contexts:
        context.close()
