"""Codex: parses its events, and renders replies in its schema, which allows no other keys."""

import os

from ghp_agents.hooks.event import (
    Client,
    Event,
    Reply,
    ToolEdit,
    hook_output,
    patched,
    text,
    to_go_on,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ghp_agents.hooks.messages import DecisionReply, HookReply

PATCH = "apply_patch"
SHELLS = ("Bash", "shell", "exec_command", "local_shell")


def _patched(tool: str, given: "Any") -> "list[str] | None":
    """The files of a patch that is given to the tool, or to `apply_patch` in the shell."""
    command = text(given, "command")
    if tool == PATCH:
        return patched(command) or None
    if tool not in SHELLS or PATCH not in command or "*** Begin Patch" not in command:
        return None
    folder, rest = _folder(command)
    return [os.path.join(folder, path) for path in patched(rest)] or None


def _edit(tool: str, given: "Any") -> ToolEdit:
    """The patch, and the folder that the shell changes to before."""
    folder, rest = _folder(text(given, "command")) if tool != PATCH else ("", "")
    return ToolEdit(PATCH, {"command": rest} if rest else given, folder)


def _folder(command: str) -> "tuple[str, str]":
    """The folder of `cd FOLDER && …`, and the rest of the command."""
    before, _, rest = command.partition("&&")
    words = before.split(None, 1)
    folder = words[1].strip().strip("\"'") if words[:1] == ["cd"] and len(words) == 2 else ""
    return folder, rest if folder else command


CLIENT = Client(
    "codex",
    ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact",
     "SessionEnd"),
    hears=("start", "prompt", "batch", "stop"),
    paths=("file_path", "path"),
    runs=SHELLS,
    reads=("view_image",),
    commands=("command", "cmd"),
    edited=_patched,
    edit=_edit,
)  # fmt: skip


parse = CLIENT.parse


def render(event: Event, reply: Reply) -> "HookReply | DecisionReply":
    """The reply to Codex; empty if there is nothing to say. At the end of a turn no context is
    possible, but a reason to continue."""
    return to_go_on(event, reply) or ({} if event.kind == "stop" else hook_output(event, reply))
