"""The tool server in clients' files on the disk: hidden, shared with hooks, in each worktree."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.integrations.clients import (
    codex_config,
    config_files,
    install,
    new_worktree,
    tool_server,
)
from ghp_agents.integrations.clients.server_entries import CLIENTS, FILES
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.setup import give_exclude


def ws(folder: Path) -> Workspace:
    return open_workspace(folder, os.environ, ManualClock())


def put(folder: Path, *clients: str) -> list[str]:
    places = tool_server.places(ws(folder), clients or CLIENTS)
    steps = tool_server.to_put(ws(folder), places, "/py")
    for step in steps:
        step.act()
    assert tool_server.to_put(ws(folder), places, "/py") == []
    return [step.what for step in steps]


def take(folder: Path, *clients: str) -> list[str]:
    places = tool_server.places(ws(folder), clients or CLIENTS)
    steps = tool_server.to_take(ws(folder), places)
    for step in steps:
        step.act()
    assert tool_server.to_take(ws(folder), places) == []
    return [step.what for step in steps]


def hooks(folder: Path, client: str, *, on: bool) -> None:
    here = ws(folder)
    targets = config_files.here(here, [client])
    steps = (
        install.to_put(targets, "/py", os.environ, here.common_dir)
        if on
        else install.to_take(targets, here.common_dir)
    )
    for step in steps:
        step.act()


def status(folder: Path) -> str:
    return git(folder, "status", "--short", "--untracked-files=all")


def test_what_was_made_is_hidden_and_goes_without_a_trace(repo: Path) -> None:
    give_exclude(repo)
    assert put(repo) == [
        "the tool server for Claude Code and Copilot CLI into .mcp.json",
        "the tool server for Codex into .codex/config.toml",
        "the tool server for Gemini CLI into .gemini/settings.json",
        "the tool server for Cursor into .cursor/mcp.json",
        "the tool server for OpenCode into .opencode/opencode.json",
        "the tool server for Qwen Code into .qwen/settings.json",
    ]
    assert status(repo) == ""
    assert len(take(repo)) == len(FILES)
    assert [path for file in FILES if (path := repo / file.path).exists()] == []
    assert not (repo / ".gemini").exists()
    assert (repo / ".git/info/exclude").read_text() == "*.swp\n"
    assert not (repo / ".git/ghp/guards").exists()


def test_a_file_of_the_users_keeps_its_bytes_and_stays_visible(repo: Path) -> None:
    give_exclude(repo)
    theirs = '{\n\t"mcpServers": {"db": {"command": "db"}}\n}'
    (repo / ".mcp.json").write_text(theirs)
    put(repo, "claude")
    assert status(repo) == "?? .mcp.json"
    take(repo, "copilot")
    assert (repo / ".mcp.json").read_text() == theirs
    assert (repo / ".git/info/exclude").read_text() == "*.swp\n"


@pytest.mark.parametrize("client", ["gemini", "qwen"])
@pytest.mark.parametrize("first", ["hooks", "server"])
@pytest.mark.parametrize("last", ["hooks", "server"])
def test_hooks_and_server_share_a_file_in_any_order(
    repo: Path, client: str, first: str, last: str
) -> None:
    give_exclude(repo)
    path = repo / f".{client}/settings.json"

    def change(name: str, *, on: bool) -> None:
        if name == "hooks":
            hooks(repo, client, on=on)
        elif on:
            put(repo, client)
        else:
            take(repo, client)

    for name in sorted(("hooks", "server"), key=lambda name: name != first):
        change(name, on=True)
    before = path.read_text()
    assert status(repo) == ""
    for name in sorted(("hooks", "server"), key=lambda name: name == last):
        assert status(repo) == "", "what is left of ours stays hidden"
        change(name, on=False)
    assert "agent-mcp" in before
    assert not path.exists()
    assert (repo / ".git/info/exclude").read_text() == "*.swp\n"


def test_a_new_worktree_gets_the_servers_of_the_main_one(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    put(repo, "claude")
    other = worktree(repo, "1")
    (step,) = new_worktree.steps(ws(repo), other)
    step.act()
    server = json.loads((other / ".mcp.json").read_text())["mcpServers"]["ghp"]
    assert server["command"] == "/py"
    assert len(take(repo, "claude")) == 2
    assert not (other / ".mcp.json").exists()


def test_a_file_that_cannot_be_changed_is_named(repo: Path, tmp_path: Path) -> None:
    path = repo / ".mcp.json"
    for text, why in [
        ('{\n "a": 1, // mine\n}', ", line 2: Claude Code ignores a file with comments or "
                                   "trailing commas; the file was not changed."),
        ('{"mcpServers": []}', ": `mcpServers` is not an object; the file was not changed."),
    ]:  # fmt: skip
        path.write_text(text)
        with pytest.raises(GhpError) as refused:
            put(repo, "claude")
        assert str(refused.value) == f"{path}{why}"
        assert path.read_text() == text
        assert take(repo, "claude") == [], "what holds nothing of ours is not even read"
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.json")
    git(repo, "add", ".mcp.json")
    with pytest.raises(RefusedError) as away:
        put(repo, "claude")
    assert str(away.value) == (
        f"{path} is a link in the repository to {tmp_path}/elsewhere.json, outside the worktree."
    )


def test_codex_keeps_its_sandbox_and_its_server_in_one_file(repo: Path) -> None:
    give_exclude(repo)
    put(repo, "codex")
    server = (repo / ".codex/config.toml").read_text()
    for step in codex_config.to_open(ws(repo), [repo]):
        step.act()
    text = (repo / ".codex/config.toml").read_text()
    assert text.endswith(server)
    assert "writable_roots" in text
    for step in codex_config.to_take(ws(repo)):
        step.act()
    assert (repo / ".codex/config.toml").read_text() == server
    assert status(repo) == ""
    take(repo, "codex")
    assert not (repo / ".codex").exists()


def test_people_read_what_each_client_still_needs(repo: Path) -> None:
    (repo / ".mcp.json").write_text("{}")
    git(repo, "add", ".mcp.json")
    places = tool_server.places(ws(repo), ["claude", "gemini"])
    assert list(tool_server.advice(places, [Path("/home/settings.json")])) == [
        (
            ".mcp.json is tracked by git, but its server is a program of this machine.",
            "Do not commit it.",
        ),
        (
            "Claude Code starts the server only after you approve it.",
            'Start `claude` here once. Without a terminal: "enabledMcpjsonServers": ["ghp"] in '
            ".claude/settings.local.json.",
        ),
        (
            "The plugin is enabled, too (/home/settings.json): Claude Code has each tool twice.",
            "Keep one: `claude plugin uninstall ghp-agents`, or `ghp agent-init --mcp claude "
            "--remove`.",
        ),
        (
            "Copilot CLI, Gemini CLI start the server only in a folder that you trust.",
            "Start the client here once, and trust the folder.",
        ),
    ]
