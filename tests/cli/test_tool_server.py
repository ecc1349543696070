"""`agent-init --mcp`: which clients get the tool server, and what people read then."""

from pathlib import Path

import pytest

from ghp_agents.core.extras import how_to_install
from tests.support.ghp import invoke
from tests.support.git import git

INTO = "the tool server for Claude Code and Copilot CLI into .mcp.json.\n"


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra `mcp` is installed."""
    monkeypatch.setattr("ghp_agents.cli.setup.tool_server.find_spec", lambda _: object())


@pytest.mark.usefixtures("package")
def test_the_server_is_added_once_and_removed_again(repo: Path) -> None:
    assert invoke("agent-init --mcp claude --dry-run", repo) == (0, f"Would put {INTO}", "")
    assert not (repo / ".mcp.json").exists()
    added = invoke("agent-init --mcp claude", repo)
    assert (added.code, added.out) == (0, "")
    assert added.err == (
        f"✓ Put {INTO}"
        "Warning: Claude Code starts the server only after you approve it.\n"
        'Hint: Start `claude` here once. Without a terminal: "enabledMcpjsonServers": ["ghp"] in '
        ".claude/settings.local.json.\n"
        "Warning: Copilot CLI starts the server only in a folder that you trust.\n"
        "Hint: Start the client here once, and trust the folder.\n"
    )
    assert git(repo, "status", "--porcelain") == ""
    again = invoke("agent-init --mcp claude", repo)
    assert again == (0, "", "✓ Nothing to do: the tool server is there.\n")
    took = "✓ Removed the tool server of Claude Code and Copilot CLI from .mcp.json.\n"
    assert invoke("agent-init --mcp --remove", repo) == (0, "", took)
    assert not (repo / ".mcp.json").exists()
    nothing = "✓ Nothing to do: the tool server is not there.\n"
    assert invoke("agent-init --mcp --remove", repo) == (0, "", nothing)


@pytest.mark.usefixtures("package")
def test_removing_everything_removes_the_server_too(repo: Path) -> None:
    assert invoke("agent-init --hooks gemini", repo).code == 0
    assert invoke("agent-init --mcp gemini,opencode", repo).code == 0
    assert invoke("agent-init --remove --yes", repo).code == 0
    assert not (repo / ".gemini").exists()
    assert not (repo / ".opencode").exists()


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--mcp pi", "pi takes no tool server."),
        ("--mcp git", "git takes no tool server."),
        ("--mcp emacs", "'emacs' is not a client with hooks."),
        ("--mcp=", "',' is not a client with hooks."),
        ("--mcp claude --hooks claude", "--hooks cannot be used with --mcp."),
        ("--mcp claude --user", "--user cannot be used with --mcp."),
    ],
)
def test_what_takes_no_server_is_named(repo: Path, words: str, error: str) -> None:
    done = invoke(f"agent-init {words}", repo)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {error}\n")


def test_without_the_package_no_client_is_changed(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghp_agents.cli.setup.tool_server.find_spec", lambda _: None)
    done = invoke("agent-init --mcp claude", repo)
    assert (done.code, done.err) == (
        2,
        "Error: The tool server needs the package mcp.\n"
        f"Hint: Install it: {how_to_install('mcp')}\n",
    )
    assert not (repo / ".mcp.json").exists()
