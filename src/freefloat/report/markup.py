"""HTML from data. All text from a run is escaped by `text`, so that nothing in it can become markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


class Markup(str):
    """HTML text from this module, which needs no escaping."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Any value as escaped text."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value), quote=True))


def element(tag: str, *children: object, **attributes: str) -> Markup:
    """An HTML element; `class_` becomes class, underscores in other names become hyphens."""
    attribute_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{text(value)}"' for name, value in attributes.items()
    )
    return Markup(f"<{tag}{attribute_text}>{''.join(text(child) for child in children)}</{tag}>")


def join_markup(parts: Iterable[Markup]) -> Markup:
    """Join pieces of markup into one."""
    return Markup("".join(parts))


def headed_section(name: str, heading: str, *parts: object) -> Markup:
    """A section of a page with its heading; `name` is its id."""
    return element("section", element("h2", heading), *parts, id=name)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> Markup:
    """An HTML table; the columns listed in `numbers` are aligned to the right."""

    def cells(tag: str, row: Sequence[object]) -> Markup:
        cell_elements = (
            element(tag, cell, class_="number") if column in numbers else element(tag, cell)
            for column, cell in enumerate(row)
        )
        return element("tr", *cell_elements)

    head = element("thead", cells("th", headings))
    body = element("tbody", *(cells("td", row) for row in rows))
    return element("div", element("table", head, body), class_="table")


def verdict(holds: bool, good: str, bad: str) -> Markup:
    """A coloured word, with a sign for readers who cannot distinguish the colours."""
    return element("span", ("✓ " if holds else "✗ ") + (good if holds else bad), class_="good" if holds else "bad")
