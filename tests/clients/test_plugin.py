"""The plugin in the real Claude Code: it is accepted, installed by its path, and guards."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, run, states
from tests.support.clients import TIMEOUT_S, Bench, end
from tests.support.fake_models import Call, Turn
from tests.support.git import commit, git

pytestmark = pytest.mark.slow


def claude(bench: Bench, cwd: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command of Claude Code that needs no model."""
    return subprocess.run(
        [*bench.command("claude"), *words],
        cwd=cwd, env=bench.claude_environment("none"), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The plugin, as it is rendered for this machine."""
    return Path(run("agent-plugin", "claude", "my plugin", cwd=tmp_path).strip())


def test_the_validator_accepts_it_where_warnings_count_as_errors(
    bench: Bench, plugin: Path
) -> None:
    for what in (plugin, plugin / ".claude-plugin/plugin.json"):
        done = claude(bench, plugin, "plugin", "validate", str(what), "--strict")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Validation passed" in done.stdout
    # What the catalog of plugins would refuse, as far as Claude Code can tell.
    done = claude(bench, plugin, "plugin", "validate", str(plugin), "--profile", "directory")
    assert done.returncode == 0, done.stdout + done.stderr


def test_installed_by_its_path_it_guards_and_brings_the_program(
    bench: Bench, plugin: Path, repo: Path
) -> None:
    done = claude(
        bench, repo, "plugin", "install", "ghp-agents", "--marketplace", str(plugin), "-y"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    commit(repo, {"src/a.py": "old\n"})
    run("agent-init", "--agent", "worker-1", cwd=repo)
    run("agent-heartbeat", "--status", "implementing", cwd=repo, env=OTHER)
    run("agent-lease", "src/", "--reason", "new parser", cwd=repo, env=OTHER)
    held = {"file_path": str(repo / "src/new.py"), "content": "new\n"}
    whoami = {"command": "ghp-agents agent-whoami", "description": "Who am I"}
    bench.models.script(
        "one", Turn(calls=[Call("Write", held), Call("Bash", whoami)]), Turn("Done.")
    )
    ended = end(bench.claude(repo, "one"))
    assert ended.code == 0, ended.err
    assert git(repo, "status", "--porcelain") == ""
    said = bench.models.requests("one")[-1].said
    assert re.search(r"src/new\.py is leased by worker-2 since .*new parser", said), said
    assert re.search(r"^worker-1$", said, re.MULTILINE), said
    assert states(repo)["worker-1"]["status"] == "stopped"
    assert claude(bench, repo, "plugin", "uninstall", "ghp-agents").returncode == 0
    assert end(bench.claude(repo, "two")).code == 0
    assert "ghp-agents" not in bench.models.said("two")


def test_what_it_teaches_is_known_to_a_session(bench: Bench, plugin: Path, repo: Path) -> None:
    bench.models.script("one", Turn("Done."))
    ended = end(bench.claude(repo, "one", "--plugin-dir", str(plugin)))
    assert ended.code == 0, ended.err
    begun = next(event for event in ended.events if event.get("subtype") == "init")
    names = {"answer", "claim", "escalate", "handoff", "lease", "release", "resume", "status"}
    assert {f"ghp-agents:{name}" for name in names} <= set(begun["slash_commands"])
    assert "ghp-agents:ghp-agents" in begun["skills"]


def test_its_slash_commands_may_run_what_they_need_without_asking(
    bench: Bench, plugin: Path, repo: Path
) -> None:
    run("agent-init", "--agent", "worker-1", cwd=repo)
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    look = {"command": "ghp-agents agent-leases --json", "description": "Look"}
    bench.models.script("one", Turn(calls=[Call("Bash", look)]))
    session = bench.claude(
        repo, "one", "--plugin-dir", str(plugin), prompt="/ghp-agents:status", allowed=()
    )
    ended = end(session)
    assert (ended.code, ended.result["permission_denials"]) == (0, [])
    asked, answered = bench.models.requests("one")[-2:]
    assert "Run `ghp-agents agent-status`" in asked.said
    shown = answered.said[answered.said.index("[\n") :]
    assert [each["holder"] for each in json.JSONDecoder().raw_decode(shown)[0]] == ["worker-2"]
