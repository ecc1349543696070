"""What git shows of a change, read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.conflicts.syntax.changed_text import Change, defined, read_diff
from tests.support.git import commit, git

BASE = "def one(a):\n    return a\n\n\ndef two():\n    pass\n"


def diff(repo: Path, base: str, head: str) -> bytes:
    args = ("--raw", "-z", "--patch", "--unified=0", "--no-abbrev", "-M")
    return git(repo, "diff", *args, base, head).encode("utf-8", "surrogateescape")


def test_a_change_has_its_added_lines_and_the_names_it_removes(repo: Path) -> None:
    base = commit(repo, {"a.py": BASE, "b.txt": "def x\n", "c d.py": "X = 1\n"})
    git(repo, "mv", "c d.py", "e\nf.py")
    text = BASE.replace("one", "first").replace("two():", "two(b):") + "C = 1  # one\n"
    head = commit(repo, {"a.py": text, "b.txt": "def y\n", "new.py": "import a\n"})
    changes = read_diff(diff(repo, base, head))
    old, edited = (git(repo, "rev-parse", f"{commit_id}:a.py") for commit_id in (base, head))
    new = git(repo, "rev-parse", f"{head}:new.py")
    moved = git(repo, "rev-parse", f"{base}:c d.py")
    assert changes == [
        Change(
            "a.py", "a.py", old, edited, ((1, 1), (5, 5), (7, 7)),
            frozenset({"def", "first", "a", "two", "b", "C"}), frozenset({"one"}),
        ),
        Change("c d.py", "e\nf.py", moved, moved),
        Change("", "new.py", "0" * 40, new, ((1, 1),), frozenset({"import", "a"})),
    ]  # fmt: skip
    assert [changes[0].adds(line) for line in (1, 2, 5, 6, 7)] == [True, False, True, False, True]


def test_a_cut_output_is_an_error(repo: Path) -> None:
    base = commit(repo, {"a.py": BASE})
    output = diff(repo, base, commit(repo, {"a.py": "", "b.py": BASE}))
    for end in (output.rindex(b"diff --git"), len(output) - 30):
        with pytest.raises(ValueError, match="git"):
            read_diff(output[:end])


def test_lines_that_look_like_headers_are_content(repo: Path) -> None:
    base = commit(repo, {"a.py": "x = 1\n"})
    text = "@@ -1,9 +1,9 @@\ndiff --git a/x b/x\n++ b/x\n"
    (change,) = read_diff(diff(repo, base, commit(repo, {"a.py": text})))
    assert change.added == ((1, 3),)


@pytest.mark.parametrize(
    ("language", "line", "names"),
    [
        ("python", "    async def run(a):", {("    ", "run")}),
        ("python", "LIMIT: int = 1", {("", "LIMIT")}),
        ("python", "    LIMIT = 1", {("    ", "LIMIT")}),
        ("python", "    limit: int = 1", {("    ", "limit")}),
        ("python", "    found = 1", set()),
        ("python", "    limit: int,", set()),
        ("python", "    else:", set()),
        ("python", "if a == b:", set()),
        ("go", "func (r *T) Name(a int) {", {("", "Name")}),
        ("rust", "pub(crate) const MAX: u8 = 1;", {("", "MAX")}),
        ("typescript", "export const one = () => {", {("", "one")}),
        ("c", "static int *run(int a, int b)", {("", "run")}),
        ("c", "#define MAX 1", {("", "MAX")}),
        ("c", "} Thing;", {("", "Thing")}),
    ],
)
def test_a_line_tells_the_names_that_it_may_define(
    language: str, line: str, names: set[tuple[str, str]]
) -> None:
    assert defined(language, line) >= names
    assert names or not defined(language, line)


@pytest.mark.slow
@given(st.binary(max_size=200))
def test_any_output_is_read_or_refused(output: bytes) -> None:
    try:
        changes = read_diff(output)
    except ValueError:
        return
    assert all(isinstance(change, Change) for change in changes)
