"""Every page of the documentation can be reached, and every link in it leads somewhere."""

import pytest

from tools import pages

REMEDY = "Run `make docs` and commit the result."


def read(name: str) -> str:
    return (pages.CHECKOUT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md", *pages.names()])
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(name: str) -> None:
    assert list(pages.broken(name, read(name))) == []


def test_every_page_is_in_the_navigation_once() -> None:
    listed = pages.in_nav(pages.NAV.read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(pages.place(name) for name in pages.names()), (
        "A new page is named in mkdocs.yml and in docs/README.md; for docs/design/ by `make docs`."
    )


def test_the_start_page_leads_to_every_page_but_the_decisions() -> None:
    start = "docs/README.md"
    linked = {pages.target(start, link)[0] for link in pages.links(read(start))}
    decisions = {f"docs/design/{name}" for _, name in pages.decisions()}
    assert sorted({*pages.names()} - linked - decisions) == [start]


def test_the_lists_of_decisions_are_up_to_date() -> None:
    nav = pages.NAV.read_text(encoding="utf-8")
    assert pages.with_decisions(nav) == nav, REMEDY
    assert pages.INDEX.read_text(encoding="utf-8") == pages.index(), REMEDY


def test_anchors_are_those_of_github() -> None:
    text = """\
# `agent-start`: from A to B!
## Who wrote it
## Who wrote it
### [A link](to.md) & more_of-it
```sh
# no heading
```
## Äpfel – 3 %
"""
    assert pages.anchors(text) == {
        "agent-start-from-a-to-b",
        "who-wrote-it",
        "who-wrote-it-1",
        "a-link--more_of-it",
        "äpfel--3-",
    }


PAGE = """\
See [one](STATE.md#the-ledger), [here](#below), [all](design/), [it](../SECURITY.md) and
[elsewhere](https://example.org/a#b). No links: `[a](b.md)` and

````text
[c](d.md)
```
[e](f.md)
````

## Below
"""


def test_links_in_code_and_to_other_sites_are_not_looked_at() -> None:
    assert pages.links(PAGE) == ["STATE.md#the-ledger", "#below", "design/", "../SECURITY.md"]
    assert list(pages.broken("docs/x.md", PAGE)) == [
        "docs/x.md: #below: there is no docs/x.md",
    ]


def test_a_link_to_no_file_or_no_heading_is_told() -> None:
    text = "[a](no.md) [b](STATE.md#no) [c](../README.md#no-)"
    assert list(pages.broken("docs/first-session.md", text)) == [
        "docs/first-session.md: no.md: there is no docs/no.md",
        "docs/first-session.md: STATE.md#no: docs/STATE.md has no such heading",
        "docs/first-session.md: ../README.md#no-: README.md has no such heading",
    ]


def test_links_in_the_site_lead_to_its_own_pages() -> None:
    assert pages.for_site("docs/x.md", PAGE) == PAGE.replace(
        "(design/)", "(design/README.md)"
    ).replace("(../SECURITY.md)", "(SECURITY.md)")
    assert pages.for_site("SECURITY.md", "[a](docs/github.md#without-a-token)") == (
        "[a](github.md#without-a-token)"
    )
    assert pages.for_site("docs/design/021.md", "[a](../../SECURITY.md)") == "[a](../SECURITY.md)"
