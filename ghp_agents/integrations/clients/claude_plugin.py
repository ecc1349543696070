"""The plugin for Claude Code, rendered from templates into a folder that is its own marketplace."""

import shlex
from collections.abc import Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ghp_agents.core import jsonc_edit, user_file
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.templates import render_folder
from ghp_agents.integrations.clients import hook_entries, server_entries
from ghp_agents.state.admin_port import Step

NAME = hook_entries.NAME
CLIENT = "claude"
LISTING = ".ghp-agents"  # in the folder: the list of our files
PROGRAM = "bin/ghp-agents"
DESCRIPTION = (
    "Coordinates the agents that work on one repository: claims, leases, questions and handoffs, "
    "with git and issues alone."
)
WHO = {"name": "ghp-agents contributors"}


def default_folder(environ: Mapping[str, str]) -> Path:
    """The default folder for the plugin."""
    data = environ.get("XDG_DATA_HOME") or f"{environ.get('HOME') or ''}/.local/share"
    return Path(data) / "ghp-agents/claude-plugin"


def rendered(folder: Path, python: str, *, tools: bool = False) -> dict[str, bytes]:
    """All files of the plugin by path; `tools`: with the tool server, which needs a package of its
    own. Deterministic for a folder and an interpreter."""
    number = our_version()
    manifest: dict[str, Any] = {
        "name": NAME,
        "version": number,
        "description": DESCRIPTION,
        "author": WHO,
        "license": "MIT",
        "keywords": ["agents", "coordination", "git", "issues"],
    }
    if tools:
        command, *args = server_entries.server_command(python)
        manifest["mcpServers"] = {server_entries.NAME: {"command": command, "args": args}}
    market = {
        "name": NAME,
        "owner": WHO,
        "metadata": {"description": DESCRIPTION},
        "plugins": [{"name": NAME, "source": "./", "description": DESCRIPTION, "version": number}],
    }
    hooks = {"description": "Guards and presence.", **hook_entries.document(CLIENT, python)}
    values: dict[str, Any] = {
        "version": number,
        "folder": shlex.quote(str(folder)),
        "python_quoted": shlex.quote(python),
    }
    texts = {
        ".claude-plugin/plugin.json": jsonc_edit.fresh(manifest),
        ".claude-plugin/marketplace.json": jsonc_edit.fresh(market),
        "hooks/hooks.json": jsonc_edit.fresh(hooks),
        **render_folder("claude-plugin", values),
    }
    texts[LISTING] = "".join(f"{path}\n" for path in sorted(texts))
    return {path: texts[path].encode() for path in sorted(texts)}


def our_version() -> str:
    """The version of this program."""
    try:
        return version(NAME)
    except PackageNotFoundError:  # a checkout that is not installed
        return "0.0.0"


def to_write(folder: Path, python: str, *, tools: bool = False) -> list[Step]:
    """Steps to write and remove files. Raises RefusedError if the folder is not ours."""
    before = _listed(folder)
    wanted = rendered(folder, python, tools=tools)
    steps: list[Step] = []
    for path, content in wanted.items():
        if user_file.read(folder / path) != content:
            act = partial(_write, folder / path, content, executable=path == PROGRAM)
            steps.append(Step("write", "Wrote", str(folder / path), act))
    for path in sorted(before - wanted.keys()):
        if (folder / path).is_file():
            act = partial(user_file.delete, folder / path, folder)
            steps.append(Step("remove", "Removed", str(folder / path), act))
    return steps


def _listed(folder: Path) -> set[str]:
    """Our files in the folder. Raises RefusedError."""
    listing = user_file.read(folder / LISTING)
    if listing is None:
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise RefusedError(
                f"{folder} already exists, and ghp-agents did not create it.",
                hint="Name a new or empty folder.",
            )
        return set()
    paths = listing.decode("utf-8", "replace").splitlines()
    inside = [path for path in paths if path and not Path(path).is_absolute()]
    return {path for path in inside if ".." not in Path(path).parts}


def _write(path: Path, content: bytes, *, executable: bool) -> None:
    user_file.rewrite(path, user_file.read(path), content)
    path.chmod(0o755 if executable else 0o644)
