"""The main worktree's hooks and tool server for clients, in another worktree of the clone."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ghp_agents.integrations.clients import (
    codex_config,
    config_files,
    folder_trust,
    tool_server,
)
from ghp_agents.integrations.clients import install as client_hooks
from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.integrations.clients.folder_trust import Untrusted
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.clients.server_entries import CLIENTS
from ghp_agents.state.admin_port import Step
from ghp_agents.workspace import Workspace


def steps(ws: Workspace, top: Path) -> Iterator[Step]:
    """The steps that install in the worktree `top` the hooks and the tool server that the main
    worktree has. Raises GhpError."""
    here = config_files.here(ws, list(HOMES))
    for main in here:
        python = client_hooks.python_in(main) if _is(main, ws.root) else None
        if python is not None:
            new = [target for target in here if target.client == main.client and _is(target, top)]
            yield from client_hooks.to_put(new, python, ws.environ, ws.common_dir)
    if codex_config.is_ours(ws.root):
        yield from codex_config.to_open(ws, [top])
    servers = tool_server.places(ws, CLIENTS)
    for place in servers:
        python = place.python if _is(place.target, ws.root) else None
        if python is not None:
            missing = [x for x in servers if x.file == place.file and _is(x.target, top)]
            yield from tool_server.to_put(ws, missing, python)


def untrusted(ws: Workspace, top: Path, environ: Mapping[str, str]) -> list[Untrusted]:
    """The clients that do not run their hooks in the worktree `top`. Raises GhpError."""
    here = [target for target in config_files.here(ws, list(HOMES)) if _is(target, top)]
    return list(folder_trust.untrusted(here, environ))


def guarded(ws: Workspace) -> list[str]:
    """The clients whose hooks are installed in the main worktree, else for this user."""
    here = [target for target in config_files.here(ws, list(HOMES)) if _is(target, ws.root)]
    users = config_files.of_user(ws.environ, list(HOMES))
    choices = ([x.client for x in places if client_hooks.python_in(x)] for places in (here, users))
    return next(filter(None, choices), [])


def has_hooks(ws: Workspace, client: str) -> bool:
    """Whether a client has our hooks in this clone: its own, this user's, or those of a plugin."""
    targets = config_files.everywhere(ws, client)
    if any(client_hooks.python_in(target) is not None for target in targets):
        return True
    is_claude = client == client_hooks.CLAUDE
    return is_claude and bool(config_files.plugins_enabled([ws.folder], ws.environ))


def _is(target: ConfigFile, folder: Path) -> bool:
    return target.top == folder or target.top.resolve() == folder.resolve()
