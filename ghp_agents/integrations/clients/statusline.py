"""Claude Code's status line: the user's own command, then our segment."""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core import jsonc_edit
from ghp_agents.core.jsonc import parse
from ghp_agents.integrations.clients.hook_entries import hook_command

KEY = "statusLine"
_ENTRY = "claude-statusline"  # the hook that prints our segment
_NAME = "ghp-agents-statusline"
# Arguments: our Python, the user's own command. Their output is printed even if ours fails.
_SCRIPT = """\
in=$(cat)
sh=$(command -v bash || echo sh)
own=$([ -n "$2" ] && printf %s "$in" | "$sh" -c "$2")
ours=$(printf %s "$in" | "$1" -P -m ghp_agents hook claude-statusline 2>/dev/null)
printf %s "$own"
[ -n "$ours" ] && { [ -n "$own" ] && printf '\\033[0m · '; printf %s "$ours"; }
exit 0"""


class ParsedStatusLine(NamedTuple):
    """The parts of our status line."""

    python: str
    own: str  # the user's own command; empty if there is none
    replaced: str = ""  # the text that it replaced in the file; empty if there was none


def ours(value: Any) -> ParsedStatusLine | None:
    """The parts of our `statusLine`; None for any other value."""
    command = value.get("command") if isinstance(value, dict) else None
    if not isinstance(command, str):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if len(words) == 7 and words[3] == _NAME:
        return ParsedStatusLine(*words[4:])
    return ParsedStatusLine(words[0], "") if words[1:] == hook_command("", _ENTRY)[1:] else None


def own_command(value: Any) -> str:
    """The user's own command in a `statusLine`, unwrapped from ours; empty if none."""
    line = ours(value)
    if line is not None:
        return line.own
    command = value.get("command") if isinstance(value, dict) else None
    return command if isinstance(command, str) else ""


def put(text: str, python: str, inherited: Mapping[str, Any] | None) -> str:
    """Wrap the status line in the text with ours, or else the `inherited` one.

    `inherited` comes from a file with lower precedence.
    """
    node = jsonc_edit.at(text, [KEY])
    line = ours(node.value) if node else None
    replaced = line.replaced if line else text[node.start : node.end] if node else ""
    value = wrapped(python, parse(replaced).value if replaced else inherited, replaced)
    if node is None:
        return jsonc_edit.insert(text, [], KEY, value)
    return text if node.value == value else jsonc_edit.replace(text, [KEY], value)


def wrapped(python: str, theirs: Any, replaced: str = "") -> dict[str, Any]:
    """Our `statusLine` around `theirs`; `replaced` is the text that it replaces in its file."""
    own = own_command(theirs)
    command = hook_command(python, _ENTRY)
    if own or replaced:
        command = ["sh", "-c", _SCRIPT, _NAME, python, own, replaced]
    others = theirs if isinstance(theirs, dict) else {}
    kept = {key: value for key, value in others.items() if key not in ("type", "command")}
    return {"type": "command", "command": shlex.join(command), **kept}


def remove_line(text: str) -> str:
    """Restore the text before our status line."""
    node = jsonc_edit.at(text, [KEY])
    line = ours(node.value) if node else None
    if node is None or line is None:
        return text
    if line.replaced:
        return text[: node.start] + line.replaced + text[node.end :]
    return jsonc_edit.remove(text, [KEY])
