"""The doctor on the work in the background, and its log."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core.clock import to_text
from ghp_agents.core.finding import Finding, warning
from ghp_agents.sync import background_checks as background
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock

DAY = 86_400.0


def at(folder: Path, name: str | None = "worker-1", **environ: str) -> Workspace:
    return open_workspace(folder, {**os.environ, **environ}, ManualClock(), name)


def one(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def log(ws: Workspace, *lines: str) -> None:
    ws.ghp_dir.mkdir(exist_ok=True)
    (ws.ghp_dir / "log.jsonl").write_text("".join(f"{line}\n" for line in lines))


def failure(ws: Workspace, days: float, words: str) -> str:
    return json.dumps({"at": to_text(ws.clock.now() - days * DAY), "error": words})


def test_background_work_that_is_off_is_said_with_what_turned_it_off(repo: Path) -> None:
    assert list(background.check_background(at(repo, GHP_BACKGROUND="1"))) == []
    off = one(background.check_background(at(repo, GHP_BACKGROUND="0")))
    assert off.remedy == "Unset GHP_BACKGROUND to turn it on."
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"background": false}}')
    off = one(background.check_background(at(repo, GHP_BACKGROUND="1")))
    assert off.text.startswith("Background work is off in the configuration: ")


def test_errors_of_the_last_week_are_counted_and_the_last_is_told(repo: Path) -> None:
    ws = at(repo)
    log(ws, failure(ws, 8, "old"), failure(ws, 2, "first"), failure(ws, 1, "disk\nfull"))
    assert one(background.check_log(ws)) == warning(
        "log",
        "2 errors in the background in the last 7 days; latest, 24 h ago: disk full",
        f"See {ws.ghp_dir}/log.jsonl. If it is a bug of ghp-agents, please report it.",
    )


def test_the_log_before_the_present_one_counts_too(repo: Path) -> None:
    ws = at(repo)
    log(ws, failure(ws, 1, "last"))
    (ws.ghp_dir / "log.old.jsonl").write_text(f"{failure(ws, 2, 'first')}\n")
    assert one(background.check_log(ws)).text.startswith("2 errors in the background")


def test_a_log_that_is_torn_old_or_absent_is_no_finding(repo: Path) -> None:
    ws = at(repo)
    assert list(background.check_log(ws)) == []
    log(ws, '"at": "20', "[]", '{"at": "whenever"}', failure(ws, 30, "long ago"))
    assert list(background.check_log(ws)) == []
