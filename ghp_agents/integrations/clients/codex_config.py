"""Codex's own configuration: which hooks its user trusts, and where its sandbox may write.

Codex 0.169 keeps the hash of each trusted hook under `hooks.state` in its config.toml. In its
sandbox `.git` is read-only, unless `sandbox_workspace_write.writable_roots` names a folder in it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError
from ghp_agents.git import exclude, worktree
from ghp_agents.hotpath import heartbeat
from ghp_agents.integrations.clients import config_files, server_entries
from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.integrations.clients.hook_entries import places
from ghp_agents.state.admin_port import Step
from ghp_agents.workspace import Workspace

CODEX = "codex"
FILE = ".codex/config.toml"
LINE = f"/{FILE}"  # in info/exclude
TABLE = "sandbox_workspace_write"
ROOTS = "writable_roots"
MARK = "# ghp-agents: written by `ghp agent-init --hooks codex`; its --remove deletes it.\n"
# Characters that a TOML string has to escape; a folder with them is left to the user.
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')


def trusts(target: ConfigFile, environ: Mapping[str, str]) -> bool:
    """Whether Codex runs our hooks: it has a hash for each, maybe that of an older hook, and trusts
    the project. In a linked worktree it runs those of the main one. Raises GhpError."""
    users = _users(environ)
    main = target.top if target.is_users else next(iter(worktree.folders(target.top)), target.top)
    if not target.is_users and not _trusts_project(users, target.top, main):
        return False
    states = _table(_table(users, "hooks"), "state")
    hashed = {key for key in states if isinstance(_table(states, key).get("trusted_hash"), str)}
    path = target.path if target.is_users else main / target.path.relative_to(target.top)
    ours = [
        f"{_snake(entry.event)}:{entry.group}:{entry.handler}"
        for entry in places(user_file.read_text(path) or "{}")
    ]
    paths = (path, path.resolve())
    return bool(ours) and all(any(f"{x}:{hook}" in hashed for x in paths) for hook in ours)


def _trusts_project(users: Mapping[str, Any], top: Path, main: Path) -> bool:
    """Whether the user trusts a worktree: what was said of it counts, else of the main one."""
    projects = _table(users, "projects")
    levels = [
        _table(projects, str(path)).get("trust_level")
        for folder in (top, main)
        for path in (folder, folder.resolve())
    ]
    return next((level for level in levels if level is not None), None) == "trusted"


def warning(target: ConfigFile) -> tuple[str, str]:
    """The fact that Codex does not run the hooks in a file, and what to do about it."""
    return (
        f"Nobody has told Codex to trust the hooks in {target.shown}: it runs none of them.",
        f"Start `codex` in {target.top}, trust the project, and accept the hooks with /hooks.",
    )


def _snake(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


def closed(ws: Workspace) -> str | None:
    """The folder that our commands write to, if Codex's sandbox lets them not in each worktree."""
    folder = heartbeat.state_folders(str(ws.common_dir), ws.environ)[0]
    users = _users(ws.environ)
    if users.get("sandbox_mode") == "danger-full-access":
        return None
    tops = [target.top for target in config_files.here(ws, [CODEX])]
    roots = [_roots(_read(top / FILE)) or _roots(users) or [] for top in tops]
    return folder if any({folder, str(ws.common_dir)}.isdisjoint(root) for root in roots) else None


def advice(folder: str) -> tuple[str, str]:
    """A fact and what to do about it, where the sandbox does not let our commands write."""
    return (
        f"In Codex's sandbox, commands of ghp-agents cannot write to {folder}: leases, questions "
        "and claims fail.",
        f'Add "{folder}" to `{ROOTS}` of [{TABLE}] in ~/.codex/config.toml.',
    )


def to_open(ws: Workspace, tops: Sequence[Path]) -> list[Step]:
    """Steps that let Codex's sandbox write to our folder in worktrees where its configuration does
    not. None where a file or a list of the user's exists: theirs is not changed."""
    folder = closed(ws)
    if folder is None or _TO_ESCAPE.search(folder) or _roots(_users(ws.environ)) is not None:
        return []
    text = f'{MARK}[{TABLE}]\n{ROOTS} = ["{folder}"]\n'
    return [
        Step("write", "Wrote", _shown(ws, top), partial(_write, ws.common_dir, top / FILE, text))
        for top in tops
        if not _others(top)
    ]


def to_take(ws: Workspace) -> Iterator[Step]:
    """Steps that delete the files that `to_open` wrote."""
    tops = [target.top for target in config_files.here(ws, [CODEX])]
    ours = [top for top in tops if is_ours(top)]
    for top in ours:
        close = partial(_close, top)
        yield Step("remove", "Removed", f"the sandbox's folder for Codex: {_shown(ws, top)}", close)
    if ours and not any(map(_server, tops)):
        take = partial(exclude.remove, ws.common_dir, LINE)
        yield Step("remove", "Removed", f"the line {LINE} from .git/info/exclude", take)


def _shown(ws: Workspace, top: Path) -> str:
    return FILE if top.resolve() == ws.root.resolve() else str(top / FILE)


def is_ours(top: Path) -> bool:
    """Whether `to_open` wrote the file of a worktree."""
    return (user_file.read(top / FILE) or b"").startswith(MARK.strip().encode())


def _write(common_dir: Path, path: Path, text: str) -> None:
    exclude.add(common_dir, LINE)
    before = user_file.read(path)
    server = b"\n" + before if before else b""
    user_file.rewrite(path, before, text.encode() + server)


def _close(top: Path) -> None:
    """Delete the file; our tool server stays, if it is there."""
    server = _server(top)
    if server:
        user_file.rewrite(top / FILE, user_file.read(top / FILE), server.encode())
    else:
        user_file.delete(top / FILE, top)


def _server(top: Path) -> str:
    """Our tool server in a worktree's file."""
    return server_entries.block_in(user_file.read_text(top / FILE) or "")


def _others(top: Path) -> str:
    """What a worktree's file has beside our tool server."""
    text = user_file.read_text(top / FILE) or ""
    return server_entries.without_block(text).strip()


def _roots(config: Mapping[str, Any]) -> list[str] | None:
    """The folders that a configuration names; None if it has no list."""
    roots = _table(config, TABLE).get(ROOTS)
    return [root for root in roots if isinstance(root, str)] if isinstance(roots, list) else None


def _table(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A table of a configuration; empty for any other value."""
    table = config.get(key)
    return table if isinstance(table, dict) else {}


def _users(environ: Mapping[str, str]) -> Mapping[str, Any]:
    return _read(config_files.users(environ, CODEX).path.with_name("config.toml"))


def _read(path: Path) -> Mapping[str, Any]:
    """A configuration of Codex; empty if there is none, or none that can be read."""
    try:
        return tomllib.loads(user_file.read_text(path) or "")
    except (GhpError, tomllib.TOMLDecodeError):
        return {}
