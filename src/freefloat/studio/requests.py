"""The head of a request: what it asks for, where it comes from, and what it brings."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """First line and headers of a request, names in lower case; of a header that comes twice, nothing is believed."""

    address: str
    headers: dict[str, str]

    @staticmethod
    def of(head: bytes) -> Request:
        """From the bytes up to the empty line; ValueError where they make no sense."""
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
        """The token in the address; empty where there is none."""
        return parse_qs(urlsplit(self.address).query).get("token", [""])[0]

    def cookie(self, name: str) -> str:
        """A cookie's value; empty where there is none."""
        found = SimpleCookie()
        with contextlib.suppress(Exception):  # cookies of others on this machine may be anything
            found.load(self.headers.get("cookie", ""))
        return found[name].value if name in found else ""

    @property
    def host(self) -> str:
        """The name by which the browser called us, without the port, which a tunnel may change."""
        return urlsplit(f"//{self.headers.get('host', '')}").hostname or ""

    @property
    def is_from_our_page(self) -> bool:
        """Whether it was typed in, followed from outside the browser, or asked by a page that we served."""
        origin = self.headers.get("origin")
        if origin is not None and origin != f"http://{self.headers.get('host', '')}":
            return False
        return self.headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def is_own_name(name: str, chosen: str) -> bool:
    """Whether a Host is this machine, called by an address or by a name of its own; no page can make others so."""
    own = {"localhost", chosen.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
    try:
        return name.lower() in own or bool(ipaddress.ip_address(name))
    except ValueError:
        return False
