"""A stranger's page in the same browser as an open studio: it learns nothing, and moves nothing."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("viser", reason="viser is not installed")

from freefloat.studio import Studio

_READY = "text=freefloat studio"
# What a page can try: read, open the viewer's socket at both ports, frame the studio to catch clicks.
_TRY = """async ([gate, inner, token]) => {
    const read = async (url, options) => {
        try { const answer = await fetch(url, options); return `${answer.type} ${answer.status}`; }
        catch (fault) { return "refused"; }
    };
    const socket = (port) => new Promise((done) => {
        const opened = new WebSocket(`ws://127.0.0.1:${port}/`, ["viser-v1"]);
        opened.onopen = () => done("open");
        opened.onerror = () => done("refused");
    });
    const frame = () => new Promise((done) => {
        const made = document.createElement("iframe");
        made.onload = () => setTimeout(() => done(made.name), 500);
        made.src = `http://127.0.0.1:${gate}/`;
        document.body.append(made);
    });
    await frame();
    return {
        read: await read(`http://127.0.0.1:${gate}/`, { credentials: "include" }),
        withToken: await read(`http://127.0.0.1:${gate}/?token=${token}`, { credentials: "include" }),
        inner: await read(`http://127.0.0.1:${inner}/`),
        socket: await socket(gate),
        innerSocket: await socket(inner),
    };
}"""


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html data-ready><body>free prizes</body></html>")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[int]:
    """The port of a server on this machine that is not ours: same site for cookies, another origin."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    made = Studio(tmp_path / "runs", port=0)
    yield made
    made.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "evil.example"])
def test_a_page_from_another_origin_gets_nothing(host: str, studio: Studio, stranger: int, open_tab: Any) -> None:
    tab = open_tab(studio.url, ready=_READY)
    tab.page.wait_for_selector("text=path.length [m]")  # the owner's page works, and its cookie is set
    page = tab.page.context.new_page()
    page.goto(f"http://{host}:{stranger}/")
    found = page.evaluate(_TRY, [studio._gate.port, studio.server.get_port(), studio.token])
    assert set(found.values()) == {"refused"}
    framed = [frame for frame in page.frames if frame != page.main_frame]
    assert framed
    assert "freefloat studio" not in framed[0].content()
    assert len(studio.server.get_clients()) == 1  # the owner, nobody else
    own = tab.page.evaluate(_TRY, [studio._gate.port, studio.server.get_port(), studio.token])
    assert (own["read"], own["socket"], own["innerSocket"]) == ("basic 200", "open", "refused")  # what the owner may


def test_no_token_a_wrong_token_and_another_host_are_refused(studio: Studio, open_tab: Any) -> None:
    port = studio._gate.port
    for address, words in (
        (f"http://127.0.0.1:{port}/", "asks for the token"),
        (f"http://127.0.0.1:{port}/?token=wrong-token-1", "asks for the token"),
        (f"http://evil.example:{port}/?token={studio.token}", "answers its own pages only"),
        (f"http://127.0.0.1:{studio.server.get_port()}/", "at the address that it printed"),
    ):
        refused = open_tab(address, ready=f"text={words}")
        assert "freefloat studio" not in refused.page.inner_text("body")
    assert not studio.server.get_clients()


def test_a_path_outside_the_folder_is_refused_whoever_asks(studio: Studio, tmp_path: Path, open_tab: Any) -> None:
    tab = open_tab(studio.url, ready=_READY)
    studio._recent.value = "../../../etc"  # as a page can send it, whatever it was offered
    studio._open_recent()
    tab.page.wait_for_selector("text=There is no such run")
    assert studio._stage is None
    studio._open_recent()
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"):
        answer = tab.page.context.request.get(f"http://127.0.0.1:{studio._gate.port}{path}")
        assert "root:" not in answer.text()
