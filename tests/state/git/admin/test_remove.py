"""Taking away: in one step on this machine, and on the remote only what was listed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.state.git.admin import remove as removing
from ghp_agents.state.git.store import GitRefsStore
from tests.support import hosts
from tests.support.ghp import invoke
from tests.support.git import git, refs

Clones = Callable[[int], list[Path]]
AS = {"GHP_AGENT": "worker-1"}


@pytest.mark.slow
def test_a_clone_that_spoke_after_the_list_was_made_is_not_removed(
    clones: Clones, remote: Path
) -> None:
    here, other = clones(2)
    for clone in (here, other):
        invoke("agent-status --set testing", clone, AS)
        invoke("agent-sync", clone)
    ws = hosts.workspace(here)
    listed = removing.remote_refs(ws)
    assert [ref.is_foreign for ref in listed].count(True) == 1
    invoke("agent-escalate 'Before it is too late?'", other, AS)
    invoke("agent-sync", other)
    before = refs(remote)
    with pytest.raises(
        GhpError, match="Another clone wrote to origin meanwhile; nothing was removed"
    ):
        removing.remove_remote_refs(ws, listed)
    assert refs(remote) == before
    removing.remove_remote_refs(ws, removing.remote_refs(ws))
    assert refs(remote).keys() == {"refs/heads/main"}


def test_only_names_of_ours_are_listed(clone: Path, remote: Path) -> None:
    ws = hosts.workspace(clone)
    head = git(clone, "rev-parse", "main")
    theirs = [
        *("refs/heads/ghp", "refs/heads/my/ghp-state", "refs/heads/feature/refs/ghp/clone/ab"),
        *("refs/tags/ghp-state", "refs/ghpx/clone/ab"),
    ]
    for ref in (*theirs, "refs/ghp/lease/trunk", "refs/ghp/probe/ab", "refs/ghp/of-the-future"):
        git(remote, "update-ref", ref, head)
    listed = removing.remote_refs(ws)
    assert [(ref.name, ref.about) for ref in listed] == [
        ("refs/ghp/lease/trunk", "a lock"),
        ("refs/ghp/of-the-future", "ours"),
        ("refs/ghp/probe/ab", "a probe"),
    ]
    removing.remove_remote_refs(ws, listed)
    assert refs(remote).keys() == {"refs/heads/main", *theirs}


def test_without_a_remote_there_is_nothing_to_list_or_remove(repo: Path) -> None:
    ws = hosts.workspace(repo)
    assert removing.remote_refs(ws) == []
    removing.remove_remote_refs(ws, [])
    assert not (repo / ".git/ghp").exists()


def test_a_removal_that_was_killed_half_way_is_finished_by_the_next(clone: Path) -> None:
    invoke("agent-init --no-probe", clone)
    grave = clone / ".git/ghp.removed-0123abcd"
    (clone / ".git/ghp").rename(grave)  # it had come so far
    ws = hosts.workspace(clone)
    steps = removing.belongings(ws)
    assert steps[0].what == ".git/ghp.removed-0123abcd: left by an earlier removal"
    for step in steps:
        step.act()
    assert not grave.exists()
    assert removing.belongings(ws) == []


@pytest.mark.slow
def test_nobody_writes_into_a_folder_that_is_being_removed(clone: Path) -> None:
    invoke("agent-init --no-probe", clone)
    ws = hosts.workspace(clone)
    step = removing.belongings(ws)[0]
    with GitRefsStore(ws).exclusive(), pytest.raises(GhpError, match=r"held state\.lock for more"):
        step.act()
    assert (clone / ".git/ghp/state.git").is_dir()


@pytest.mark.slow
def test_what_was_sent_and_presence_are_no_loss(clone: Path) -> None:
    ws = hosts.workspace(clone)
    invoke("agent-status --set testing", clone, AS)
    GitRefsStore(ws).fold()
    assert removing.losses(ws) == []
    invoke("agent-lease --name db", clone, AS)
    invoke("agent-issue new One", clone, AS)
    invoke("agent-issue new Two", clone, AS)
    assert removing.losses(ws) == ["3 records in the private repository (2 issue-new, 1 lease)"]
    invoke("agent-sync", clone)
    assert removing.losses(ws) == []
