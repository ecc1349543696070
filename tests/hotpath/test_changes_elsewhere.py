"""An edit is compared with what other clones report, on real git."""

import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hotpath import changes_elsewhere
from ghp_agents.hotpath.changes_elsewhere import ChangesReport, RangeConflict
from ghp_agents.hotpath.locate import locate
from ghp_agents.hotpath.worktree_file import LARGEST, UndecidedError
from tests.support.git import commit, git

BASE = "".join(f"line {number}\n" for number in range(1, 31))
NOW = 1_750_000_000.0
UNKNOWN = "0" * 39 + "1"


class Here:
    """This clone: a branch that left main, with a file a.py."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.old = self.blob(commit(repo, {"a.py": BASE.replace("line 3\n", "")}))
        self.base = self.blob(commit(repo, {"a.py": BASE}))
        git(repo, "checkout", "--quiet", "-b", "work")

    def blob(self, commit: str, path: str = "a.py") -> str:
        return git(self.repo, "rev-parse", f"{commit}:{path}")

    def ask(
        self,
        mine: str | bytes | None,
        *reports: ChangesReport,
        before: str | None = BASE,
        path: str = "a.py",
    ) -> list[RangeConflict]:
        place = locate(str(self.repo), os.environ)
        assert place is not None
        content = mine.encode() if isinstance(mine, str) else mine
        until_now = None if before is None else before.encode()
        folder = str(self.repo / ".git/ghp")
        return changes_elsewhere.clashes(
            place, folder, path, content, until_now, reports, "refs/heads/main", os.environ
        )

    def said(
        self, mine: str | bytes | None, *reports: ChangesReport, **more: Any
    ) -> list[tuple[Any, ...]]:
        return [
            (x.kind, x.is_certain, (x.start, x.end), (x.their_start, x.their_end))
            for x in self.ask(mine, *reports, **more)
        ]


@pytest.fixture
def here(repo: Path) -> Here:
    return Here(repo)


def report(base: str, lines: str | None = None, *, is_deleted: bool = False) -> ChangesReport:
    return ChangesReport("worker-2", 1, "c" * 12, 5, NOW - 185, NOW, base, lines, is_deleted)


def changed(number: int, text: str = "mine\n") -> str:
    return BASE.replace(f"line {number}\n", text)


def test_the_same_base_decides_by_the_lines(here: Here) -> None:
    theirs = report(here.base, "10,3")
    assert here.said(changed(12), theirs) == [("lines", True, (12, 12), (10, 12))]
    assert here.said(changed(13), theirs) == [("lines", True, (13, 13), (10, 12))]
    assert here.said(changed(14), theirs) == []
    assert here.said(BASE.replace("line 9\n", "line 9\nnew\n"), theirs) == [
        ("lines", True, (10, 10), (10, 12))
    ]
    assert here.said(BASE, theirs) == []


def test_lines_of_another_base_are_those_that_they_became(here: Here) -> None:
    theirs = report(here.old, "10,3")  # 11 to 13 here, where line 3 was added since
    assert here.said(changed(9), theirs) == []
    assert here.said(changed(13), theirs) == [("lines", True, (13, 13), (11, 13))]
    assert here.said(changed(14), theirs) == [("lines", True, (14, 14), (11, 13))]
    assert here.said(changed(15), theirs) == []


def test_with_an_unknown_base_the_agent_is_only_warned(here: Here) -> None:
    assert here.said(changed(12), report(UNKNOWN, "10,3")) == [("unknown", False, (0, 0), (0, 0))]


def test_deleting_and_changing_a_file_conflict_and_deleting_twice_does_not(here: Here) -> None:
    gone = report(here.base, is_deleted=True)
    assert here.said(changed(12), gone)[0][:3] == ("deleted", True, (12, 12))
    assert here.said(None, gone) == []
    assert here.said(None, report(here.base, "10,3"))[0][:2] == ("deleted", True)
    assert here.said(None, report(here.base, "10,3"))[0][3] == (10, 12)


def test_a_file_that_both_create_is_a_warning(here: Here) -> None:
    kinds = [x[:2] for x in here.said("1\n", report(""), before=None, path="new.py")]
    assert kinds == [("added", False)]
    newer = here.said("1\n", report(here.base, "1,1"), before=None, path="new.py")
    assert [x[:2] for x in newer] == [("unknown", False)]
    assert here.said(changed(12), report("")) == []  # it came to main after they began


def test_what_conflicted_before_the_edit_is_not_refused_again(here: Here) -> None:
    theirs = report(here.base, "10,3 20,2")
    before = changed(11)
    assert here.said(before.replace("line 25\n", "x\n"), theirs, before=before) == []
    assert here.said(before.replace("line 21\n", "x\n"), theirs, before=before) == [
        ("lines", True, (21, 21), (20, 21))
    ]


def test_binary_files_and_unknown_lines(here: Here) -> None:
    assert here.said(b"a\0b", report(here.base))[0][:2] == ("binary", True)
    assert here.said(changed(3), report(here.base))[0][:2] == ("unknown", False)


def test_line_endings_are_those_that_git_stores(here: Here) -> None:
    git(here.repo, "config", "core.autocrlf", "true")
    windows = changed(14).replace("\n", "\r\n")
    assert here.said(windows, report(here.base, "10,3")) == []
    assert here.said(windows, report(here.base, "14,1"))[0][:3] == ("lines", True, (14, 14))


def test_attributes_rule_and_no_driver_or_filter_runs(here: Here) -> None:
    (here.repo / ".gitattributes").write_text("a.py merge=odd filter=odd diff=odd\n")
    for key in ("merge.odd.driver", "filter.odd.clean", "diff.odd.textconv", "diff.external"):
        git(here.repo, "config", key, f"touch {here.repo}/ran")
    assert here.said(changed(12), report(here.base, "10,3"))[0][:2] == ("unknown", False)
    (here.repo / ".gitattributes").write_text("a.py merge=union diff=odd\n")
    assert here.said(changed(12), report(here.base, "10,3")) == []
    (here.repo / ".gitattributes").write_text("a.py diff=odd\n")
    assert here.said(changed(12), report(here.base, "10,3"))[0][:2] == ("lines", True)
    assert not (here.repo / "ran").exists()


def test_nothing_is_decided_of_what_is_too_large_or_without_git(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UndecidedError, match="bytes"):
        here.ask(b"x" * (LARGEST + 1), report(here.base, "1,1"))
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UndecidedError):
        here.ask(changed(12), report(here.base, "10,3"))


def test_a_branch_without_a_merge_base_counts_from_its_own_commit(here: Here) -> None:
    git(here.repo, "checkout", "--quiet", "--orphan", "other")
    base = here.blob(commit(here.repo, {"a.py": BASE}))
    assert here.said(changed(12), report(base, "10,3"))[0][:2] == ("lines", True)
