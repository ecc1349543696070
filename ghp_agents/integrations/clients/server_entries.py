"""Our tool server in the files of agents' clients: find, add and remove its entry.

A file belongs to its user: every byte outside of our entry stays the same.
"""

import json
import re
import tomllib
from typing import Any, NamedTuple

from ghp_agents.core import jsonc_edit
from ghp_agents.core.errors import GhpError
from ghp_agents.core.jsonc import Node, find, parse
from ghp_agents.integrations.clients.hook_entries import odd

NAME = "ghp"  # of the server
_WORDS = ("-m", "ghp_agents", "agent-mcp")
_OWN = "agent-mcp"  # the last word of our server, also where a person added it
BEGIN = "# ghp-agents: begin; `ghp agent-init --mcp codex --remove` deletes these lines.\n"
END = "# ghp-agents: end\n"
_BLOCK = re.compile(  # an editor may have changed the ends of lines
    rf"(?:\r?\n)?^{re.escape(BEGIN.strip())}\r?\n.*?^{re.escape(END.strip())}\r?\n",
    re.MULTILINE | re.DOTALL,
)
# Codex gives a server only a few variables of its own environment. These name the agent, where
# its state is, and the tokens for the issues.
_VARIABLES = (
    "GHP_AGENT", "GHP_SESSION", "GHP_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "GH_HOST",
    "GH_TOKEN", "GITHUB_TOKEN",
)  # fmt: skip


class ServerFile(NamedTuple):
    """A file in a worktree that names tool servers."""

    path: str
    clients: tuple[str, ...]  # that read it
    key: str = "mcpServers"  # of the object with all servers; empty: the file is TOML


# Read there by Claude Code 2.1, Copilot CLI 1.0, Codex 0.169, Gemini CLI 0.61, Qwen Code 0.15 and
# OpenCode 1.18; for Cursor by its documentation. pi takes none.
FILES = (
    ServerFile(".mcp.json", ("claude", "copilot")),
    ServerFile(".codex/config.toml", ("codex",), ""),
    ServerFile(".gemini/settings.json", ("gemini",)),
    ServerFile(".cursor/mcp.json", ("cursor",)),
    ServerFile(".opencode/opencode.json", ("opencode",), "mcp"),
    ServerFile(".qwen/settings.json", ("qwen",)),
)
CLIENTS = tuple(client for file in FILES for client in file.clients)


def server_command(python: str) -> list[str]:
    """The command that starts the server. `-P`: import nothing from the agent's folder."""
    return [python, "-P", *_WORDS]


def put(text: str | None, file: ServerFile, python: str) -> str:
    """The text of a file with our server; None: a new file. Raises JsonError, GhpError."""
    if not file.key:
        return _put_toml(text or "", python)
    command, *args = server_command(python)
    entry: dict[str, Any] = {"command": command, "args": args}
    if file.key == "mcp":
        entry = {"type": "local", "command": [command, *args], "enabled": True}
    if text is None:
        return jsonc_edit.fresh({file.key: {NAME: entry}})
    servers = _servers(text, file)
    if servers is None:
        return jsonc_edit.insert(text, [], file.key, {NAME: entry})
    existing = servers.value.get(NAME)
    if existing is None:
        return jsonc_edit.insert(text, [file.key], NAME, entry)
    if _python(existing):
        return text if existing == entry else jsonc_edit.replace(text, [file.key, NAME], entry)
    _refuse_another(existing)
    return text


def take(text: str, file: ServerFile) -> str:
    """The text without our server. Raises JsonError, GhpError."""
    if not file.key:
        return without_block(text)
    if python_in(text, file) is None:
        return text
    text = jsonc_edit.remove(text, [file.key, NAME])
    servers = _servers(text, file)
    empty = servers is not None and not servers.items
    return jsonc_edit.remove(text, [file.key]) if empty else text


def python_in(text: str, file: ServerFile) -> str | None:
    """The interpreter that our server in a file runs with; None without it. Raises JsonError,
    GhpError."""
    if not file.key:
        return _python(_toml_server(block_in(text)))
    servers = _servers(text, file)
    return _python(servers.value.get(NAME)) if servers else None


def block_in(text: str) -> str:
    """Our lines in a TOML file; empty without them."""
    match = _BLOCK.search(text)
    return match[0].lstrip("\r\n") if match else ""


def without_block(text: str) -> str:
    """A TOML file without our lines."""
    return _BLOCK.sub("", text)


def _servers(text: str, file: ServerFile) -> Node | None:
    root = parse(text)
    if not isinstance(root.value, dict):
        raise odd("it does not contain an object")
    servers = find(root, file.key)
    if servers is not None and not isinstance(servers.value, dict):
        raise odd(f"`{file.key}` is not an object")
    return servers


def _words(server: Any) -> list[str]:
    if not isinstance(server, dict):
        return []
    parts = [server.get("command"), server.get("args")]
    return [str(x) for part in parts for x in (part if isinstance(part, list) else [part]) if x]


def _python(server: Any) -> str | None:
    words = _words(server)
    return words[0] if tuple(words[-3:]) == _WORDS else None


def _refuse_another(server: Any) -> None:
    if _words(server)[-1:] != [_OWN]:
        raise GhpError(
            f"another tool server is called {NAME}", hint="Rename that one, and try again."
        )


def _put_toml(text: str, python: str) -> str:
    rest = without_block(text)
    existing = _toml_server(rest)
    if existing is not None:
        _refuse_another(existing)
        return rest
    command, *args = server_command(python)
    block = (
        f"{BEGIN}[mcp_servers.{NAME}]\ncommand = {_quoted(command)}\nargs = {_quoted(args)}\n"
        f"env_vars = {_quoted(_VARIABLES)}\n{END}"
    )
    if block_in(text).replace("\r\n", "\n") == block:
        return text
    after = f"{rest}\n{block}" if rest else block
    try:
        tomllib.loads(after)
    except tomllib.TOMLDecodeError:  # only this: the text before could be read
        raise GhpError(
            "`mcp_servers` is an inline table, which takes no more servers",
            hint="Write it as tables, `[mcp_servers.NAME]`, and try again.",
        ) from None
    return after


def _toml_server(text: str) -> Any:
    """The server of our name. Raises GhpError if the text is not TOML."""
    try:
        servers = tomllib.loads(text).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise GhpError(f"it cannot be read as TOML: {error}", hint="Fix that first.") from None
    if not isinstance(servers, dict):
        raise odd("`mcp_servers` is not a table")
    return servers.get(NAME)


def _quoted(value: Any) -> str:
    """A value in TOML; its strings are written as in JSON."""
    return json.dumps(value, ensure_ascii=False)
