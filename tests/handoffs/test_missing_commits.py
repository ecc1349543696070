"""Commits of a handoff that the branch here lacks are named first, with the command for them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs import missing_commits
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.handoffs.restore import NotRestoredError
from tests.support.git import commit, git
from tests.support.handoffs import Station, begin_work, make_team

BRANCH = "agent/worker-1/2-dashboard"
BY = "bee"


@pytest.fixture
def back(repo: Path) -> tuple[Station, Handoff, str]:
    """worker-1 on its branch, its own commit the last one; the handoff to it, with another commit
    and uncommitted work; and that commit's id."""
    begin_work(repo)
    own = commit(repo, {"a": "1\n"}, "Own")
    head = commit(repo, {"wip": "1\n"}, "Bee")
    (repo / "wip2").write_text("2\n")
    team = make_team()
    handoff = team.at(repo, BY).hand_over(issue="2", to="worker-1").handoff
    # A branch that never had the commit of the other agent, as in another clone.
    git(repo, "clean", "--quiet", "--force")
    git(repo, "checkout", "--quiet", "--detach", own)
    git(repo, "branch", "--quiet", "-D", BRANCH)
    git(repo, "checkout", "--quiet", "-b", BRANCH)
    return team.at(repo), handoff, head


@pytest.mark.slow
def test_work_is_not_restored_without_the_commits_below_it(
    back: tuple[Station, Handoff, str],
) -> None:
    station, handoff, head = back
    with pytest.raises(NotRestoredError) as caught:
        station.restore(issue="2")
    assert str(caught.value) == (
        f"Not on the branch here: 1 commit of {handoff.name}, by {BY}, up to {head[:12]}."
    )
    command = f"git merge --ff-only {head[:12]}"
    assert caught.value.hint == (
        f"Run `{command}`, then `ghp agent-resume --handoff {handoff.name} --apply`."
    )
    assert git(station.folder, "status", "--porcelain") == ""
    git(station.folder, *command.split()[1:])
    assert not station.restore(issue="2").three_way
    assert [(station.folder / name).read_text() for name in ("wip", "wip2")] == ["1\n", "2\n"]


@pytest.mark.slow
def test_the_first_step_brings_the_commits(back: tuple[Station, Handoff, str]) -> None:
    station, handoff, head = back
    text = station.resume(issue="2").text
    command = f"`git merge --ff-only {head[:12]}`"
    assert (
        f"1. First get the commits of {handoff.name} that the branch here lacks: {command}." in text
    )
    assert f"at `{head[:12]}`: {command}." in text
    git(station.folder, "merge", "--quiet", head)
    assert "First get the commits" not in station.resume(issue="2").text


def test_a_branch_with_other_commits_merges_them(back: tuple[Station, Handoff, str]) -> None:
    station, handoff, head = back
    commit(station.folder, {"b": "1\n"}, "Other")
    missing = missing_commits.of(station.ws, station.team.store, handoff)
    assert missing
    assert (missing.total, missing.command) == (1, f"git merge {head[:12]}")


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", ["cherry-pick", "amend", "on main", "merge -s ours"])
def test_commits_that_are_there_in_another_form_are_not_missing(
    back: tuple[Station, Handoff, str], how: str
) -> None:
    station, handoff, head = back
    folder = station.folder
    if how == "cherry-pick":
        commit(folder, {"b": "1\n"}, "Other")
        git(folder, "cherry-pick", head)
    elif how == "amend":
        git(folder, "merge", "--quiet", "--ff-only", head)
        git(folder, "commit", "--quiet", "--amend", "-m", "Bee, in other words")
    elif how == "on main":
        git(folder, "branch", "--force", "main", head)
    else:
        git(folder, "merge", "--quiet", "--strategy=ours", "-m", "Leave it out", head)
    assert missing_commits.of(station.ws, station.team.store, handoff) is None


@pytest.mark.slow
def test_elsewhere_the_way_leads_to_the_branch(
    back: tuple[Station, Handoff, str], worktree: Callable[[Path, str], Path]
) -> None:
    station, handoff, head = back
    git(station.folder, "checkout", "--quiet", "main")
    at = missing_commits.of(station.ws, station.team.store, handoff)
    assert at
    assert at.command == f"git switch {BRANCH}"
    git(station.folder, "branch", "--quiet", "-D", BRANCH)
    at = missing_commits.of(station.ws, station.team.store, handoff)
    assert at
    assert at.command == f"git switch --detach {head[:12]}"
