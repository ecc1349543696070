"""Setting up: what is said of it, what is still to be made, and what is never lost in passing."""

import json
from functools import partial
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import agent_name
from ghp_agents.doctor import setup as init
from ghp_agents.presence import service as presence
from ghp_agents.state.admin_port import Probe, PublishPlan, RemoteRef, Step
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.grounds import ground
from tests.support.twins.state import MemoryStore

SHARED = PublishPlan(
    remote="team",
    address="git@gitlab.com:o/r.git",
    refs=(("refs/x/*", "all that is said"), ("refs/longer/*", "rights")),
)


@pytest.fixture
def ws(repo: Path, home: Path) -> Workspace:
    """A workspace on a clock that stands still."""
    return open_workspace(repo, {"HOME": str(home)}, ManualClock())


def test_what_is_shared_is_said_before_anything_is_done() -> None:
    assert init.explain(SHARED) == [
        "Clones share state through team (git@gitlab.com:o/r.git). What is pushed there:",
        "  refs/x/*       all that is said",
        "  refs/longer/*  rights",
        "It contains agents' names, status and branches, and the files and lines that they change. "
        "It also contains questions, answers, issues, leases, handoffs with uncommitted work, and "
        "people's names from git. Paths are relative to the repository. Absolute paths and host "
        "names appear only if somebody writes them.",
        "Who can read it: everybody who can read the repository; if it is public on "
        "gitlab.com, everybody.",
        'To keep everything in this clone, set "agents": {"push": false} in .ghp/config.json.',
    ]


def test_that_nothing_is_shared_is_said_with_the_reason() -> None:
    assert init.explain(PublishPlan(None, why_not="`agents.push` is false")) == [
        "Nothing leaves this clone: `agents.push` is false."
    ]


@pytest.mark.parametrize(
    ("probe", "line"),
    [
        (Probe("team", True, "refs/ghp/"), "team accepts our refs under refs/ghp/"),
        (
            Probe("team", True, "refs/ghp/", "it deletes nothing"),
            "team accepts our refs under refs/ghp/ (it deletes nothing)",
        ),
        (Probe("team", False, words="no"), "team rejects our refs: no"),
        (
            Probe("team", None, words="silence"),
            "Could not ask team whether it accepts our refs: silence",
        ),
    ],
)
def test_what_a_probe_found_out_in_words(probe: Probe, line: str) -> None:
    assert init.probe_line(probe) == line


@pytest.mark.parametrize(
    ("last", "needed"),
    [(None, True), (True, False), (False, True), ("unknown", True)],
)
def test_a_remote_is_asked_until_it_has_taken_our_refs(
    last: bool | str | None, needed: bool
) -> None:
    probe = None if last is None else Probe("team", None if last == "unknown" else bool(last))
    assert init.needs_probe(ground(sharing=lambda: SHARED, last_probe=lambda: probe)) is needed


def test_where_nothing_is_shared_nobody_is_asked() -> None:
    assert init.needs_probe(ground()) is False


# ------------------------------------------------------------------------------ making


def test_what_is_to_be_made_is_done_once(ws: Workspace) -> None:
    store = MemoryStore(ws.clock)
    rename = partial(presence.rename, ws, store)
    done: list[str] = []
    missing = [Step("make", "Made", "the place", lambda: done.append("place"))]

    def steps() -> list[Step]:
        under = ground(missing=lambda: [] if done else missing)
        return init.to_make(ws, under, agent=agent_name("worker-1"), config=True, rename=rename)

    first = steps()
    assert [(step.doing, step.did, step.what) for step in first] == [
        ("make", "Made", "the place"),
        ("write", "Wrote", ".ghp/config.json (edit and commit it)"),
        ("name", "Named", "this worktree's agent worker-1"),
    ]
    assert done == []
    for step in first:
        step.act()
    assert done == ["place"]
    assert json.loads((ws.root / ".ghp/config.json").read_bytes()) == {"agents": {}}
    assert (ws.git_dir / "ghp-agent").read_text() == "worker-1\n"
    assert steps() == []


def test_by_default_no_file_of_the_users_is_made(ws: Workspace) -> None:
    steps = init.to_make(ws, ground(), agent=None, config=False, rename=lambda _: None)
    assert steps == []


# ------------------------------------------------------------------------------ taking away


def test_what_is_nowhere_else_is_lost_only_by_force() -> None:
    under = ground(sharing=lambda: SHARED, losses=lambda: ["2 records here", "1 there"])
    with pytest.raises(RefusedError) as refused:
        init.refuse_losses(under, force=False)
    assert str(refused.value) == (
        "Only this clone has 2 records here and 1 there; removing would delete it."
    )
    assert refused.value.hint == (
        "First send it with `ghp agent-sync`, or use --force to delete it."
    )
    init.refuse_losses(under, force=True)
    init.refuse_losses(ground(sharing=lambda: SHARED), force=False)


def test_refs_are_listed_with_whose_they_are_and_their_last_activity() -> None:
    refs = [
        RemoteRef("refs/ghp/clone/ab", "0", "this clone", 940.0),
        RemoteRef("refs/ghp/clone/cdef", "0", "another clone", 1_000.0 - 3 * 86_400, True),
        RemoteRef("refs/ghp/lease/trunk", "0", "a lock"),
    ]
    assert init.ref_lines(refs, 1_000.0) == [
        "refs/ghp/clone/ab     this clone, last wrote 1 min ago",
        "refs/ghp/clone/cdef   another clone, last wrote 3 d ago",
        "refs/ghp/lease/trunk  a lock",
    ]
    assert init.ref_lines([], 0.0) == []


def test_the_configuration_stays_and_that_is_said(ws: Workspace) -> None:
    assert init.kept(ws) == []
    path = ws.root / ".ghp/config.json"
    path.parent.mkdir()
    path.write_text("{}")
    assert init.kept(ws) == [".ghp/config.json: it is yours"]
    git(ws.root, "add", ".ghp/config.json")
    assert init.kept(ws) == [".ghp/config.json: git tracks it, for all clones"]
