"""The way to main: what no agent finished is not merged by itself, and what others hold stays."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.escalations import service as escalation
from ghp_agents.github import pull_mapping as github_pull
from ghp_agents.pulls.merging.merge_batch import Passed
from ghp_agents.pulls.pull import NewPull, Pull
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke
from tests.support.git import commit, git
from tests.support.road import DEAD, Road

Clones = Callable[[int], list[Path]]
MALLORY = Actor("mallory")


@pytest.fixture
def road(repo: Path) -> Road:
    road = Road(repo)
    road.configure({"checks": ["test -f README.md"]})
    road.issue("Parse files")
    return road


def ghp(road: Road, words: str, folder: Path | None = None) -> Result:
    return invoke(words, folder or road.folder, clock=road.clock)


def innocent(road: Road, issue: int | None = None) -> Pull:
    """A branch, and a record of a pull request, by one who never claimed anything."""
    git(road.folder, "switch", "--quiet", "-c", "innocent")
    head = commit(road.folder, {"backdoor.sh": "curl\n"})
    git(road.folder, "switch", "--quiet", "main")
    new = NewPull("innocent", "main", head, "Fix a word", issue=issue)
    return road.house("mallory").forge.open(new, MALLORY)


# ------------------------------------------------------------------------------- the queue


def skipped(pull: Pull, why: str) -> str:
    hint = f"A person can review it and merge it by its number: {pull.number}."
    return f"Skipped #{pull.number}: {why}.\nHint: {hint}\n"


@pytest.mark.sample(1)
@pytest.mark.parametrize("who", ["lead", "@me"])
@pytest.mark.parametrize(
    ("issue", "why"),
    [(None, "it belongs to no issue"), (1, "nobody ever claimed #1")],
)
def test_the_queue_takes_nothing_of_one_who_never_claimed_the_issue(
    road: Road, who: str, issue: int | None, why: str
) -> None:
    pull = innocent(road, issue)
    assert ghp(road, f"agent-merge --queue --as {who}") == (
        0, "", skipped(pull, why)
    )  # fmt: skip
    assert "backdoor.sh" not in road.trunk


@pytest.mark.slow
def test_the_queue_takes_nothing_that_another_sent_for_the_holder(road: Road) -> None:
    road.start("worker-1")
    pull = innocent(road, 1)
    assert ghp(road, "agent-merge --queue --as lead").err == (
        skipped(pull, "mallory sent it, but worker-1 claimed #1 last")
    )
    assert "backdoor.sh" not in road.trunk


@pytest.mark.slow
def test_the_queue_takes_nothing_that_came_onto_the_branch_after_it_was_finished(
    road: Road,
) -> None:
    pull = road.done("worker-1", 1, {"a.txt": "one\n"}).pull
    git(road.folder, "switch", "--quiet", "--detach", pull.head)
    more = commit(road.folder, {"backdoor.sh": "curl\n"})
    git(road.folder, "switch", "--quiet", "main")
    git(road.folder, "update-ref", f"refs/heads/{pull.branch}", more)
    assert ghp(road, "agent-merge --queue --as lead").err == (
        skipped(pull, "its branch moved after `agent-finish` sent it for worker-1")
    )
    assert "backdoor.sh" not in road.trunk


@pytest.mark.slow
def test_the_queue_takes_what_was_finished_also_when_the_claim_has_ended(road: Road) -> None:
    road.done("worker-1", 1, {"a.txt": "one\n"})
    assert ghp(road, "agent-release 1 --as worker-1").code == 0
    assert ghp(road, "agent-merge --queue --as lead").out == "2\n"
    assert "a.txt" in road.trunk


@pytest.mark.slow
def test_by_its_number_an_agent_merges_such_a_one_only_with_a_persons_word(road: Road) -> None:
    pull = innocent(road, 1)
    refused = ghp(road, f"agent-merge {pull.number} --as lead")
    (asked,) = escalation.questions(road.house("@me").world)
    why = "because nobody ever claimed #1. A person has not approved it yet"
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.endswith(
        f"Error: #{pull.number} needs approval by a person, {why}: {asked.name}.\n"
        "Hint: Merge other work meanwhile. After the answer, run the same command again.\n"
    )
    assert "backdoor.sh" not in road.trunk

    house = road.house("@me")
    escalation.answer(house, asked.name, "approve")
    assert ghp(road, f"agent-merge {pull.number} --as lead").code == 0
    assert "backdoor.sh" in road.trunk


@pytest.mark.slow
def test_a_person_who_merges_it_by_its_number_has_given_their_word(road: Road) -> None:
    pull = innocent(road)
    assert ghp(road, f"agent-merge {pull.number} --as @me").out == f"{pull.number}\n"
    assert "backdoor.sh" in road.trunk


@pytest.mark.slow
def test_a_persons_word_is_for_one_commit(road: Road) -> None:
    pull = innocent(road, 1)
    ghp(road, f"agent-merge {pull.number} --as lead")
    house = road.house("@me")
    (asked,) = escalation.questions(house.world)
    escalation.answer(house, asked.name, "approve")
    git(road.folder, "switch", "--quiet", "innocent")
    commit(road.folder, {"worse.sh": "curl\n"})
    git(road.folder, "switch", "--quiet", "main")
    assert ghp(road, f"agent-merge {pull.number} --as lead").code == 3
    assert "worse.sh" not in road.trunk


def on_github(login: str, **fields: Any) -> Pull:
    line = f'{{"id":"0123456789ab","by":"worker-1","head":"{"a" * 40}"}}'
    body = f"Work\n\nCloses #1\n\n<!-- ghp-agents:{line} -->"
    said = {
        "number": 12, "title": "Parse", "state": "open", "user": {"login": login}, "body": body,
        "head": {"ref": "agent/worker-1/1-x", "sha": "a" * 40}, "base": {"ref": "main"},
        "created_at": "", "updated_at": "", **fields,
    }  # fmt: skip
    return github_pull.pull(said, lambda account: account == "writer")


def test_on_github_only_our_line_by_an_account_that_may_write_is_a_proof() -> None:
    assert on_github("writer").sent == ("a" * 40, Actor("worker-1"))
    assert on_github("mallory").sent is None
    assert on_github("writer", body="Please review").sent is None


# ---------------------------------------------------------------------------------- checks


@pytest.mark.slow
@pytest.mark.parametrize("what", ["2", "--queue"])
def test_what_nothing_checks_is_merged_only_if_that_is_said(repo: Path, what: str) -> None:
    road = Road(repo)
    road.issue("Parse files")
    road.done("worker-1", 1, {"a.txt": "one\n"})
    assert ghp(road, f"agent-merge {what} --as lead") == (
        3,
        "",
        "Error: Cannot check #2. No checks are configured. List the commands in "
        "`agents.checks` of .ghp/config.json.\n"
        "Hint: Configure checks on the main branch, or merge without checks: "
        "`ghp agent-merge 2 --unchecked`.\n",
    )
    assert road.trunk == ["README.md"]
    assert ghp(road, f"agent-merge {what} --unchecked --as lead").out == "2\n"
    assert road.trunk == ["README.md", "a.txt"]


# ---------------------------------------------------------------------------------- leases


def leased(road: Road, words: str = "src/ --strict", by: str = "bob") -> None:
    done = ghp(road, f"agent-lease {words} --as {by}")
    assert done.code == 0, done.err


@pytest.mark.slow
def test_what_another_leased_strictly_is_not_finished(road: Road) -> None:
    path = road.start("alice").path
    head = commit(path, {"src/a.py": "by a shell\n"})
    leased(road)
    asked = ghp(road, "agent-check src/a.py --as alice", path)
    why, nexts = asked.out.splitlines()
    refused = ghp(road, "agent-finish --as alice", path)
    assert (refused.code, refused.out) == (3, "")
    assert refused.err == f"Error: {why}\nHint: {nexts.removeprefix('  Next: ')}\n"
    assert why.startswith("src/a.py is leased by bob since ")
    assert road.house("alice").forge.list() == []
    assert git(path, "rev-parse", "HEAD") == head


@pytest.mark.slow
def test_a_strict_lease_of_another_clone_is_asked_for_at_the_remote(
    clones: Clones, clock: ManualClock
) -> None:
    ours, theirs = (Road(folder, clock) for folder in clones(2))
    ours.configure({"checks": ["true"]})
    ours.issue("Parse files")
    path = ours.start("alice").path
    commit(path, {"src/a.py": "by a shell\n"})
    leased(theirs)  # and nobody here has heard of it
    refused = ghp(ours, "agent-finish --as alice", path)
    assert (refused.code, refused.out) == (3, "")
    assert "src/a.py is leased by bob since " in refused.err
    assert git(ours.folder, "ls-remote", "origin", "refs/heads/agent/*") == ""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.mark.slow
@pytest.mark.parametrize("who", ["lead", "alice", "@me"])
def test_what_another_leased_strictly_since_is_not_merged_by_anybody(road: Road, who: str) -> None:
    road.done("alice", 1, {"src/a.py": "one\n"})
    leased(road)
    refused = ghp(road, f"agent-merge 2 --as {who}")
    assert (refused.code, refused.out) == (3, "")
    assert "Error: src/a.py is leased by bob since " in refused.err
    (passed,) = road.queue(who)
    assert isinstance(passed, Passed)
    assert "src/a.py" not in road.trunk


@pytest.mark.slow
def test_of_an_ordinary_lease_a_person_is_told_and_an_agent_is_refused(road: Road) -> None:
    road.done("alice", 1, {"src/a.py": "one\n"})
    leased(road, "src/")
    refused = ghp(road, "agent-merge 2 --as lead")
    assert (refused.code, refused.out) == (3, "")
    merged = ghp(road, "agent-merge 2 --as @me")
    assert (merged.code, merged.out) == (0, "2\n")
    assert "Warning: src/a.py is leased by bob since " in merged.err
    assert "src/a.py" in road.trunk


@pytest.mark.slow
def test_the_leases_of_the_one_whose_work_it_is_are_not_in_the_way(road: Road) -> None:
    path = road.start("alice").path
    leased(road, "src/ --strict", "alice")
    commit(path, {"src/a.py": "one\n"})
    road.finish("alice", path)
    assert ghp(road, "agent-merge 2 --as lead").out == "2\n"


@pytest.mark.slow
def test_the_strict_lease_of_one_who_is_dead_is_not_in_the_way(road: Road) -> None:
    road.done("alice", 1, {"src/a.py": "one\n"})
    leased(road)
    road.clock.wait(DEAD)
    os.utime(road.folder / ".git/ghp/agents/bob.json", (road.clock.now() - DEAD,) * 2)
    assert ghp(road, "agent-merge 2 --as lead").out == "2\n"
