"""The files that provisioning puts into a worktree: they are nobody's work."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.core.json_file import JsonFile
from ghp_agents.git import worktree
from ghp_agents.git.worktree import Difference
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.workspace import PROVISIONS_FILE, Workspace
from ghp_agents.worktrees import leftovers
from ghp_agents.worktrees.leftovers import Rules, Tree, digest_of

MOST_FILES = 5_000
MOST_BYTES = 500_000_000  # of all files with a digest


class Provisions(NamedTuple):
    """The digests of what was put into a worktree, by path."""

    put: Mapping[str, str] = {}  # copied or linked
    generated: Mapping[str, str] = {}  # by the set-up command

    @property
    def digests(self) -> dict[str, str]:
        """All of them."""
        return {**self.generated, **self.put}


@contextlib.contextmanager
def recorded(ws: Workspace, path: Path, *, is_new: bool = False) -> Iterator[list[str]]:
    """Record which files the block puts into the worktree at `path`; it appends the names of what
    it copies or links. What was there before stays unknown: somebody may have worked there."""
    names: list[str] = []
    place = walk_up(str(path))
    if place is None:
        yield names
        return
    tree, rules = Tree(path, Path(place.git_dir)), Rules(ws.settings.disposable)
    before = {} if is_new else _digests(tree, rules)
    yield names
    after = _digests(tree, rules)
    new = {name: digest for name, digest in after.items() if before.get(name) != digest}
    put = {name: digest for name, digest in new.items()
           if any(name == at or name.startswith(f"{at}/") for at in names)}  # fmt: skip
    if new:
        old = record(tree.git_dir)
        generated = {name: digest for name, digest in new.items() if name not in put}
        fresh = Provisions({**old.put, **put}, {**old.generated, **generated})
        _file(tree.git_dir).write(fresh._asdict())


def record(git_dir: Path) -> Provisions:
    """What was put into a worktree; empty for one that `agent-start` did not create."""
    return _file(git_dir).read()


def _file(git_dir: Path) -> JsonFile[Provisions]:
    return JsonFile(git_dir / PROVISIONS_FILE, _decoded, Provisions)


def _decoded(value: Any) -> Provisions:
    put, generated = ({str(name): str(digest) for name, digest in value[key].items()}
                 for key in Provisions._fields)  # fmt: skip
    return Provisions(put, generated)


def _digests(tree: Tree, rules: Rules) -> dict[str, str]:
    """The digests of the files that git does not have, within limits."""
    digests: dict[str, str] = {}
    room = MOST_BYTES
    with contextlib.suppress(GhpError, OSError):
        for name in leftovers.find(tree, rules, changes=True):
            for path in _files(tree.top / name):
                room -= path.lstat().st_size
                if len(digests) < MOST_FILES and room >= 0 and (digest := digest_of(path)):
                    digests[str(path.relative_to(tree.top))] = digest
    return digests


def _files(path: Path) -> Iterator[Path]:
    if path.is_symlink() or path.is_file():
        yield path
        return
    for at, folders, names in os.walk(path):
        links = [name for name in folders if Path(at, name).is_symlink()]
        yield from (Path(at, name) for name in (*names, *links))


def differences(ws: Workspace, folder: Path) -> list[Difference]:
    """What differs from the last commit in a worktree, without what provisioning put there."""
    names = _provisioned(ws, folder)
    return [
        difference
        for difference in worktree.differences(folder)
        if difference.code != "??" or difference.path.rstrip("/") not in names
    ]


def rules(ws: Workspace, git_dir: Path) -> Rules:
    """What may go from a worktree."""
    links = map(os.path.normpath, ws.settings.worktree_symlink_files)
    digests = {name: f"link {ws.root / name}" for name in links} | record(git_dir).digests
    return Rules(ws.settings.disposable, digests, frozenset(_settings(ws)), ws.home_worktree)


def _settings(ws: Workspace) -> set[str]:
    """The names in the settings."""
    names = (*ws.settings.worktree_copy_files, *ws.settings.worktree_symlink_files)
    return {os.path.normpath(name) for name in names}


def _provisioned(ws: Workspace, folder: Path) -> set[str]:
    """The names in the settings, and those in the worktree's record."""
    place = walk_up(str(folder))
    return {*_settings(ws), *(record(Path(place.git_dir)).put if place else ())}


def unchanged_files(ws: Workspace) -> frozenset[str]:
    """The unchanged links and files from provisioning this worktree. They are not work to commit,
    but git may not ignore them: `node_modules/` in .gitignore does not match a link."""
    source, top = ws.home_worktree, ws.place.toplevel
    if source is None or top is None or source == Path(top):
        return frozenset()
    put = record(ws.git_dir).put
    return frozenset(
        name
        for name in _provisioned(ws, Path(top))
        if leftovers.is_unchanged(Path(top, name), put.get(name))
        or _is_as_put(source / name, Path(top, name))
    )


def committed(ws: Workspace, trunk: str, head: str) -> tuple[str, ...]:
    """The provisioned files in commits from `trunk` to `head`. `git add -A` adds them if git does
    not ignore them. Links are broken elsewhere. Copies may hold secrets, so one commit is enough
    to report them, even if they are removed later."""
    top, names = Path(ws.place.toplevel or ""), sorted(unchanged_files(ws))
    added = worktree.added(top, trunk, head, names) if names else []
    still = worktree.present(top, head, added) if added else []
    return tuple(name for name in added if name in still or not (top / name).is_symlink())


def _is_as_put(origin: Path, path: Path) -> bool:
    if path.is_symlink():
        return path.readlink() == origin
    return leftovers.is_same(path, origin)
