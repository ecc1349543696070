"""Editing tools of MCP servers are asked like the client's own; those of remote services not."""

import re
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import claude, codex, copilot, cursor, gemini, opencode, pi, qwen
from ghp_agents.hooks.event import patched
from ghp_agents.hooks.paths import of_foreign_tool
from ghp_agents.hotpath.calling_client import may_edit
from ghp_agents.integrations.clients.events import CLIENTS as SUBSCRIPTIONS
from tests.support.ghp import invoke
from tests.support.hooks import call, payload, set_up

FS = "mcp__filesystem__"


def paths(client: str, tool: str, given: Any, cwd: str | None) -> list[str]:
    return of_foreign_tool(client, tool, given, cwd, patched)


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        (f"{FS}write_file", {"path": "/r/a", "content": "path\n"}, ["/r/a"]),
        (f"{FS}move_file", {"source": "/r/a", "destination": "/r/b"}, ["/r/b", "/r/a"]),
        (f"{FS}edit_file", {"path": "/r/a", "edits": [{"oldText": "x", "newText": "y"}]}, ["/r/a"]),
        (f"{FS}create_directory", {"path": "/r/d"}, ["/r/d"]),
        ("mcp__serena__replace_symbol_body", {"name_path": "A/f", "relative_path": "a"}, None),
        ("mcp__idea__replace_file_text_by_path", {"pathInProject": "a", "projectPath": "/r"},
         ["/r/a"]),
        ("mcp__text-editor__patch_text_file_contents",
         {"files": [{"file_path": "/r/a", "patches": []}, {"file_path": "/r/b"}]},
         ["/r/b", "/r/a"]),
        ("mcp__commander__edit_block", {"file_path": "/r/a", "old_string": "x"}, ["/r/a"]),
        (f"{FS}read_file", {"path": "/r/a"}, []),
        ("mcp__github__create_or_update_file",
         {"owner": "o", "repo": "r", "path": "a", "content": "x"}, []),
        ("mcp__github__push_files",
         {"owner": "o", "repo": "r", "files": [{"path": "src/a", "content": "x"}]}, []),
        ("mcp__gitlab__create_or_update_file", {"project_id": "1", "file_path": "a"}, []),
        (f"{FS}write_file", {"owner": "o", "path": "/r/a", "content": "x"}, ["/r/a"]),
        (f"{FS}write_file", {"repo": "r", "path": "file:///r/a"}, ["file:///r/a"]),
        ("mcp__x__apply_patch", {"patch": "*** Begin Patch\n*** Update File: /r/a\n@@\n-x\n+y\n"
         "*** Move to: /r/b\n*** Delete File: /r/c\n*** End Patch\n"}, ["/r/a", "/r/b", "/r/c"]),
        ("mcp__x__apply_diff", {"diff": "--- a//r/a\n+++ b//r/b\t2026\n@@ -1 +1 @@\n-x\n+y\n"
         "--- /dev/null\n+++ b//r/c\nrename from /r/d\nrename to /r/e\n"},
         ["/r/a", "/r/b", "/r/c", "/r/d", "/r/e"]),
        (f"{FS}write_file", {"path": "/r/a", "content": "*** Begin Patch\n*** Add File: /r/b\n"},
         ["/r/a"]),
        (f"{FS}write_file", [], []),
        (f"{FS}write_file", {"path": "x\ny", 7: "/r/a", "content": None}, []),
    ],
)  # fmt: skip
def test_each_argument_that_names_a_file_counts(
    tool: str, given: Any, expected: list[str] | None
) -> None:
    found = paths("claude", tool, given, "/nowhere")
    if expected is None:
        assert "a" in found
    else:
        assert found == expected


def test_a_relative_path_counts_from_the_project_unless_it_is_here(repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src/here").touch()
    tool = "mcp__serena__insert_after_symbol"
    for name, expected in (("here", "here"), ("src/x", f"{repo}/src/x")):
        assert paths("claude", tool, {"relative_path": name}, f"{repo}/src") == [expected]


@pytest.mark.slow
def test_arguments_of_any_depth_and_number_are_read_in_bounds() -> None:
    deep: Any = {"path": "/r/a"}
    for _ in range(100):
        deep = {"in": deep}
    assert paths("claude", f"{FS}write_file", deep, None) == []
    many = {"paths": [f"/r/{number}" for number in range(100_000)]}
    assert len(paths("claude", f"{FS}write_file", many, None)) < 10_000


def test_tools_are_told_by_their_own_name_not_by_their_servers() -> None:
    assert not may_edit("claude", "mcp__text-editor__get_text_file_contents")
    assert may_edit("claude", "mcp__serena__rename_symbol")
    assert may_edit("cursor", "MCP:write_file")
    assert may_edit("copilot", "fs-move_file")
    assert may_edit("copilot", "text-editor-replace-in-file")
    assert not may_edit("copilot", "text-editor-get_text_file_contents")
    assert not may_edit("copilot", "write_bash")
    assert not may_edit("opencode", "editor_read_file")
    assert may_edit("claude", "mcp__x__find_and_replace")
    assert not may_edit("codex", "update_plan")


CLIENTS = (
    (claude, "PreToolUse", f"{FS}write_file"),
    (codex, "PreToolUse", f"{FS}write_file"),
    (gemini, "BeforeTool", "mcp_filesystem_write_file"),
    (cursor, "preToolUse", "MCP:write_file"),
    (copilot, "PreToolUse", "filesystem-write_file"),
    (qwen, "PreToolUse", f"{FS}write_file"),
    (opencode, "tool.execute.before", "filesystem_write_file"),
    (pi, "tool_call", "filesystem_write_file"),
)


@pytest.mark.parametrize(("client", "name", "tool"), CLIENTS)
def test_every_client_asks_about_such_tools(client: Any, name: str, tool: str) -> None:
    given = {"path": "/r/a", "content": "x"}
    message = {"hook_event_name": name, "cwd": "/r", "tool_name": tool, "tool_input": given}
    event = client.parse(message)
    assert [*event.paths] == ["/r/a"]
    assert event.edits[0].arguments == {"content": "x"}
    assert client.parse(message | {"tool_name": tool.replace("write_", "read_")}) is None


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "copilot", "cursor", "qwen"])
def test_installed_hooks_hear_of_editing_tools_only(client: str) -> None:
    edit = next(hook for hook in SUBSCRIPTIONS[client] if hook.kind == "edit")
    name = edit.foreign + ("" if client == "cursor" else "filesystem__")
    for tool in (
        *edit.tools,
        f"{name}write_file",
        f"{name}replace_symbol_body",
        f"{name}WriteFile",
    ):
        assert re.search(edit.matcher, tool), tool
    for tool in ("TodoWrite", "Task", f"{name}read_file", f"{name}search_files"):
        assert not re.search(edit.matcher, tool), tool


@pytest.mark.slow
def test_a_move_is_refused_for_its_source_as_for_its_destination(repo: Path) -> None:
    set_up(repo, None)
    assert invoke("agent-lease a --as worker-1", repo).code == 0
    for ends in (("a", "b"), ("b", "a")):
        given = dict(zip(("source", "destination"), (f"{repo}/{end}" for end in ends), strict=True))
        message = payload(
            "claude-PreToolUse-Write", repo, tool_name=f"{FS}move_file", tool_input=given
        )
        text = str(call("claude", message, repo, {"GHP_AGENT": "worker-9"}).said)
        assert "a is leased by worker-1" in text


@pytest.mark.slow
def test_what_could_not_be_known_is_looked_at_after_the_step(repo: Path) -> None:
    set_up(repo, None)
    other = {"GHP_AGENT": "worker-9"}
    assert invoke("agent-lease a.txt --as worker-1", repo).code == 0
    message = payload("claude-PostToolBatch", repo)
    uses = [{"tool_name": "mcp__x__replace_all", "tool_input": {"text": "1"}, "tool_response": ""}]
    message["tool_calls"] = uses
    call("claude", message, repo, other)
    (repo / "a.txt").write_text("1\n")
    assert "a.txt is leased by worker-1" in str(call("claude", message, repo, other).said)
