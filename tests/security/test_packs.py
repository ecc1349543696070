"""The commits of a handoff may come from anybody who can push: they add one branch, or nothing."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.git import process
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import HANDOFF, Handoff, PackedCommits
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.wiring import App
from tests.support.ghp import Result, invoke
from tests.support.git import commit, git, refs

MALLORY, AT = Actor("mallory"), Timestamp("2026-01-02T03:04:05Z")
TWO = {"GHP_AGENT": "worker-2"}


@pytest.fixture
def place(clones: Callable[[int], list[Path]]) -> tuple[Path, Path]:
    """A clone with #1, and mallory's."""
    one, evil = clones(2)
    for line in ("agent-init", "agent-issue new Parse"):
        assert invoke(line, one).code == 0
    return one, evil


def packed(folder: Path, head: str, *left_out: str) -> bytes:
    """A pack of what main lacks, without some objects."""
    shown = git(folder, "rev-list", "--objects", "--no-object-names", head, "^origin/main")
    names = [name for name in shown.splitlines() if name not in left_out]
    text = "".join(f"{name}\n" for name in names).encode()
    return process.check(["pack-objects", "-q", "--stdout"], cwd=folder, stdin=text).out


def hand_over(one: Path, head: str, content: bytes, branch: str, issue: int | None = 1) -> str:
    """Record a handoff with this pack, as another clone may; answers its name."""
    digest = hashlib.sha256(content).hexdigest()
    base = git(one, "rev-parse", "origin/main")
    made = Handoff(
        id=digest[:12], kind=HANDOFF, by=MALLORY, to="worker-2", issue=issue, at=AT, clock=9,
        evidence=digest[:24], branch=branch, head=head,
        commits=PackedCommits(base, len(content), digest, 1),
    )  # fmt: skip
    files = (
        (handoff_record.path_of(made), handoff_record.render(made, "# Work\n")),
        (handoff_record.pack_path_of(made), content),
    )
    new = Record(HANDOFF, MALLORY, made.name, made.id, AT, 9, files, issue=issue)
    transact(App(one, dict(os.environ)).store, lambda snapshot: (None, [new]))
    return made.name


def start(one: Path) -> Result:
    return invoke("agent-start 1", one, TWO)


@pytest.mark.slow
@pytest.mark.parametrize(
    "branch", ["main", "origin/main", "HEAD", "-f", "agent/m/1-x.lock", "agent/../1-x", "topic"]
)
def test_no_branch_of_another_kind_is_created_or_moved(
    place: tuple[Path, Path], branch: str
) -> None:
    one, evil = place
    head = commit(evil, {"a": "1\n"}, "One")
    name = hand_over(one, head, packed(evil, head), branch)
    before = refs(one, "refs/heads")
    done = invoke(f"agent-resume --handoff {name} --apply", one, TWO)
    assert done.code == 1
    assert f"`git switch --detach {head[:12]}`" in done.err
    assert refs(one, "refs/heads") == before
    started = start(one)
    new = refs(one, "refs/heads").keys() - before.keys()
    assert (started.code, new) == (0, {"refs/heads/agent/worker-2/1-parse"})
    assert refs(one, "refs/heads").items() >= before.items()


@pytest.mark.slow
def test_a_pack_that_lacks_a_file_starts_nothing(place: tuple[Path, Path]) -> None:
    one, evil = place
    head = commit(evil, {"a": "1\n"}, "One")
    lacking = packed(evil, head, git(evil, "rev-parse", f"{head}:a"))
    hand_over(one, head, lacking, "agent/mallory/1-parse")
    before = refs(one, "refs/heads")
    refused = start(one)
    assert refused.code == 4
    assert "nor the remote has: " in refused.err
    assert refs(one, "refs/heads") == before
    assert git(one, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("name", [".git", ".GIT", "git~1", ".."])
@pytest.mark.slow
def test_a_tree_that_would_write_a_git_folder_starts_nothing(
    place: tuple[Path, Path], name: str
) -> None:
    one, evil = place
    blob = git(evil, "hash-object", "-w", "--stdin", stdin="[core]\n")
    inner = git(evil, "mktree", stdin=f"100644 blob {blob}\tconfig\n")
    tree = git(evil, "mktree", stdin=f"040000 tree {inner}\t{name}\n")
    head = git(evil, "commit-tree", "-p", "HEAD", "-m", "Evil", tree)
    hand_over(one, head, packed(evil, head), "agent/mallory/1-parse")
    refused = start(one)
    assert refused.code == 4
    assert refs(one, "refs/heads").keys() == {"refs/heads/main"}


@pytest.mark.slow
def test_a_pack_above_the_limit_is_not_read(place: tuple[Path, Path]) -> None:
    one, evil = place
    head = commit(evil, {"a": "1\n"}, "One")
    hand_over(one, head, packed(evil, head) + b"\0" * 20_000_000, "agent/mallory/1-parse")
    refused = start(one)
    assert refused.code == 4
    assert "the stored pack is larger than 20.0 MB" in refused.err
