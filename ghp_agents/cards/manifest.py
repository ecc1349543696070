"""What an agent may do: the tools, and for each the paths, commands or hosts.

A manifest forbids what it does not name. Reading the repository, `ghp` and git's everyday commands
are part of every run: without them no work could be finished.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line

READ, WRITE, RUN, NETWORK = "read_file", "write_file", "bash", "network"
NAMES = {  # as people write them
    READ: READ, "read": READ, WRITE: WRITE, "write": WRITE, "edit": WRITE, "edit_file": WRITE,
    RUN: RUN, "shell": RUN, "run": RUN, "run_command": RUN, NETWORK: NETWORK, "web": NETWORK,
    "fetch": NETWORK, "web_fetch": NETWORK,
}  # fmt: skip
MOST = 50  # permissions, and entries of a scope
ALL = "*"
_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_*-]{0,99}")  # a client's own, such as mcp__github__*
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\*")
_COMMAND = re.compile(r"[\w./@:+=,-]+( [\w./@:+=,-]+){0,9}|\*", re.ASCII)
# Clients separate and expand rules by brackets, commas, colons, quotes, `$` and outer blanks. They
# differ in how a rule may contain these, so no pattern has them.
_PLAIN = re.compile(r"[\w./*?@+=\[\]{}-]([\w./*?@+=\[\]{} -]*[\w./*?@+=\[\]{}-])?")


class Permission(NamedTuple):
    """A tool that an agent may use; an empty scope means on everything."""

    tool: str  # one of the four above, or a client's own name of a tool
    scope: tuple[str, ...] = ()


def parse(value: object) -> tuple[Permission, ...]:
    """The permissions in a card. Raises ValueError, which says what is wrong with them."""
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError(f"are not a list of at most {MOST} tools")
    return tuple(_permission(item) for item in value)


def _permission(value: object) -> Permission:
    fields: Mapping[Any, Any] = value if isinstance(value, dict) else {}
    written = fields.get("tool")
    if not isinstance(written, str) or not _TOOL.fullmatch(written):
        raise ValueError("have an entry without `tool: NAME`")
    strange = next((key for key in fields if key not in ("tool", "scope")), None)
    if strange is not None:
        raise ValueError(f"have the unknown field {one_line(str(strange), 40)!r} for {written}")
    tool = NAMES.get(written, written)
    scope = fields.get("scope")
    items = [scope] if isinstance(scope, str) else scope if scope is not None else []
    if not isinstance(items, list) or len(items) > MOST or not all(map(_is_text, items)):
        raise ValueError(f"have a scope for {written} that is not a list of texts")
    if scope is not None and not items:
        raise ValueError(f"have an empty scope for {written}; leave the tool out to forbid it")
    return Permission(tool, tuple(_checked(tool, item) for item in items))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()


def _checked(tool: str, text: str) -> str:
    if tool in (READ, WRITE):
        return _pattern(text)
    if tool == RUN:
        command = text.removesuffix(":*").removesuffix(" *").strip() or ALL
        if not _COMMAND.fullmatch(command):
            raise ValueError(f"have {one_line(text, 40)!r}, which is not one plain command")
        return command
    if tool == NETWORK:
        if not _HOST.fullmatch(text):
            raise ValueError(f"have {one_line(text, 40)!r}, which is not the name of a host")
        return text.lower()
    raise ValueError(f"have a scope for {tool}, which can only be allowed as a whole")


def _pattern(text: str) -> str:
    """A pattern of paths below the top of the worktree."""
    if text.startswith(("/", "!", "~")) or ".." in text.split("/") or "\\" in text:
        raise ValueError(f"have {one_line(text, 40)!r}, which is not a pattern of paths in it")
    if not _PLAIN.fullmatch(text):
        raise ValueError(
            f"have {one_line(text, 40)!r}; a pattern has letters, digits, blanks inside and"
            " ./*?@+=[]{}_- only. Write `?` for another character"
        )
    try:
        globs.rule(text, fold=False)
    except UsageError:
        raise ValueError(f"have {one_line(text, 40)!r}, which is not a pattern of paths") from None
    return text


def decode(rows: Sequence[Sequence[Any]]) -> tuple[Permission, ...]:
    """Permissions from the plain values of a cache."""
    return tuple(Permission(tool, tuple(scope)) for tool, scope in rows)


def grants(permission: Permission) -> bool:
    """Whether it gives what an agent has only with a person's consent."""
    return permission.tool not in (READ, WRITE)


def scope_of(permissions: Sequence[Permission], tool: str) -> tuple[str, ...] | None:
    """All that a tool may be used on: empty for everything, None if it may not be used."""
    matching = [permission for permission in permissions if permission.tool == tool]
    if not matching:
        return None
    if any(not grant.scope for grant in matching):
        return ()
    return tuple(dict.fromkeys(item for grant in matching for item in grant.scope))
