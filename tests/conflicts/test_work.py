"""The work of agents: in the worktrees of this clone, and as others pushed it."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ghp_agents.conflicts import work as works
from ghp_agents.conflicts.work import AgentWork, UnreadWork
from ghp_agents.git import trial_merge
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from tests.support.ghp import invoke, succeed
from tests.support.git import git
from tests.support.rivals import agent, base, edited, write


def find(repo: Path, holders: Mapping[int, str] = works.NO_HOLDERS) -> list[AgentWork]:
    app = App(repo, os.environ)
    views = presence.list_agents(app, app.store.snapshot())
    return works.find(app.ws, views, "origin", "main", holders)


def read(repo: Path, scratch: Path) -> tuple[list[AgentWork], list[UnreadWork]]:
    scratch.mkdir()
    programs = trial_merge.programs(repo)
    place = trial_merge.open_place(repo / ".git", scratch, programs)
    read_works, unread = works.read(find(repo), place, scratch)
    for work in read_works:
        assert place.check("cat-file", "-t", work.commit).text == "commit"
    return read_works, unread


def test_a_clean_worktree_is_its_last_commit(repo: Path, tmp_path: Path) -> None:
    folder = agent(base(repo), "worker-1", 1, {"a.txt": edited(1)})
    ((work,), unread) = read(repo, tmp_path / "scratch")
    head = git(folder, "rev-parse", "HEAD")
    branch = "agent/worker-1/1-part"
    assert work == AgentWork(("worker-1",), 1, branch, str(folder), head, head)
    assert unread == []


def test_worktrees_of_people_are_no_agents_work(repo: Path) -> None:
    git(base(repo), "worktree", "add", "--quiet", "-b", "mine", str(repo.parent / "mine"))
    write(repo, {"a.txt": edited(1)})
    assert find(repo) == []
    assert invoke("agent-heartbeat", repo, env={"GHP_AGENT": "worker-1"}).code == 0
    assert [(work.name, work.folder) for work in find(repo)] == [("worker-1", str(repo))]


def test_a_worktree_that_vanishes_meanwhile_is_named(repo: Path, tmp_path: Path) -> None:
    folder = agent(base(repo), "worker-1", 1, {"a.txt": edited(1)})
    listed = find(repo)
    git(repo, "worktree", "remove", "--force", str(folder))
    place = trial_merge.open_place(repo / ".git", tmp_path, trial_merge.programs(repo))
    assert works.read(listed, place, tmp_path) == (
        [], [UnreadWork("worker-1 (#1)", "its worktree is gone")],
    )  # fmt: skip


@pytest.mark.slow
def test_agents_of_other_clones_are_compared_as_they_pushed(clones: object) -> None:
    assert callable(clones)
    first, second = clones(2)
    folder = agent(first, "worker-1", 1, {"x.txt": "1\n"}, {"x.txt": "not pushed\n"})
    git(folder, "push", "--quiet", "origin", "HEAD")
    succeed(folder, "agent-sync")
    succeed(second, "agent-sync")
    git(second, "fetch", "--quiet", "origin")
    (work,) = find(second)
    head = git(folder, "rev-parse", "HEAD")
    assert work == AgentWork(
        ("worker-1",), 1, "agent/worker-1/1-part", "", head, head, is_pushed=True
    )


def test_a_branch_of_this_clone_without_a_worktree_counts(repo: Path) -> None:
    folder = agent(base(repo), "worker-1", 1, {"a.txt": edited(1)})
    git(repo, "worktree", "remove", str(folder))
    (work,) = find(repo)
    assert (work.name, work.folder, work.is_pushed) == ("worker-1 (#1)", "", False)


def test_in_a_rebase_an_agent_has_one_work_and_a_note(repo: Path, tmp_path: Path) -> None:
    folder = agent(base(repo), "worker-1", 1, {"a.txt": edited(1)})
    editor = {"GIT_SEQUENCE_EDITOR": "sed -i 's/^pick/edit/'"}
    branch = git(folder, "branch", "--show-current")
    git(folder, "rebase", "--quiet", "--interactive", "HEAD~1", env=editor)
    ((work,), _) = read(repo, tmp_path / "scratch")
    assert (work.branch, work.notes) == (
        branch, ("worker-1 (#1) is in the middle of a rebase: what is there now is compared",),
    )  # fmt: skip


def test_those_who_live_in_a_worktree_have_its_work_else_the_last_ones(repo: Path) -> None:
    base(repo)
    for name in ("worker-1", "worker-2"):
        assert invoke("agent-heartbeat --status stopped", repo, env={"GHP_AGENT": name}).code == 0
    assert [work.agents for work in find(repo)] == [("worker-1", "worker-2")]
    assert invoke("agent-heartbeat", repo, env={"GHP_AGENT": "worker-3"}).code == 0
    assert [work.agents for work in find(repo)] == [("worker-3",)]


def test_a_branch_that_another_agent_took_over_counts_for_that_one(repo: Path) -> None:
    folder = agent(base(repo), "worker-1", 1, {"a.txt": edited(1)}, {"a.txt": edited(2)})
    assert invoke("agent-whoami --set worker-2", folder).code == 0
    assert [(work.agents, work.folder) for work in find(repo)] == [(("worker-2",), str(folder))]


@pytest.mark.slow
def test_a_branch_goes_on_in_another_clone_for_who_holds_its_issue(
    clones: Callable[[int], list[Path]],
) -> None:
    first, second = clones(2)
    succeed(first, "agent-issue new Parse --as @me", "agent-sync")
    folder = agent(first, "worker-1", 1, {"x.txt": "1\n"}, {"x.txt": "left\n"})
    succeed(folder, "agent-claim 1", "agent-handoff --to worker-2", "agent-sync")
    succeed(second, "agent-sync", "agent-start 1 --as worker-2", "agent-sync")
    succeed(first, "agent-sync")
    git(first, "fetch", "--quiet", "origin")
    holders = {1: "worker-2"}
    for clone in (first, second):
        assert [work.agents for work in find(clone, holders)] == [("worker-2",)]
    assert [work.agents for work in find(first)] == [("worker-1",), ("worker-2",)], "both live"
    code, _, err = invoke("agent-conflicts worker-1", first)
    assert (code, err) == (
        1,
        "Error: worker-1 has no work of its own: worker-2 took over agent/worker-1/1-part.\n"
        "Hint: `ghp agent-conflicts worker-2` compares it.\n",
    )


@pytest.mark.slow
def test_a_branch_that_was_not_fetched_is_named_and_not_compared(
    clones: Callable[[int], list[Path]],
) -> None:
    first, second = clones(2)
    succeed(first, "agent-issue new Part")
    folder = agent(first, "worker-1", 1, {"x.txt": "1\n"})
    git(folder, "push", "--quiet", "origin", "HEAD")
    succeed(folder, "agent-sync")
    succeed(second, "agent-sync")
    code, out, err = invoke("agent-conflicts", second)
    assert (code, out) == (0, "")
    assert err.startswith(
        "Warning: Cannot compare the work of worker-1 (#1): agent/worker-1/1-part is not here; "
        "`git fetch` brings it once it is pushed.\nNothing was compared.\n"
    )
    succeed(second, "agent-issue close 1 --as @me")
    assert invoke("agent-conflicts", second).err.startswith(
        "No agent has work that is not on main yet.\n"
    ), "its branch was deleted with the merge"


@pytest.mark.slow
def test_what_an_ended_agent_left_of_an_issue_counts_for_its_present_holder(repo: Path) -> None:
    folder = agent(base(repo), "worker-1", 1, {"a.txt": edited(1)}, {"a.txt": edited(2)})
    holders = {1: "worker-2"}
    assert [work.agents for work in find(repo, holders)] == [("worker-1",)], "it lives"
    succeed(folder, "agent-heartbeat --status stopped --as worker-1")
    assert [work.agents for work in find(repo, holders)] == [("worker-2",)]
    mine = agent(repo, "worker-2", 1, {"a.txt": edited(3)}, {})
    assert [work.folder for work in find(repo, holders)] == [str(mine)]
