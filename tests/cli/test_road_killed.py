"""Killed at any of its calls of git, a command is completed by the same command."""

from pathlib import Path

import pytest

from tests.support.ghp import invoke, run_ghp
from tests.support.git import commit, git
from tests.support.killer import Killer
from tests.support.road import Road
from tests.support.thorough import count, some

BRANCH = "agent/worker-1/1-parse-files"
STEP = count(12, sample=24)  # between two of the calls that are tried
FIRSTS = range(1, STEP + 1)  # the first one that is

pytestmark = pytest.mark.slow


@pytest.fixture
def killer(tmp_path: Path) -> Killer:
    return Killer(tmp_path / "killer")


@pytest.fixture
def road(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Road:
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    road = Road(clone)
    road.configure({"checks": ["test -e a.txt"]}, worktreeSetupCommand="echo again >> ran")
    (clone / ".git/info").mkdir(exist_ok=True)
    (clone / ".git/info/exclude").write_text("ran\n")
    road.issue("Parse files")
    return road


@pytest.mark.parametrize("first", some(FIRSTS, every=STEP, first=2))
def test_a_start(road: Road, killer: Killer, home: Path, first: int) -> None:
    at, killed = first, 0
    place = home / ".ghp/worktrees/remote/1-parse-files"
    while killer.run("agent-start 1 --as worker-1", road.folder, at).code == -9:
        killed += 1
        done = run_ghp("agent-start 1 --as worker-1", road.folder, {"GHP_BACKGROUND": "0"})
        assert done.code == 0, done.err
        assert git(place, "branch", "--show-current") == BRANCH
        assert git(place, "status", "--porcelain") == ""
        assert (place / "ran").exists()
        assert len(git(road.folder, "worktree", "list").splitlines()) == 2
        assert Road(place).house("").ws.agent() == "worker-1"
        # All of it once more, from the beginning.
        git(road.folder, "worktree", "remove", "--force", str(place))
        git(road.folder, "branch", "--quiet", "-D", BRANCH)
        assert invoke("agent-release 1 --as worker-1", road.folder).code == 0
        at += STEP
    assert killed >= 1


@pytest.mark.parametrize("first", some(FIRSTS, every=STEP, first=5))
@pytest.mark.long
def test_a_finish(road: Road, killer: Killer, home: Path, first: int) -> None:
    assert invoke("agent-start 1 --as worker-1", road.folder).code == 0
    place = home / ".ghp/worktrees/remote/1-parse-files"
    at, killed = first, 0
    while True:
        head = commit(place, {"a.txt": f"{at}\n"}, f"Work {at}")
        road.put({f"news-{at}.txt": "new\n"})
        if killer.run("agent-finish", place, at).code != -9:
            break
        killed += 1
        done = run_ghp("agent-finish", place, {"GHP_BACKGROUND": "0"})
        assert (done.code, done.out) == (0, "2\n"), done.err
        tip = git(place, "rev-parse", "HEAD")
        assert git(road.folder, "ls-remote", "origin", BRANCH)[:40] == tip
        assert git(place, "merge-base", head, tip) == head
        assert git(place, "status", "--porcelain") == ""
        assert [pull.head for pull in road.house("@me").forge.list(closed=True)] == [tip]
        at += STEP
    assert killed >= 1


@pytest.mark.parametrize("first", some(FIRSTS, every=STEP, first=4))
@pytest.mark.long
def test_a_queue(road: Road, killer: Killer, first: int) -> None:
    at, killed, command = first, 0, "agent-merge --queue --unchecked --as lead"
    numbers = [1, road.issue("Read files").number]
    while True:
        for number in numbers:
            road.done(f"worker-{number}", number, {"a.txt": "new\n", f"{at}-{number}.txt": "new\n"})
        if killer.run(command, road.folder, at).code != -9:
            break
        killed += 1
        done = run_ghp(command, road.folder, {"GHP_BACKGROUND": "0"})
        assert done.code == 0, done.err
        house = road.house("@me")
        subjects = git(road.folder, "log", "--format=%s", road.tip).splitlines()
        for number in numbers:
            issue = house.tracker.get(number)
            assert (issue.state, len(issue.comments)) == ("closed", 1)
            lease = house.locks.read(f"issue/{number}")
            assert lease is not None
            assert lease.holder is None
            pull = next(x for x in house.forge.list(closed=True) if x.issue == number)
            assert subjects.count(f"Merge #{pull.number} from {pull.branch}") == 1
        git(road.folder, "pull", "--quiet", "--ff-only")
        numbers = [road.issue(f"Parse {at}").number, road.issue(f"Read {at}").number]
        at += STEP
    assert killed >= 1


@pytest.mark.parametrize("first", some(FIRSTS, every=STEP, first=8))
@pytest.mark.long
def test_a_merge(road: Road, killer: Killer, first: int) -> None:
    at, killed, number = first, 0, 1
    while True:
        road.done(f"worker-{number}", number, {"a.txt": f"{at}\n", f"{at}.txt": "new\n"})
        ended = killer.run(f"agent-merge {number} --unchecked --as lead", road.folder, at).code
        if ended != -9:
            break
        killed += 1
        done = run_ghp(
            f"agent-merge {number} --unchecked --as lead", road.folder, {"GHP_BACKGROUND": "0"}
        )
        assert done.code == 0, done.err
        house = road.house("@me")
        issue = house.tracker.get(number)
        assert (issue.state, len(issue.comments)) == ("closed", 1)
        lease = house.locks.read(f"issue/{number}")
        assert lease is not None
        assert lease.holder is None
        subjects = git(road.folder, "log", "--format=%s", road.tip).splitlines()
        pull = next(x for x in house.forge.list(closed=True) if x.issue == number)
        assert subjects.count(f"Merge #{pull.number} from {pull.branch}") == 1
        git(road.folder, "pull", "--quiet", "--ff-only")
        number = road.issue(f"Parse more {at}").number
        at += STEP
    assert killed >= 1
