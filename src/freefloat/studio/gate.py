"""Access control of the studio, for this machine and for others: requests without the token are rejected.

A request passes if its host is a name of this machine, if it comes from a page of the studio itself, and if it has the
token in the address (`?token=...`, then stored in a cookie) or in that cookie. The viewer behind the gate listens on
this machine only, and accepts only requests that the gate has marked: any other page or program that finds its port is
rejected there, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import threading
from concurrent.futures import Future

from freefloat.studio.requests import Request, is_own_name

_HEAD = 32 * 1024  # bytes of a request's head, at most
_PATIENCE = 10.0  # for the head of a request [s]
MARK = "X-Freefloat-Gate"  # the header of requests that passed


def _refusal(words: str) -> bytes:
    body = f"{words}\n".encode()
    head = f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    return head.encode() + b"\r\n" + body


_NO_TOKEN = _refusal("The studio asks for the token that it printed.")
_STRANGER = _refusal("The studio answers its own pages only. Open the address that it printed.")


class Gate:
    """Listens on a given address and forwards permitted requests to a local port."""

    def __init__(self, host: str, port: int, token: str, inner_port: int, mark: str) -> None:
        self._host, self._token, self._inner, self._mark = host, token, inner_port, mark
        self._loop = asyncio.new_event_loop()
        self._listening: Future[asyncio.Server] = Future()
        self._thread = threading.Thread(target=self._serve, args=(host, port), daemon=True)
        self._thread.start()
        self._server = self._listening.result()  # raises the error if it cannot listen
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._cookie = f"freefloat-{self.port}"  # browsers share cookies between the ports of a machine

    def _serve(self, host: str, port: int) -> None:
        """Run the event loop of the gate in a thread of its own."""
        try:
            starting = asyncio.start_server(self._serve_connection, host, port, limit=_HEAD)
            self._listening.set_result(self._loop.run_until_complete(starting))
            self._loop.run_forever()
            self._loop.run_until_complete(self._close_connections())
        except OSError as fault:
            self._listening.set_exception(ValueError(f"Cannot listen on {host}, port {port}: {fault.strerror}."))
        except (OverflowError, UnicodeError):
            self._listening.set_exception(ValueError(f"There is no address {host!r}, port {port}."))
        finally:
            self._loop.close()

    async def _close_connections(self) -> None:
        self._server.close()
        connected = asyncio.all_tasks() - {asyncio.current_task()}
        for task in connected:
            task.cancel()
        await asyncio.gather(*connected, return_exceptions=True)

    def close(self) -> None:
        """Stop listening and close all connections."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
            await self._check_request(head, reader, writer)
        except (TimeoutError, OSError, ValueError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _check_request(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = Request.of(head)
        if not is_own_name(request.host, self._host) or not request.is_from_our_page or MARK.lower() in request.headers:
            await _answer(writer, _STRANGER)
        elif self._is_token(request.token):
            await _answer(writer, self._cookie_response())
        elif self._is_token(request.cookie(self._cookie)):
            await self._forward(head, reader, writer)
        else:
            await _answer(writer, _NO_TOKEN)

    def _cookie_response(self) -> bytes:
        """Response that stores the token in a cookie and redirects to the address without it."""
        lines = (
            "HTTP/1.1 303 See Other",
            "Location: /",
            f"Set-Cookie: {self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/",
            "Cache-Control: no-store",
            "Referrer-Policy: no-referrer",
            "Connection: close",
            "Content-Length: 0",
        )
        return "\r\n".join((*lines, "", "")).encode()

    def _is_token(self, token: str) -> bool:
        return bool(token) and hmac.compare_digest(token.encode(), self._token.encode())

    async def _forward(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._inner)
        try:
            inner_writer.write(head[:-2] + f"{MARK}: {self._mark}\r\n\r\n".encode())
            await asyncio.gather(_copy_stream(reader, inner_writer), _copy_stream(inner_reader, writer))
        finally:
            inner_writer.close()


async def _answer(writer: asyncio.StreamWriter, words: bytes) -> None:
    writer.write(words)
    await writer.drain()


async def _copy_stream(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    with contextlib.suppress(OSError):
        sink.close()
