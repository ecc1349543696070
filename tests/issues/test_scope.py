"""The scope of an issue, as people, forms and strangers write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core import globs as pattern
from ghp_agents.issues.scope import MOST, scope, too_wide


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Headings of any level, in any case, with a colon; deeper ones are part of it.
        ("# Scope\n\n- src/\n", ("src/",)),
        ("###### SCOPE:\n- src/parser/\n", ("/src/parser/",)),
        ("## Scope\n- a/b\n### Tests\n- a/c\n## Other\n- a/d\n", ("/a/b", "/a/c")),
        ("## Scope of it\n- a/b\n", ()),
        ("Scope\n=====\n- a/b\n", ()),
        # As an issue form leaves it.
        ("### Scope\n\nsrc/a.py, src/b.py\n\n### Goal\n\nIt works", ("/src/a.py", "/src/b.py")),
        ("### Scope\n\n_No response_\n\n### Goal\n\nIt works", ()),
        ("### Scope\r\n\r\nsrc/a.py\r\nsrc/b.py\r\n", ("/src/a.py", "/src/b.py")),
        ("### Scope\n\n```text\n# what it is about\nsrc/*.py\n!src/gen.py\n```\n",
         ("/src/*.py", "!/src/gen.py")),
        # Lists of every kind, tasks, code, links, bold, remarks.
        ("# Scope\n* a/b\n+ a/c\n1. a/d\n2) a/e\n- [ ] a/f\n- [x] a/g\n",
         ("/a/b", "/a/c", "/a/d", "/a/e", "/a/f", "/a/g")),
        ("# Scope\n- `a/b` and `a/c`, not the rest\n- ``a`b``\n", ("/a/b", "/a/c", "a`b")),
        ("# Scope\n- a/b (the reader)\n- a/c: the writer\n- a/d - all of it\n- a/e # here\n",
         ("/a/b", "/a/c", "/a/d", "/a/e")),
        ("# Scope\n- [a/b](https://example.invalid/a/b)\n- **a/c**\n- **/x.py\n",
         ("/a/b", "/a/c", "x.py")),
        ("# Scope\nMakefile\n", ("Makefile",)),
        # What is no pattern.
        ("# Scope\nThe parser in general, and what it needs.\n", ()),
        ("# Scope\n- none\n- N/A\n- TBD\n- -\n- ?\n", ()),
        ("# Scope\n- https://example.invalid/a\n- @acme/core\n- ../outside\n- a/../b\n", ()),
        ("# Scope\n- !src/\n", ()),
        ("# Scope\n- `with blanks in it`\n", ()),
        # What is not there.
        ("", ()),
        ("# Goal\n- a/b\n", ()),
        ("<!--\n# Scope\n- a/b\n-->\n", ()),
        ("# Scope\n- a/b\n<!-- - a/c\n- a/d\n", ("/a/b",)),
        ("```\n# Scope\n- a/b\n```\n", ()),
        # Said twice, the last time counts.
        ("# Scope\n- a/\n- !a/b\n- a/\n", ("!/a/b", "a/")),
    ],
)  # fmt: skip
def test_the_list_under_scope_is_read(body: str, expected: tuple[str, ...]) -> None:
    assert scope(body) == expected


@pytest.mark.parametrize(
    "wide",
    ["**", "*", "/*", "**/*", "./**", "/**", "*/", "***", "**/**", ".", "./", "?*", "[!x]*",
     "[a-zA-Z0-9_]*", "*.*", "**/*.*", "//", "*/**", "*/*"],
)  # fmt: skip
def test_a_pattern_that_covers_everything_is_no_scope(wide: str) -> None:
    body = f"### Scope\n\n- `{wide}`\n"
    assert (scope(body), len(too_wide(body))) == ((), 1)
    assert scope(f"{body}- src/\n") == ("src/",)


@pytest.mark.parametrize("narrow", ["src/**", "*.py", ".*", "a*", "docs/*", "Makefile", "*/x/"])
def test_a_pattern_that_names_something_is_a_scope(narrow: str) -> None:
    body = f"### Scope\n\n- `{narrow}`\n"
    assert (len(scope(body)), too_wide(body)) == (1, ())


def test_a_body_holds_no_more_patterns_than_can_be_looked_up() -> None:
    body = "# Scope\n" + "\n".join(f"- a/{number}" for number in range(10_000))
    assert len(scope(body)) == MOST


WORDS = st.sampled_from(
    ["# Scope", "## Scope", "- ", "* [ ] ", "```", "~~~", "`", "<!--", "-->", "src/", "!", "*",
     "**/", "[a-z]", "[", "\\", "\n", "\r\n", "\x00", "\x1b[31m", "\u202e", "\ud800",
     "_No response_",
     "../", "/", "é", " ", "\t", ",", "(", ")", "://"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=40).map("".join))
def test_whatever_a_body_holds_its_scope_is_patterns_that_can_be_matched(body: str) -> None:
    for x in scope("# Scope\n" + body):
        try:
            x.encode()
        except UnicodeEncodeError:
            raise AssertionError(f"{x!r} cannot be kept") from None
        assert x.isprintable()
        pattern.covers([x], "src/a.py")
