"""The pages of the documentation: their headings, their links, and the pages that list others."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
NAV = CHECKOUT / "mkdocs.yml"
DECISIONS = CHECKOUT / "docs/design"
INDEX = DECISIONS / "README.md"
BEGIN, END = "# decisions: written by `make docs`", "# decisions: end"
TOP = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")  # pages of the site outside docs/

_FENCE = re.compile(r"(?ms)^ *(?P<fence>`{3,})[^`\n]*\n.*?^ *(?P=fence)`* *$")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#* *$", re.M)
_CODE_OR_LINK = re.compile(
    r"(?ms)^ *(?P<fence>`{3,})[^`\n]*\n.*?^ *(?P=fence)`* *$"
    r"|(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
    r"|(?<=\]\()(?P<link>[^()\s]+)(?=\))"
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


def names() -> list[str]:
    """The Markdown pages of the site, by their path in the checkout."""
    docs = (path.relative_to(CHECKOUT) for path in (CHECKOUT / "docs").rglob("*.md"))
    return sorted([*TOP, *(path.as_posix() for path in docs)])


def place(name: str) -> str:
    """The path of a file in the site: a page of docs/ without that folder."""
    return name.removeprefix("docs/")


def prose(text: str) -> str:
    """A page without code blocks; its lines keep their numbers."""
    return _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them: in lower case, without marks, with a
    hyphen for each space, and numbered from the second of a name."""
    found: set[str] = set()
    for heading in _HEADING.findall(prose(text)):
        shown = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        count = 0
        while (numbered := f"{slug}-{count}" if count else slug) in found:
            count += 1
        found.add(numbered)
    return found


def links(text: str) -> list[str]:
    """The links of a page to other files and headings, outside code."""
    found = (match["link"] for match in _CODE_OR_LINK.finditer(text))
    return [link for link in found if link and not _ELSEWHERE.match(link)]


def target(name: str, link: str) -> tuple[str, str]:
    """The path in the checkout that a link of a page leads to, and the anchor there."""
    path, _, anchor = link.partition("#")
    folder = posixpath.dirname(name)
    return posixpath.normpath(posixpath.join(folder, path)) if path else name, anchor


def broken(name: str, text: str) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for link in links(text):
        path, anchor = target(name, link)
        file = CHECKOUT / path
        if not file.exists():
            yield f"{name}: {link}: there is no {path}"
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{name}: {link}: {path} has no such heading"


def for_site(name: str, text: str) -> str:
    """A page with its links as they are in the site; a link to a folder leads to its page."""

    def moved(match: re.Match[str]) -> str:
        link = match["link"] or ""
        if not link or link.startswith("#") or _ELSEWHERE.match(link):
            return match[0]
        path, anchor = target(name, link)
        path += "/README.md" if (CHECKOUT / path).is_dir() else ""
        start = posixpath.dirname(place(name)) or "."
        return posixpath.relpath(place(path), start) + (f"#{anchor}" if anchor else "")

    return _CODE_OR_LINK.sub(moved, text)


def decisions() -> list[tuple[str, str]]:
    """The title and the file name of each decision, in their order."""
    files = sorted(path for path in DECISIONS.glob("*.md") if path != INDEX)
    return [(_title(path.read_text(encoding="utf-8")), path.name) for path in files]


def index() -> str:
    """The page that lists the decisions."""
    rows = "\n".join(f"- [{title}]({name})" for title, name in decisions())
    return f"""# Decisions

`make docs` writes this list. Each page records one decision: a summary, goals, the design, the
alternatives and the consequences. A page shows the names of its time; the code may have moved on.

{rows}
"""


def with_decisions(nav: str) -> str:
    """mkdocs.yml with the pages between its two marks replaced."""
    before, _, rest = nav.partition(BEGIN)
    _, _, after = rest.partition(END)
    assert END in rest, f"mkdocs.yml needs the lines {BEGIN} and {END}"
    indent = before.rpartition("\n")[2]
    rows = "".join(f'{indent}- "{title}": design/{name}\n' for title, name in decisions())
    return f"{before}{BEGIN}\n{rows}{indent}{END}{after}"


def in_nav(nav: str) -> list[str]:
    """The pages that mkdocs.yml names, by their path in the site."""
    return re.findall(r"^ *- (?:.*: )?(\S+\.md)$", nav.partition("\nnav:\n")[2], re.M)


def _title(text: str) -> str:
    return re.sub(r"^# (\d+):? ", r"\1 ", text.partition("\n")[0]).replace("`", "")


def main() -> None:
    """Write the list of decisions, and their part of mkdocs.yml."""
    INDEX.write_text(index(), encoding="utf-8")
    NAV.write_text(with_decisions(NAV.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
