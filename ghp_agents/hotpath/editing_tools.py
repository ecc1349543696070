"""Edits by tools that are not the client's own: those of MCP servers that change local files.

Their arguments are not known, so each argument that names a file counts, at any depth: a move has
two, a patch of many files has many. Tools of remote services are left out: they name whose
repository it is. What stays unknown here is looked at after the step.
"""

import os

from ghp_agents.hotpath.locate import walk_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# Parts of such names; clients' hooks are installed for these (`integrations/clients/events.py`).
VERBS = (
    "append", "apply", "copy", "create", "delete", "edit", "insert", "modify", "move", "patch",
    "remove", "rename", "replace", "save", "update", "write",
)  # fmt: skip
READS = ("find", "get", "list", "read", "search", "view")  # first words of tools that change none
UNMARKED = ("opencode", "pi")  # clients whose names of such tools are `server_tool`
FILES = ("path", "file", "uri", "source", "destination", "src", "dst", "dest", "target")
ROOTS = ("projectpath", "project_path", "project_root", "root", "cwd", "workdir")
REMOTE = ("owner", "repo", "repository", "project_id", "workspace_slug", "bucket")
LONGEST = 4_096  # characters of a path
DEPTH, VALUES = 6, 10_000  # of the arguments


def may_edit(client: str, tool: str) -> bool:
    """Whether a tool is of an MCP server and changes files, by its name."""
    is_foreign = "_" in tool if client in UNMARKED else tool.startswith(("mcp_", "MCP:"))
    name = tool.rpartition("__")[2].rpartition(":")[2].lower()
    return is_foreign and not name.startswith(READS) and any(verb in name for verb in VERBS)


def paths(client: str, tool: str, arguments: "Any", cwd: str | None) -> "list[str]":
    """The files that a tool is about to change, absolute or relative to `cwd`."""
    if not may_edit(client, tool) or not isinstance(arguments, dict):
        return []
    if any(key.lower() in REMOTE for key in arguments if isinstance(key, str)):
        return []
    root = _root(arguments, cwd)
    named = (_placed(path, root, cwd) for path in _named(arguments))
    return list(dict.fromkeys(named))


def _named(arguments: "Mapping[str, Any]") -> "Iterator[str]":
    """The values of all keys that may name a file."""
    stack: list[tuple[str, Any, int]] = [("", arguments, 0)]
    count = 0
    while stack and count < VALUES:
        key, value, depth = stack.pop()
        count += 1
        if isinstance(value, str):
            if _is_path(key, value):
                yield value
        elif isinstance(value, dict) and depth < DEPTH:
            stack += [(str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list) and depth < DEPTH:
            stack += [(key, inner, depth + 1) for inner in value]


def _is_path(key: str, value: str) -> bool:
    name = key.lower()
    if name in ROOTS or not any(part in name for part in FILES):
        return False
    return 0 < len(value) <= LONGEST and "\n" not in value


def _root(arguments: "Mapping[Any, Any]", cwd: str | None) -> str | None:
    """The folder of the server's project, which relative paths may start from."""
    for key, value in arguments.items():
        is_root = isinstance(key, str) and key.lower() in ROOTS and isinstance(value, str)
        if is_root and os.path.isabs(value) and "\0" not in value:
            return str(value)
    place = walk_up(cwd) if cwd and os.path.isabs(cwd) and "\0" not in cwd else None
    return place.toplevel if place else None


def _placed(path: str, root: str | None, cwd: str | None) -> str:
    """A relative path from the project's folder, unless it exists from the session's."""
    if os.path.isabs(path) or path.startswith("~") or "://" in path or not root or "\0" in path:
        return path
    try:
        is_here = cwd is not None and os.path.lexists(os.path.join(cwd, path))
    except ValueError:
        return path
    return path if is_here else os.path.join(root, path)
