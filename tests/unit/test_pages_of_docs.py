"""Pages of documentation: links lead somewhere, every page is found, and odd words do not come back."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import concept_pictures
import pytest
import site_links

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")), *sorted(DOCS.rglob("*.md"))]
WRITTEN = ("claims.md", "messages.md", "CHANGELOG.md")  # by programs, or about the past
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)|src=\"(?!https?:)([^\"#]+)()\"")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

# Phrases that had to be read twice; each has a plain one in its place.
PHRASES = """
nothing inside can tell; corners and jumps belong; says who says so; not from taste; reading the books; the domain
of its model; numbers with words; knows nothing of it; answer to nothing; nothing jumps; held by somebody else; by
galilei; what cannot move cannot be held; still for ever; glances a step; keep their books; keeps its books; blind
to the base; made to forget; is at its rest; line but one; quiet attitude; heavier than nothing; every body is
points; is made up for, and; hashes tell; never made up; learnt about; refused are; read is one; warned of are;
refused by name are; nothing is promised; among the stars; it prints: controls; shall bring its tool; bodies that
cannot be; come from strangers; stranger's name; who stops the arm; no time to lose; who moves the time bar; as
wrong as it says; code that is not there; nobody has to own; cut where hardware is cut; whom it is on; not its
business; had the true state in their hands
"""

# How often an odd word may stand in prose: no more than today. Write a plain one in its place, and lower the number.
COUNTS = {
    "told": 9,
    "tells": 16,
    "refused": 1,
    "refuses": 0,
    "books": 0,
    "booked": 0,
    "ledger": 2,
    "knows": 8,
    "believes": 0,
    "feels": 0,
    "strangers": 0,
}


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(text: str) -> str:
    """Text without code, in small letters, with single blanks."""
    return re.sub(r"\s+", " ", re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))).lower()


def prose_of_pages() -> str:
    """Prose of README and of all pages that people write."""
    pages = (page for page in PAGES if page.name not in WRITTEN and "reference" not in page.parts)
    return " ".join(prose(text_of(page)) for page in pages)


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page, as they are made from their words."""
    found: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#{1,6} (.+)$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def dead_links(page: Path, text: str) -> list[str]:
    """Links of a page that lead to no file, or to no heading of it."""
    dead = []
    for path, anchor, image, _ in LINK.findall(FENCE.sub("", text)):
        target = (page.parent / (path or image)).resolve() if path or image else page
        headings = (
            anchors(text if target == page else text_of(target)) if anchor and target.suffix == ".md" else {anchor}
        )
        if not target.exists() or anchor not in headings:
            dead.append(f"{path or image}#{anchor}")
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT).with_suffix("")))
def test_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    assert dead_links(page, text_of(page)) == []


def test_dead_links_are_found() -> None:
    text = "# A page\n\n"
    text += "[a](index.md) [b](nothing.md) [c](#a-page) [d](#another) [e](index.md#lessons) ![f](images/no.png)\n"
    assert dead_links(DOCS / "index.md", text) == ["nothing.md#", "#another", "index.md#lessons", "images/no.png#"]


def test_the_index_lists_every_page_once() -> None:
    listed = Counter(path for path, *_ in LINK.findall(text_of(DOCS / "index.md")) if not path.startswith("../"))
    there = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert {path for path in listed if path and "/" not in path} == there
    assert [path for path, count in listed.items() if path and count > 1] == []


def test_the_index_lists_every_lesson() -> None:
    lessons = {f"../examples/{path.name}" for path in (ROOT / "examples").glob("[0-9]*.py")}
    assert lessons <= {path for path, *_ in LINK.findall(text_of(DOCS / "index.md"))}


def test_the_site_has_every_page() -> None:
    listed = re.findall(r"^ +- (?:\w+: )?([\w/-]+\.md)$", text_of(ROOT / "mkdocs.yml"), re.MULTILINE)
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_files_outside_of_docs_become_pages_of_the_site() -> None:
    class PageOfReference:
        class file:  # noqa: N801 (as MkDocs calls it)
            src_uri = "reference/index.md"

    assert "examples/01_first_arm.py" in site_links.outside_files()
    led = site_links.on_page_markdown("[a](../examples/01_first_arm.py) [b](../examples/none.py)", PageOfReference())
    assert led == "[a](../repository/examples/01_first_arm.py.md) [b](../examples/none.py)"
    assert site_links.text_of("examples/01_first_arm.py").startswith("# examples/01_first_arm.py\n\n````\n")


def test_the_diagram_is_what_its_script_draws() -> None:
    assert text_of(concept_pictures.IMAGES / "concepts.svg") == concept_pictures.diagram()


def test_every_mark_in_the_picture_of_a_page_is_explained() -> None:
    explained = re.findall(r"^(\d+)\. ", text_of(DOCS / "concepts.md"), re.MULTILINE)
    assert explained == [str(number) for number in range(1, len(concept_pictures.MARKS) + 1)]


def test_odd_phrases_do_not_come_back() -> None:
    text = prose_of_pages()
    assert [phrase for phrase in (" ".join(PHRASES.split())).split("; ") if phrase in text] == []


def test_odd_words_do_not_become_more() -> None:
    words = Counter(re.findall(r"[a-z]+", prose_of_pages()))
    more = {word: words[word] for word, most in COUNTS.items() if words[word] > most}
    assert more == {}, "Say it in plain words: told -> reported, refused -> not supported, books -> balance."


def test_the_counter_reads_prose_alone() -> None:
    assert prose("It is Told\n```text\nrefused\n```\nand `books` here") == "it is told and here"
