"""Messages through local sockets, Unix ones or TCP on this machine, with deadlines."""

from __future__ import annotations

import ipaddress
import os
import socket
import stat
import time
from pathlib import Path

import numpy as np

from freefloat.outside.contract import ContractError
from freefloat.outside.messages import Decoder, Kind, Message, encode

_PIECE = 65536  # bytes


def make_socket(address: str, *, remote: bool = False) -> tuple[socket.socket, str | tuple[str, int]]:
    """A socket for an address, `unix:/path` or `tcp:127.0.0.1:5000`; other machines only with `remote`."""
    kind, _, rest = address.partition(":")
    if kind == "unix" and rest:
        if not hasattr(socket, "AF_UNIX"):
            raise ContractError("This system has no Unix sockets. Use tcp:127.0.0.1:PORT.")
        if len(os.fsencode(rest)) > 100:
            raise ContractError(f"The path of a Unix socket has at most 100 bytes: {rest}. Choose a shorter folder.")
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), rest
    host, _, port = rest.rpartition(":")
    if kind != "tcp" or not port.isdigit() or int(port) > 65535:
        raise ContractError(f"'{address}' is no address. Write unix:/path/of/socket or tcp:127.0.0.1:PORT.")
    try:
        place = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise ContractError(f"'{host}' is no address of this machine. Write 127.0.0.1.") from None
    if not place.is_loopback and not remote:
        raise ContractError(
            f"'{host}' is not on this machine, and nothing is encrypted or signed here. If the network between is "
            "yours alone, say remote=True."
        )
    tcp = socket.socket(socket.AF_INET6 if place.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tcp, (str(place), int(port))


def open_listener(address: str, *, remote: bool = False) -> tuple[socket.socket, str]:
    """A socket that listens for a single connection, and its address (for port 0 with the port that was chosen)."""
    listener, where = make_socket(address, remote=remote)
    if isinstance(where, str):
        _remove_stale(Path(where))
    try:
        listener.bind(where)
        if isinstance(where, str):
            Path(where).chmod(0o600)
        listener.listen(1)
    except OSError as error:
        listener.close()
        raise ContractError(f"Nobody can be waited for at {address}: {error}.") from None
    if isinstance(where, str):
        return listener, address
    host, port = listener.getsockname()[:2]
    return listener, f"tcp:{host}:{port}"


def _remove_stale(path: Path) -> None:
    """Delete a Unix socket that an ended process left behind; a socket in use and any other file stay."""
    if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
        probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink()
        finally:
            probe.close()


class SocketConnection:
    """A connected socket that carries messages."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket, self._decoder = connected, Decoder()

    def send(self, kind: Kind, sequence: int, body: bytes | str | np.ndarray = b"", wait: float = 10.0) -> None:
        """Send a message within `wait` [s]; raises a ConnectionError when the other side has closed."""
        self._socket.settimeout(wait)
        self._socket.sendall(encode(kind, sequence, body))

    def receive(self, wait: float | None) -> Message:
        """The next message, within `wait` [s] (None: without limit).

        Raises a TimeoutError when none comes, a ConnectionError when the other side has closed, and a WireError when
        bytes are no message.
        """
        end = None if wait is None else time.perf_counter() + wait
        while (message := self._decoder.next_message()) is None:
            left = None if end is None else max(0.0, end - time.perf_counter())
            self._socket.settimeout(left)
            try:
                content = self._socket.recv(_PIECE)
            except (TimeoutError, BlockingIOError):
                if left:
                    continue  # the last attempt does not wait
                raise TimeoutError from None
            if not content:
                raise ConnectionError("the connection was closed")
            self._decoder.feed(content)
        return message

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
