"""What another clone could not save of a stopped agent, its own clone saves."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs.record import folder_of, read_handoffs
from ghp_agents.wiring import App
from tests.support.ghp import invoke, succeed
from tests.support.git import git


def stop(folder: Path) -> str:
    """What the command says, without the ids of handoffs."""
    done = invoke("agent-stop worker-1 --as @me", folder)
    assert (done.code, done.out) == (0, "")
    return re.sub(r"H-[0-9a-f]+", "H-ID", done.err)


@pytest.mark.slow
def test_the_same_command_in_its_own_clone_saves_what_the_other_could_not(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    succeed(other, "agent-issue new Parse --as @me", "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", other).out.strip())
    (place / "a.txt").write_text("one\n")
    git(place, "add", "a.txt")
    git(place, "commit", "-qm", "One")
    (place / "a.txt").write_text("one\ntwo\n")
    succeed(place, "agent-heartbeat --status implementing --as worker-1", "agent-sync --as @me")
    succeed(one, "agent-sync --as @me")
    assert stop(one).endswith("✓ worker-1 is told to stop at its next step.\n")
    succeed(one, "agent-sync --as @me")
    succeed(other, "agent-sync --as @me")
    saved = "✓ Saved the work on #1 in H-ID.\nworker-1 was already told to stop.\n"
    assert stop(other) == saved
    assert stop(other) == "worker-1 was already told to stop.\n"
    succeed(other, "agent-sync --as @me")
    succeed(one, "agent-sync --as @me", "agent-start 1 --as worker-2")
    theirs = Path(invoke("agent-where 1", one).out.strip())
    handoffs = read_handoffs(App(one, {}).store.snapshot().files(folder_of(1)))[0]
    (work,) = [x.name for x in handoffs if x.note.startswith("The work of worker-1")]
    invoke(f"agent-resume --handoff {work} --apply --as worker-2", theirs)  # brings its commit
    git(theirs, "switch", "-q", "agent/worker-1/1-parse")
    succeed(theirs, f"agent-resume --handoff {work} --apply --as worker-2")
    assert (theirs / "a.txt").read_text() == "one\ntwo\n"
