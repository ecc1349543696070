"""Our hook entries in the config files of agents' clients: find, add and remove them.

A client's file belongs to its user: every byte outside of our entries stays the same.
"""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ghp_agents.core import jsonc_edit
from ghp_agents.core.errors import GhpError
from ghp_agents.core.jsonc import Node, find, parse
from ghp_agents.integrations.clients.events import CLIENTS, HookSubscription

NAME = "ghp-agents"  # of an entry, if the client's entries have names
# The templates of our plugins, for clients that have no settings file for hooks.
PLUGINS = {"opencode": "opencode-plugin.js.j2", "pi": "pi-extension.ts.j2"}
_WORDS = ("-m", "ghp_agents", "hook")
_MILLISECONDS = ("gemini", "qwen")  # and their handlers have names
_EXEC = ("claude",)  # these run a program without a shell
# Gemini CLI takes any other code than 0 and 1 for a refusal, such as the shell's 127 for a program
# that was moved; Copilot CLI any other code than 0.
_ENDS = {"gemini": " || exit 1", "copilot": " || true"}
_FLAT = ("cursor",)  # these have handlers without groups
# What a new file has beside our hooks. Qwen Code would add its version, and keep a copy beside it.
_SCAFFOLD: dict[str, dict[str, Any]] = {
    "cursor": {"version": 1}, "copilot": {"version": 1}, "qwen": {"$version": 4},
}  # fmt: skip


class ClientConfig(NamedTuple):
    """Where a client keeps its settings."""

    title: str
    folder: str  # if it exists, the client is used
    programs: tuple[str, ...]
    project: str  # below a worktree; a file for this machine only, if the client has one
    user: str  # below the client's own folder
    own: tuple[str, str]  # that folder below the home, and the variable that overrides it


HOMES: dict[str, ClientConfig] = {
    "claude": ClientConfig(
        "Claude Code", ".claude", ("claude",), ".claude/settings.local.json",
        "settings.json", (".claude", "CLAUDE_CONFIG_DIR"),
    ),
    "codex": ClientConfig(
        "Codex", ".codex", ("codex",), ".codex/hooks.json", "hooks.json", (".codex", "CODEX_HOME"),
    ),
    "gemini": ClientConfig(
        "Gemini CLI", ".gemini", ("gemini",), ".gemini/settings.json",
        "settings.json", (".gemini", ""),
    ),
    "cursor": ClientConfig(
        "Cursor", ".cursor", ("cursor-agent", "cursor"), ".cursor/hooks.json",
        "hooks.json", (".cursor", ""),
    ),
    "opencode": ClientConfig(
        "OpenCode", ".opencode", ("opencode",), ".opencode/plugins/ghp-agents.js",
        "plugins/ghp-agents.js", (".config/opencode", "OPENCODE_CONFIG_DIR"),
    ),
    "copilot": ClientConfig(
        "Copilot CLI", ".github/hooks", ("copilot",), ".github/hooks/ghp-agents.json",
        "hooks/ghp-agents.json", (".copilot", "COPILOT_HOME"),
    ),
    "qwen": ClientConfig(
        "Qwen Code", ".qwen", ("qwen",), ".qwen/settings.json",
        "settings.json", (".qwen", "QWEN_HOME"),
    ),
    # Other programs are called `pi`, too, so its folder alone tells that it is used.
    "pi": ClientConfig(
        "pi", ".pi", (), ".pi/extensions/ghp-agents.ts",
        "extensions/ghp-agents.ts", (".pi/agent", "PI_CODING_AGENT_DIR"),
    ),
}  # fmt: skip


class Lists(NamedTuple):
    """The containers in a file that exist without our entries."""

    hooks: bool = False  # the object of all events
    events: frozenset[str] = frozenset()  # the lists in it


NO_LISTS = Lists()


class HookEntry(NamedTuple):
    """One of our entries in a file."""

    event: str
    group: int  # index in the event's list
    handler: int | None  # index in the group's list; None without groups
    python: str  # the interpreter that it calls
    alone: bool  # whether its group has no other handler


def hook_command(python: str, client: str) -> list[str]:
    """The command for a client. `-P`: import nothing from the agent's current folder."""
    return [python, "-P", *_WORDS, client]


def entries(client: str, python: str) -> dict[str, dict[str, Any]]:
    """Our entry for each event."""
    return {
        subscription.event: _entry(client, python, subscription) for subscription in CLIENTS[client]
    }


def document(client: str, python: str) -> dict[str, Any]:
    """The content of a new file."""
    wanted = {event: [entry] for event, entry in entries(client, python).items()}
    return {**_SCAFFOLD.get(client, {}), "hooks": wanted}


def _entry(client: str, python: str, subscription: HookSubscription) -> dict[str, Any]:
    words = hook_command(python, client)
    matcher = {"matcher": subscription.matcher} if subscription.tools else {}
    timeout = subscription.timeout * (1000 if client in _MILLISECONDS else 1)
    if client in _FLAT:
        return {**matcher, "command": shlex.join(words), "timeout": timeout}
    handler: dict[str, Any] = {"name": NAME} if client in _MILLISECONDS else {}
    handler["type"] = "command"
    if client in _EXEC:
        handler |= {"command": words[0], "args": words[1:]}
    else:
        handler["command"] = shlex.join(words) + _ENDS.get(client, "")
    return {**matcher, "hooks": [{**handler, "timeout": timeout}]}


def called(handler: Any) -> str | None:
    """The interpreter that our handler calls; None if the handler is not ours."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return None
    args = handler.get("args")
    try:
        words = (
            [handler["command"], *map(str, args)]
            if isinstance(args, list)
            else shlex.split(handler["command"])
        )
    except ValueError:  # unclosed quotes
        return None
    starts = range(1, len(words) - len(_WORDS) + 1)
    ours = any(tuple(words[n : n + len(_WORDS)]) == _WORDS for n in starts)
    return words[0] if ours else None


def places(text: str) -> list[HookEntry]:
    """Our entries in a file, in order. Raises JsonError, or GhpError for an unexpected shape."""
    return list(_places(parse(text)))


def first_command(text: str) -> tuple[str, list[str] | None]:
    """The command of our first entry, and its arguments; None if a shell runs the command. Raises
    GhpError without one."""
    place = next(iter(places(text)), None)
    handler = _value_at(text, place) if place else None
    if place and place.handler is not None and isinstance(handler, dict):
        handler = handler["hooks"][place.handler]
    if not isinstance(handler, dict):
        raise odd("it has no hooks of ghp-agents")
    args = handler.get("args")
    return handler["command"], [*map(str, args)] if isinstance(args, list) else None


def _places(root: Node) -> Iterator[HookEntry]:
    for event, groups in _events(root).items():
        for number, group in enumerate(groups):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(handlers, list):
                python = called(group)
                if python:
                    yield HookEntry(event, number, None, python, alone=True)
                continue
            pythons = [called(handler) for handler in handlers]
            alone = all(pythons)
            for index, python in enumerate(pythons):
                if python:
                    yield HookEntry(event, number, index, python, alone)


def _events(root: Node) -> Mapping[str, list[Any]]:
    """The lists by event. Raises GhpError for an unexpected shape."""
    if not isinstance(root.value, dict):
        raise odd("it does not contain an object")
    hooks = find(root, "hooks")
    if hooks is None:
        return {}
    if not isinstance(hooks.value, dict):
        raise odd("`hooks` is not an object")
    for event, groups in hooks.value.items():
        if not isinstance(groups, list):
            raise odd(f"`hooks.{event}` is not a list")
    return hooks.value


def odd(reason: str) -> GhpError:
    """The error for a file of an unexpected shape."""
    return GhpError(reason, hint="Fix it as the client's documentation says, and try again.")


def lists(text: str) -> Lists:
    """The containers in a file that hold none of our entries. Raises like `places`."""
    root = parse(text)
    mixed = {place.event for place in _places(root)}
    events = frozenset(_events(root)) - mixed
    return Lists(find(root, "hooks") is not None and not mixed, events)


def is_void(text: str, client: str) -> bool:
    """Whether a file holds nothing but the scaffold of a new one; the client may change that."""
    value = parse(text).value
    return isinstance(value, dict) and value.keys() <= _SCAFFOLD.get(client, {}).keys()


def put(text: str, client: str, python: str, theirs: Lists = NO_LISTS) -> str:
    """Add our entry for each event; replace entries of other versions."""
    wanted = entries(client, python)
    text = _without_strays(text, wanted, theirs)
    present = {place.event: place for place in places(text)}
    for event, entry in wanted.items():
        place = present.get(event)
        if place is None:
            text = add(text, event, entry)
        elif _value_at(text, place) != entry:
            text = jsonc_edit.replace(text, ["hooks", event, place.group], entry)
    return text


def _value_at(text: str, place: HookEntry) -> Any:
    node = jsonc_edit.at(text, ["hooks", place.event, place.group])
    return node.value if node else None


def _without_strays(text: str, wanted: Mapping[str, Any], theirs: Lists) -> str:
    """Keep only our first entry for each wanted event, and only if it is alone in its group."""
    stays_empty = Lists(True, theirs.events | wanted.keys())
    kept: set[str] = set()
    strays: list[HookEntry] = []
    for place in places(text):
        stays = place.event in wanted and place.alone and place.event not in kept
        if stays:
            kept.add(place.event)
        else:
            strays.append(place)
    return _take(text, strays, stays_empty)


def add(text: str, event: str, entry: Any) -> str:
    """Add an entry for an event."""
    if jsonc_edit.at(text, ["hooks"]) is None:
        return jsonc_edit.insert(text, [], "hooks", {event: [entry]})
    if jsonc_edit.at(text, ["hooks", event]) is None:
        return jsonc_edit.insert(text, ["hooks"], event, [entry])
    return jsonc_edit.insert(text, ["hooks", event], None, entry)


def remove_entries(text: str, theirs: Lists = NO_LISTS) -> str:
    """Remove our entries, and the containers that are then empty unless they are `theirs`."""
    return _take(text, places(text), theirs)


def _take(text: str, ours: list[HookEntry], theirs: Lists) -> str:
    for place in reversed(ours):  # in reverse, so that earlier indexes stay valid
        keys: list[str | int] = ["hooks", place.event, place.group]
        if place.handler is not None and not _is_last_handler(text, keys):
            keys += ["hooks", place.handler]
        text = jsonc_edit.remove(text, keys)
        if place.event not in theirs.events and _is_empty(text, keys[:2]):
            text = jsonc_edit.remove(text, keys[:2])
    if ours and not theirs.hooks and _is_empty(text, ["hooks"]):
        text = jsonc_edit.remove(text, ["hooks"])
    return text


def _is_last_handler(text: str, keys: list[str | int]) -> bool:
    node = jsonc_edit.at(text, [*keys, "hooks"])
    return node is not None and len(node.items) == 1


def _is_empty(text: str, keys: list[str | int]) -> bool:
    node = jsonc_edit.at(text, keys)
    return node is not None and not node.items
