"""Worktrees and branches that nobody owns: listed, and removed only when nothing is lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.handoffs.restore import restore
from ghp_agents.issues.issue import IssueChange
from ghp_agents.pulls.pull import NewPull
from ghp_agents.sweep import orphans as sweep_orphans
from ghp_agents.wiring import App
from tests.support.claimants import GONE, Claimant, Team
from tests.support.consent import configure
from tests.support.git import commit, git, refs
from tests.support.sweeps import handoffs, kinds, run, texts

Worktree = Callable[[Path, str], Path]


@pytest.fixture
def host(team: Team, one: Claimant, two: Claimant) -> Claimant:
    """The person of a clone with worktrees of agents."""
    return team.person("worker-1")


MERGED = " and its merged branch agent/worker-5/1-parse"


def settle(team: Team, host: Claimant, folder: Path, agent: str) -> Claimant:
    """An agent that works in a worktree, on issue 1."""
    one = Claimant(folder, agent, team.clock)
    (one.ws.git_dir / "ghp-agent").write_text(f"{agent}\n")
    one.claim(1)
    return one


def pruned(host: Claimant, two: Claimant, team: Team, **how: object) -> list[str]:
    run(host)
    team.silence(GONE, two)
    run(host)  # the claim goes first
    return texts(run(host, **how))


@pytest.mark.slow
def test_they_are_listed_and_stay(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    assert pruned(host, two, team) == [
        f"worktree {folder}: worker-5 is gone, nobody holds #1; clean: `ghp agent-sweep --prune` "
        "removes it"
    ]
    assert folder.is_dir()
    assert kinds(run(host)) == [("Tell", False)]


@pytest.mark.slow
def test_one_sweep_ends_the_claim_and_removes_a_clean_one_with_its_merged_branch(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    run(host)
    team.silence(GONE, two)
    assert texts(run(host, prune=True)) == [
        "worker-5 is gone; back in the queue (attempt 1)", f"removed worktree {folder}{MERGED}",
    ]  # fmt: skip
    assert not folder.exists()
    assert "refs/heads/agent/worker-5/1-parse" not in refs(host.ws.folder)
    assert texts(run(host, prune=True)) == []


@pytest.mark.slow
def test_a_branch_is_merged_also_where_only_the_trunk_that_is_checked_out_here_has_it(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    commit(folder, {"parser.py": "x = 1\n"})
    git(host.ws.folder, "merge", "--quiet", "--no-edit", "agent/worker-5/1-parse")
    assert host.ws.branch == "main"  # and nothing of it was pushed
    assert pruned(host, two, team, prune=True) == [f"removed worktree {folder}{MERGED}"]


@pytest.mark.slow
def test_work_that_is_not_committed_is_in_the_state_before_it_goes(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    run(host)
    team.silence(GONE, two)
    run(host)
    (folder / "late.py").write_text("unsaved = 1\n")
    (text,) = texts(run(host, prune=True))
    name = text.rpartition(" ")[2]
    assert text == f"removed worktree {folder}{MERGED}; its uncommitted work is in {name}"
    assert not folder.exists()
    saved = next(handoff for handoff in handoffs(host) if handoff.name == name)
    two.sync()
    restore(two.parts, saved)
    assert (two.ws.folder / "late.py").read_text() == "unsaved = 1\n"


@pytest.mark.slow
def test_what_was_linked_into_it_is_no_work_that_has_to_be_saved(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settings = {"worktreeSymlinkFiles": ["node_modules"]}
    commit(host.ws.folder, {".gitignore": "node_modules/\n"})
    configure(host.ws.folder, settings)
    (host.ws.folder / "node_modules").mkdir()
    (folder / "node_modules").symlink_to(host.ws.folder / "node_modules")
    settle(team, host, folder, "worker-5")
    git(folder, "merge", "--quiet", "--ff-only", "main")
    assert git(folder, "status", "--porcelain") == "?? node_modules"
    assert pruned(host, two, team, prune=True) == [f"removed worktree {folder}{MERGED}"]
    assert (host.ws.folder / "node_modules").is_dir()


@pytest.mark.slow
def test_what_cannot_be_saved_stays_with_all_that_is_in_it(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    (folder / ".env").write_text("TOKEN=not-to-be-stored\n")
    (text,) = pruned(host, two, team, prune=True)
    assert text.endswith("nobody holds #1; 1 of its paths cannot be saved")
    assert (folder / ".env").read_text() == "TOKEN=not-to-be-stored\n"


@pytest.mark.slow
def test_files_in_a_submodule_that_is_not_checked_out_are_moved_and_named(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    oid = git(host.ws.folder, "rev-parse", "HEAD")
    git(host.ws.folder, "update-index", "--add", "--cacheinfo", f"160000,{oid},lib")
    git(host.ws.folder, "commit", "--quiet", "--message", "Add a submodule")
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib/precious.txt").write_text("hours\n")
    (text,) = pruned(host, two, team, prune=True)
    assert f"Only the worktree {folder} had lib/precious.txt: kept for 30 days in " in text
    assert Path(text.rpartition(" in ")[2], "lib/precious.txt").read_text() == "hours\n"


@pytest.mark.slow
def test_a_branch_that_is_not_merged_stays(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    commit(folder, {"parser.py": "x = 1\n"})
    assert pruned(host, two, team, prune=True) == [f"removed worktree {folder}"]
    assert texts(run(host, prune=True)) == [
        "branch agent/worker-5/1-parse: worker-5 is gone, nobody holds #1; it is not merged"
    ]
    assert "refs/heads/agent/worker-5/1-parse" in refs(host.ws.folder)


def test_a_branch_that_was_squashed_is_merged_if_its_pull_request_says_so_of_this_commit(
    repo: Path,
) -> None:
    branch, by = "agent/worker-5/1-parse", Actor("Ann Example", is_person=True)
    commit(repo, {".ghp/config.json": '{"agents": {"mergeMethod": "squash"}}'})
    git(repo, "switch", "--quiet", "--create", branch)
    head = commit(repo, {"parser.py": "x = 1\n"})
    git(repo, "switch", "--quiet", "main")
    house = App(repo, os.environ, name="@me")

    def left() -> list[str]:
        orphans = sweep_orphans.find_orphans(house, [], {})
        return [orphan.removable or orphan.kept for orphan in orphans]

    pull = house.forge.open(NewPull(branch, "main", head, "Parse"), by)
    assert left() == ["it is not merged"]
    house.forge.merge(pull.number, by, head=head)
    assert git(repo, "log", "--format=%P", "-1").count(" ") == 0  # one parent
    assert left() == ["merged"]
    git(repo, "switch", "--quiet", branch)
    commit(repo, {"parser.py": "x = 2\n"})
    git(repo, "switch", "--quiet", "main")
    assert left() == ["it is not merged"]


@pytest.mark.slow
def test_what_has_an_owner_or_never_was_an_agents_is_not_looked_at(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    worktree(host.ws.folder, "persons-own")
    git(host.ws.folder, "branch", "feature/1-parse")
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    assert kinds(run(host)) == []
    host.tracker.change(1, IssueChange(state="closed"), host.ws.actor())
    assert [kind for kind, _ in kinds(run(host))] == ["Close"]


@pytest.mark.slow
def test_merged_work_of_an_agent_that_lives_is_named_with_the_command_that_removes_it(
    team: Team, host: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(host.ws.folder, "worker-5/1-parse")
    settle(team, host, folder, "worker-5")
    host.tracker.change(1, IssueChange(state="closed"), host.ws.actor())
    run(host)
    expected = [
        f"worktree {folder}: #1 is closed, its work is merged; worker-5 is active there: `ghp "
        "agent-sweep --prune` removes it once it has left"
    ]
    assert texts(run(host)) == texts(run(host, prune=True)) == expected
    (folder / "new.txt").write_text("1\n")
    assert texts(run(host)) == [
        f"worktree {folder}: worker-5 has finished there; worker-5 left 1 file (new.txt: #1 is "
        "closed): `ghp agent-handoff --issue 1 --as worker-5` saves that"
    ]
    git(folder, "add", "new.txt")
    git(folder, "commit", "-qm", "More")
    (text,) = texts(run(host))
    assert "worker-5 left 1 commit" in text, "a handoff has a copy, and nobody reads it"
    git(folder, "switch", "--quiet", "--detach")
    commit(folder, {"new.txt": "2\n"})
    assert "worker-5 left 1 commit" in texts(run(host))[0]
