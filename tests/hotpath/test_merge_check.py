"""The verdict on a file that others edit in worktrees of their own: refused for a conflict only."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.hotpath import implicit_leases, merge_check
from ghp_agents.hotpath.locate import Location, locate
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.hotpath.worktree_file import UndecidedError
from tests.support.hooks import log
from tests.support.other_versions import BASE, NOW, SINCE, Versions, changed


@pytest.fixture
def versions(repo: Path) -> Versions:
    repositories = Versions(repo)
    (repo / ".git/ghp").mkdir(parents=True, exist_ok=True)
    repositories.theirs(changed(l30="theirs"))
    return repositories


def place(versions: Versions) -> Location:
    location = locate(str(versions.repo), os.environ)
    assert location
    return location


def before_edit(
    versions: Versions, content: Callable[[], bytes | None] | None, *names: str
) -> Verdict | None:
    others = [versions.lease(name=name) for name in names or ("worker-2",)]
    where = place(versions), versions.folders, os.environ, "worker-1", "a.py"
    return merge_check.before_edit(*where, others, content)


def test_an_edit_that_merges_is_allowed(versions: Versions) -> None:
    assert before_edit(versions, lambda: changed(l10="mine").encode()) is None


def test_an_edit_that_conflicts_is_refused_with_who_where_and_what_next(
    versions: Versions,
) -> None:
    verdict = before_edit(versions, lambda: changed(l30="mine").encode())
    assert verdict is not None
    assert (verdict.word, verdict.kind, verdict.holder, verdict.since) == (
        "deny", "conflict", "worker-2", SINCE,
    )  # fmt: skip
    assert "at your line 30" in verdict.why
    assert "\ntheirs\n" in verdict.why
    assert "ghp agent-check --override REASON a.py" in verdict.next


def test_a_conflict_that_is_there_already_refuses_nothing(versions: Versions) -> None:
    (versions.repo / "a.py").write_text(changed(l30="mine"))
    assert before_edit(versions, lambda: changed(l30="mine otherwise").encode()) is None


def unknown() -> bytes:
    raise UndecidedError("what the edit writes is unknown: why")


@pytest.mark.parametrize("content", [None, unknown])
def test_an_edit_whose_result_is_unknown_is_allowed_and_logged(
    versions: Versions, content: Callable[[], bytes | None] | None
) -> None:
    assert before_edit(versions, content) is None
    (entry,) = log(versions.repo)
    assert entry["where"] == "conflicts of a.py: the edit was allowed"
    assert entry["error"].startswith("UndecidedError: what the edit writes is unknown")


def test_a_file_counts_as_it_is_if_nobody_edits_it(versions: Versions) -> None:
    where = place(versions), versions.folders, os.environ, "worker-1", "a.py"
    others = [versions.lease()]
    assert merge_check.as_it_is(*where, others) is None
    (versions.repo / "a.py").write_text(changed(l30="mine"))
    verdict = merge_check.as_it_is(*where, others)
    assert verdict is not None
    assert verdict.kind == "conflict"
    (versions.repo / "a.py").unlink()
    (versions.repo / "a.py").mkdir()
    assert merge_check.as_it_is(*where, others) is None
    assert len(log(versions.repo)) == 1


def test_of_those_who_edit_a_file_that_nobody_merges_the_first_goes_on(versions: Versions) -> None:
    (versions.repo / ".gitattributes").write_text("a.py -merge\n")
    (versions.worktree() / ".gitattributes").write_text("a.py -merge\n")
    versions.beat("worker-1")
    versions.theirs(BASE)
    edit = lambda: changed(l1="mine").encode()  # noqa: E731
    verdict = before_edit(versions, edit)
    assert verdict is not None
    assert (verdict.word, verdict.kind) == ("deny", "implicit")
    later, earlier = NOW + 10**9, NOW - 10**9
    git_dir = str(versions.repo / ".git")
    for now, refused in ((later, True), (earlier, False)):
        implicit_leases.drop_all(versions.folders, "worker-1")
        implicit_leases.take_lease(versions.folders, "worker-1", 1, "a.py", git_dir, now)
        assert (before_edit(versions, edit) is not None) is refused
