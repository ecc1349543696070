"""Hooks in agents' clients: the steps to install them in config files, or to remove them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ghp_agents.core import jsonc_edit, user_file
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.jsonc import MARK, JsonError, parse
from ghp_agents.core.templates import render
from ghp_agents.git import exclude
from ghp_agents.hotpath.calling_client import VERBS
from ghp_agents.integrations.clients import hook_entries, original_state, server_entries, statusline
from ghp_agents.integrations.clients.config_files import (
    ConfigFile,
    claude_settings,
    line,
    setting,
    with_name,
)
from ghp_agents.integrations.clients.events import CLIENTS
from ghp_agents.integrations.clients.hook_entries import HOMES, PLUGINS
from ghp_agents.integrations.clients.original_state import Origin
from ghp_agents.state.admin_port import Step

CLAUDE = "claude"
OURS = b"ghp_agents"  # part of all our commands
PLUGIN_MARK = "// ghp-agents: "


def to_put(
    targets: Sequence[ConfigFile], python: str, environ: Mapping[str, str], common_dir: Path | None
) -> list[Step]:
    """Steps to install missing hooks. Raises GhpError for an unreadable file, before any write."""
    steps: list[Step] = []
    for client in dict.fromkeys(target.client for target in targets):
        places = [_Place(target) for target in targets if target.client == client]
        hiding = common_dir if common_dir and not any(place.is_users for place in places) else None
        if common_dir and not hiding and _is_line_ours(common_dir, client):
            steps.append(_unhide(common_dir, client, forget=False))
        for place in places:
            steps += _to_put(place, python, environ, hiding)
    return steps


class _Place:
    """A target file and its present state."""

    def __init__(self, target: ConfigFile) -> None:
        refuse_elsewhere(target)
        self.target = target
        self.before = user_file.read_text(target.path)
        self.has_ours = self.before is not None and OURS.decode() in self.before
        self.known = original_state.read(target.memory)

    @property
    def is_created(self) -> bool:
        """Whether we created the file, or will."""
        if self.before is None or self.target.client in PLUGINS:
            return True
        return self.has_ours and self.known is not None and self.known.created

    @property
    def is_users(self) -> bool:
        """Whether the file is the user's own and visible to git."""
        target = self.target
        if self.is_created or target.is_tracked:
            return False
        return not target.is_hidden or target.is_hidden_by_line

    def origin(self) -> Origin:
        """The file's state before our hooks."""
        if self.before is None or self.target.client in PLUGINS:
            return self.known if self.before is not None and self.known else Origin(created=True)
        now = hook_entries.lists(self.before)
        if not self.has_ours or self.known is None:
            return Origin(created=False, theirs=now)
        previous = self.known.theirs
        theirs = hook_entries.Lists(previous.hooks or now.hooks, previous.events | now.events)
        return self.known._replace(theirs=theirs)


def _to_put(
    place: _Place, python: str, environ: Mapping[str, str], hiding: Path | None
) -> Iterator[Step]:
    target = place.target
    with with_name(target):
        origin = place.origin()
    after = _with_guards(target, place.before, python, environ, origin)
    if after == place.before:
        return
    hide = hiding if place.before is None and not target.is_tracked else None
    what = f"hooks for {HOMES[target.client].title} into {target.shown}"
    yield Step("put", "Put", what, partial(_write, place, after, origin, hide))


def refuse_elsewhere(
    target: ConfigFile, instead: str = "or use `--user` to install the hooks in your home folder"
) -> None:
    """Refuse tracked links out of the worktree: their author may be a stranger."""
    if target.leads_away:
        raise RefusedError(
            f"{target.path} is a link in the repository to {target.path.resolve()}, outside "
            "the worktree.",
            hint=f"Check that link, {instead}.",
        )


def _with_guards(
    target: ConfigFile,
    before: str | None,
    python: str,
    environ: Mapping[str, str],
    origin: Origin,
) -> str:
    client = target.client
    if client in PLUGINS:
        return _plugin(target, before, python)
    with with_name(target):
        if before is None:
            text = jsonc_edit.fresh(hook_entries.document(client, python))
        else:
            refuse_unreadable(before, client)
            text = hook_entries.put(before, client, python, origin.theirs)
        if client == CLAUDE:
            text = statusline.put(text, python, inherited_line(target, environ))
    return text


def refuse_unreadable(text: str, client: str) -> None:
    """Refuse JSON that the client cannot read: Claude Code 2.1.329 ignores a file with comments or
    trailing commas, so none of its hooks would run. Raises JsonError."""
    if client != CLAUDE:
        return
    try:
        json.loads(text.removeprefix(MARK))
    except json.JSONDecodeError as error:
        parse(text)  # raises its own error for text that is not JSON
        reason = "Claude Code ignores a file with comments or trailing commas"
        raise JsonError(reason, error.lineno) from None


def ignored_line(target: ConfigFile) -> int:
    """The line for which the client ignores the file; 0 if it reads it."""
    try:
        refuse_unreadable(user_file.read_text(target.path) or "{}", target.client)
    except JsonError as error:
        return error.line
    return 0


def is_current(target: ConfigFile, python: str) -> bool:
    """Whether the hooks in a file are those of this version."""
    text = user_file.read_text(target.path)
    if text is None or target.client in PLUGINS:
        return text == plugin(target.client, python)
    with with_name(target):
        return hook_entries.put(text, target.client, python) == text


def _write(place: _Place, after: str, origin: Origin, hide: Path | None) -> None:
    """Write the file; save its original state and hide it from git first."""
    target = place.target
    if hide is not None:
        is_ours = _is_line_ours(hide, target.client) or not exclude.has(hide, target.line)
        origin = origin._replace(hidden=is_ours)
    original_state.write(target.memory, origin)
    if hide is not None:
        exclude.add(hide, target.line)
    old = None if place.before is None else place.before.encode()
    user_file.rewrite(target.path, old, after.encode())


def _is_line_ours(common_dir: Path, client: str) -> bool:
    """Whether the line that hides a client's files is there and was added by us."""
    return original_state.is_line_ours(common_dir, client) and exclude.has(common_dir, line(client))


def inherited_line(target: ConfigFile, environ: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The status line that the target inherits: the project's, else the user's; ours unwrapped."""
    paths = claude_settings([target.top], environ)
    for path in paths[paths.index(target.path) + 1 :]:
        value = setting(path, statusline.KEY)
        if isinstance(value, dict):
            own = statusline.own_command(value)
            return {**value, "command": own} if own else None
    return None


def to_take(targets: Sequence[ConfigFile], common_dir: Path | None) -> list[Step]:
    """Steps to remove our hooks from these files. Raises GhpError for an unreadable file."""
    steps = [step for target in targets for step in _to_take(target)]
    clients = {target.client for target in targets}
    if common_dir is not None:
        # Hooks are there without saved state: then the exclude line may be ours, too.
        lost = [target for target in targets if original_state.read(target.memory) is None]
        unknown = {target.client for target in lost if python_in(target) is not None}
        shared = {target.client for target in targets if _has_server(target)}
        for client in sorted(clients - shared, key=line):
            is_lost = client in unknown and exclude.has(common_dir, line(client))
            if is_lost or _is_line_ours(common_dir, client):
                steps.append(_unhide(common_dir, client, forget=True))
    return steps


def _has_server(target: ConfigFile) -> bool:
    """Whether a file also holds our tool server: then it stays hidden, and its state known."""
    files = [file for file in server_entries.FILES if target.path == target.top / file.path]
    text = of_ours(target.path) if files else None
    with with_name(target):
        return text is not None and server_entries.python_in(text, files[0]) is not None


def _to_take(target: ConfigFile) -> Iterator[Step]:
    before = of_ours(target.path)
    if before is None:
        return
    origin = original_state.read(target.memory) or Origin(created=False)
    after = _without_guards(target, before, origin)
    if after == before:
        return
    is_ours = origin.created and not target.is_tracked
    if after is not None and is_ours and hook_entries.is_void(after, target.client):
        after = None
    place = f": {target.shown}" if after is None else f" from {target.shown}"
    what = f"the hooks of {HOMES[target.client].title}{place}"
    yield Step("remove", "Removed", what, partial(_take, target, before, after))


def _take(target: ConfigFile, before: str, after: str | None) -> None:
    if after is None:
        user_file.delete(target.path, target.top)
    else:
        user_file.rewrite(target.path, before.encode(), after.encode())
    kept = original_state.read(target.memory)
    # A hidden file's state is dropped with its line, that of a shared one with our tool server.
    if kept is not None and not kept.hidden and not _has_server(target):
        original_state.forget(target.memory)


def of_ours(path: Path) -> str | None:
    """The text of a file with our hooks; other files may be unreadable."""
    content = user_file.read(path)
    return user_file.read_text(path) if content and OURS in content else None


def python_in(target: ConfigFile) -> str | None:
    """The interpreter that our hooks in a file call; None without hooks."""
    try:
        text = of_ours(target.path)
        if text is None:
            return None
        if target.client in PLUGINS:
            return python_of_plugin(text)
        return next((place.python for place in hook_entries.places(text)), None)
    except GhpError:
        return None  # the client cannot read the file either, so no hooks run


def _unhide(common_dir: Path, client: str, *, forget: bool) -> Step:
    what = f"the line {line(client)} from .git/info/exclude"
    return Step(
        "remove", "Removed", what, partial(_remove_exclude_line, common_dir, client, forget=forget)
    )


def _remove_exclude_line(common_dir: Path, client: str, *, forget: bool) -> None:
    exclude.remove(common_dir, line(client))
    for path in original_state.all_of(common_dir, client):
        origin = original_state.read(path)
        if forget or origin is None:
            original_state.forget(path)
        else:
            original_state.write(path, origin._replace(hidden=False))


def _without_guards(target: ConfigFile, before: str, origin: Origin) -> str | None:
    """The text without our hooks; None if the whole file is ours."""
    if target.client in PLUGINS:
        return None if is_our_plugin(before) else before
    with with_name(target):
        # Remove in reverse order of installation.
        text = statusline.remove_line(before) if target.client == CLAUDE else before
        return hook_entries.remove_entries(text, origin.theirs)


def is_our_plugin(text: str) -> bool:
    """Whether the file is our plugin."""
    return text.startswith(PLUGIN_MARK)


def _plugin(target: ConfigFile, before: str | None, python: str) -> str:
    if before is not None and not is_our_plugin(before):
        raise GhpError(
            f"{target.path} is not from ghp-agents; it was not changed.",
            hint="Rename that file, and run the command again.",
        )
    return plugin(target.client, python)


def python_of_plugin(text: str) -> str | None:
    """The interpreter that the plugin calls."""
    match = re.search(r"^const COMMAND = (\[.*\])$", text, re.MULTILINE)
    words = parse(match[1]).value if match and is_our_plugin(text) else []
    return str(words[0]) if words else None


def plugin(client: str, python: str) -> str:
    """Our plugin for a client, which calls `hook CLIENT`."""
    values = {
        "command": json.dumps(hook_entries.hook_command(python, client)),
        "edits": json.dumps(next(hook.tools for hook in CLIENTS[client] if hook.kind == "edit")),
        "verbs": json.dumps(VERBS),
        "seconds": json.dumps({hook.event: hook.timeout for hook in CLIENTS[client]}, indent=2),
    }
    return render(PLUGINS[client], values)
