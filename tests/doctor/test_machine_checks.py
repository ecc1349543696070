"""The doctor on this machine: git, the repository, settings, names and the log."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.finding import Finding, Level, error, info, ok, warning
from ghp_agents.doctor import machine_checks as machine
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.users import OTHER, only_root

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


def test_every_check_can_be_made_in_a_repository_that_was_never_used(repo: Path) -> None:
    ws = at(repo, GHP_BACKGROUND="1")
    results = [finding for check in machine.checks(ws).values() for finding in check()]
    assert {finding.level for finding in results} == {Level.OK}
    assert [finding.code for finding in results] == [
        "git",
        "python",
        "repository",
        "config",
        "agent",
    ]


def test_a_git_that_is_too_old_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 2.30.9\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert one(machine.check_git()) == error(
        "git", "git 2.30.9 is too old.", "Install git 2.31 or newer."
    )


def test_the_kind_of_repository_is_told(repo: Path, remote: Path) -> None:
    assert one(machine.check_repository(at(repo))) == ok("repository", f"{repo}: main worktree")
    assert one(machine.check_repository(at(remote))) == ok("repository", f"{remote}: bare")


def test_where_hooks_are_silent_the_doctor_says_why(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    moved = (tmp_path / "linked").rename(tmp_path / "moved")
    says = "Hooks do nothing in this worktree, so edits are not guarded: "
    assert list(machine.check_repository(at(moved))) == [
        ok("repository", f"{moved}: linked worktree"),
        warning(
            "hooks-silent",
            says + "its git folder names another path.",
            f"cd {moved} && git worktree repair",
        ),
    ]
    git(moved, "worktree", "repair")
    assert one(machine.check_repository(at(moved))).level is Level.OK
    only_root()
    os.chown(repo, OTHER, OTHER)
    git(repo, "config", "--global", "safe.directory", "*")
    assert list(machine.check_repository(at(repo)))[1:] == [
        warning(
            "hooks-silent",
            says + "a part of the repository belongs to another user.",
            f'sudo chown -R "$(id -un)" {repo} {repo}/.git',
        )
    ]


def test_thresholds_in_the_wrong_order_are_a_warning(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"staleAfter": 99, "deadAfter": 9}}')
    first, second = machine.check_config(at(repo))
    assert (first.level, first.code) == (Level.WARNING, "config")
    assert "≤ `goneAfter`" in first.text
    assert second == ok("config", f"Settings: {repo}/.ghp/config.json")


def test_without_configuration_the_defaults_are_named(repo: Path) -> None:
    assert one(machine.check_config(at(repo))) == ok(
        "config", "Settings: the defaults (there is no .ghp/config.json)"
    )


def test_whoever_works_here_is_named_or_told_how_to_be(repo: Path) -> None:
    assert one(machine.check_agent(at(repo))) == ok("agent", "Commands here act as worker-1.")
    assert one(machine.check_agent(at(repo, None))) == info(
        "agent",
        "This worktree has no agent name.",
        "If an agent works here, name it: ghp agent-whoami --set worker-1",
    )
    bad = one(machine.check_agent(at(repo, None, GHP_AGENT="../../x")))
    assert (bad.level, bad.text) == (
        Level.ERROR,
        "'../../x' is not a valid agent name, so no command can use it.",
    )


def test_background_work_that_is_off_is_said_with_what_turned_it_off(repo: Path) -> None:
    assert list(machine.check_background(at(repo, GHP_BACKGROUND="1"))) == []
    off = one(machine.check_background(at(repo, GHP_BACKGROUND="0")))
    assert off.remedy == "Unset GHP_BACKGROUND to turn it on."
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"background": false}}')
    off = one(machine.check_background(at(repo, GHP_BACKGROUND="1")))
    assert off.text.startswith("Background work is off in the configuration: ")


def test_errors_of_the_last_week_are_counted_and_the_last_is_told(repo: Path) -> None:
    ws = at(repo)
    log(ws, failure(ws, 8, "old"), failure(ws, 2, "first"), failure(ws, 1, "disk\nfull"))
    assert one(machine.check_log(ws)) == warning(
        "log",
        "2 errors in the background in the last 7 days; latest, 24 h ago: disk full",
        f"See {ws.ghp_dir}/log.jsonl. If it is a bug of ghp-agents, please report it.",
    )


def test_the_log_before_the_present_one_counts_too(repo: Path) -> None:
    ws = at(repo)
    log(ws, failure(ws, 1, "last"))
    (ws.ghp_dir / "log.old.jsonl").write_text(f"{failure(ws, 2, 'first')}\n")
    assert one(machine.check_log(ws)).text.startswith("2 errors in the background")


def test_a_log_that_is_torn_old_or_absent_is_no_finding(repo: Path) -> None:
    ws = at(repo)
    assert list(machine.check_log(ws)) == []
    log(ws, '"at": "20', "[]", '{"at": "whenever"}', failure(ws, 30, "long ago"))
    assert list(machine.check_log(ws)) == []
