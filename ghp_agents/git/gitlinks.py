"""Repositories inside of a repository that nobody registered as submodules.

`git add -A` records a worktree or clone in a subfolder as a bare commit id. Without an entry in
`.gitmodules`, `git submodule` and many checkouts fail in every other clone.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ghp_agents.git import merge
from ghp_agents.git import process as git

GITLINK = "160000"  # the mode of a submodule in a tree
_RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none", "--no-ext-diff")


def added(folder: Path, base: str, head: str) -> list[str]:
    """The paths of unregistered repositories that `head` added since it left `base`."""
    return _unregistered(folder, [f"{base}...{head}", "--"], f"{head}:.gitmodules")


def staged(folder: Path, index: str | None = None) -> list[str]:
    """Those that the next commit would add, from the worktree's index or from `index`."""
    env = {"GIT_INDEX_FILE": index} if index else None
    return _unregistered(folder, ["--cached"], ":.gitmodules", env)


def _unregistered(
    folder: Path, what: Sequence[str], modules: str, env: Mapping[str, str] | None = None
) -> list[str]:
    done = git.run(["diff", *_RAW, *what], cwd=folder, env=env)
    if done.code != 0:
        merge.refuse_unrelated(done)
    words = done.checked(["diff"]).names
    links = [
        path
        for entry, path in zip(words[::2], words[1::2], strict=False)
        if entry.split(" ")[1] == GITLINK and entry.split(" ")[0] != f":{GITLINK}"
    ]
    registered = _registered(folder, modules, env) if links else set()
    return [path for path in links if path not in registered]


def _registered(folder: Path, modules: str, env: Mapping[str, str] | None) -> set[str]:
    """The paths in `.gitmodules` of the submodules that have an address, too."""
    args = ["config", "-z", "--blob", modules, "--get-regexp", r"^submodule\..*\.(path|url)$"]
    fields: dict[str, dict[str, str]] = {}
    for entry in os.fsdecode(git.run(args, cwd=folder, env=env).out).split("\0"):
        key, _, value = entry.partition("\n")
        name, _, field = key.rpartition(".")
        fields.setdefault(name, {})[field] = value
    return {x["path"] for x in fields.values() if x.get("path") and x.get("url")}
