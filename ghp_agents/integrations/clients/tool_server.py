"""The tool server in clients' files: the steps to add it in each worktree, or to remove it."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError
from ghp_agents.git import exclude, worktree
from ghp_agents.integrations.clients import hook_entries, original_state, server_entries
from ghp_agents.integrations.clients.config_files import ConfigFile, with_name
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.clients.install import of_ours, refuse_elsewhere, refuse_unreadable
from ghp_agents.integrations.clients.original_state import Origin
from ghp_agents.integrations.clients.server_entries import FILES, ServerFile
from ghp_agents.state.admin_port import Step
from ghp_agents.workspace import Workspace

NEEDS_TRUST = ("codex", "gemini", "copilot")


class ServerPlace(NamedTuple):
    """A file in one worktree."""

    file: ServerFile
    target: ConfigFile

    @property
    def line(self) -> str:
        """Its line in `info/exclude`."""
        return "/" + self.file.path

    @property
    def title(self) -> str:
        """The clients that read it, for people."""
        return " and ".join(HOMES[client].title for client in self.file.clients)

    @property
    def python(self) -> str | None:
        """The interpreter that our server there runs with; None without it, or if no client can
        read the file."""
        try:
            text = user_file.read_text(self.target.path)
            return None if text is None else server_entries.python_in(text, self.file)
        except GhpError:
            return None


def places(ws: Workspace, clients: Collection[str]) -> list[ServerPlace]:
    """The clients' files in every worktree of the clone."""
    files = [file for file in FILES if not set(clients).isdisjoint(file.clients)]
    return [_place(ws, file, top) for file in files for top in worktree.folders(ws.folder)]


def _place(ws: Workspace, file: ServerFile, top: Path) -> ServerPlace:
    path, client = top / file.path, file.clients[0]
    shown = file.path if top.resolve() == ws.root.resolve() else str(path)
    # A file that also holds the client's hooks has one record of how it was.
    name = client if HOMES[client].project == file.path else f"{client}-tools"
    memory = original_state.place(ws.common_dir, top, name)
    return ServerPlace(file, ConfigFile(client, path, shown, top, memory))


def to_put(ws: Workspace, places: Sequence[ServerPlace], python: str) -> list[Step]:
    """Steps to add the server where it is missing. Raises GhpError for a file that cannot be
    changed, before any write."""
    return [step for place in places for step in _to_put(ws, place, python)]


def _to_put(ws: Workspace, place: ServerPlace, python: str) -> Iterator[Step]:
    target = place.target
    refuse_elsewhere(target, "and add the server to its target yourself")
    before = user_file.read_text(target.path)
    if _with(place, before, python) != before:
        what = f"the tool server for {place.title} into {target.shown}"
        yield Step("put", "Put", what, partial(_put, ws, place, python))


def _with(place: ServerPlace, before: str | None, python: str) -> str:
    with with_name(place.target):
        if place.file.key and before is not None:
            refuse_unreadable(before, place.target.client)
        return server_entries.put(before, place.file, python)


def _put(ws: Workspace, place: ServerPlace, python: str) -> None:
    target, common_dir = place.target, ws.common_dir
    before = user_file.read_text(target.path)
    after = _with(place, before, python)
    if before is None and not target.is_tracked:
        hides = not any(_is_users(other.target) for other in places(ws, place.file.clients))
        is_new = hides and not exclude.has(common_dir, place.line)
        is_ours = original_state.is_line_ours(common_dir, target.memory.stem)
        hidden = is_new or (hides and is_ours)
        original_state.write(target.memory, Origin(created=True, hidden=hidden))
        if is_new:
            exclude.add(common_dir, place.line)
    user_file.rewrite(target.path, None if before is None else before.encode(), after.encode())


def _is_users(target: ConfigFile) -> bool:
    """Whether a worktree has a file of the user's own that git shows."""
    if not target.path.exists() or target.is_tracked or target.was_created:
        return False
    return not target.is_hidden


def to_take(ws: Workspace, places: Sequence[ServerPlace]) -> list[Step]:
    """Steps to remove the server. Raises GhpError for a file that cannot be read."""
    steps = []
    for place in places:
        text = of_ours(place.target.path)
        with with_name(place.target):
            if text is not None and server_entries.take(text, place.file) != text:
                what = f"the tool server of {place.title} from {place.target.shown}"
                steps.append(Step("remove", "Removed", what, partial(_take, ws, place)))
    return steps


def _take(ws: Workspace, place: ServerPlace) -> None:
    target = place.target
    text = user_file.read_text(target.path)
    if text is None:
        return
    after = server_entries.take(text, place.file)
    void = not after.strip() if not place.file.key else hook_entries.is_void(after, target.client)
    if not (void and target.was_created and not target.is_tracked):
        user_file.rewrite(target.path, text.encode(), after.encode())
        return
    user_file.delete(target.path, target.top)
    others = [other.target for other in places(ws, place.file.clients)]
    last = not any(other.was_created for other in others if other.path.exists())
    if last and original_state.is_line_ours(ws.common_dir, target.memory.stem):
        exclude.remove(ws.common_dir, place.line)
    if last:
        for path in list(original_state.all_of(ws.common_dir, target.memory.stem)):
            original_state.forget(path)


def advice(places: Sequence[ServerPlace], plugins: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Facts and what to do, after the server was added. `plugins`: files that enable our plugin
    for Claude Code."""
    for place in places:
        if place.target.is_tracked:
            yield (
                f"{place.target.shown} is tracked by git, but its server is a program of this "
                "machine.",
                "Do not commit it.",
            )
    clients = dict.fromkeys(client for place in places for client in place.file.clients)
    if "claude" in clients:
        yield (
            "Claude Code starts the server only after you approve it.",
            'Start `claude` here once. Without a terminal: "enabledMcpjsonServers": ["ghp"] in '
            ".claude/settings.local.json.",
        )
        for path in plugins:
            yield (
                f"The plugin is enabled, too ({path}): Claude Code has each tool twice.",
                "Keep one: `claude plugin uninstall ghp-agents`, or `ghp agent-init --mcp claude "
                "--remove`.",
            )
    careful = [HOMES[client].title for client in clients if client in NEEDS_TRUST]
    if careful:
        verb = "starts" if len(careful) == 1 else "start"
        yield (
            f"{', '.join(careful)} {verb} the server only in a folder that you trust.",
            "Start the client here once, and trust the folder.",
        )
