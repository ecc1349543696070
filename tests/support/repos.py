"""Repositories for tests, made once per session and copied: a copy costs a thirtieth of
`git init`."""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.git import commit, git

Make = Callable[[Path, Path], object]  # prepares two clones
MakeSite = Callable[["Site"], object]
Restored = Callable[[MakeSite], "Site"]
Prepared = Callable[[Make], tuple[Path, Path]]
PLACE = "/ghp/state.git/ghp-place"  # where a clone was made


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


class _File(NamedTuple):
    """A file of a template."""

    name: str  # with a / before it
    mode: int
    time: int  # nanoseconds: of an agent, when it was last seen
    data: bytes


def _copy(template: Path, to: Path) -> Path:
    """A copy of a template, a fifth of the time of `copytree`: its small files are read once in
    each process."""
    to.mkdir()
    folders, files = _content(template)
    _write(to, folders, files)
    return to


def _write(to: Path, folders: Iterable[str], files: Iterable[_File]) -> None:
    place = str(to)
    for name in folders:
        os.mkdir(place + name)  # noqa: PTH102 - a third of the time of Path.mkdir
    for file in files:
        path = place + file.name
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
        os.write(number, file.data)
        os.utime(number, ns=(file.time, file.time))
        os.close(number)


@cache
def _content(template: Path) -> tuple[list[str], list[_File]]:
    folders, files = list[str](), list[_File]()
    for place, below, names in os.walk(template):
        here = place.removeprefix(str(template))
        folders += [f"{here}/{name}" for name in below]
        for path in (Path(place, name) for name in names):
            stat = path.stat()
            name, mode = f"{here}/{path.name}", stat.st_mode & 0o777
            files.append(_File(name, mode, stat.st_mtime_ns, path.read_bytes()))
    return folders, files


def copy_clone(templates: Templates, to: Path, remote: Path) -> Path:
    """A clone of `remote`."""
    _copy(templates.clone, to)
    config = to / ".git/config"
    config.write_text(config.read_text().replace(str(templates.remote), str(remote)))
    return to


def make_world(templates: Templates, folder: Path) -> tuple[Path, Path]:
    """A remote and two clones of it, for `pack` and `copy_world`."""
    remote = copy_remote(templates, folder / "remote.git")
    one, two = (copy_clone(templates, folder / f"clone-{n}", remote) for n in (1, 2))
    return one, two


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
    """A remote and its clones, which are each other's in the copy, too, as `from_elsewhere`. The
    world must not change after its first copy."""
    folders, files = _content(world)
    _write(to, folders, (_moved(file, world, to) for file in files if _travels(file)))


class Site(NamedTuple):
    """A folder for repositories and a home, which is brought back to the state it once had.

    It is always the same place, so worktrees and records that name paths stay right.
    """

    templates: Templates
    folder: Path

    @property
    def home(self) -> Path:
        """The user's home."""
        return self.folder / "home"

    @property
    def repo(self) -> Path:
        """A repository without a remote."""
        return self.folder / "repo"

    @property
    def clones(self) -> tuple[Path, Path]:
        """Two clones of one remote."""
        return self.folder / "clone-1", self.folder / "clone-2"

    def make_repo(self) -> Path:
        """The repository, with one commit on main."""
        return copy_alone(self.templates, self.repo)

    def make_clones(self) -> tuple[Path, Path]:
        """The two clones, and their remote."""
        return make_world(self.templates, self.folder)

    def restore(self) -> None:
        """Bring back the state of the first call."""
        folders, files = _content(self.folder)
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        _write(self.folder, folders, files)


def _travels(file: _File) -> bool:
    return not file.name.endswith(PLACE)


def _moved(file: _File, world: Path, to: Path) -> _File:
    if not file.name.endswith("/.git/config"):
        return file
    return file._replace(data=file.data.replace(f"{world}/".encode(), f"{to}/".encode()))


def from_elsewhere(folder: Path) -> Path:
    """A folder with copied clones, as if their originals were on another machine: they keep their
    ids until two of them meet on a remote."""
    for place in folder.glob(f"**{PLACE}"):
        place.unlink()
    return folder
