"""A door before the studio for other machines: who does not bring the token is sent away.

The studio itself listens on this machine only. The gate forwards connections whose first request carries the token,
in the address (`?token=...`, then remembered in a cookie) or in that cookie.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import threading
from concurrent.futures import Future
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

_HEAD = 32 * 1024  # bytes of a request's head, at most
_PATIENCE = 10.0  # for the head of a request [s]
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 48\r\nConnection: close\r\n\r\n"
_REFUSED += b"The studio asks for the token that it printed. \n"


class Gate:
    """Listens on an address of one's choice and forwards to a local port."""

    def __init__(self, host: str, port: int, token: str, inner_port: int) -> None:
        self._token, self._inner = token, inner_port
        self._loop = asyncio.new_event_loop()
        self._listening: Future[asyncio.Server] = Future()
        self._thread = threading.Thread(target=self._serve, args=(host, port), daemon=True)
        self._thread.start()
        self._server = self._listening.result()  # or what kept it from listening
        self.port: int = self._server.sockets[0].getsockname()[1]

    def _serve(self, host: str, port: int) -> None:
        """The thread of the gate: a loop of its own, whatever the caller's thread is doing."""
        try:
            starting = asyncio.start_server(self._greet, host, port, limit=_HEAD)
            self._listening.set_result(self._loop.run_until_complete(starting))
            self._loop.run_forever()
            self._loop.run_until_complete(self._let_go())
        except OSError as fault:
            self._listening.set_exception(ValueError(f"Cannot listen on {host}, port {port}: {fault.strerror}."))
        finally:
            self._loop.close()

    async def _let_go(self) -> None:
        self._server.close()
        connected = asyncio.all_tasks() - {asyncio.current_task()}
        for task in connected:
            task.cancel()
        await asyncio.gather(*connected, return_exceptions=True)

    def close(self) -> None:
        """Stop listening and let go of whoever is connected."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
            await self._admit(head, reader, writer)
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def _admit(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked, remembered = tokens_of(head)
        if self._knows(asked):
            cookie = f"freefloat={self._token}; HttpOnly; SameSite=Strict; Path=/"
            answer = f"HTTP/1.1 303 See Other\r\nLocation: /\r\nSet-Cookie: {cookie}\r\nContent-Length: 0\r\n\r\n"
            writer.write(answer.encode())
            await writer.drain()
        elif self._knows(remembered):
            await self._forward(head, reader, writer)
        else:
            writer.write(_REFUSED)
            await writer.drain()

    def _knows(self, token: str) -> bool:
        return bool(token) and hmac.compare_digest(token.encode(), self._token.encode())

    async def _forward(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._inner)
        try:
            inner_writer.write(head)
            await asyncio.gather(_pour(reader, inner_writer), _pour(inner_reader, writer))
        finally:
            inner_writer.close()


async def _pour(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    with contextlib.suppress(OSError):
        sink.close()


def tokens_of(head: bytes) -> tuple[str, str]:
    """The token in the address and the one in the cookie of a request's head; empty where there is none."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    asked = parse_qs(urlsplit(words[1]).query).get("token", [""])[0] if len(words) == 3 else ""
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() == "cookie":
            cookie = SimpleCookie()
            with contextlib.suppress(Exception):
                cookie.load(value.strip())
            if "freefloat" in cookie:
                return asked, cookie["freefloat"].value
    return asked, ""
