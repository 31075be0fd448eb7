"""Hook of `mkdocs build`: lessons and other files outside docs/ that pages link to become pages of the site."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\]\((?P<up>(?:\.\./)+)(?P<path>[\w./-]+)(?P<anchor>#[\w-]+)?\)")


def page_of(path: str) -> str:
    """Name of the page that shows a file or a folder of the repository."""
    return f"repository/{path.strip('/').removesuffix('.md')}.md"


def outside_files() -> list[str]:
    """Files and folders outside docs/ to which pages link."""
    pages = [*(ROOT / "docs").rglob("*.md")]
    found = {match["path"] for page in pages for match in OUTSIDE.finditer(page.read_text(encoding="utf-8"))}
    return sorted(path for path in found if (ROOT / path).exists() and not (ROOT / "docs" / path).exists())


def text_of(path: str) -> str:
    """Markdown that shows a file: Markdown as it is, code as a block, a folder as a list."""
    file = ROOT / path
    if file.is_dir():
        return f"# {path}\n\n" + "\n".join(f"- `{entry.name}`" for entry in sorted(file.iterdir()))
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return re.sub(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", text)  # its links are those of another place
    return f"# {path}\n\n````\n{text}\n````\n"


def on_files(files: Any, config: Any) -> Any:
    """Add the pages; called by MkDocs."""
    from mkdocs.structure.files import File, InclusionLevel

    for path in outside_files():
        file = File.generated(config, page_of(path), content=text_of(path), inclusion=InclusionLevel.NOT_IN_NAV)
        files.append(file)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links out of docs/ to these pages; called by MkDocs."""
    known = set(outside_files())

    def replace(match: re.Match[str]) -> str:
        if match["path"] not in known:
            return match[0]
        up = "../" * page.file.src_uri.count("/")
        return f"]({up}{page_of(match['path'])}{match['anchor'] or ''})"

    return OUTSIDE.sub(replace, markdown)
