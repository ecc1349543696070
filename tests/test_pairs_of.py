"""The pairs that are made from a history: one change beside another on a base without either."""

from pathlib import Path

from bench import pairs_of
from tests.support.git import git

TWENTY = [f"{number}\n" for number in range(1, 21)]


def commit(repo: Path, name: str, lines: list[str]) -> None:
    (repo / name).write_text("".join(lines))
    git(repo, "add", name)
    git(repo, "commit", "-q", "-m", name)


def changed(lines: list[str], **by_line: str) -> list[str]:
    """The lines, with others in place of some: `changed(lines, l3="x")`."""
    found = [*lines]
    for name, text in by_line.items():
        found[int(name[1:]) - 1] = f"{text}\n"
    return found


def test_a_change_is_told_in_lines_of_the_base_without_the_other(
    repo: Path, tmp_path: Path
) -> None:
    commit(repo, "a", TWENTY)
    one = ["new\n", *TWENTY]
    commit(repo, "a", one)
    commit(repo, "a", changed(one, l11="x"))  # line 10 of the base
    found = pairs_of.pairs_of(repo, tmp_path, 10)
    last = found["pairs"][-1]
    assert (last["conflict"], last["apart"]) == (False, 1)
    (lines, *kinds, first, second) = last["files"]["0"]
    assert (lines, kinds) == (20, ["M", "M"])
    assert [hunk[:3] for hunk in first] == [(1, 0, 1)]
    assert [hunk[:3] for hunk in second] == [(10, 1, 1)]


def test_a_change_that_conflicts_is_mapped_back(repo: Path, tmp_path: Path) -> None:
    commit(repo, "a", TWENTY)
    one = changed(["new\n", *TWENTY], l11="x")
    commit(repo, "a", one)
    commit(repo, "a", changed(one, l11="y"))
    last = pairs_of.pairs_of(repo, tmp_path, 10)["pairs"][-1]
    assert last["conflict"] is True
    (_, _, _, first, second) = last["files"]["0"]
    assert [hunk[:3] for hunk in first] == [(1, 0, 1), (10, 1, 1)]
    assert [hunk[:3] for hunk in second] == [(10, 1, 1)]
    assert first[1].text != second[0].text


def test_new_and_deleted_files_are_changes_too(repo: Path, tmp_path: Path) -> None:
    commit(repo, "a", TWENTY)
    (repo / "new").write_text("1\n2\n")
    (repo / "a").write_text("".join(changed(TWENTY, l2="x")))
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "one")
    git(repo, "rm", "-q", "a")
    git(repo, "commit", "-q", "-m", "two")
    last = pairs_of.pairs_of(repo, tmp_path, 10)["pairs"][-1]
    assert last["conflict"] is True
    changed_file, new_file = last["files"]["0"], last["files"]["1"]
    assert changed_file[:3] == [20, "M", "D"]
    assert new_file[:3] == [-1, "A", ""]
    assert [hunk[:3] for hunk in new_file[3]] == [(1, 0, 2)]


def test_the_repository_is_only_read(repo: Path, tmp_path: Path) -> None:
    for number in range(3):
        commit(repo, "a", changed(TWENTY, l1=f"{number}"))
    before = sorted((repo / ".git").rglob("*"))
    pairs_of.pairs_of(repo, tmp_path, 10)
    assert sorted((repo / ".git").rglob("*")) == before
