"""The fast path of the heartbeat understands what the slow one does, and imports nothing heavy."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.cli.presence import _fields, heartbeat
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import heartbeat_command
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.wiring import App
from tests.support.ghp import CHECKOUT, run_ghp

WORDS = st.sampled_from(
    ("--status", "--issue", "--action", "--progress", "--as", "--help", "-h", "--", "--stat", "",
     "testing", "In Progress", "7", "#7", "0", "-7", "007", "1.5", "٣", "9" * 16, "x\x1b[31m y",
     "--issue=7", "--status=done", "worker-1", "../../x")
)  # fmt: skip


def slow(argv: list[str], cwd: Path) -> dict[str, Any] | None:
    """What the command with all its options understands; None for an error or the help."""
    house = App(cwd, {})
    try:
        with heartbeat.make_context("agent-heartbeat", list(argv), obj=house) as context:
            options = dict(context.params)
            progress = options.pop("progress")
            fields = _fields(**options)
    except (click.ClickException, click.exceptions.Exit, GhpError):
        return None
    fields |= {"progress": True} if progress else {}
    return fields | ({"agent": house.name} if house.name else {})


@given(st.lists(WORDS, max_size=6))
def test_the_fast_road_understands_what_the_slow_one_does_or_leaves_it(argv: list[str]) -> None:
    fast = heartbeat_command.parse(argv)
    if fast is not None:
        fast = {key: value for key, value in fast.items() if (key, value) != ("agent", "")}
        assert fast == slow(argv, Path("/"))


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--progress"],
        ["--status", "testing"],
        ["--issue", "#7", "--action", "Did it: 50 % — done", "--status", "done", "--progress"],
        ["--as", "worker-1", "--action", ""],
    ],
)
def test_what_hooks_say_goes_the_fast_road(argv: list[str]) -> None:
    assert heartbeat_command.parse(argv) is not None
    assert heartbeat_command.parse(argv) == slow(argv, Path("/"))


@pytest.mark.parametrize("argv", [["--issue", "0"], ["--issue=7"], ["--action", "-1 °C"]])
def test_what_is_right_but_odd_goes_the_slow_road(argv: list[str]) -> None:
    assert heartbeat_command.parse(argv) is None
    assert slow(argv, Path("/")) is not None


def test_a_huge_action_is_cut_and_not_refused() -> None:
    fields = heartbeat_command.parse(["--action", "x" * 10_000_000])
    assert fields is not None
    assert fields["lastAction"] == "x" * 499 + "…"


def imported(args: list[str], cwd: Path, environ: dict[str, str]) -> set[str]:
    """The modules that a Python program imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *args],
        cwd=cwd, env=os.environ | environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()[1:]}


@pytest.mark.slow
def test_a_beat_imports_nothing_but_its_own_few_modules(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing/__main__.py").touch()
    path = {"PYTHONPATH": f"{CHECKOUT}:{tmp_path}", "GHP_AGENT": "worker-1"}
    beat = ["agent-heartbeat", "--action", "one"]
    assert run_ghp(beat, repo, path).code == 0
    first = presencefile.newest([str(repo / ".git/ghp")], "worker-1")
    bare = imported(["-m", "nothing"], repo, path)
    ours = imported(["-m", "ghp_agents", *beat[:-1], "two"], repo, path) - bare
    assert presencefile.newest([str(repo / ".git/ghp")], "worker-1") != first
    hot = (
        "background",
        "boot_clock",
        "fastjson",
        "heartbeat",
        "heartbeat_command",
        "locate",
        "own_file",
        "own_name",
    )
    expected = {"cli", "cli.main", "hotpath", "hotpath.presence_file"}
    expected |= {f"hotpath.{name}" for name in hot}
    named = {name for name in ours if name.startswith("ghp_agents")}
    assert named == {"ghp_agents", *(f"ghp_agents.{name}" for name in expected)}
    assert ours - named <= {"_json", "_sha2", "_sha256", "fcntl", "gc", "time"}  # in C, and free


def test_an_agent_that_stopped_and_works_again_begins_another_life(repo: Path) -> None:
    def epoch_after(command: str) -> int:
        done = run_ghp(f"agent-heartbeat --as worker-1 {command}", repo)
        assert done.code == 0, done
        presence = presencefile.newest([str(repo / ".git/ghp")], "worker-1")
        assert presence is not None
        return int(presence["epoch"])

    assert [
        epoch_after("--status testing"),
        epoch_after("--status stopped"),
        epoch_after("--action 'Said goodbye'"),
        epoch_after("--status testing"),
        epoch_after("--status done"),
    ] == [1, 1, 1, 2, 2]
