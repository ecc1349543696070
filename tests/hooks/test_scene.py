"""Where an event happens and whose it is: the clone, the agent, and when there is nothing to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.hooks import scene
from ghp_agents.hotpath import heartbeat as pulse
from tests.support.git import git
from tests.support.hooks import agent, event, in_use
from tests.support.house import CHECKOUT


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("claude", "claude-abcd"),
        ("codex", "codex-abcd"),
        ("gemini", "gemini-abcd"),
        ("cursor", "cursor-abcd"),
        ("opencode", "opencode-abcd"),
        ("copilot", "copilot-abcd"),
        ("pi", "pi-abcd"),
        ("qwen", "qwen-abcd"),
    ],
)
def test_an_agent_without_a_name_has_that_of_its_session(
    repo: Path, client: str, name: str
) -> None:
    in_use(repo)
    # Another agent started this one, and its environment is inherited.
    outer = {"CLAUDE_CODE_SESSION_ID": "ffff0000", "CODEX_THREAD_ID": "ffff1111", "CLAUDECODE": "1"}
    assert agent(event(client, "batch", repo), outer) == name


def test_a_name_in_the_environment_wins_over_the_worktree_and_that_over_the_session(
    repo: Path,
) -> None:
    in_use(repo)
    assert agent(event("claude", "batch", repo, session=None)) is None
    (repo / ".git/ghp-agent").write_text("worker-1\n")
    assert agent(event("claude", "batch", repo)) == "worker-1"
    assert agent(event("claude", "batch", repo), {"GHP_AGENT": "worker-9"}) == "worker-9"


def test_a_name_that_is_none_is_an_error_and_no_path(repo: Path) -> None:
    in_use(repo)
    with pytest.raises(UsageError):
        agent(event("claude", "batch", repo), {"GHP_AGENT": "../../x"})


def test_a_repository_that_was_never_set_up_is_left_alone(repo: Path, tmp_path: Path) -> None:
    for kind in ("start", "prompt", "edit", "batch", "stop", "compact", "end"):
        assert agent(event("claude", kind, repo, paths=[f"{repo}/a"])) is None
        assert agent(event("claude", kind, tmp_path, paths=[f"{tmp_path}/a"])) is None
    assert not (repo / ".git/ghp").exists()


def test_a_clone_of_a_team_is_left_alone_until_a_command_was_used_in_it(
    clone: Path, remote: Path
) -> None:
    git(remote, "branch", "ghp-state", "main")
    git(clone, "fetch", "--quiet", "origin")
    assert agent(event("claude", "start", clone)) is None
    git(clone, "pack-refs", "--all")
    assert agent(event("claude", "start", clone)) is None
    in_use(clone)
    assert agent(event("claude", "start", clone)) == "claude-abcd"


def test_where_git_cannot_be_written_the_place_outside_counts(repo: Path, tmp_path: Path) -> None:
    environ = {"GHP_STATE_DIR": str(tmp_path / "state")}
    assert agent(event("claude", "batch", repo), environ) is None
    Path(pulse.spare_folder(f"{repo}/.git", environ)).mkdir(parents=True)
    assert agent(event("claude", "batch", repo), environ) == "claude-abcd"


@pytest.mark.parametrize("cwd", ["relative", "/no/such/folder", "a\0b", "/etc/hosts", ""])
def test_a_folder_that_is_none_is_nowhere(repo: Path, cwd: str) -> None:
    in_use(repo)
    assert agent(event("claude", "batch", cwd)) is None


def test_an_agent_that_is_nowhere_is_asked_by_what_it_edits(repo: Path, tmp_path: Path) -> None:
    in_use(repo)
    (repo / ".git/ghp-agent").write_text("worker-1\n")
    for cwd in (tmp_path, "/no/such/folder"):
        edited = event("claude", "edit", cwd, paths=["relative", "/a\0b", f"{repo}/a"])
        assert agent(edited) == "claude-abcd"  # it is not the agent of that worktree
        assert agent(edited, {"GHP_AGENT": "worker-9"}) == "worker-9"
    assert agent(event("claude", "edit", tmp_path, paths=["/etc/hosts"])) is None


def test_the_process_of_the_agent_is_the_one_that_is_told_or_that_calls(repo: Path) -> None:
    environ = {"CLAUDE_PID": "11", "PATH": ""}
    identified = scene.identified(event("claude", "start", repo), environ)
    assert (identified["CLAUDE_PID"], identified.get("GHP_AGENT_PID")) == ("11", None)
    identified = scene.identified(event("opencode", "start", repo, pid=12), environ)
    assert (identified.get("CLAUDE_PID"), identified["GHP_AGENT_PID"]) == (None, "12")
    identified = scene.identified(event("cursor", "start", repo), environ)
    assert (identified.get("CLAUDE_PID"), identified.get("GHP_AGENT_PID")) == (None, None)
    identified = scene.identified(event("codex", "start", repo), {"GHP_AGENT_PID": "13"})
    assert identified["GHP_AGENT_PID"] == "13"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
def test_the_caller_is_found_beyond_shells() -> None:
    code = (
        "from ghp_agents.hooks.event import Event; from ghp_agents.hooks import scene;"
        "print(scene.identified(Event('codex', 'start', '', 's', None), {})['GHP_AGENT_PID'])"
    )
    inner = f'"$PYTHON" -c "{code}"; true'
    done = subprocess.run(
        ["sh", "-c", 'sh -c "$INNER"; true'],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHON": sys.executable, "INNER": inner},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(os.getpid())
