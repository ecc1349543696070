"""`agent-logs`: the runs of a clone, and what a client printed, as people read it."""

import json
from pathlib import Path

import pytest

from ghp_agents.runs import folder
from ghp_agents.runs.logs import system_log
from ghp_agents.runs.logs.system_log import SystemLine
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
    runs = json.loads(invoke("agent-logs --json", here).out)
    assert [(run["id"], run["outcome"]) for run in runs] == [("R-0123456789ab", "failed")]
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
    assert invoke("agent-logs --errors", repo).err == "No errors are known here.\n"
    assert invoke("agent-logs --times", repo).code == 2


def test_errors_of_supervisors_and_of_hooks_are_printed_in_their_order(here: Path) -> None:
    ws = App(here, {}).ws
    for hour, is_error in ((1, True), (2, False), (4, True)):
        line = SystemLine(f"2026-01-01T0{hour}:00:00Z", f"Line {hour}\x1b[2J", error=is_error)
        system_log.write(ws, line)
    entry = {"at": "2026-01-01T03:00:00Z", "where": "hook", "error": "KeyError: 1", "trace": ""}
    (ws.ghp_dir / "log.jsonl").write_text(json.dumps(entry) + "\n[]\nno JSON\n")
    with (folder.top(ws) / system_log.FILE).open("a") as file:
        file.write('[1]\n{"at": 1, "text": "no"}\nno JSON\n')
    assert invoke("agent-logs --errors", here).out == (
        "2026-01-01T01:00:00Z  Line 1�[2J\n"
        "2026-01-01T03:00:00Z  hook: KeyError: 1\n"
        "2026-01-01T04:00:00Z  Line 4�[2J\n"
    )
    assert invoke("agent-logs --errors --limit 1", here).out.count("\n") == 1


def test_a_log_of_supervisors_is_bounded(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = App(repo, {}).ws
    monkeypatch.setattr(system_log, "LIMIT", 1_000)
    for number in range(50):
        system_log.write(ws, SystemLine("2026-01-01T00:00:00Z", f"{number}"))
    kept = [line.text for line in system_log.read(ws)]
    assert 10 < len(kept) < 30
    assert kept == [str(number) for number in range(50)][-len(kept) :]


def test_what_a_run_did_is_replayed_with_its_times(here: Path) -> None:
    ws, place = App(here, {}).ws, folder.of(App(here, {}).ws, RUN.id)
    sizes = [LOG.index("plain"), LOG.index('{"type":"error"')]
    (place / folder.OLDER_TIMES).write_text("6 1.0\n")
    (place / folder.TIMES).write_text(f"{sizes[0]} 3.5\nnonsense\n{sizes[1]} 75.0\n")
    began = f"worker-1 began {RUN.name}: #1 «One»."
    for at, text in (("00:00:00", began), ("00:02:00", "It ended.")):
        system_log.write(ws, SystemLine(f"2026-01-01T{at}Z", text, run=RUN.name))
    assert invoke("agent-logs worker-1 --times", here).out == (
        "  0:00  · worker-1 began R-0123456789ab: #1 «One».\n"
        "  0:01  first\n"
        "  0:03  I look.\n"
        "  1:15  plain\n"
        "  1:15  quota\n"
        "  1:15  last\n"
        "  2:00  · It ended.\n"
    )


def test_what_was_refused_comes_last(here: Path) -> None:
    place = folder.of(App(here, {}).ws, RUN.id)
    (place / "refused").write_text("Bash: rm x: `rm x` is not among the commands\n")
    shown = invoke("agent-logs worker-1 --errors", here).out
    assert shown == "quota\nrefused: Bash: rm x: `rm x` is not among the commands\n"
    assert json.loads(invoke("agent-logs --json", here).out)[0]["refused"] == 1
