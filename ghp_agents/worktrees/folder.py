"""The folder in which the worktrees of a repository are created."""

import os
import re
from pathlib import Path

from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath.locate import locate
from ghp_agents.settings.settings import Settings
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace

_BAD = re.compile(r"[^A-Za-z0-9._/-]+")


def worktrees_folder(ws: Workspace) -> Path:
    """Return the folder for this repository's worktrees, by upstream's rule. Relative paths start
    at the main worktree. Raises RefusedError for a place that is not allowed."""
    setting, home = ws.settings.worktree_path, ws.environ.get("HOME") or "/"
    path = home + setting[1:] if setting == "~" or setting.startswith("~/") else setting
    main = ws.main_worktree or ws.common_dir
    folder = Path(os.path.normpath(main / path)) / repository_name(ws)
    if setting != Settings().worktree_path:
        _check_place(ws, folder, Path(home))
    return folder


def _check_place(ws: Workspace, folder: Path, home: Path) -> None:
    """Refuse a place where checked-out files become settings or part of another repository."""
    real = folder.resolve()
    why = ""
    if ".git" in {part.lower() for part in real.parts}:
        why = "is inside a git folder"
    elif _is_in_dotfolder(real, home.resolve()):
        why = "is inside a settings folder of your home directory"
    elif _other_repository(ws, real):
        why = "is inside another repository"
    if why:
        raise RefusedError(
            f"`worktreePath` is set to {folder}, which {why}.",
            hint="Change `worktreePath` in ~/.config/ghp-cli/config.json.",
        )


def _is_in_dotfolder(real: Path, home: Path) -> bool:
    if not real.is_relative_to(home):
        return False
    first = next(iter(real.relative_to(home).parts), "")
    return first.startswith(".") and first != ".ghp"


def _other_repository(ws: Workspace, real: Path) -> bool:
    existing = next(place for place in (real, *real.parents) if place.is_dir())
    location = locate(str(existing), {})
    return location is not None and Path(location.common_dir).resolve() != ws.common_dir.resolve()


def repository_name(ws: Workspace) -> str:
    """Return the repository's name: that of its remote, else of its folder."""
    main = ws.main_worktree or ws.common_dir
    if main.name.startswith("."):  # project/.bare
        main = main.parent
    return name_of(branches.address(ws), main.name.removesuffix(".git"))


def name_of(address: str | None, folder: str) -> str:
    """Return the repository's name: the last part of its address, else its folder's name."""
    last_part = re.split(r"[/:\\]", (address or "").rstrip("/").removesuffix(".git").rstrip("/"))[
        -1
    ]
    name = _BAD.sub("-", last_part or folder).replace("/", "-").strip(".-")
    return name or "repository"
