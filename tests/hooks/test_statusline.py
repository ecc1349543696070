"""The segment of the status line: who, on what, and what waits; silent where there is nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.hooks import statusline
from ghp_agents.hotpath import fastjson as quickjson
from ghp_agents.hotpath import session_name as sessionname
from tests.support.ghp import CHECKOUT, invoke
from tests.support.git import git

AS = {"GHP_AGENT": "worker-1"}


def segment(folder: Path, env: dict[str, str] | None = None) -> str:
    payload = {"session_id": "s1", "workspace": {"current_dir": str(folder)}, "cwd": "/"}
    return statusline.segment(payload, {**os.environ, **(env or {})})


@pytest.fixture
def place(repo: Path) -> Path:
    """A clone with an agent at work."""
    invoke("agent-init --agent worker-1", repo)
    invoke("agent-issue new Dashboard", repo)
    invoke("agent-heartbeat --status implementing --issue 1", repo)
    return repo


def forget(folder: Path) -> None:
    (folder / ".git/ghp/cache/segment.json").unlink(missing_ok=True)


def test_it_says_who_works_on_what(place: Path) -> None:
    assert segment(place) == "worker-1 · #1 implementing"
    invoke("agent-heartbeat --status idle --issue 0", place)
    assert segment(place) == "worker-1 · idle"


def test_it_counts_what_waits_for_a_person(place: Path) -> None:
    invoke("agent-escalate Why?", place)
    assert segment(place) == "worker-1 · #1 implementing · 1 question open"
    invoke("agent-escalate How?", place)
    for name in ("worker-2", "worker-3"):
        invoke(f"agent-heartbeat --as {name} --status testing", place)
        path = place / f".git/ghp/agents/{name}.json"
        before = path.stat().st_mtime - 900
        os.utime(path, (before, before))
    assert segment(place).endswith(" · 1 question open"), "counts are kept for a while"
    forget(place)
    assert segment(place) == "worker-1 · #1 implementing · 2 questions open · 2 agents stale"


@pytest.mark.parametrize(
    "kept", [{}, {"at": "x"}, {"at": 0, "open": 9, "stale": 9}, {"at": 9e12, "open": 9, "stale": 9}]
)
def test_counts_that_are_old_or_odd_are_made_again(place: Path, kept: dict[str, object]) -> None:
    (place / ".git/ghp/cache/segment.json").write_bytes(quickjson.encode(kept))
    assert segment(place) == "worker-1 · #1 implementing"


def test_where_nothing_is_set_up_there_is_nothing(tmp_path: Path, repo: Path, place: Path) -> None:
    assert segment(tmp_path) == ""
    git(tmp_path, "init", "--quiet", "bare")
    assert segment(tmp_path / "bare") == ""
    (place / ".git/ghp-agent").unlink()
    assert segment(place) == f"claude-{sessionname.short('s1')}", "by its session alone"


def run(payload: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "ghp_agents", "hook", "claude-statusline"]
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT), **(env or {})}
    return subprocess.run(
        command, input=payload, capture_output=True, text=True, env=environ, cwd="/", timeout=60
    )


@pytest.mark.slow
def test_the_command_prints_it_without_a_line_end(place: Path) -> None:
    done = run(json.dumps({"session_id": "s1", "cwd": str(place)}))
    assert (done.returncode, done.stdout, done.stderr) == (0, "worker-1 · #1 implementing", "")


@pytest.mark.parametrize("payload", ["", "no json", "[]", "{}", '{"workspace": 1, "cwd": 2}'])
def test_odd_input_prints_nothing_and_ends_well(payload: str) -> None:
    done = run(payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_fast_road_loads_nothing_heavy(place: Path) -> None:
    segment(place)  # the counts are made
    code = (
        "import os, sys; from ghp_agents.hooks import statusline;"
        f"print(statusline.segment({{'cwd': {str(place)!r}}}, os.environ));"
        "print(sorted({'click', 'json', 're', 'pathlib', 'pydantic'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    assert done.stdout == "worker-1 · #1 implementing\n[]\n"
