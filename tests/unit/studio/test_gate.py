"""The door before the studio lets in who has the token, and nobody else."""

import http.client
import http.server
import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("viser", reason="viser is not installed")

from freefloat.studio.gate import Gate, tokens_of
from freefloat.studio.studio import _is_local


class _Inner(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"inside")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def gate() -> Iterator[Gate]:
    inner = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Inner)
    threading.Thread(target=inner.serve_forever, daemon=True).start()
    made = Gate("127.0.0.1", 0, "secret", inner.server_port)
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
    for path, headers in (("/", {}), ("/?token=guess", {}), ("/", {"Cookie": "freefloat=guess"}), ("/?token=", {})):
        status, body, _ = _get(gate, path, **headers)
        assert status == 403
        assert b"inside" not in body


def test_the_token_is_exchanged_for_a_cookie_that_passes(gate: Gate) -> None:
    status, _, cookie = _get(gate, "/?token=secret")
    assert status == 303
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert _get(gate, "/", Cookie=cookie.split(";")[0])[:2] == (200, b"inside")


def test_requests_that_make_no_sense() -> None:
    assert tokens_of(b"\r\n\r\n") == ("", "")
    assert tokens_of(b"GET / HTTP/1.1\r\nCookie: ;;==\r\n\r\n") == ("", "")


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
    assert _is_local(host) == local
