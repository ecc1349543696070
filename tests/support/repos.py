"""Repositories for tests, made once per session and copied: a copy costs a thirtieth of
`git init`."""

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.git import commit, git


@dataclass(frozen=True)
class Templates:
    """Repositories to copy; nobody writes into these."""

    alone: Path  # one commit on main, no remote
    remote: Path  # bare, with the same commit
    clone: Path  # of that remote, named origin


def make_templates(folder: Path) -> Templates:
    """The repositories that all others are copies of."""
    templates = Templates(folder / "alone", folder / "remote.git", folder / "clone")
    git(folder, "init", "--quiet", "--template=", str(templates.alone))
    commit(templates.alone, {"README.md": "# A project\n"}, "Begin")
    git(folder, "clone", "--quiet", "--bare", "--template=", "alone", "remote.git")
    git(templates.remote, "remote", "remove", "origin")
    git(folder, "clone", "--quiet", "--template=", str(templates.remote), "clone")
    return templates


def copy_alone(templates: Templates, to: Path) -> Path:
    """A repository with one commit on main."""
    return _copy(templates.alone, to)


def copy_remote(templates: Templates, to: Path) -> Path:
    """A bare repository with that commit."""
    return _copy(templates.remote, to)


def _copy(template: Path, to: Path) -> Path:
    """A copy of a template, a fifth of the time of `copytree`: its few small files are read once
    in each process."""
    folders, files = _content(template)
    place = str(to)
    to.mkdir()
    for name in folders:
        Path(place + name).mkdir()
    for name, mode, data in files:
        file = os.open(place + name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        os.write(file, data)
        os.close(file)
    return to


@cache
def _content(template: Path) -> tuple[list[str], list[tuple[str, int, bytes]]]:
    folders, files = list[str](), list[tuple[str, int, bytes]]()
    for place, below, names in os.walk(template):
        here = place.removeprefix(str(template))
        folders += [f"{here}/{name}" for name in below]
        paths = [Path(place, name) for name in names]
        files += [(f"{here}/{x.name}", x.stat().st_mode & 0o777, x.read_bytes()) for x in paths]
    return folders, files


def copy_clone(templates: Templates, to: Path, remote: Path) -> Path:
    """A clone of `remote`."""
    _copy(templates.clone, to)
    config = to / ".git/config"
    config.write_text(config.read_text().replace(str(templates.remote), str(remote)))
    return to


def make_world(templates: Templates, folder: Path) -> list[Path]:
    """A remote and two clones of it, for `pack` and `copy_world`."""
    remote = copy_remote(templates, folder / "remote.git")
    return [copy_clone(templates, folder / name, remote) for name in ("clone-1", "clone-2")]


def pack(world: Path) -> Path:
    """The same repositories with few files, because copying a file takes longer than its bytes."""
    for heads in [
        *world.glob("*/HEAD"),
        *world.glob("*/.git/HEAD"),
        *world.glob("*/.git/ghp/*/HEAD"),
    ]:
        git(heads.parent, "repack", "-a", "-d", "--quiet")
    return world


def copy_world(world: Path, to: Path) -> None:
    """A remote and its clones, which are each other's in the copy, too."""
    shutil.copytree(world, to, symlinks=True, dirs_exist_ok=True)
    from_elsewhere(to)
    for config in to.glob("clone-*/.git/config"):
        config.write_text(config.read_text().replace(f"{world}/", f"{to}/"))


def from_elsewhere(folder: Path) -> Path:
    """A folder with copied clones, as if their originals were on another machine: they keep their
    ids until two of them meet on a remote."""
    for place in folder.glob("**/ghp/state.git/ghp-place"):
        place.unlink()
    return folder
