"""The viewer's server, which accepts only requests that passed the gate."""

from __future__ import annotations

import contextlib
import hmac
import http.client
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from freefloat.studio.gate import MARK

_patching = threading.Lock()


def require_viser() -> Any:
    """The package viser; the error without it says how to install it."""
    try:
        import viser
    except ModuleNotFoundError:
        raise ValueError("The studio needs viser. Install it: pip install 'freefloat[studio]'.") from None
    return viser


def start_viewer(label: str, mark: str) -> Any:
    """Start a server of the viewer on a free local port; it rejects requests without the mark."""
    viser = require_viser()
    with contextlib.redirect_stdout(io.StringIO()), _guard_servers(mark):  # its banner would show the wrong address
        server = viser.ViserServer(host="127.0.0.1", port=0, label=label, verbose=False)
    if not _rejects_unmarked(server.get_port()):
        server.stop()
        raise ValueError(f"viser {viser.__version__} cannot be guarded. Install one that can: pip install 'viser<2'.")
    return server


@contextmanager
def _guard_servers(mark: str) -> Iterator[None]:
    """Within it, servers that the viewer starts check the mark first; viser itself has no option for that."""
    import websockets.asyncio.server as sockets

    serve = sockets.serve

    def guarded_serve(*args: Any, process_request: Callable[..., Any], **options: Any) -> Any:
        def admit(connection: Any, request: Any) -> Any:
            if not hmac.compare_digest(request.headers.get(MARK, ""), mark):
                return connection.respond(403, "The studio answers at the address that it printed.\n")
            return process_request(connection, request)

        return serve(*args, process_request=admit, **options)

    with _patching:
        sockets.serve = guarded_serve
        try:
            yield
        finally:
            sockets.serve = serve


def _rejects_unmarked(port: int) -> bool:
    """Whether the server rejects a request without the mark."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10.0)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == 403
    finally:
        connection.close()
