"""The head of an HTTP request: its address, origin and cookies."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """First line and headers of a request, names in lower case; a repeated header makes the request invalid."""

    address: str
    headers: dict[str, str]

    @staticmethod
    def of(head: bytes) -> Request:
        """Read a request from the bytes up to the empty line; raises a ValueError if they are not valid."""
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        headers: dict[str, str] = {}
        for line in filter(None, lines):
            name, colon, value = line.partition(":")
            name = name.lower()
            if not colon or name != name.strip() or name in headers:
                raise ValueError(f"a header that makes no sense: {line!r:.80}")
            headers[name] = value.strip()
        if len(words) != 3 or not words[1].startswith("/"):
            raise ValueError(f"a request that makes no sense: {first!r:.80}")
        return Request(words[1], headers)

    @property
    def token(self) -> str:
        """Token in the address; empty if there is none."""
        return parse_qs(urlsplit(self.address).query).get("token", [""])[0]

    def cookie(self, name: str) -> str:
        """Value of a cookie; empty if there is none."""
        cookies = SimpleCookie()
        with contextlib.suppress(Exception):  # cookies of others on this machine may be anything
            cookies.load(self.headers.get("cookie", ""))
        return cookies[name].value if name in cookies else ""

    @property
    def host(self) -> str:
        """Host name that the browser used, without the port, which a tunnel may change."""
        return urlsplit(f"//{self.headers.get('host', '')}").hostname or ""

    @property
    def is_from_our_page(self) -> bool:
        """Whether the address was typed in, opened from outside the browser, or requested by a page of the studio."""
        origin = self.headers.get("origin")
        if origin is not None and origin != f"http://{self.headers.get('host', '')}":
            return False
        return self.headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def is_own_name(name: str, chosen: str) -> bool:
    """Whether a Host is this machine: an address, or one of its own names, which no web page can give to others."""
    own = {"localhost", chosen.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
    try:
        return name.lower() in own or bool(ipaddress.ip_address(name))
    except ValueError:
        return False
