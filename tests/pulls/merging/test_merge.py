"""Merging: what comes onto the trunk is what was checked, one at a time, whoever dies or moves."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from ghp_agents.core.errors import NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.pulls.merging import merge as services
from ghp_agents.pulls.merging.merge_trial import Merger
from tests.support.ghp import CHECKOUT, run_ghp
from tests.support.git import commit, git, refs
from tests.support.hosts import behind_ssh
from tests.support.repos import Restored
from tests.support.road import Road, merged, with_issue, with_shared_issue

Clones = Callable[[int], list[Path]]


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


@pytest.fixture
def shared(restored: Restored) -> Road:
    return Road(restored(with_shared_issue).clones[0])


@pytest.mark.slow
def test_what_is_finished_comes_onto_the_trunk(road: Road) -> None:
    done = road.done("worker-1", 1, {"a.txt": "one\n"})
    outcome = merged(road.merge(1))
    assert (outcome.pull.number, outcome.pull.state, outcome.before) == (2, "merged", False)
    assert outcome.pull.merged_as == road.tip
    assert road.trunk == ["README.md", "a.txt"]
    assert git(road.folder, "log", "-1", "--format=%B", "main") == (
        f"Merge #2 from agent/worker-1/1-parse-files\n\nParse files\n\n"
        f"Merged-head: {done.pull.head}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["1", "#1", "2", "#2"])
def test_it_goes_by_its_number_and_by_that_of_its_issue(road: Road, reference: str) -> None:
    road.done("worker-1", 1, {"a.txt": "one\n"})
    assert services.find(road.merger(), reference).number == 2


@pytest.mark.slow
def test_it_goes_by_the_branch_that_is_checked_out(road: Road) -> None:
    place = road.done("worker-1", 1, {"a.txt": "one\n"}).pull.branch
    git(road.folder, "worktree", "remove", "--force", str(road.place(place)))
    git(road.folder, "switch", "--quiet", place)
    assert services.find(road.merger(), None).number == 2
    git(road.folder, "switch", "--quiet", "main")
    with pytest.raises(UsageError, match="Name a pull request"):
        services.find(road.merger(), None)


def test_what_nobody_finished_cannot_be_merged(road: Road) -> None:
    road.start("worker-1")
    with pytest.raises(NotFoundError, match="There is no pull request for #1"):
        road.merge(1)
    with pytest.raises(NotFoundError):
        road.merge(77)


@pytest.mark.slow
def test_a_draft_is_not_merged(road: Road) -> None:
    path = road.start("worker-1").path
    commit(path, {"a.txt": "one\n"})
    road.finish("worker-1", path, draft=True)
    with pytest.raises(RefusedError, match="#2 is a draft"):
        road.merge(1)
    assert road.trunk == ["README.md"]


@pytest.mark.slow
def test_a_branch_that_is_gone_is_said_to_be(shared: Road) -> None:
    done = shared.done("worker-1", 1, {"a.txt": "one\n"})
    git(shared.folder, "push", "--quiet", "origin", f":{done.pull.branch}")
    with pytest.raises(RefusedError, match="the branch of #2, no longer exists"):
        shared.merge(1)
    assert shared.trunk == ["README.md"]


@pytest.mark.slow
def test_again_it_is_merged_already(road: Road) -> None:
    road.done("worker-1", 1, {"a.txt": "one\n"})
    first = merged(road.merge(1))
    again = merged(road.merge(1))
    assert (again.before, again.pull) == (True, first.pull)
    assert len(road.house("@me").tracker.get(1).comments) == 1


# -------------------------------------------------------------------------------- moving


@pytest.mark.slow
def test_a_trunk_that_moves_while_the_checks_run_is_looked_at_again(
    shared: Road,
) -> None:
    shared.done("worker-1", 1, {"a.txt": "one\n"})
    shared.configure({"checks": ["ls"]})
    theirs = commit(shared.folder, {"theirs.txt": "new\n"})
    git(shared.folder, "push", "--quiet", "origin", f"{theirs}:refs/heads/theirs")
    git(shared.folder, "reset", "--quiet", "--keep", "HEAD~1")
    lines: list[str] = []

    def tell(text: str) -> None:
        if not lines:  # between the look and the merge
            git(shared.remote, "update-ref", "refs/heads/main", theirs)
        lines.append(text)

    outcome = merged(services.merge(_merger(shared, tell), "1"))
    assert outcome.checks[0].output.split() == ["README.md", "a.txt", "theirs.txt"]
    assert lines == [
        "Running `ls` …",
        "Cannot merge #2: main has moved since it was checked. Checking it again.",
        "Running `ls` …",
    ]
    assert set(shared.trunk) >= {"a.txt", "theirs.txt"}


def _merger(road: Road, tell: Callable[[str], None], name: str = "lead") -> Merger:
    return services.merger(road.house(name), cwd=road.folder, tell=tell, unchecked=True)


@pytest.mark.slow
def test_a_branch_that_moves_while_the_checks_run_is_looked_at_again(road: Road) -> None:
    path = road.start("worker-1").path
    commit(path, {"a.txt": "one\n"})
    road.finish("worker-1", path)
    road.configure({"checks": ["ls"]})
    lines: list[str] = []

    def tell(text: str) -> None:
        if not lines:
            commit(path, {"b.txt": "two\n"})
        lines.append(text)

    outcome = merged(services.merge(_merger(road, tell, "@me"), "1"))
    assert outcome.checks[0].output.split() == ["README.md", "a.txt", "b.txt"]
    assert set(road.trunk) >= {"a.txt", "b.txt"}


@pytest.mark.slow
def test_what_never_stands_still_is_unknown_in_the_end(road: Road) -> None:
    path = road.start("worker-1").path
    commit(path, {"a.txt": "one\n"})
    road.finish("worker-1", path)
    road.configure({"checks": ["true"]})
    lines: list[str] = []

    def tell(text: str) -> None:
        lines.append(text)
        if text.startswith("Running"):
            commit(path, {"a.txt": f"{len(lines)}\n"})

    with pytest.raises(UnknownError, match="moved 10 times while this command tried to merge it"):
        services.merge(_merger(road, tell, "@me"), "1")
    assert "a.txt" not in road.trunk


@pytest.mark.slow
def test_killed_after_the_trunk_moved_it_is_completed(road: Road) -> None:
    road.configure({"mergeMethod": "squash"})
    road.done("worker-1", 1, {"a.txt": "one\n"})
    state = road.folder / ".git/ghp/state.git"
    before = refs(state, "refs/ghp/clone")
    pull = road.house("lead").forge.find("agent/worker-1/1-parse-files")
    assert pull is not None
    road.house("lead").forge.merge(pull.number, road.house("@me").ws.actor(), head=pull.head)
    for ref, was in before.items():  # the record was not written
        git(state, "update-ref", ref, was)
    trunk = road.tip
    road.put({"a.txt": "changed since\n"})  # merging it once more would conflict
    outcome = merged(road.merge(1))
    assert (outcome.pull.merged_as, outcome.before) == (trunk, True)
    assert road.house("@me").tracker.get(1).state == "closed"
    assert (
        git(road.folder, "log", "--format=%s", "main").splitlines().count("Change the trunk") == 1
    )


@pytest.mark.slow
@pytest.mark.parametrize("at", range(1, 8))
def test_killed_at_any_of_its_pushes_it_is_completed_by_the_same_command(
    shared: Road, at: int
) -> None:
    shared.done("worker-1", 1, {"a.txt": "one\n"})
    remote = shared.remote
    count = remote.parent / "count"
    # The push with this number takes the command with it: git's own parent's parent.
    kills = f"[ $(wc -l < {count}) = {at} ] && kill -9 $(cat {remote.parent}/pid)"
    behind_ssh(shared.folder, remote, push=f"echo >> {count}; {kills}")
    program = [
        sys.executable,
        "-m",
        "ghp_agents",
        "agent-merge",
        "1",
        "--unchecked",
        "--as",
        "lead",
    ]
    env = {**os.environ, "GHP_BACKGROUND": "0", "PYTHONPATH": str(CHECKOUT)}
    started = subprocess.Popen(
        ["sh", "-c", f'echo $$ > {remote.parent}/pid; exec "$@"', "sh", *program],
        cwd=shared.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    started.communicate(timeout=60)
    assert started.returncode == (-9 if at < 5 else started.returncode)
    again = run_ghp("agent-merge 1 --unchecked --as lead", shared.folder, env)
    assert again.code == 0, again.err
    assert shared.house("@me").tracker.get(1).state == "closed"
    lease = shared.house("@me").locks.read("issue/1")
    assert lease is not None
    assert lease.holder is None
    subjects = git(shared.folder, "log", "--format=%s", shared.tip).splitlines()
    assert subjects.count("Merge #2 from agent/worker-1/1-parse-files") == 1
    assert len(shared.house("@me").tracker.get(1).comments) == 1


# --------------------------------------------------------------------------------- crowds


@pytest.mark.slow
def test_two_that_merge_at_one_moment_come_one_after_the_other(clones: Clones) -> None:
    one, two = (Road(folder) for folder in clones(2))
    for number in (1, 2):
        one.issue(f"Issue {number}")
    one.sync()
    two.sync()
    one.done("worker-1", 1, {"1.txt": "one\n"})
    one.sync()
    two.sync()
    two.done("worker-2", 2, {"2.txt": "two\n"})
    two.sync()
    one.sync()
    begin = Barrier(2)

    def go(road: Road, number: int, name: str) -> bool:
        begin.wait()
        for _ in range(200):
            try:
                merged(road.merge(number, name))
            except RefusedError:
                continue
            return True
        return False

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(go, one, 1, "lead-1")
        second = pool.submit(go, two, 2, "lead-2")
        assert first.result()
        assert second.result()
    assert one.trunk == ["1.txt", "2.txt", "README.md"]
    lease = one.house("@me").locks.read("trunk")
    assert lease is not None
    assert lease.holder is None
