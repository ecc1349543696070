"""`agent-logs`: the runs of a clone, and what a client printed, as people read it."""

import json
from pathlib import Path

import pytest

from ghp_agents.runs import folder
from ghp_agents.runs.record import ENDED, FAILED
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.runs import RUN

LOG = """\
{"type":"system","session_id":"s-1"}
{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"I look."}]}}
plain
{"type":"error","message":"quota"}
"""
ENDED_RUN = RUN._replace(state=ENDED, outcome=FAILED, why="quota")


@pytest.fixture
def here(repo: Path) -> Path:
    ws = App(repo, {}).ws
    folder.write(ws, ENDED_RUN)
    (folder.of(ws, RUN.id) / "log").write_text(LOG + "last")
    (folder.of(ws, RUN.id) / "log.1").write_text("first\n")
    return repo


def test_runs_are_listed(here: Path) -> None:
    clock = ManualClock(1_767_225_600.0 + 7_200)
    assert invoke("agent-logs", here, clock=clock).out == (
        "RUN     AGENT     ISSUE  RUNNER  BEGAN    STATE\n"
        "R-0123  worker-1  #1     agent   2 h ago  failed: quota\n"
    )


@pytest.mark.parametrize("name", ["worker-1", "R-0123", "0123456789ab"])
def test_a_log_is_printed_for_people(here: Path, name: str) -> None:
    done = invoke(f"agent-logs {name}", here)
    assert done.out == "first\nI look.\nplain\nquota\nlast\n"
    assert done.err == "R-0123456789ab of worker-1, #1: failed: quota.\n"


def test_only_errors_are_printed(here: Path) -> None:
    assert invoke("agent-logs worker-1 --errors", here).out == "quota\n"


def test_a_log_that_has_ended_is_not_followed(here: Path) -> None:
    assert invoke("agent-logs worker-1 -f", here).out.endswith("last\n")


def test_the_list_can_be_read_by_programs(here: Path) -> None:
    found = json.loads(invoke("agent-logs --json", here).out)
    assert [(each["id"], each["outcome"]) for each in found] == [("R-0123456789ab", "failed")]
    assert invoke("agent-logs worker-1 --json", here).code == 2


def test_the_newest_are_listed_first(here: Path) -> None:
    later = ENDED_RUN._replace(id="f" * 12, at="2026-01-02T00:00:00Z")
    folder.write(App(here, {}).ws, later)
    done = invoke("agent-logs --limit 1", here)
    assert "R-ffff" in done.out
    assert "R-0123" not in done.out


def test_an_unknown_run_is_not_found(here: Path) -> None:
    assert invoke("agent-logs worker-9", here).code == 1
    assert "`ghp agent-logs` lists them." in invoke("agent-logs worker-9", here).err


def test_a_start_of_two_ids_is_not_enough(here: Path) -> None:
    folder.write(App(here, {}).ws, ENDED_RUN._replace(id="012f" * 3))
    assert invoke("agent-logs R-012", here).code == 2


def test_without_runs_the_list_says_how_to_start_some(repo: Path) -> None:
    assert invoke("agent-logs", repo).err == "No runs here. `ghp agent-work` starts some.\n"
    assert invoke("agent-logs -f", repo).code == 2


def test_what_was_refused_comes_last(here: Path) -> None:
    place = folder.of(App(here, {}).ws, RUN.id)
    (place / "refused").write_text("Bash: rm x: `rm x` is not among the commands\n")
    shown = invoke("agent-logs worker-1 --errors", here).out
    assert shown == "quota\nrefused: Bash: rm x: `rm x` is not among the commands\n"
    assert json.loads(invoke("agent-logs --json", here).out)[0]["refused"] == 1
