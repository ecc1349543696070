"""The submodules of a new worktree, checked out as git itself would.

A copy in the main worktree's git folder is cloned: that needs no network and no login. Only what is
not there is fetched, by git's own rules for addresses and protocols.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files, progress
from ghp_agents.core.errors import GhpError, sentence
from ghp_agents.git import gitlinks
from ghp_agents.git import process as git
from ghp_agents.git.own_work import MODULES
from ghp_agents.hotpath.quoting import file, path_word
from ghp_agents.workspace import Workspace

TIMEOUT_S = 600.0  # seconds for one submodule; a large one takes long
SLOW_S = 5.0  # a failure after so long is the network's; the others are not tried
LEVELS = 5  # of submodules in submodules
_QUIET = {"GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0"}


class MissingSubmodule(NamedTuple):
    """A submodule that could not be checked out."""

    path: str  # from the top of the worktree
    why: str


class _Level(NamedTuple):
    """A worktree with submodules, and where the same ones may be in this clone."""

    top: Path
    copies: Path  # a folder with git folders, by the submodules' names
    main: Path | None  # the same worktree, main's
    depth: int = 0


class _Network:
    """Whether it is worth while to ask a remote."""

    is_down = False


def check_out(ws: Workspace, path: Path, *, exact: bool = False) -> tuple[MissingSubmodule, ...]:
    """Check out the submodules of the worktree at `path`; returns what is missing, and why. One
    that is there already stays as it is, unless `exact`: then its commit is checked out."""
    if not ws.settings.submodules or not (path / ".gitmodules").is_file():
        return ()
    level = _Level(path, ws.common_dir / MODULES, ws.home_worktree)
    return tuple(_check_out(level, _Network(), exact=exact))


def _check_out(level: _Level, network: _Network, *, exact: bool) -> Iterator[MissingSubmodule]:
    for submodule in gitlinks.submodules(level.top):
        place = level.top / submodule.path
        try:
            with progress.step(f"submodule {file(submodule.path)}"):
                if not (place / ".git").exists() or exact:
                    _update(level, submodule, network)
        except GhpError as error:
            word = path_word(submodule.path)
            yield MissingSubmodule(
                submodule.path,
                f"Submodule {file(submodule.path)} is not checked out: {sentence(error)} "
                f"Later, in {level.top}: `git submodule update --init {word}`.",
            )
            continue
        if level.depth < LEVELS and (place / ".gitmodules").is_file():
            copies = level.copies / submodule.name / MODULES
            main = level.main / submodule.path if level.main else None
            inner = _Level(place, copies, main, level.depth + 1)
            yield from _check_out(inner, network, exact=exact)


def _update(level: _Level, submodule: gitlinks.Submodule, network: _Network) -> None:
    """Check out the commit of a submodule. Raises GitError."""
    place, update = level.top / submodule.path, ["submodule", "--quiet", "update", "--init"]
    if (place / ".git").exists():
        update.append("--force")
    args = [*update, "--", submodule.path]
    copy = None if (place / ".git").exists() else _copy_of(level, submodule)
    if copy is not None:
        # This address is ours, so git may use it, whatever it allows others.
        allowed = {f"submodule.{submodule.name}.url": str(copy), "protocol.file.allow": "always"}
        if git.run(args, cwd=level.top, env={**_QUIET, **_settings(allowed)},
                   timeout=TIMEOUT_S).code == 0:  # fmt: skip
            _point_to_remote(place, copy)
            return
    if network.is_down:
        raise git.GitError("The network did not answer.", hint="Try again later.")
    began = time.monotonic()
    try:
        git.check(args, cwd=level.top, env=_QUIET, timeout=TIMEOUT_S)
    except GhpError:
        network.is_down = time.monotonic() - began > SLOW_S
        raise


def _settings(values: Mapping[str, str]) -> dict[str, str]:
    """Settings for one git command: a name with `=` cannot be said with `-c`."""
    env = {"GIT_CONFIG_COUNT": str(len(values))}
    for number, (key, value) in enumerate(values.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def _copy_of(level: _Level, submodule: gitlinks.Submodule) -> Path | None:
    """A git folder of this clone that has the commit of a submodule."""
    places = [level.copies / submodule.name] if files.stays_below(submodule.name) else []
    places += [level.main / submodule.path / ".git"] if level.main else []
    for place in places:
        if (place / "HEAD").is_file():
            args = ["cat-file", "-e", f"{submodule.commit}^{{commit}}"]
            if git.run(args, cwd=place, git_dir=place, env={"GIT_WORK_TREE": str(place)}).code == 0:
                return place
    return None


def _point_to_remote(place: Path, copy: Path) -> None:
    """Give a clone of a copy the copy's remote and its branches, as if it had been cloned from
    there: else unsent commits would look sent."""
    env = {"GIT_WORK_TREE": str(copy)}
    address = git.run(["config", "remote.origin.url"], cwd=copy, git_dir=copy, env=env).text
    with suppress(GhpError):
        refs = "+refs/remotes/origin/*:refs/remotes/origin/*"
        options = [
            "--quiet",
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
        ]
        options += ["--no-recurse-submodules", "--refmap="]
        args = ["-c", "protocol.file.allow=always", "fetch", *options, str(copy), refs]
        git.check(args, cwd=place, timeout=TIMEOUT_S)
    if address:
        git.check(["config", "remote.origin.url", address], cwd=place)
