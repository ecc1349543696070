"""Qwen Code: parses its events; replies are in Claude Code's schema.

Its SessionStart is not used: nothing said there reaches the model, and `qwen -p` has none. A
session begins with its first prompt.
"""

from ghp_agents.hooks.event import Client, Event, hook_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = Client(
    "qwen",
    ("", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact",
     "SessionEnd", "", "StopFailure"),
    # The first end of a turn looks like one that a hook has extended, so news waits.
    hears=("prompt", "batch"),
    paths=("file_path",),
    edits=("edit", "write_file"),
    runs=("run_shell_command",),
    reads=("read_file",),
    searches=("glob", "grep_search", "list_directory"),
)  # fmt: skip


def parse(payload: "Mapping[str, Any]") -> Event | None:
    """The event in a message of Qwen Code; None if we do not handle it."""
    event = CLIENT.parse(payload)
    if event and event.kind == "batch":  # maybe of a sub-agent: nothing tells
        event.takes_news = False
    elif event and event.kind == "prompt" and payload.get("prompt") == "":
        event.kind = "batch"  # a request of the agent itself, after its tools
    return event


render = hook_output
