"""Ranges of lines decide as git's own merge does."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.hotpath import line_ranges
from tests.support.git import git, run_git

# Few different lines, so that changes can be aligned in several ways, as in code.
TEXTS = st.lists(st.sampled_from(["a", "b", "", "}", "x = 1"]), max_size=14)
EDITS = st.lists(
    st.tuples(
        st.integers(0, 14), st.integers(0, 3), st.lists(st.sampled_from("abAB}"), max_size=3)
    ),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bare")
    git(folder, "init", "--quiet", "--bare")
    return folder


def edited(base: Sequence[str], edits: Sequence[tuple[int, int, Sequence[str]]]) -> list[str]:
    lines = [*base]
    for at, removed, added in edits:
        lines[at : at + removed] = added
    return lines


def blob(bare: Path, lines: Sequence[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return git(bare, "hash-object", "-w", "--stdin", stdin=text)


def commit(bare: Path, blob: str, *parents: str) -> str:
    tree = git(bare, "mktree", stdin=f"100644 blob {blob}\tfile\n")
    return git(bare, "commit-tree", tree, *(f"-p{parent}" for parent in parents), "-m", "m")


def hunks(bare: Path, old: str, new: str) -> list[tuple[int, int, int, int]]:
    done = subprocess.run(
        ["git", "diff", *line_ranges.DIFF, old, new], cwd=bare, capture_output=True, check=True
    )
    return line_ranges.hunks(done.stdout) or []


def ranges(changes: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    return [(start, end) for start, end, _, _ in changes]


def conflicts(bare: Path, base: str, mine: str, theirs: str) -> bool:
    first = commit(bare, base)
    left, right = commit(bare, mine, first), commit(bare, theirs, first)
    done = run_git(bare, "merge-tree", "--write-tree", left, right)
    assert done.returncode in (0, 1), done
    return done.returncode == 1


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=TEXTS, mine=EDITS, theirs=EDITS)
def test_no_conflict_of_git_is_missed(bare: Path, base: list[str], mine: Any, theirs: Any) -> None:
    texts = base, edited(base, mine), edited(base, theirs)
    old, left, right = (blob(bare, text) for text in texts)
    sides = [ranges(hunks(bare, old, new)) for new in (left, right)]
    if conflicts(bare, old, left, right):
        assert line_ranges.touching(*sides) is not None


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count=st.integers(0, 12), mine=EDITS, theirs=EDITS)
def test_only_equal_changes_touch_and_merge(bare: Path, count: int, mine: Any, theirs: Any) -> None:
    base = [f"line {number}" for number in range(count)]
    upper = [(at, removed, [f"their {line}" for line in added]) for at, removed, added in theirs]
    old, left, right = (blob(bare, x) for x in (base, edited(base, mine), edited(base, upper)))
    sides = [hunks(bare, old, new) for new in (left, right)]
    shared = {hunk for hunk in map(deletion, sides[0]) if hunk} & {*map(deletion, sides[1])}
    is_touching = line_ranges.touching(*map(ranges, sides)) is not None
    assert is_touching == conflicts(bare, old, left, right) or shared


def deletion(hunk: tuple[int, int, int, int]) -> tuple[int, int] | None:
    start, end, new, new_end = hunk
    return (start, end) if new == new_end else None


@pytest.mark.slow
@given(base=TEXTS, edits=EDITS, theirs=EDITS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ranges_follow_their_lines_into_another_base(
    bare: Path, base: list[str], edits: Any, theirs: Any
) -> None:
    lines = [f"{number} {line}" for number, line in enumerate(base)]
    other = edited(lines, edits)
    between = hunks(bare, blob(bare, lines), blob(bare, other))
    expected = ranges(hunks(bare, blob(bare, lines), blob(bare, edited(lines, theirs))))
    moved = line_ranges.mapped(expected, between)
    for (start, end), (first, last) in zip(expected, moved, strict=True):
        kept = [line for line in lines[start:end] if line in other]
        assert all(first <= other.index(line) < last for line in kept)
        assert 0 <= first <= last <= len(other)


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ((4, 6), (6, 8)),  # after two new lines
        ((0, 2), (0, 2)),  # in front of them
        ((2, 2), (2, 4)),  # an insertion at the same place
        ((1, 4), (1, 6)),  # around them
        ((8, 12), (10, 15)),  # the second change removes 10 to 12 and puts three lines there
        ((10, 10), (12, 12)),  # an insertion in front of that
        ((12, 12), (15, 15)),  # and after it
        ((11, 20), (12, 23)),
    ],
)
def test_ranges_in_another_version(old: tuple[int, int], expected: tuple[int, int]) -> None:
    assert line_ranges.mapped([old], [(2, 2, 2, 4), (10, 12, 12, 15)]) == [expected]


def test_ranges_are_written_as_git_writes_them_and_read_again() -> None:
    lines = [(0, 0), (4, 5), (9, 12), (20, 20)]
    assert line_ranges.encode(lines) == "0,0 5,1 10,3 20,0"
    assert line_ranges.decode("0,0 5,1 10,3 20,0") == lines


@pytest.mark.parametrize(
    "text",
    ["", " ", "5", "5,", ",1", "a,1", "5,1,2", "5,-1", "-5,1", "5,1  6,1", "9,1 5,1", "0,1",
     "5,1\n", "1,99999999999999999999", "\u0665,1", "5,1 " * 300],
)  # fmt: skip
def test_what_is_no_list_of_ranges_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ranges of lines"):
        line_ranges.decode(text)


def test_of_many_ranges_the_closest_become_one() -> None:
    few = [(number, number + 1) for number in range(0, 200, 10)]
    assert line_ranges.bounded(few) == few
    assert line_ranges.bounded([]) == []
    assert line_ranges.bounded([*few[:4], (33, 34), (36, 37), *few[4:]]) == [
        *few[:3], (30, 37), *few[4:],
    ]  # fmt: skip


def test_a_patch_is_counted_so_that_no_content_is_taken_for_a_header() -> None:
    patch = (
        b"diff --git a/x b/x\nindex 1111..2222 100644\n--- a/x\n+++ b/x\n"
        b"@@ -1,3 +1,4 @@ context\n diff --git a/y b/y\n-@@ -9 +9 @@\n+-- a/z\n+++ b/z\n"
        b" @@ -1,9 +1,9 @@\n\\ No newline at end of file\n"
        b"diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
        b"diff --git a/n b/n\nindex 3333..4444\nBinary files a/n and b/n differ\n"
    )
    assert [*line_ranges.files(patch)] == [
        ("1111", [(1, 2, 1, 3)]),
        ("", []),
        ("3333", []),
    ]


def test_a_binary_file_has_no_lines_and_an_equal_one_no_changes() -> None:
    assert line_ranges.hunks(b"") == []
    assert line_ranges.hunks(b"diff --git a/n b/n\nBinary files a/n and b/n differ\n") is None
