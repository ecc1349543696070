"""What no remote has of a branch travels with the handoff; a stored pack is not trusted."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs import commits, missing_commits
from ghp_agents.handoffs.handoff import NOTHING, Handoff
from ghp_agents.handoffs.missing_commits import storing
from ghp_agents.handoffs.record import pack_path_of
from ghp_agents.handoffs.restore import NotRestoredError, restore
from tests.support.context import make_context
from tests.support.ghp import run_ghp, succeed
from tests.support.git import commit, git
from tests.support.handoffs import Station, Team, begin_work, make_team

BRANCH = "agent/worker-1/2-dashboard"


@pytest.fixture
def handed(clones: Callable[[int], list[Path]]) -> tuple[Station, Handoff, str]:
    """The station of worker-2 in another clone, a handoff with commits, and their last id."""
    mine, theirs = clones(2)
    begin_work(mine)
    team = make_team()
    commit(mine, {"a": "1\n"}, "One")
    head = commit(mine, {"a": "2\n"}, "Two")
    done = team.at(mine).hand_over(to="worker-2")
    assert done.carried.packed
    assert done.carried.packed.total == 2
    return team.at(theirs, "worker-2"), done.handoff, head


def test_the_commits_arrive_with_their_ids(handed: tuple[Station, Handoff, str]) -> None:
    station, handoff, head = handed
    assert commits.unpack(station.ws, station.team.store, handoff) == ""
    assert commits.unpack(station.ws, station.team.store, handoff) == ""
    assert git(station.folder, "log", "--format=%s", head) == "Two\nOne\nBegin"
    assert commits.create_branch(station.ws, handoff)
    assert git(station.folder, "rev-parse", BRANCH) == head


def test_an_existing_branch_stays(handed: tuple[Station, Handoff, str]) -> None:
    station, handoff, _ = handed
    git(station.folder, "branch", BRANCH, "main")
    commits.unpack(station.ws, station.team.store, handoff)
    assert not commits.create_branch(station.ws, handoff)
    assert git(station.folder, "rev-parse", BRANCH) == git(station.folder, "rev-parse", "main")


@pytest.mark.slow
def test_restoring_the_work_first_brings_the_branch(
    handed: tuple[Station, Handoff, str],
) -> None:
    station, handoff, head = handed
    with pytest.raises(NotRestoredError) as caught:
        station.restore(handoff=handoff.id)
    assert str(caught.value) == (
        f"The commits of {handoff.name} were not in this clone; now they are."
    )
    assert caught.value.hint == (
        f"Run `git switch {BRANCH}`, then `ghp agent-resume --handoff {handoff.name}`."
    )
    assert git(station.folder, "rev-parse", BRANCH) == head


@pytest.mark.slow
def test_resume_names_the_command_that_brings_them(handed: tuple[Station, Handoff, str]) -> None:
    station, handoff, _ = handed
    assert f"`ghp agent-resume --handoff {handoff.name} --apply`" in station.resume(issue="2").text


@pytest.mark.slow
def test_a_later_handoff_of_the_same_commits_brings_them(
    handed: tuple[Station, Handoff, str],
) -> None:
    station, handoff, head = handed
    later = handoff._replace(id="f" * 12, clock=handoff.clock + 1, commits=None)
    assert storing(station.team.store, later) == [handoff]
    with pytest.raises(NotRestoredError) as caught:
        restore(make_context(station.ws, station.team.store), later)
    assert str(caught.value) == (
        f"The commits of {later.name} were not in this clone; now they are."
    )
    assert git(station.folder, "rev-parse", BRANCH) == head


def test_commits_that_no_handoff_stores_have_to_be_fetched(
    handed: tuple[Station, Handoff, str],
) -> None:
    station, handoff, _ = handed
    other = handoff._replace(id="f" * 12, head="1" * 40, commits=None)
    missing = missing_commits.of(station.ws, station.team.store, other)
    assert missing
    assert missing.command == f"git fetch origin {BRANCH}"


def test_each_reason_why_they_cannot_be_used_is_said(
    handed: tuple[Station, Handoff, str],
) -> None:
    station, handoff, _ = handed
    assert handoff.commits
    store, unknown = station.team.store, "1" * 40

    def why(earlier: Handoff) -> str:
        return commits.unpack(station.ws, store, earlier)

    unstored = handoff._replace(commits=None, head=unknown)
    assert why(unstored) == "they are not stored with the handoff"
    assert why(handoff._replace(id="0" * 12, head=unknown)) == "this clone has not fetched them"
    bad = handoff.commits._replace(digest="0" * 64)
    assert why(handoff._replace(commits=bad)) == "the stored pack does not match its checksum"
    other = handoff.commits._replace(base=unknown)
    assert why(handoff._replace(commits=other)) == (
        "they are based on 111111111111, which this clone does not have"
    )
    assert why(handoff._replace(head=unknown)) == f"bad object {unknown}"
    assert git(station.folder, "branch", "--list", "agent/*") == ""


def test_nothing_is_packed_for_an_agent_of_this_clone_or_without_new_commits(
    clones: Callable[[int], list[Path]],
) -> None:
    mine, _ = clones(2)
    begin_work(mine)
    team: Team = make_team()
    assert team.at(mine).hand_over(to="worker-2").carried == NOTHING
    commit(mine, {"a": "1\n"}, "One")
    handed = team.at(mine).hand_over(checkpoint=True)
    assert (handed.carried, handed.handoff.commits) == (NOTHING, None)


def test_the_record_names_the_pack(handed: tuple[Station, Handoff, str]) -> None:
    station, handoff, _ = handed
    files = station.team.store.snapshot().files(".ghp/patches/")
    assert [*files] == [pack_path_of(handoff)]
    assert handoff.commits
    assert len(files[pack_path_of(handoff)]) == handoff.commits.size


@pytest.mark.slow
def test_two_handovers_in_a_row_bring_the_commits_to_another_clone(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    work = "echo x > n; git add n; git commit -qm One; echo W > wip"
    for line in (
        "agent-issue new Task --as @me",
        f"agent-start 1 --as k1 -- sh -c '{work}'",
        "agent-stop k1 --now --as @me",
        "agent-start 1 --as k2 -- true",
        "agent-stop k2 --now --as @me",
        "agent-sync",
    ):
        assert run_ghp(line, one).code == 0, line
    succeed(other, "agent-sync", "agent-start 1 --as k3")
    place = Path(run_ghp("agent-where 1", other).out.strip())
    assert run_ghp("agent-resume --apply --as k3", place).code == 0
    assert [(place / name).read_text() for name in ("n", "wip")] == ["x\n", "W\n"]
