"""The door before the studio lets in who has the token, and nobody else."""

import http.client
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("viser", reason="viser is not installed")

from freefloat.studio import Studio, is_local
from freefloat.studio.gate import MARK, Gate
from freefloat.studio.requests import Request, is_own_name
from support.recorded import made_up


class _Inner(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"inside" if self.headers.get(MARK) == "passed" else b"unmark")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def gate() -> Iterator[Gate]:
    inner = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Inner)
    threading.Thread(target=inner.serve_forever, daemon=True).start()
    made = Gate("127.0.0.1", 0, "secret", inner.server_port, "passed")
    yield made
    made.close()
    inner.shutdown()
    inner.server_close()


def _get(gate: Gate, path: str, **headers: str) -> tuple[int, bytes, str]:
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.getheader("Set-Cookie", "")
    connection.close()
    return found


def test_without_the_token_nobody_passes(gate: Gate) -> None:
    cookie = {"Cookie": f"freefloat-{gate.port}=guess"}
    for path, headers in (("/", {}), ("/?token=guess", {}), ("/", cookie), ("/?token=", {})):
        status, body, _ = _get(gate, path, **headers)
        assert status == 403
        assert b"inside" not in body


def test_the_token_is_exchanged_for_a_cookie_that_passes(gate: Gate) -> None:
    status, _, cookie = _get(gate, "/?token=secret")
    assert status == 303
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert _get(gate, "/", Cookie=cookie.split(";")[0])[:2] == (200, b"inside")


def _admitted(gate: Gate, **headers: str) -> bool:
    """Whether a request with the cookie passes."""
    return _get(gate, "/", Cookie=f"freefloat-{gate.port}=secret", **headers)[0] == 200


def test_other_hosts_and_origins_are_refused_with_token_and_cookie_too(gate: Gate) -> None:
    own = f"127.0.0.1:{gate.port}"
    assert _admitted(gate)
    assert _admitted(gate, Origin=f"http://{own}")
    assert _admitted(gate, Host="localhost:9999", Origin="http://localhost:9999")  # through a tunnel
    assert not _admitted(gate, Host="evil.example")  # a name that leads here, made for this
    assert not _admitted(gate, Host=f"evil.example:{gate.port}", Origin=f"http://evil.example:{gate.port}")
    for origin in ("http://evil.example", "null", f"https://{own}", f"http://localhost:{gate.port}", "", "file://"):
        assert not _admitted(gate, Origin=origin)
    for site in ("cross-site", "same-site"):
        assert not _admitted(gate, **{"Sec-Fetch-Site": site})
    assert _get(gate, "/?token=secret", Origin="http://evil.example")[0] == 403
    assert not _admitted(gate, **{MARK: "passed"})  # nobody else may mark


def test_requests_that_make_no_sense() -> None:
    for head in (b"\r\n\r\n", b"GET /\r\n\r\n", b"GET http://x/ HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nhost\r\n\r\n"):
        with pytest.raises(ValueError, match="makes no sense"):
            Request.of(head)
    with pytest.raises(ValueError, match="makes no sense"):  # which of them would the viewer believe?
        Request.of(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
    assert Request.of(b"GET / HTTP/1.1\r\nCookie: ;;==\r\n\r\n").cookie("freefloat") == ""


@pytest.mark.parametrize(
    ("name", "chosen", "own"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("localhost", "127.0.0.1", True),
        ("192.168.0.2", "0.0.0.0", True),
        ("lab", "lab", True),
        ("evil.example", "0.0.0.0", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("", "127.0.0.1", False),
    ],
)
def test_names_of_this_machine(name: str, chosen: str, own: bool) -> None:
    assert is_own_name(name, chosen) == own


def test_the_viewer_behind_the_gate_answers_nobody_else(tmp_path: Path) -> None:
    studio = Studio(tmp_path / "runs", port=0)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", studio.server.get_port(), timeout=10)
        connection.request("GET", "/", headers={MARK: "guess", "Cookie": f"freefloat={studio.token}"})
        assert connection.getresponse().status == 403
        connection.close()
    finally:
        studio.close()


def test_only_runs_under_the_folder_are_opened_and_nothing_is_said_of_others(tmp_path: Path) -> None:
    outside = made_up(20, 1).save(tmp_path / "outside" / "run.nc")
    made_up(20, 1).save(tmp_path / "runs" / "mine" / "run.nc")
    (tmp_path / "runs" / "leads-out").symlink_to(outside.parent)
    studio = Studio(tmp_path / "runs", port=0)
    try:
        sentences = set()
        for value in (
            "../outside",
            str(outside.parent),
            "leads-out",
            "nowhere",
            "../nowhere",
            "/etc",
            "mine/../../outside",
        ):
            studio._recent.value = value
            studio._open_recent()
            sentences.add(studio._message.content)
            assert studio._stage is None
        assert len(sentences) == 1  # whether there is something or not
        assert "no such run" in sentences.pop()
        studio._recent.value = "mine"
        studio._open_recent()
        assert studio._stage is not None
    finally:
        studio.close()


def test_a_file_that_was_not_offered_is_not_run(tmp_path: Path) -> None:
    file = tmp_path / "hostile.py"
    file.write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    studio = Studio(tmp_path / "runs", port=0)
    try:
        studio._choice.value = str(file)
        studio._choose_offered()
        studio._choose_variant()
        assert not (tmp_path / "executed").exists()
    finally:
        studio.close()


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("192.168.0.2", False),
        ("lab", False),
    ],
)
def test_what_counts_as_this_machine(host: str, local: bool) -> None:
    assert is_local(host) == local
