"""A finish in two halves: inside, nothing needs the remote; outside, no check runs."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath import background
from ghp_agents.pulls import finish_later
from ghp_agents.pulls.finish import ChecksFailedError
from ghp_agents.pulls.finish_later import FinishRequest, LeftFinish
from ghp_agents.wiring import App
from tests.support.git import commit, git
from tests.support.road import Road

BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture
def road(clone: Path) -> Road:
    road = Road(clone)
    road.issue("Parse files")
    road.configure({"checks": ["touch ../ran", "test -e b.txt"]})
    return road


@pytest.fixture
def place(road: Road) -> Path:
    """A worktree with a commit."""
    path = road.start("worker-1").path
    commit(path, {"b.txt": "one\n"}, "Parse one file")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The run's folder."""
    return tmp_path


def inside(road: Road, place: Path, folder: Path, *, draft: bool = False) -> LeftFinish:
    """What the agent's command does in a sandbox, which does not reach the remote."""
    remote = git(road.folder, "remote", "get-url", "origin")
    git(road.folder, "remote", "set-url", "origin", "/nowhere")
    environ: Mapping[str, str] = {**os.environ, background.BOX: str(folder / "finish.json")}
    app = App(place, environ, name="worker-1", clock=road.clock)
    try:
        return finish_later.leave(app, issue=None, draft=draft, tell=lambda _: None)
    finally:
        git(road.folder, "remote", "set-url", "origin", remote)


def sent(road: Road) -> str:
    return git(road.folder, "ls-remote", "origin", f"refs/heads/{BRANCH}")[:40]


@pytest.mark.slow
def test_what_is_left_inside_is_sent_outside_and_no_check_runs_again(
    road: Road, place: Path, folder: Path
) -> None:
    left = inside(road, place, folder)
    assert (left.commits, left.updated, [check.passed for check in left.checks]) == (
        1, False, [True, True],
    )  # fmt: skip
    assert sent(road) == ""
    (place.parent / "ran").unlink()
    request = finish_later.request_of(folder, 1)
    checks = ("touch ../ran", "test -e b.txt")
    assert request == FinishRequest(left.head, False, checks)
    done = finish_later.complete(road.house("worker-1", place), request, 1)
    assert (done.pull.branch, done.pull.head, done.pull.draft) == (BRANCH, left.head, False)
    assert sent(road) == left.head
    assert not (place.parent / "ran").exists()


@pytest.mark.slow
def test_red_checks_leave_nothing(road: Road, place: Path, folder: Path) -> None:
    git(place, "rm", "-q", "b.txt")
    commit(place, {"a.txt": "one\n"}, "Parse another")
    with pytest.raises(ChecksFailedError):
        inside(road, place, folder)
    assert finish_later.request_of(folder, 1) is None


@pytest.mark.slow
def test_a_draft_is_sent_although_its_checks_are_red(road: Road, place: Path, folder: Path) -> None:
    git(place, "rm", "-q", "b.txt")
    commit(place, {"a.txt": "one\n"}, "Parse another")
    inside(road, place, folder, draft=True)
    request = finish_later.request_of(folder, 1)
    assert request
    assert finish_later.complete(road.house("worker-1", place), request, 1).pull.draft


@pytest.mark.slow
def test_outside_refuses_what_was_not_checked(road: Road, place: Path) -> None:
    """Somebody wrote the request by hand."""
    house = road.house("worker-1", place)
    head = git(place, "rev-parse", "HEAD")
    with pytest.raises(RefusedError, match="The checks have not passed on this commit"):
        finish_later.complete(house, FinishRequest(head, draft=False), 1)
    with pytest.raises(RefusedError, match="Commits were added after"):
        finish_later.complete(house, FinishRequest("0" * 40, draft=False), 1)
    assert sent(road) == ""


@pytest.mark.slow
def test_outside_refuses_work_whose_issue_another_has(
    road: Road, place: Path, folder: Path
) -> None:
    head = inside(road, place, folder).head
    house = road.house("@me")
    lease = house.locks.read("issue/1")
    assert lease is not None
    house.locks.acquire("issue/1", "worker-2", expected=lease, epoch=1)
    with pytest.raises(RefusedError, match="#1 is claimed by worker-2"):
        finish_later.complete(road.house("worker-1", place), FinishRequest(head, draft=False), 1)
    assert sent(road) == ""


@pytest.mark.parametrize(
    "text",
    ["", "[", "[]", '{"issue": 2, "head": "a", "draft": false}', '{"issue": 1, "head": 3}',
     '{"issue": 1, "head": "a", "draft": 1}', "[" * 100_000],
)  # fmt: skip
def test_a_request_that_is_none_is_left_alone(folder: Path, text: str) -> None:
    (folder / background.BOX_FILE).write_text(text)
    assert finish_later.request_of(folder, 1) is None
