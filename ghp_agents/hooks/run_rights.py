"""Before each tool of a run that has a manifest: may it be used so? Refusals are kept in the run's
folder, where `agent-logs` finds them."""

import os

from ghp_agents.cards import permissions
from ghp_agents.cards.permissions import FETCH, SEARCH, Rights
from ghp_agents.hooks import patch_edit
from ghp_agents.hooks.event import EDITED, READ, SEARCHED, Event, Reply, first, patched, text
from ghp_agents.hotpath.quoting import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

PATHS = ("file_path", "path", "filePath", "absolute_path", "notebook_path")  # of tools' arguments
FOLDERS = ("dir_path", "workdir", "directory")
SHOWN = 200  # characters of what was refused
ASK = "Ask a person if the work needs it: `ghp agent-escalate QUESTION`, then end your turn."
GO_ON = "Do the work without it, and say in the pull request what you could not do."


def refusal(
    protocol: "Any", payload: "Mapping[str, Any]", environ: "Mapping[str, str]"
) -> "tuple[Event, Reply] | None":
    """The refusal of the tool in a message, with an event that it can be rendered for; None if the
    message is about no tool that is about to be used, or the tool is allowed."""
    client = getattr(protocol, "CLIENT", None)
    name = text(payload, "hook_event_name")
    tool = text(payload, "tool_name")
    if client is None or client.kinds.get(name) != "edit" or not tool:
        return None
    path = environ[permissions.RIGHTS]
    try:
        rights = permissions.load(path)
        what, why = _judged(client, tool, payload, rights)
        card, asks = rights.card, rights.asks
    except ValueError as error:
        what, why, card, asks = tool, str(error), "its card", True
    if not why:
        return None
    about = clean(" ".join(what.split()))[:SHOWN]
    _keep(os.path.dirname(path), f"{tool}: {about}: {why}")
    event = Event(client.name, "edit", name, None, None)
    deny = f"{clean(tool)[:80]} was refused: {why}. {card} on main says what this agent may do."
    return event, Reply(deny=f"{deny}\nNext: {ASK if asks else GO_ON}")


def _judged(
    client: "Any", tool: str, payload: "Mapping[str, Any]", rights: Rights
) -> "tuple[str, str]":
    """What the tool is used on, and why it may not; an empty reason allows it."""
    given = payload.get("tool_input")
    cwd = text(payload, "cwd") or rights.top
    use = client.tool_use(tool, given)
    lines = client.lines(tool, given)
    if lines is not None:
        folder = _at(cwd, first(given, FOLDERS))
        for line in lines:
            given_patch = patch_edit.from_shell(line) if use.verb == EDITED else None
            if given_patch:
                what, why = _judged_patch(*given_patch, folder, rights)
            else:
                what, why = line, rights.running(line, folder)
            if why:
                return what, why
        return tool, "" if lines else "it names no command"
    if use.verb == EDITED:
        paths = [*use.what, *_named(given, PATHS)]
        return _first(paths, cwd, rights.writing) if paths else ("", "it names no file")
    if use.verb in (READ, SEARCHED):
        if use.verb == SEARCHED and rights.read:  # it shows what is in files of any name
            return tool, "it may read some files only, so it cannot search"
        keys = (*PATHS, *FOLDERS, "pattern") if tool.lower() == "glob" else (*PATHS, *FOLDERS)
        return _first([*use.what, *_named(given, keys)] or [""], cwd, rights.reading)
    if tool in FETCH:
        url = first(given, ("url",)) or text(given, "prompt")
        return url, rights.reaching(url)
    if tool in SEARCH:
        return tool, "" if rights.network == [] else rights.reaching("*")
    if tool.startswith(permissions.OURS) and isinstance(given, dict):
        shown = given.get("excerpts")  # "src/a.py#L1-20"
        places = [str(place).partition("#")[0] for place in shown] if shown else []
        what, why = _first(places, cwd, rights.reading) if places else ("", "")
        if why:
            return what, why
    return tool, rights.using(tool)


def _judged_patch(place: str, patch: str, folder: str, rights: Rights) -> "tuple[str, str]":
    """The files of a patch that a shell line applies in `place`."""
    paths = patched(patch)
    at = _at(folder, place) if place else folder
    return _first(paths, at, rights.writing) if paths else (place, "its patch names no file")


def _named(given: "Any", keys: "Sequence[str]") -> "list[str]":
    """All that a tool's arguments name: each client reads a key of its own."""
    return [name for key in keys if (name := text(given, key))]


def _at(cwd: str, path: str) -> str:
    return os.path.join(cwd, os.path.expanduser(path))


def _first(paths: "Sequence[str]", cwd: str, judge: "Callable[[str], str]") -> "tuple[str, str]":
    """The first path that is refused, and why."""
    for path in paths:
        why = "its name has a zero byte" if "\0" in path else judge(_at(cwd, path))
        if why:
            return path, why
    return paths[0], ""


def _keep(folder: str, line: str) -> None:
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(f"{folder}/{permissions.REFUSED}", flags, 0o600)
        try:
            if os.fstat(file).st_size < permissions.REFUSED_LIMIT:
                os.write(file, f"{line}\n".encode("utf-8", "replace"))
        finally:
            os.close(file)
    except OSError:
        return  # it is refused all the same
