"""The hook refuses what the card of a run's agent does not allow, for each client in its schema."""

import json
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.cards import permissions
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.manifest import Permission
from ghp_agents.cards.permissions import RIGHTS
from ghp_agents.hooks import entry, run_rights
from ghp_agents.runs import rights
from tests.support.hooks import call, set_up

CARD = AgentCard(
    "night", ".ghp/agents/night.md",
    permissions=(
        Permission("write_file", ("docs/**/*.md",)), Permission("bash", ("make",)),
        Permission("network", ("docs.example",)),
    ),
)  # fmt: skip


@pytest.fixture
def env(repo: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a run in a repository that is set up."""
    set_up(repo, "night")
    return environment(repo, tmp_path, CARD)


def environment(repo: Path, tmp_path: Path, card: AgentCard) -> dict[str, str]:
    path = tmp_path / rights.FILE
    path.write_text(json.dumps(rights.document(card, str(repo))))
    return {RIGHTS: str(path), "GHP_AGENT": "night"}


def use(tool: str, repo: Path, **given: str) -> dict[str, Any]:
    return {
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given,
        "session_id": "s-1", "cwd": str(repo),
    }  # fmt: skip


def refused(repo: Path, env: dict[str, str], tool: str, **given: str) -> str:
    """What Claude Code is told; empty if the tool may be used."""
    reply = call("claude", use(tool, repo, **given), repo, env).said or {}
    fields = reply.get("hookSpecificOutput", {})
    assert fields.get("permissionDecision", "deny") == "deny"
    return str(fields.get("permissionDecisionReason", ""))


def test_each_tool_of_a_run_is_asked_about(repo: Path, tmp_path: Path, env: dict[str, str]) -> None:
    assert refused(repo, env, "Bash", command="rm -rf docs") == (
        "Bash was refused: `rm -rf docs` is not among the commands that it may run. "
        ".ghp/agents/night.md on main says what this agent may do.\n"
        "Next: Ask a person if the work needs it: `ghp agent-escalate QUESTION`, then end your "
        "turn."
    )
    assert "writes outside" in refused(repo, env, "Write", file_path="/etc/x", content="")
    assert "may write" in refused(repo, env, "Edit", file_path=f"{repo}/src/a.py")
    assert "reads outside" in refused(repo, env, "Read", file_path="/etc/passwd")
    assert "that host" in refused(repo, env, "WebFetch", url="https://evil.example", prompt="x")
    assert "that host" in refused(repo, env, "WebSearch", query="x")
    assert "may use" in refused(repo, env, "mcp__evil__x")
    assert (tmp_path / permissions.REFUSED).read_text().splitlines()[:2] == [
        "Bash: rm -rf docs: `rm -rf docs` is not among the commands that it may run",
        "Write: /etc/x: it writes outside of its worktree",
    ]


def test_each_key_that_may_name_a_file_is_looked_at(repo: Path, env: dict[str, str]) -> None:
    """Clients read keys of their own, and leave out others."""
    good, bad = f"{repo}/docs/a.md", "/etc/passwd"
    assert "writes outside" in refused(repo, env, "Write", file_path=good, notebook_path=bad)
    assert "reads outside" in refused(repo, env, "Read", file_path=good, filePath=bad)
    assert "reads outside" in refused(repo, env, "Read", file_path="~/.ssh/id_rsa")
    assert "reads outside" in refused(repo, env, "Glob", pattern="/etc/*")
    assert "reads outside" in refused(repo, env, "Glob", pattern="../../*")
    assert "runs outside" in refused(repo, env, "Bash", command="make", workdir="/tmp")
    assert refused(repo, env, "Read", file_path="a\0b")


def test_what_the_card_allows_is_allowed(repo: Path, env: dict[str, str]) -> None:
    assert refused(repo, env, "Bash", command="make test && git add . && ghp agent-finish") == ""
    assert refused(repo, env, "Write", file_path=f"{repo}/docs/a.md", content="x") == ""
    assert refused(repo, env, "Read", file_path=f"{repo}/a.txt") == ""
    assert refused(repo, env, "WebFetch", url="https://docs.example/x", prompt="x") == ""
    assert refused(repo, env, "TodoWrite") == ""


def test_without_a_person_to_ask_it_goes_on(
    repo: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    alone = env | environment(repo, tmp_path, CARD._replace(autonomous="true"))
    assert refused(repo, alone, "Bash", command="rm x").endswith(f"Next: {run_rights.GO_ON}")


def test_rights_that_were_changed_allow_nothing(
    repo: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    (tmp_path / rights.FILE).write_text("{")
    assert "cannot be read" in refused(repo, env, "Bash", command="make")
    (tmp_path / rights.FILE).unlink()
    assert "cannot be read" in refused(repo, env, "TodoWrite")


def test_each_client_hears_it_in_its_schema(repo: Path, env: dict[str, str]) -> None:
    messages = {
        "codex": use("Bash", repo, command="rm x"),
        "gemini": {
            **use("run_shell_command", repo, command="rm x"),
            "hook_event_name": "BeforeTool",
        },
        "openai": {**use("run", repo, command="rm x"), "hook_event_name": "before_tool"},
    }
    for client, message in messages.items():
        assert "`rm x` is not among" in json.dumps(call(client, message, repo, env).said), client


def test_refusals_are_bounded(repo: Path, tmp_path: Path, env: dict[str, str]) -> None:
    kept = tmp_path / permissions.REFUSED
    kept.write_text("x" * permissions.REFUSED_LIMIT)
    assert refused(repo, env, "Bash", command="rm x")
    assert kept.stat().st_size == permissions.REFUSED_LIMIT


def test_the_hook_looks_for_the_variable_that_the_supervisor_sets() -> None:
    assert f'"{RIGHTS}" in environ' in Path(entry.__file__).read_text()
