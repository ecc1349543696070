"""Both sides of a conflict, from what git leaves of it."""

from pathlib import Path

import pytest

from ghp_agents.git import merge
from ghp_agents.git.both_sides import ConflictedFile, SidesOverlap, both_sides
from tests.support.git import commit, git

TEN = "".join(f"{number}\n" for number in range(1, 11))
Files = dict[str, str | bytes]


def conflict(repo: Path, base: Files, ours: Files, theirs: Files) -> tuple[ConflictedFile, ...]:
    """What conflicts between two branches; a file with no content is removed."""
    commit(repo, base)
    heads = []
    for name, files in (("ours", ours), ("theirs", theirs)):
        git(repo, "switch", "--quiet", "-c", name, "main")
        gone = [path for path, content in files.items() if not content]
        if gone:
            git(repo, "rm", "--quiet", "--", *gone)
        heads.append(commit(repo, {"mark.txt": "m\n", **{x: y for x, y in files.items() if y}}))
    ours_head, theirs_head = heads
    return both_sides(repo / ".git", merge.merge_aside(repo, ours_head, theirs_head).stages)


def test_lines_are_those_of_each_side(repo: Path) -> None:
    ours = "0\n" + TEN.replace("3\n", "three\n").replace("8\n", "")
    theirs = TEN.replace("3\n", "trois\ntrois\n").replace("8\n", "huit\n")
    (file,) = conflict(repo, {"a": TEN}, {"a": ours}, {"a": theirs})
    assert file == ConflictedFile(
        "a", "lines",
        (SidesOverlap(4, 4, "three", 3, 4, "trois\ntrois"), SidesOverlap(9, 8, "", 9, 9, "huit")),
    )  # fmt: skip
    assert file.turned().overlaps[0] == SidesOverlap(3, 4, "trois\ntrois", 4, 4, "three")


def test_of_a_file_that_both_added_only_what_differs_is_shown(repo: Path) -> None:
    (file,) = conflict(repo, {"x": "x\n"}, {"a": "1\n2\n3\n"}, {"a": "1\ntwo\n3\n"})
    assert file == ConflictedFile("a", "added", (SidesOverlap(2, 2, "2", 2, 2, "two"),))


@pytest.mark.parametrize(
    ("ours", "theirs", "kind", "turned"),
    [
        ("", "changed\n", "deleted here", "deleted there"),
        ("changed\n", "", "deleted there", "deleted here"),
        (b"\0one", b"\0two", "binary", "binary"),
    ],
)
def test_other_kinds_have_no_lines(
    repo: Path, ours: str | bytes, theirs: str | bytes, kind: str, turned: str
) -> None:
    (file,) = conflict(repo, {"a": "old\n"}, {"a": ours}, {"a": theirs})
    assert (file.kind, file.turned().kind, file.overlaps) == (kind, turned, ())


def test_much_is_bounded(repo: Path) -> None:
    names = [f"{number:02}" for number in range(12)]
    base: Files = dict.fromkeys(names, TEN)
    ours: Files = {name: TEN.replace("3\n", "x" * 1_000 + "\n") for name in names}
    theirs: Files = {name: TEN.replace("3\n", "y\n") for name in names}
    files = conflict(repo, base, ours, theirs)
    assert [file.kind for file in files] == ["lines"] * 10 + ["not compared"] * 2
    assert len(files[0].overlaps[0].ours) == 400
