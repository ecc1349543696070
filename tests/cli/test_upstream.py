"""What upstream's `ghp` calls, as it calls it; and what `agent-status` shows of its agents."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import upstream
from tests.support.ghp import Result, invoke, run_ghp
from tests.support.git import git

Worktree = Callable[[Path, str], Path]


@pytest.fixture
def hooked(repo: Path, tmp_path: Path) -> Path:
    """A repository that is set up, and upstream's `ghp` with our hooks."""
    env = upstream.install(tmp_path / "bin")
    assert invoke("agent-init --ghp", repo, env).code == 0
    assert invoke("agent-init", repo).code == 0
    return repo


@pytest.mark.slow
def test_the_dashboard_is_answered_in_upstreams_form(
    hooked: Path, home: Path, worktree: Worktree
) -> None:
    place = worktree(hooked, "12-it's")
    assert invoke("agent-whoami --set worker-1", place).code == 0
    (result,) = upstream.ask(home, "agent/12-it's", "o/r", hooked)
    assert (result.code, result.err) == (0, "")
    answer = json.loads(result.out)
    assert answer["success"] is True
    assert [item["title"] for item in answer["data"]["items"]] == ["worker-1: active, idle #12"]


def test_outside_of_a_repository_the_answer_says_what_is_wrong(tmp_path: Path) -> None:
    done = invoke("agent-dashboard --branch main --repo o/r", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {
        "schemaVersion": 1,
        "success": False,
        "error": f"{tmp_path} is not inside a git repository.",
    }


def test_a_configuration_that_is_broken_stops_no_answer(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text("{")
    answer = json.loads(invoke("agent-dashboard --branch main", repo).out)
    assert answer["success"] is True


@pytest.mark.slow
def test_events_are_silent_and_end_well(
    hooked: Path, home: Path, worktree: Worktree, tmp_path: Path
) -> None:
    assert invoke("agent-init --hooks claude", hooked).code == 0
    place = worktree(hooked, "12")
    payload = {"branch": "agent/12", "worktree": {"path": str(place), "name": place.name}}
    title = {"issue": {"number": 12, "title": "$(touch x) `touch y` ' \" $'", "body": ""}}
    for event in ("issue-started", "worktree-created", "pr-created", "pr-merged"):
        assert upstream.fire(home, event, {**payload, **title}, place) == [Result(0, "", "")]
    assert (place / ".claude/settings.local.json").exists()
    git(hooked, "worktree", "remove", "--force", str(place))
    assert upstream.fire(home, "worktree-removed", payload, hooked) == [Result(0, "", "")]
    assert upstream.fire(home, "worktree-removed", {}, tmp_path) == [Result(0, "", "")]
    left = sorted(path.name for path in hooked.iterdir())
    assert left == [".claude", ".ghp", ".git", "README.md"]


def test_what_goes_wrong_with_an_event_is_in_the_log(hooked: Path) -> None:
    done = run_ghp("agent-event pr-opened nothing.json", hooked)
    assert done == Result(0, "", "")
    log = (hooked / ".git/ghp/log.jsonl").read_text()
    assert "Cannot read the upstream event in" in log


def test_words_that_are_wrong_end_well_too(repo: Path) -> None:
    assert invoke("agent-event", repo).code == 0


def test_they_are_not_in_the_list_of_commands(repo: Path) -> None:
    listed = invoke("--help", repo).out
    assert "agent-dashboard" not in listed
    assert "agent-event" not in listed


# ------------------------------------------------------------------------------ agent-status


@pytest.fixture
def noted(repo: Path, worktree: Worktree, home: Path) -> Path:
    """worker-1 in its worktree, of whom upstream's registry says something, too."""
    place = worktree(repo, "86")
    assert invoke("agent-whoami --set worker-1", place).code == 0
    note(home, place)
    return place


def note(home: Path, place: Path, **fields: Any) -> None:
    payload = {
        "issueNumber": 86, "branch": "agent/86", "worktreePath": str(place), "status": "running",
        "currentAction": "Reading \x1b[31ma.py", **fields,
    }  # fmt: skip
    (home / ".ghp").mkdir(exist_ok=True)
    (home / ".ghp/agents.json").write_text(json.dumps({"agents": {"u": payload}}))


SAYS = "Upstream ghp reports for worker-1 on #86: running, Reading [31ma.py."


def test_status_shows_what_upstream_says_as_upstreams(noted: Path) -> None:
    shown = invoke("agent-status", noted).out.splitlines()
    assert len(shown) == 3
    assert shown[2] == SAYS
    one = invoke("agent-status worker-1", noted).out.splitlines()
    assert one[-1] == f"  {SAYS}"


def test_the_document_has_it_beside_the_agents(noted: Path) -> None:
    document = json.loads(invoke("agent-status --json", noted).out)
    (upstream,) = document.pop("upstream")
    assert (upstream["agent"], upstream["status"], upstream["issue"]) == ("worker-1", "running", 86)
    assert document.keys() == {"schemaVersion", "agents"}
    assert "upstream" not in json.loads(invoke("agent-status --json --stale", noted).out)


def test_without_a_word_of_upstreams_nothing_is_added(
    repo: Path, home: Path, tmp_path: Path
) -> None:
    invoke("agent-whoami --set worker-1", repo)
    note(home, tmp_path / "elsewhere")
    assert "Upstream" not in invoke("agent-status", repo).out
    assert invoke("agent-status --json", repo).out.count('"upstream"') == 0


def test_a_broken_file_of_upstreams_is_named_and_the_rest_is_shown(noted: Path, home: Path) -> None:
    (home / ".ghp/agents.json").write_text("{")
    done = invoke("agent-status", noted)
    assert done.code == 0
    assert len(done.out.splitlines()) == 2
    assert (
        f"Warning: Skipped {home}/.ghp/agents.json: not readable.\n"
        "Hint: The file belongs to upstream: `ghp agents list` and `ghp status` read it, too.\n"
    ) in done.err


@pytest.mark.slow
def test_where_upstream_was_never_used_nothing_of_it_is_loaded(repo: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "ghp_agents", "agent-status"]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True)
    assert done.returncode == 0
    assert "ghp_agents.cli.views.upstream" in done.stderr
    assert "upstream_agent" not in done.stderr
