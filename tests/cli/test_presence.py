"""`agent-heartbeat` and `agent-whoami` as people and hooks call them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, invoke, run_ghp, succeed
from tests.support.in_home import in_home

AS = {"GHP_AGENT": "worker-1"}


@pytest.mark.slow
def test_a_beat_prints_nothing_and_shows_in_the_status(repo: Path) -> None:
    beat = ["agent-heartbeat", "--status", "testing", "--issue", "12", "--action", "Running tests"]
    assert run_ghp(beat, repo, AS) == (0, "", "")
    assert run_ghp([*beat[:-1], "Running more"], repo, AS) == (0, "", "")
    code, out, err = invoke("agent-status", repo)
    assert (code, err) == (0, "")
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["AGENT", "STATE", "STATUS"],
        ["worker-1", "active", "testing"],
    ]
    assert "#12?" in out, "no tracker knows it"
    assert "Running more" in out


@pytest.mark.parametrize("stdin", ["", "not json", '{"session_id": "x"}', "\0\xff" * 1000])
def test_a_beat_tolerates_any_standard_input(repo: Path, stdin: str) -> None:
    assert run_ghp("agent-heartbeat", repo, AS, stdin=stdin) == (0, "", "")


@pytest.mark.parametrize("argv", ["agent-heartbeat", "agent-heartbeat --status testing"])
def test_a_beat_outside_of_a_repository_is_silent(tmp_path: Path, argv: str) -> None:
    assert run_ghp(argv, tmp_path, AS) == (0, "", "")


def test_metadata_of_an_agent_is_kept_by_its_next_session_and_shown(clone: Path) -> None:
    given = ["agent-whoami", "--as", "worker-1", "--metadata", '{"team": "parser"}']
    assert invoke(given, clone).err == "✓ Saved the metadata of worker-1.\n"
    succeed(
        clone, "agent-heartbeat --status stopped --as worker-1", "agent-heartbeat --as worker-1"
    )
    shown = json.loads(invoke("agent-status worker-1 --json", clone).out)
    assert shown["agents"]["worker-1"]["metadata"] == {"team": "parser"}
    assert 'metadata: «{"team": "parser"}»' in invoke("agent-status worker-1", clone).out
    assert invoke([*given[:-1], "{}"], clone).code == 0
    shown = json.loads(invoke("agent-status worker-1 --json", clone).out)
    assert shown["agents"]["worker-1"].get("metadata", {}) == {}


def test_a_beat_without_a_name_is_silent(repo: Path) -> None:
    assert run_ghp("agent-heartbeat", repo) == (0, "", "")


def test_a_beat_with_a_wrong_status_says_so_and_still_ends_with_0(repo: Path) -> None:
    code, out, err = run_ghp(["agent-heartbeat", "--status", "In Progress"], repo, AS)
    assert (code, out) == (0, "")
    assert err.startswith("Error: 'In Progress' is not a valid status.\nHint: Use lower-case words")


@pytest.mark.parametrize("words", [{"GHP_AGENT": "Worker-1"}, {}], ids=["variable", "option"])
def test_a_name_with_capital_letters_is_the_name_without(repo: Path, words: dict[str, str]) -> None:
    named = "" if words else " --as WORKER-1"
    assert invoke(f"agent-heartbeat{named}", repo, words).code == 0
    assert list(json.loads(invoke("agent-status --json", repo).out)["agents"]) == ["worker-1"]


def test_a_name_that_leaves_the_folder_is_refused(repo: Path) -> None:
    code, out, err = invoke("agent-status --set testing", repo, {"GHP_AGENT": "../../x"})
    assert (code, out) == (2, "")
    assert err.startswith("Error: '../../x' is not a valid agent name.\nHint: Use at most 63")
    assert not list(repo.parent.glob("x*"))


def test_a_second_session_under_one_name_is_told_its_own_once(repo: Path) -> None:
    first = {**AS, "GHP_SESSION": "0b9c2a1e-7b1d-4a3e-9f00-00000000aaaa"}
    second = {**AS, "GHP_SESSION": "0b9c2a1e-7b1d-4a3e-9f00-00000000bbbb"}
    assert invoke("agent-heartbeat --status testing", repo, first) == (0, "", "")
    assert invoke("agent-heartbeat --status testing", repo, second) == (0, "", "")
    assert invoke("agent-whoami", repo, first) == (0, "worker-1\n", "")
    assert invoke("agent-whoami", repo, second) == (
        0,
        "worker-1-bbbb\n",
        "Warning: Another running session has the name worker-1 in worktree repo, so this one is "
        "worker-1-bbbb. The files that worker-1 edits stay its own: do other work. When it has "
        "ended, a new session gets the name.\n",
    )
    assert invoke("agent-whoami", repo, second) == (0, "worker-1-bbbb\n", "")


def test_a_session_is_a_name_when_no_other_is_given(repo: Path) -> None:
    session = {"CLAUDE_CODE_SESSION_ID": "0b9c2a1e-7b1d-4a3e-9f00-00000000beef"}
    assert invoke("agent-whoami", repo, session) == (0, "claude-beef\n", "")


def test_without_any_name_whoami_says_how_to_give_one(repo: Path) -> None:
    code, out, err = invoke("agent-whoami", repo)
    assert (code, out) == (5, "")
    assert "Hint: Name it with --as NAME or GHP_AGENT=NAME." in err


def test_a_worktree_keeps_the_name_it_was_given(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    linked = worktree(repo, "2-other")
    assert invoke("agent-whoami --set worker-1", repo)[:2] == (0, "")
    assert invoke("agent-whoami --set worker-2", linked)[:2] == (0, "")
    assert invoke("agent-whoami", repo).out == "worker-1\n"
    assert invoke("agent-whoami", linked).out == "worker-2\n"
    assert invoke("agent-whoami --as worker-9", linked).out == "worker-9\n"


@pytest.mark.slow
def test_a_name_at_work_in_another_clone_is_given_to_no_worktree(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    succeed(one, "agent-init", "agent-heartbeat --as worker-1 --status testing", "agent-sync")
    succeed(other, "agent-init", "agent-sync")
    code, out, err = invoke("agent-whoami --set worker-1", other)
    assert (code, out) == (3, "")
    assert "Two agents cannot have one name.\nHint: Use another name, such as" in err
    assert invoke("agent-whoami", other).code != 0, "nothing changed"
    assert invoke("agent-whoami --set worker-2", other).code == 0
    succeed(one, "agent-status worker-1 --set stopped", "agent-sync")
    succeed(other, "agent-sync", "agent-whoami --set worker-1")


def test_a_name_in_the_environment_wins_and_is_warned_of(repo: Path) -> None:
    code, _, err = invoke("agent-whoami --set worker-2", repo, AS)
    assert code == 0
    assert "Warning: GHP_AGENT=worker-1 is set and overrides it." in err


def test_outside_of_a_repository_a_command_says_so(tmp_path: Path) -> None:
    code, out, err = invoke("agent-status", tmp_path)
    assert (code, out) == (5, "")
    assert "is not inside a git repository" in err
    assert "Hint: Change to a repository, or create one with `git init`." in err


def test_two_sessions_under_one_name_are_two_agents(repo: Path) -> None:
    for session, action in (("s-1", "a"), ("s-2", "b"), ("s-1", "c"), ("s-2", "d")):
        run_ghp(["agent-heartbeat", "--action", action], repo, {**AS, "GHP_SESSION": session})
    names = [
        invoke("agent-whoami", repo, {**AS, "GHP_SESSION": session}).out.strip()
        for session in ("s-1", "s-2")
    ]
    assert names[0] == "worker-1"
    assert names[1].startswith("worker-1-")
    agents = sorted(path.stem for path in (repo / ".git/ghp/agents").glob("*.json"))
    assert agents == names


@pytest.mark.slow
def test_modules_of_the_project_are_not_taken_for_pythons(repo: Path) -> None:
    for name in ("json", "click", "subprocess", "signal", "ghp_agents", "git", "pathlib"):
        (repo / f"{name}.py").write_text("raise SystemExit('a module of the project was run')\n")
    for command in ("agent-heartbeat", "agent-heartbeat --action x", "agent-status --set testing"):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "ghp_agents", *command.split()],
            cwd=repo,
            env={**os.environ, **AS, "PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    (repo / "ghp_agents.py").unlink()
    assert run_ghp("agent-status", repo, AS).code == 0


@pytest.mark.parametrize("argv", ["--bogus", "x", "--status", "--as ../../x", "--issue -1"])
def test_a_hook_that_was_written_for_another_version_stops_no_agent(repo: Path, argv: str) -> None:
    code, out, err = run_ghp(f"agent-heartbeat {argv}", repo, AS)
    assert (code, out) == (0, "")
    assert "Error: " in err


def test_what_nobody_thought_of_is_logged_and_stops_no_agent(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"throttle": 9}}')
    assert run_ghp("agent-heartbeat", repo, AS) == (0, "", "")
    cache = in_home(repo, "settings.json")
    cache.write_text(cache.read_text().replace("9.0", '"soon"'))
    assert run_ghp("agent-heartbeat", repo, AS) == (0, "", "")
    (line,) = (repo / ".git/ghp/log.jsonl").read_text().splitlines()
    assert json.loads(line)["error"].startswith("TypeError: ")


@pytest.mark.slow
def test_in_a_folder_that_was_removed_a_command_says_so(repo: Path) -> None:
    program = f"import os, shutil\nos.chdir({str(repo)!r})\nshutil.rmtree({str(repo)!r})\n"
    program += "import sys\nsys.argv = ['ghp', 'agent-status']\n"
    program += "from ghp_agents.cli.main import main\nmain()\n"
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], env=environ, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr == (
        "Error: The current folder was removed.\nHint: Change to another folder and try again.\n"
    )
