"""HTML from data. Everything that comes from a run passes through `text`, so nothing in it can become markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


class Markup(str):
    """HTML that was made here and needs no escaping."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Any value as harmless text."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value), quote=True))


def element(tag: str, *children: object, **attributes: str) -> Markup:
    """An element; `class_` becomes class, underscores in other names become hyphens."""
    given = "".join(f' {name.rstrip("_").replace("_", "-")}="{text(value)}"' for name, value in attributes.items())
    return Markup(f"<{tag}{given}>{''.join(text(child) for child in children)}</{tag}>")


def joined(parts: Iterable[Markup]) -> Markup:
    """Parts one after the other."""
    return Markup("".join(parts))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> Markup:
    """A table; the columns listed in `numbers` are set to the right."""

    def cells(tag: str, row: Sequence[object]) -> Markup:
        made = (
            element(tag, cell, class_="number") if column in numbers else element(tag, cell)
            for column, cell in enumerate(row)
        )
        return element("tr", *made)

    head = element("thead", cells("th", headings))
    body = element("tbody", *(cells("td", row) for row in rows))
    return element("div", element("table", head, body), class_="table")


def verdict(holds: bool, good: str, bad: str) -> Markup:
    """A coloured word, with a sign for those who do not see colours."""
    return element("span", ("✓ " if holds else "✗ ") + (good if holds else bad), class_="good" if holds else "bad")
