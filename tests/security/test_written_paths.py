"""Random bytes in all that a box can write: outside no command fails badly or decides otherwise."""

import os
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from ghp_agents.consent import service as trust
from ghp_agents.pulls import check_cache
from ghp_agents.runs.boxes import box_paths
from ghp_agents.workspace import Workspace, open_workspace
from tests.support import hooks
from tests.support.consent import configure
from tests.support.ghp import invoke
from tests.support.in_home import in_home

COMMANDS = (
    "agent-status", "agent-status --json", "agent-trust --show", "agent-check src/a.py --as w2",
    "agent-whoami", "agent-inbox --as w2", "agent-tasks list", "agent-logs", "agent-locks",
    "agent-sync", "agent-doctor", "agent-merge --queue --as @me", "agent-explain 1",
    "agent-issue list", "agent-lease src/b.py --as w2", "agent-release src/b.py --as w2",
    "agent-escalations --open", "agent-log", "agent-sweep",
)  # fmt: skip
CODES = range(6)  # the codes that AGENTS.md lists


@pytest.fixture
def worktree(clone: Path) -> Path:
    """The worktree of an agent that holds an issue and a lease."""
    configure(clone, {"agents": {"checks": ["true"], "shared": ["*.lock"]}})
    assert invoke("agent-issue new One --as @me", clone).code == 0
    started = invoke("agent-start 1 --as w1", clone)
    assert started.code == 0, started.err
    assert invoke("agent-lease src/a.py --as w1", clone).code == 0
    return Path(started.out.splitlines()[0].removeprefix("Work in "))


def fill(paths: Iterable[Path], seed: int) -> None:
    """Random bytes into each file, and a new file of random bytes into each folder."""
    chance = random.Random(seed)
    for top in paths:
        files = [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
        files += [Path(folder, "new.json") for folder, _, _ in os.walk(top)]
        for path in files:
            if path.exists() and not os.access(path, os.W_OK):
                path.chmod(0o600)  # git's objects
            path.write_bytes(chance.randbytes(chance.choice((0, 1, 40, 4_000))))


def decisions(ws: Workspace) -> object:
    """What runs, and who agreed to it."""
    passed = check_cache.passed(ws, ws.settings, "a" * 40)
    return ws.settings, [(x.key, x.value, x.counts) for x in trust.wanted(ws)], passed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_of_a_box_change_no_decision_and_break_no_command(
    clone: Path, worktree: Path, tmp_path: Path, seed: int
) -> None:
    ws = open_workspace(clone, os.environ)
    before = decisions(ws)
    branch = open_workspace(worktree, os.environ).branch
    paths = box_paths.of(worktree, ws.common_dir, branch or "", tmp_path / "run")
    box_paths.prepare(paths)
    locked = {path: path.read_bytes() for path in paths.locked if path.is_file()}
    kept = [top for top in box_paths.writable_paths(paths) if top.name != "objects"]
    fill(kept, seed)
    for path, data in locked.items():  # a box cannot write these
        path.write_bytes(data)
    box_paths.clean(paths)
    for command in COMMANDS:
        done = invoke(command, clone)
        assert done.code in CODES, (command, done)
        assert "Traceback" not in done.out + done.err, (command, done.err)
        assert "internal error" not in done.err.lower(), (command, done.err)
    log = clone / ".git/ghp/log.jsonl"
    assert (log.read_text() if log.exists() else "") == ""
    assert decisions(open_workspace(clone, os.environ)) == before
    edit = hooks.call("claude", hooks.write(clone / "x.lock", clone), clone, {"GHP_AGENT": "w2"})
    assert edit.code == 0
    assert b"Traceback" not in edit.err


@pytest.mark.slow
def test_what_decides_is_in_no_folder_that_a_box_can_write(
    clone: Path, worktree: Path, tmp_path: Path
) -> None:
    ws = open_workspace(worktree, os.environ)
    paths = box_paths.of(worktree, ws.common_dir, ws.branch or "", tmp_path / "run")
    home = in_home(clone, "settings.json").parent
    tops = box_paths.writable_paths(paths)
    assert not [top for top in tops if home.is_relative_to(top) or top.is_relative_to(home)]
