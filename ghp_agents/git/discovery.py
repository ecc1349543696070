"""Asks git about repositories that `locate` skips: another user's, a bare or a moved one.

Git runs without `--git-dir`. Only then does it check the owner, and honour `safe.directory` and
`safe.bareRepository` of the user's configuration. Only commands ask git; hooks and heartbeats do
not.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.core.errors import RefusedError
from ghp_agents.git import process as git
from ghp_agents.hotpath.locate import Location, common_of, link_out, named, walk_up

_QUESTION = (
    *("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"),
    "--show-toplevel",  # fails in a bare repository, after the others were printed
)
_NONE = ("not a git repository", "invalid gitfile format")
_ADVICE = "git config --global --add safe.directory "


def find_with_git(cwd: Path, environ: Mapping[str, str]) -> Location | None:
    """The repository around `cwd` that git agrees to use; None if there is none. Raises
    RefusedError with git's reason, or ours."""
    around = walk_up(str(cwd))
    chosen = None if around else named(environ)
    folder = Path(around.toplevel or around.git_dir) if around else cwd
    result = git.run(_QUESTION, cwd=folder, env=_variables(chosen))
    place = _place(os.fsdecode(result.out))
    if place is None:
        if any(words in result.err for words in _NONE):
            return None
        raise _not_agreed(folder, result)
    _check_shape(place, cwd, is_chosen=bool(around or chosen))
    return place


def _variables(chosen: Location | None) -> dict[str, str]:
    """The variables that select the repository, as the user's environment has them."""
    if chosen is None:
        return {}
    worktree = {"GIT_WORK_TREE": chosen.toplevel} if chosen.toplevel else {}
    return {"GIT_DIR": chosen.git_dir, **worktree}


def _place(out: str) -> Location | None:
    match out.removesuffix("\n").split("\n"):
        case [git_dir, common_dir, toplevel]:
            return Location(toplevel, git_dir, common_dir)
        case [git_dir, common_dir]:
            return Location(None, git_dir, common_dir)
    return None


def _not_agreed(folder: Path, result: git.Result) -> RefusedError:
    lines = [line.strip() for line in result.err.splitlines()]
    reason = next((line for line in lines if line.startswith("fatal:")), "git gives no reason")
    advice = next((line for line in lines if line.startswith(_ADVICE)), f"{_ADVICE}{folder}")
    hint = f"If you trust everybody who can write there, run `{advice}`."
    if "safe.bareRepository" in reason:
        hint = f"If you trust it, name it: `GIT_DIR={folder}`."
    return RefusedError(
        f"git does not use the repository at {folder}: {reason.removeprefix('fatal: ')}.",
        hint=hint,
    )


def _check_shape(place: Location, cwd: Path, *, is_chosen: bool) -> None:
    """Checks that git does not make. Raises RefusedError."""
    if place.common_dir != place.git_dir and common_of(place.git_dir) is None:
        raise RefusedError(
            f"{place.git_dir} points to {place.common_dir}, which has no such worktree.",
            hint="Remove that folder, or run `git worktree repair` in the repository.",
        )
    around = None if is_chosen or place.toplevel else _marked(cwd)
    if around is not None:
        raise RefusedError(
            f"{place.git_dir} is a bare repository inside another one, {around}.",
            hint=f"If you trust it, name it: `GIT_DIR={place.git_dir}`.",
        )
    link = link_out(place.common_dir)
    if link is not None:
        raise RefusedError(
            f"{link} is a link out of the repository's git folder; nothing was written through it.",
            hint="Remove the link and run the command again.",
        )


def _marked(cwd: Path) -> Path | None:
    """The nearest folder at or above `cwd` that contains a `.git` of any kind."""
    around = (cwd, *cwd.parents)
    return next((folder for folder in around if os.path.lexists(folder / ".git")), None)
