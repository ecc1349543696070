"""A crowd beats in one clone while it is folded and synced: no beat is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.state.clones import private, store, workspace
from tests.state.conftest import Start
from tests.state.worker import CHECKOUT, finish
from tests.support.git import git

AGENTS, BEATS = 100, 20
# One process for each agent, forked from one, so that all are at work at the same time.
CROWD = """
import os, sys, time
from ghp_agents.hotpath import heartbeat as pulse
folders, agents, beats = [sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
children = []
for number in range(agents):
    child = os.fork()
    if child == 0:
        for step in range(beats):
            if step == beats // 2:
                os.read(0, 1)  # until something of it was folded
            said = {"lastAction": f"Step {step}", "status": ("testing", "idle")[step % 2]}
            pulse.beat(folders, f"w-{number}", said, time.time(), epoch=None if step else 1)
        os._exit(0)
    children.append(child)
sys.exit(max(os.waitpid(child, 0)[1] for child in children))
"""


def seqs(repository: Path, ref: str) -> dict[str, int]:
    """How far each agent has come, as the presence document on a ref has it."""
    document = json.loads(git(repository, "show", f"{ref}:.ghp/agent-status.json"))
    return {name: fields["seq"] for name, fields in document["agents"].items()}


@pytest.mark.slow
def test_the_last_beat_of_each_of_a_crowd_is_in_the_clones_ref(
    clone: Path, remote: Path, start: Start
) -> None:
    ws = workspace(clone)
    crowd = subprocess.Popen(
        [sys.executable, "-c", CROWD, str(ws.ghp_dir), str(AGENTS), str(BEATS)],
        cwd=CHECKOUT, stdin=subprocess.PIPE,
    )  # fmt: skip
    beside = [start(clone, *("fold", "sync") * 5) for _ in range(2)]
    while not store(clone).snapshot().agents():
        store(clone).fold()
    assert crowd.stdin is not None
    crowd.stdin.close()
    while crowd.poll() is None:
        store(clone).fold()
        store(clone).sync()
    for process in beside:
        finish(process)
    assert crowd.returncode == 0
    store(clone).fold()
    state, wanted = private(clone), {f"w-{number}": BEATS for number in range(AGENTS)}
    assert seqs(state.path, state.ref) == wanted
    assert store(clone).sync().trouble is None
    assert seqs(remote, state.ref) == wanted
    assert store(clone).fold() == 0
