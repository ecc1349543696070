"""The verdict on an edit of a file that agents of other clones have changed."""

import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hotpath import clash_check, heartbeat, overrides
from ghp_agents.hotpath.changes_elsewhere import ChangesReport
from ghp_agents.hotpath.locate import Location, locate
from ghp_agents.hotpath.overrides import Override
from ghp_agents.hotpath.policy import UnsureError, Verdict
from ghp_agents.hotpath.worktree_file import UndecidedError
from tests.support.git import commit, git
from tests.support.hooks import log
from tests.support.two_clones import LINES, changed

NOW = 1_750_000_000.0
CLONE = "0123456789ab"


class Here:
    """A clone in which worker-1 edits a.py, with the policy of it."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        place = locate(str(repo), os.environ)
        assert place is not None
        self.place: Location = place
        self.folders = [str(repo / ".git/ghp")]
        (repo / ".git/ghp").mkdir()
        commit(repo, {"a.py": LINES})
        base = git(repo, "rev-parse", "HEAD:a.py")
        git(repo, "checkout", "--quiet", "-b", "work")
        heartbeat.beat(self.folders, "worker-1", {}, NOW, epoch=1)
        self.fields: list[Any] = ["worker-2", 3, CLONE, 5, NOW - 60, NOW + 60, base, "10,3", False]
        self.book: dict[str, Any] = {"fold": False, "changes": {}, "main": "refs/heads/main"}
        self.book["changes"]["a.py"] = [self.fields]

    def edit(
        self, text: str = changed(11), path: str = "a.py", now: float = NOW, **more: Any
    ) -> Verdict | None:
        where = self.place, self.folders, os.environ, self.book, "worker-1", path, now
        return clash_check.before_edit(*where, lambda: text.encode(), **more)

    def override(self) -> None:
        lease = clash_check.lease_of(ChangesReport(*self.fields), "a.py")
        git_dir = self.place.git_dir
        mine = [Override(lease, "agreed", "2026-01-02T03:04:05Z")]
        overrides.add(self.folders, "worker-1", "a.py", git_dir, mine)


@pytest.fixture
def here(repo: Path) -> Here:
    return Here(repo)


def test_a_certain_conflict_is_refused(here: Here) -> None:
    verdict = here.edit()
    assert verdict is not None
    assert (verdict.word, verdict.kind, verdict.holder) == ("deny", "conflict", "worker-2")
    assert verdict.since == "2025-06-15T15:05:40Z"
    assert verdict.why.startswith("This edit of a.py would conflict at your line 11. worker-2 has")
    assert "`ghp agent-check --override REASON a.py`" in verdict.next


def test_an_edit_elsewhere_or_of_another_file_or_by_its_author_is_not(here: Here) -> None:
    assert here.edit(changed(20)) is None
    assert here.edit(path="b.py") is None
    here.fields[0] = "worker-1"
    assert here.edit() is None


def test_a_warning_is_given_once_for_each_reporter(here: Here) -> None:
    here.fields[6] = "0" * 40
    verdict = here.edit()
    assert verdict is not None
    assert (verdict.word, verdict.kind) == ("allow", "conflict")
    assert verdict.why.startswith("worker-2 has also changed a.py in another clone for #5")
    assert here.edit() is None
    here.book["changes"]["a.py"].append(["worker-3", *here.fields[1:]])
    assert here.edit() is not None


def test_an_override_lets_the_agent_go_on_until_it_stops(here: Here) -> None:
    here.override()
    assert here.edit() is None
    assert overrides.drop_ended(here.folders) == 0
    here.fields[1] = 4  # the other agent started again
    assert here.edit() is not None
    heartbeat.beat(here.folders, "worker-1", {"status": "stopped"}, NOW + 9)
    assert overrides.drop_ended(here.folders) == 1


def test_whether_the_other_still_lives_is_asked_after_its_time(here: Here) -> None:
    with pytest.raises(UnsureError):
        here.edit(now=NOW + 61)
    assert here.edit(now=NOW + 61, lives=lambda agent: agent == "worker-2") is not None
    assert here.edit(now=NOW + 61, lives=lambda agent: False) is None


def test_what_cannot_be_decided_is_allowed_and_logged(here: Here) -> None:
    def unknown() -> bytes:
        raise UndecidedError("a tool nobody knows")

    where = here.place, here.folders, os.environ, here.book, "worker-1", "a.py", NOW
    assert clash_check.before_edit(*where, unknown) is None
    assert clash_check.before_edit(*where, None) is None
    assert [entry["error"] for entry in log(here.repo)] == [
        "UndecidedError: a tool nobody knows",
        "UndecidedError: what the edit writes is unknown",
    ]


def test_a_file_as_it_is_counts_with_all_its_lines(here: Here) -> None:
    where = here.place, here.folders, os.environ, here.book, "worker-1", "a.py", NOW
    assert clash_check.as_it_is(*where, lambda _: True) is None
    (here.repo / "a.py").write_text(changed(11))
    assert here.edit(changed(11, "again\n")) is None
    verdict = clash_check.as_it_is(*where, lambda _: True)
    assert verdict is not None
    assert (verdict.word, verdict.why[:40]) == ("allow", "This edit of a.py would conflict at your")
