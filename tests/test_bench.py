"""The benchmark runs, says what it means, and what must be fast imports nothing slow."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from bench import page, report
from bench.figure import Figure
from tests.support.ghp import run_ghp
from tests.support.house import CHECKOUT
from tests.support.memory import needs_model
from tests.support.thorough import IS_THOROUGH

HEAVY = {"git", "github", "mem0", "pydantic", "rich"}
MUST = Figure("beat", "ghp agent-heartbeat", 2.5, "× python", 2.0, note="25.0 / 10.0 ms")
LOST = Figure("crowd", "beats lost", 0, "beats", 0)
REACHED = Figure("crowd", "pulse.beat", 0.75, "× os.replace", 0.6, at_least=True)
SAID = Figure("crowd", "whole processes", 1234.5, "beats/s")


# ------------------------------------------------------------------------------ what it says


def test_the_table_says_which_bounds_hold() -> None:
    assert report.table([MUST, LOST, REACHED, SAID]) == dedent(
        """\
        ROW    WHAT                 MEASURED            BOUND            FROM
        beat   ghp agent-heartbeat  2.50 × python       ≤ 2      NOT OK  25.0 / 10.0 ms
        crowd  beats lost           0 beats             ≤ 0      ok
        crowd  pulse.beat           0.750 × os.replace  ≥ 0.600  ok
        crowd  whole processes      1,234 beats/s"""
    )


def test_a_broken_bound_fails_the_run_but_a_quick_run_proves_only_that_nothing_is_lost() -> None:
    torn = Figure("crowd", "beats lost", 3, "beats", 0)
    slow = Figure("crowd", "pulse.beat", 0.5, "× os.replace", 0.6, at_least=True)
    assert report.broken([MUST, LOST, REACHED, SAID, torn, slow], quick=False) == [MUST, torn, slow]
    assert report.broken([MUST, LOST, REACHED, SAID, torn, slow], quick=True) == [torn]


def test_the_page_has_the_figures_the_machine_and_what_each_row_does(tmp_path: Path) -> None:
    page.write(tmp_path / "bench.md", [LOST], {"cores": 2, "git": "2.39.5"}, "2026-01-02T03:04:05Z")
    written = (tmp_path / "bench.md").read_text()
    assert "Measured 2026-01-02: cores 2, git 2.39.5.\n" in written
    assert "| crowd | beats lost | 0 beats | ≤ 0 | ok |  |\n" in written
    assert "- **crowd**: A hundred agents beat in one clone" in written


# ------------------------------------------------------------------------------ that it runs


@pytest.mark.slow
@pytest.mark.long
def test_a_quick_run_of_the_beat_and_the_fold_writes_what_was_measured(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    command = [sys.executable, "-m", "bench", "fold", "beat", "--quick", "--json", str(results)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    written = json.loads(results.read_text())
    assert list(written) == ["schemaVersion", "at", "quick", "machine", "holds", "figures"]
    assert written["quick"] is True
    assert {"processor", "cores", "memory", "system", "python", "git", "pip"} == {
        *written["machine"]
    }
    figures = written["figures"]
    assert [each["row"] for each in figures] == ["beat"] * 4 + ["fold"]
    assert [each["bound"] for each in figures] == [2.0, 0.6, 2.0, 0.6, 5.0]
    for each in figures:
        keys = ["row", "name", "measured", "unit", "bound", "atLeast", "holds", "note", "detail"]
        assert list(each) == keys
        assert each["measured"] > 0
    assert done.stdout.count("\n") == 1 + len(figures)


@pytest.mark.slow
@needs_model
@pytest.mark.long
@pytest.mark.skipif(not IS_THOROUGH, reason="THOROUGH=1 measures knowledge, too")
def test_a_quick_run_of_knowledge_shows_that_our_default_sees_meanings(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    command = [sys.executable, "-m", "bench", "knowledge", "--quick", "--json", str(results)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = {each["name"]: each for each in json.loads(results.read_text())["figures"]}
    ours, grep = found["recall@3: our default"], found["recall@3: grep"]
    assert ours["detail"]["words"] == grep["detail"]["words"] == 1.0
    assert ours["detail"]["paraphrase"] > 0.5 > grep["detail"]["paraphrase"]
    assert found["cold agent-recall, 60 notes"]["measured"] > 0


@pytest.mark.slow
def test_an_unknown_row_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "beats", "--json", str(tmp_path / "results.json")]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "there is no row 'beats'; rows are beat, light, messages, floods, crowd, " in done.stderr


# ------------------------------------------------------------------------ why it can be fast


def imported(repo: Path, *words: str) -> set[str]:
    """The top-level packages that a command imports in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ghp_agents", *words],
        cwd=repo,
        env={**os.environ, "GHP_AGENT": "worker-1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_a_beat_imports_nothing_that_costs_more_than_the_beat(repo: Path) -> None:
    assert run_ghp("agent-heartbeat", repo, env={"GHP_AGENT": "worker-1"}).code == 0
    found = imported(repo, "agent-heartbeat", "--status", "testing", "--action", "Ran the tests")
    presence = json.loads((repo / ".git/ghp/agents/worker-1.json").read_text())
    assert presence["lastAction"] == "Ran the tests", "it was the fast road that was looked at"
    assert "ghp_agents" in found
    slow = {"click", "dataclasses", "filelock", "json", "pathlib", "re", "subprocess", "typing"}
    assert found & (HEAVY | slow) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "agent-status", "agent-status --json", "agent-whoami", "agent-log", "agent-issues",
        "agent-issues --json", "agent-escalations",
    ],
)  # fmt: skip
def test_a_light_command_imports_no_heavy_library(repo: Path, words: str) -> None:
    env = {"GHP_AGENT": "worker-1"}
    run_ghp("agent-heartbeat --status testing", repo, env=env)
    run_ghp(["agent-issue", "new", "Sort the table"], repo, env=env)
    run_ghp(["agent-escalate", "Which of the two layouts?"], repo, env=env)
    found = imported(repo, *words.split())
    assert "click" in found
    assert found & (HEAVY | {"jinja2", "yaml"}) == set()


@pytest.mark.slow
def test_a_checkpoint_imports_nothing_that_only_other_handoffs_need(repo: Path) -> None:
    run_ghp(["agent-handoff", "--checkpoint"], repo, env={"GHP_AGENT": "worker-1"})
    (repo / "README.md").write_text("Half of it\n")
    found = imported(repo, "agent-handoff", "--checkpoint", "--note", "Half of it is done")
    assert "click" in found
    unused = {"dataclasses", "hashlib", "jinja2", "secrets", "shutil", "tempfile", "yaml"}
    assert found & (HEAVY | unused) == set()
