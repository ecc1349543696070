"""The docs site is built without a warning, and loads nothing from the network."""

import json
import re
from pathlib import Path

import pytest

from tests.support import outside
from tools import pages, site

# What a browser loads by itself, in contrast to links that people click.
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\ssrc=[\"']?(?:https?:)?//[^>]*>"
    r"|<link\b[^>]*\bhref=[\"']?(?:https?:)?//[^>]*>"
    r"|(?:url\(|@import )[\"']?(?:https?:)?//[^)\s]*"
)


@pytest.mark.slow
def test_the_site_is_built_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    outside.need("mkdocs-material", site.ready)
    staged, built = tmp_path / "pages", tmp_path / "site"
    site.stage(staged)
    assert site.build(built, staged) == ""
    files = [path for path in built.rglob("*") if path.suffix in (".html", ".css")]
    loaded = {
        f"{path.relative_to(built)}: {found[0]}"
        for path in files
        for found in LOADED.finditer(path.read_text(encoding="utf-8"))
    }
    assert loaded == set()

    index = json.loads((built / "search/search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    expected = {
        pages.place(name).removesuffix("README.md").removesuffix(".md") for name in pages.names()
    }
    assert {location.strip("/") for location in found} == {name.strip("/") for name in expected}

    page = staged / "github.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n[a](STATE.md#no-such-heading)\n")
    printed = site.build(built, staged)
    assert "no-such-heading" in printed
    assert "Aborted with 1 warnings in strict mode!" in printed


def test_what_a_browser_loads_is_told_from_what_people_click() -> None:
    assert LOADED.search('<link rel="stylesheet" href="https://fonts.example/css">')
    assert LOADED.search('<script async src="//cdn.example/x.js"></script>')
    assert LOADED.search("@import 'https://fonts.example/css'")
    assert LOADED.search("background: url(https://example.org/x.png)")
    assert not LOADED.search('<a href="https://semver.org/">SemVer</a> <script src="a/b.js">')


def test_the_packages_are_those_of_the_extra() -> None:
    assert [name.partition(">")[0] for name in site.requirements()] == ["mkdocs-material"]
