"""A short public description of what an agent did.

Presence is pushed, so a shell command is reduced to what cannot be secret: the program, and its
subcommand if the program is known to have them.
"""

import os

from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, ToolUse
from ghp_agents.hooks.paths import resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ORDER = (EDITED, RAN, USED, READ, SEARCHED)  # the most informative first
# Programs whose first argument is a subcommand, which cannot be secret.
VERBS = (
    "apt brew bun bundle cargo cmake conda deno docker dotnet flutter gh ghp ghp-agents git go "
    "gradle helm hatch just kubectl make mix mvn ninja nox npm npx nx pip pip3 pixi pnpm poetry "
    "podman rake ruff swift task terraform tox uv uvx yarn"
)
PREFIXES = ("cd", "command", "exec", "nice", "sudo", "time", "timeout")
WORD = "abcdefghijklmnopqrstuvwxyz0123456789-_.:"
WORD_LIMIT = 32


def action(tool_uses: "Sequence[ToolUse]", cwd: str | None, top: str | None) -> str:
    """Describe the most informative of `tool_uses`; empty if there is none."""
    for verb in ORDER:
        same = [use for use in tool_uses if use.verb == verb]
        text = _describe(verb, same, cwd, top) if same else ""
        if text:
            return text
    return ""


def _describe(verb: str, tool_uses: "Sequence[ToolUse]", cwd: str | None, top: str | None) -> str:
    if verb == SEARCHED:
        return "Searched"
    if verb in (EDITED, READ):
        paths = [_relative_path(path, cwd, top) for use in tool_uses for path in use.what]
        named = list(dict.fromkeys(path for path in paths if path))
        rest = f" and {len(named) - 1} more" if len(named) > 1 else ""
        return f"{verb.capitalize()} {named[-1]}{rest}" if named else ""
    what = tool_uses[-1].what[0] if tool_uses[-1].what else ""
    detail = command(what) if verb == RAN else _tool_label(what)
    return f"{verb.capitalize()} {detail}" if detail else ""


def _relative_path(path: str, cwd: str | None, top: str | None) -> str:
    """The path relative to the worktree; empty outside, where paths may identify a person."""
    real = resolved(path, cwd) if path and top else None
    if real is None or top is None:
        return ""
    inner = os.path.relpath(real, os.path.realpath(top))
    return "" if inner == ".." or inner.startswith("../") else inner


def _tool_label(name: str) -> str:
    """A tool's name; for an MCP tool `server tool`."""
    label = " ".join(part for part in name.removeprefix("mcp__").split("__") if part)
    return label[:80] if all(char.isalnum() or char in " _-." for char in label) else ""


def command(line: str) -> str:
    """The public part of a shell command: of several on its first line, the last one whose program
    is known, as `git add -A && git commit -m x && ghp agent-finish` finishes. Behind an open quote
    begins data."""
    parts = line[:4_096].replace("||", "&&").replace(";", "&&").replace("\n", "&&\n").split("&&")
    chosen: list[str] = []
    for part in parts:
        words = _words(part)
        if chosen and ("\n" in part or not words or words[0] not in VERBS.split()):
            words = []
        chosen = words or chosen
        if part.count("'") % 2 or part.count('"') % 2 or "<<" in part:
            break
    return " ".join(chosen)


def _words(part: str) -> "list[str]":
    """The program and its subcommand, without assignments, folders and possible data."""
    words = part.strip(" \t(){}").split()
    while words and ("=" in words[0] or words[0] in PREFIXES):
        if words[0] == "cd":
            return []
        prefix = words.pop(0)
        while prefix == "timeout" and words and words[0][:1].isdigit():
            words.pop(0)
    if not words:
        return []
    program = os.path.basename(words[0].strip("\"'"))
    if not _is_word(program.lower()):
        return []
    verb = words[1] if len(words) > 1 else ""
    if program in ("python", "python3") and words[1:2] == ["-m"] and len(words) > 2:
        return [program, "-m", words[2]] if _is_word(words[2]) else [program]
    return [program, verb] if f" {program} " in f" {VERBS} " and _is_word(verb) else [program]


def _is_word(text: str) -> bool:
    return 0 < len(text) <= WORD_LIMIT and not text.strip(WORD) and text[0] not in "-."
