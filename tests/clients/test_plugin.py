"""The plugin that `agent-plugin claude` renders, in the real Claude Code."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, run, states
from tests.support.clients import Bench, end
from tests.support.fake_models import Call, Turn
from tests.support.git import commit, git

pytestmark = pytest.mark.slow


@pytest.fixture
def here(repo: Path) -> Path:
    """A repository that is set up, without hooks; worker-2 has a lease."""
    commit(repo, {"src/parser.py": "old\n"}, "Files")
    run("agent-init", "--agent", "worker-1", cwd=repo)
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    return repo


@pytest.fixture
def plugin(here: Path, tmp_path: Path) -> Path:
    """The rendered plugin."""
    folder = tmp_path / "plugin"
    assert run("agent-plugin", "claude", str(folder), cwd=here) == f"{folder}\n"
    return folder


def claude(bench: Bench, *words: str, cwd: Path) -> str:
    """A command of Claude Code that is no session; what it prints."""
    done = subprocess.run(
        [bench.clients.claude, *words],
        cwd=cwd,
        env=bench.claude_environment("none"),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refused_write(bench: Bench, here: Path, *args: str) -> str:
    """What reaches the model of a session that writes a leased file and asks who it is."""
    write = Call("Write", {"file_path": str(here / "src/parser.py"), "content": "new\n"})
    who = Call("Bash", {"command": "ghp-agents agent-whoami", "description": "Ask"})
    bench.models.script("one", Turn(calls=[write]), Turn(calls=[who]))
    ended = end(bench.claude(here, "one", *args))
    assert ended.code == 0, ended.err
    assert git(here, "status", "--porcelain") == ""
    return bench.models.requests("one")[-1].said


def test_claude_code_finds_no_fault_with_the_plugin(bench: Bench, plugin: Path) -> None:
    claude(bench, "plugin", "validate", str(plugin), "--strict", cwd=plugin)
    claude(bench, "plugin", "validate", str(plugin), "--profile", "directory", cwd=plugin)


def test_the_plugin_guards_a_session_and_brings_its_own_command(
    bench: Bench, here: Path, plugin: Path
) -> None:
    said = refused_write(bench, here, "--plugin-dir", str(plugin))
    assert said.count("PreToolUse:Write hook error: src/parser.py is leased by worker-2") == 1
    assert said.count("acts as agent `worker-1`") == 1
    assert re.search(r"^worker-1\b", said, re.MULTILINE)
    assert states(here)["worker-1"]["status"] == "stopped"


def test_the_plugin_is_installed_by_one_command_and_removed_by_another(
    bench: Bench, here: Path, plugin: Path
) -> None:
    claude(bench, "plugin", "install", "ghp-agents", "--marketplace", str(plugin), "-y", cwd=here)
    said = refused_write(bench, here)
    assert said.count("PreToolUse:Write hook error: src/parser.py is leased by worker-2") == 1
    claude(bench, "plugin", "uninstall", "ghp-agents", cwd=here)
    bench.models.script("two", Turn("I know nothing."))
    assert end(bench.claude(here, "two")).code == 0
    assert "acts as agent" not in bench.models.said("two")


def test_a_slash_command_may_run_its_commands_without_asking(
    bench: Bench, here: Path, plugin: Path
) -> None:
    look = Call("Bash", {"command": "ghp-agents agent-leases --json", "description": "Look"})
    bench.models.script("one", Turn(calls=[look]))
    args = ("--plugin-dir", str(plugin))
    ended = end(bench.claude(here, "one", *args, prompt="/ghp-agents:status", allowed=()))
    assert (ended.code, ended.result["permission_denials"]) == (0, [])
    asked, answered = bench.models.requests("one")[-2:]
    assert "Run `ghp-agents agent-status`" in asked.said
    shown = answered.said[answered.said.index("[\n") :]
    assert [each["holder"] for each in json.JSONDecoder().raw_decode(shown)[0]] == ["worker-2"]
