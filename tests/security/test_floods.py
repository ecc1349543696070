"""What others write starts a bounded number of things here, whomever it names as its writer."""

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.security.test_hostile_messages import message
from tests.state import strangers
from tests.support.ghp import invoke, succeed
from tests.support.git import git

Clones = Callable[[int], list[Path]]
START = {"Kind": "request", "Sender": "lead", "Sender_Type": "person", "Workflow": "review"}
AT_A_TIME, MOST = 10, 50


def forged(count: int, begin: int = 0) -> dict[str, bytes]:
    """Messages in a person's name, which name many clones as their origin."""
    return dict(
        message(f"{n:012x}", Clock=str(n + 9), Clone=f"{n:012x}", Subject=f"Urgent {n}", **START)
        for n in range(begin + 1, begin + count + 1)
    )


def push(remote: Path, name: str, files: dict[str, bytes]) -> None:
    """Another clone's ref, with these files."""
    ref = f"refs/ghp/clone/{name}".encode()
    parts = [b"commit %b\ncommitter e <e@x.invalid> 1 +0000\ndata 9\nClock: 1\n\n" % ref]
    for path, data in {**strangers.GOOD, **files}.items():
        parts.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data))
    run = ["git", "fast-import", "--quiet"]
    subprocess.run(run, cwd=remote, input=b"".join(parts), capture_output=True, check=True)


def heard(clone: Path, remote: Path, name: str, files: dict[str, bytes]) -> str:
    """What a sync says after another clone has pushed them."""
    push(remote, name, files)
    return sync(clone)


def sync(clone: Path) -> str:
    code, out, err = invoke("agent-sync", clone)
    assert code == 0, err
    return out + err


def steps(clone: Path) -> int:
    """The messages on this clone's own ref."""
    state = ("--git-dir", str(clone / ".git/ghp/state.git"))
    own = (clone / ".git/ghp/state.git/ghp-clone").read_text().strip()
    names = git(clone, *state, "ls-tree", "-r", "--name-only", f"refs/ghp/clone/{own}")
    return sum(name.startswith(".ghp/messages/") for name in names.splitlines())


@pytest.mark.slow
def test_a_flood_of_workflows_does_ten_steps_a_sync_and_fifty_in_all(
    clones: Clones, remote: Path
) -> None:
    clone, _ = clones(2)
    succeed(clone, "agent-init --agent worker-1")
    first = heard(clone, remote, "eve", forged(120))
    assert steps(clone) == AT_A_TIME
    assert "110 workflows that clone eve started must wait" in first
    second = sync(clone)
    assert steps(clone) == 2 * AT_A_TIME
    assert "must wait" not in second
    for _ in range(5):
        succeed(clone, "agent-sync")
    assert steps(clone) == MOST


@pytest.mark.slow
def test_a_flood_keeps_no_workflow_of_another_clone_or_of_this_one_waiting(
    clones: Clones, remote: Path
) -> None:
    clone, _ = clones(2)
    succeed(clone, "agent-init --agent worker-1")
    heard(clone, remote, "eve", forged(60))
    heard(clone, remote, "mallory", forged(1, begin=900))
    assert steps(clone) == 2 * AT_A_TIME + 1
    before = steps(clone)
    succeed(clone, "agent-run review Tabs --as @me")
    assert steps(clone) > before + 1


@pytest.mark.slow
def test_a_sync_of_five_thousand_forged_starts_takes_less_than_two_seconds_of_processor(
    clones: Clones, remote: Path
) -> None:
    clone, _ = clones(2)
    succeed(clone, "agent-init --agent worker-1")
    push(remote, "eve", forged(5_000))
    before = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    succeed(clone, "agent-sync")
    after = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = sum(x.ru_utime + x.ru_stime for x in (after, ended))
    assert used - sum(x.ru_utime + x.ru_stime for x in (before, children)) < 2
