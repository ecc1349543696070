"""Repositories inside of a repository that nobody registered as submodules.

`git add -A` records a worktree or clone in a subfolder as a bare commit id. Without an entry in
`.gitmodules`, `git submodule` and many checkouts fail in every other clone.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import process as git
from ghp_agents.git.branch_range import RAW, ChangedPath, between, read_changes

GITLINK = "160000"  # the mode of a submodule in a tree


class Submodule(NamedTuple):
    """A registered submodule, and its commit."""

    path: str
    name: str
    address: str
    commit: str


def added(folder: Path, base: str, head: str) -> list[str]:
    """The paths of unregistered repositories that `head` added since it left `base`."""
    links = _links(between(folder, base, head).changes)
    return _unregistered(folder, links, f"{head}:.gitmodules")


def staged(folder: Path, index: str | None = None) -> list[str]:
    """Those that the next commit would add, from the worktree's index or from `index`."""
    env = {"GIT_INDEX_FILE": index} if index else None
    words = git.check(["diff", *RAW, "--cached"], cwd=folder, env=env).names
    return _unregistered(folder, _links(read_changes(words)), ":.gitmodules", env)


def pointers(folder: Path, base: str, head: str) -> list[Submodule]:
    """The submodules whose commit `head` changed since it left `base`."""
    links = _links(between(folder, base, head).changes)
    return _submodules(folder, {link.path: link.oid for link in links}, f"{head}:.gitmodules")


def submodules(top: Path) -> list[Submodule]:
    """The submodules of a worktree, with the commits in its index. Raises GitError."""
    return _submodules(top, recorded(top), ":.gitmodules")


def recorded(top: Path) -> dict[str, str]:
    """The commits in a worktree's index that take the place of folders, by path. Raises
    GitError."""
    listed = git.check(["ls-files", "-z", "--stage"], cwd=top).names
    return {
        path: words.split(" ")[1]
        for words, _, path in (entry.partition("\t") for entry in listed)
        if words.startswith(GITLINK)
    }


def _submodules(folder: Path, commits: Mapping[str, str], modules: str) -> list[Submodule]:
    registered = _registered(folder, modules) if commits else {}
    return [
        Submodule(path, *registered[path], commit)
        for path, commit in commits.items()
        if path in registered
    ]


def _links(changes: Iterable[ChangedPath]) -> list[ChangedPath]:
    """The commit ids that take the place of folders."""
    return [change for change in changes if change.mode == GITLINK]


def _unregistered(
    folder: Path, links: Sequence[ChangedPath], modules: str, env: Mapping[str, str] | None = None
) -> list[str]:
    paths = [link.path for link in links if link.before != GITLINK]
    registered = _registered(folder, modules, env) if paths else {}
    return [path for path in paths if path not in registered]


def _registered(
    folder: Path, modules: str, env: Mapping[str, str] | None = None
) -> dict[str, tuple[str, str]]:
    """The submodules in `.gitmodules` that have an address, by path: name and address."""
    args = ["config", "-z", "--blob", modules, "--get-regexp", r"^submodule\..*\.(path|url)$"]
    fields: dict[str, dict[str, str]] = {}
    for entry in os.fsdecode(git.run(args, cwd=folder, env=env).out).split("\0"):
        key, _, value = entry.partition("\n")
        name, _, field = key.rpartition(".")
        fields.setdefault(name.removeprefix("submodule."), {})[field] = value
    return {
        entry["path"]: (name, entry["url"])
        for name, entry in fields.items()
        if entry.get("path") and entry.get("url")
    }
