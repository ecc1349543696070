"""The command line and the environment of a run: as it is, in bubblewrap, or in a container."""

import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.cards import container, sandbox
from ghp_agents.cards.container import Container
from ghp_agents.cards.permissions import REFUSED, RIGHTS
from ghp_agents.cards.sandbox import Bind, BoxView
from ghp_agents.core import stored_logins
from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath import heartbeat, own_file
from ghp_agents.hotpath.background import BOX, BOX_FILE, RUN
from ghp_agents.integrations.clients import gemini_home
from ghp_agents.runs import processes, rights
from ghp_agents.runs.boxes import box_home, box_paths, nested_repos
from ghp_agents.runs.model import transcript
from ghp_agents.runs.record import RunRecord
from ghp_agents.workspace import HOMES, Workspace


class Process(NamedTuple):
    """What is started for a run."""

    words: Sequence[str]
    environ: Mapping[str, str]


def enclose(
    ws: Workspace,
    run: RunRecord,
    place: Path,
    process: Process,
    keep: Collection[str],
    boxed: Container | bool,
    written: Sequence[Path] = (),
) -> Process:
    """The process in what holds it. `keep` are the variables with secrets that it gets, `written`
    more files that it may write. Raises RefusedError, OSError."""
    words, environ = process
    if isinstance(boxed, Container):
        return _contained(ws, run, place, process, keep, boxed, written)
    has_login = rights.gives_login(keep)
    env = {**environ, **({} if has_login else without_login(place, environ))}
    if not boxed:
        return Process(words, env)
    values = {BOX: str(place / BOX_FILE)}
    if not has_login:
        values |= stored_logins.taken(environ, place / "gh", hidden=True)
    person = Path(ws.environ.get("HOME") or "/")
    # Cached values that decide what runs outside: inside, the folder is empty and the run's own.
    hidden = [person / own_file.CLONES, *(() if has_login else sandbox.logins(ws.environ))]
    own = home(ws, run)
    binds = [Bind(person, own, is_writable=True)]
    binds += [Bind(x.path, x.source or x.path, x.is_writable)
              for x in box_home.prepare(person, own, sandbox.PROGRAMS)]  # fmt: skip
    binds += _binds(ws, run, place, written)
    programs = map(Path, filter(None, environ.get("PATH", "").split(os.pathsep)))
    view = BoxView(hidden, [ws.root, *_local_remotes(ws), *programs], values)
    return Process(sandbox.wrap(words, Path(run.path), binds, view), env)


def _local_remotes(ws: Workspace) -> list[Path]:
    """The remotes that are folders of this machine."""
    return [Path(url.removeprefix("file://")) for url in ws.remotes.values() if "/" in url]


def _binds(ws: Workspace, run: RunRecord, place: Path, written: Sequence[Path]) -> list[Bind]:
    """What a box has of the repository, a folder before what is in it. Raises RefusedError,
    OSError."""
    if not run.task and (why := box_paths.obstacle(Path(run.path), run.branch)):
        raise RefusedError(
            f"{run.path} cannot be in a sandbox: {why}.",
            hint='Name branches like "agent/{user}/{number}" (`branchPattern`), or set '
            "`runs.sandbox` to auto.",
        )
    paths = box_paths.of(Path(run.path), ws.common_dir, run.branch, place)
    box_paths.prepare(paths)
    both = [*paths.writable, *_files(place), *written]
    binds = [
        Bind(ws.common_dir, ws.common_dir, is_writable=False),
        Bind(paths.tree, paths.tree, is_writable=True),
        *(Bind(path, path, is_writable=True) for path in both),
        *(Bind(target, source, is_writable=True) for source, target in paths.own),
        *(Bind(path, path, is_writable=False)
          for path in (*paths.locked, *gemini_home.settings(place))),
    ]  # fmt: skip
    return sorted(binds, key=lambda bind: len(bind.path.parts))


def clean(ws: Workspace, run: RunRecord, place: Path) -> None:
    """After a box has ended: remove what nobody outside may follow. Raises GhpError, OSError."""
    if (place / box_paths.OWN).is_dir():
        paths = box_paths.of(Path(run.path), ws.common_dir, run.branch, place)
        box_paths.clean(paths)
        if paths.modules:  # in the main worktree, repositories are the person's
            notes = nested_repos.set_aside(paths.tree, paths.modules)
            own_file.append(str(place / "log"), "".join(f"{x}\n" for x in notes).encode())
        if run.task:
            shutil.rmtree(home(ws, run), ignore_errors=True)


def without_login(place: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that take the person's stored logins from a run. Raises OSError."""
    folder = place / "gh"
    folder.mkdir(mode=0o700, exist_ok=True)
    return stored_logins.taken(environ, folder)


def _contained(
    ws: Workspace,
    run: RunRecord,
    place: Path,
    process: Process,
    keep: Collection[str],
    box: Container,
    written: Sequence[Path],
) -> Process:
    """The client in a container. It gets the variables of the run and its keys, and no others of
    this machine."""
    tree = Path(run.path)
    own = {BOX: str(place / BOX_FILE), **_identity(ws)}
    env = dict(process.environ)
    # What the environment of a run has beyond that of this process is the run's own.
    names = {name for name, value in env.items() if ws.environ.get(name) != value} | {*keep}
    names = names - {"PWD", "HOME", "PATH"} | {"GHP_AGENT", RUN, processes.PROMPT_FILE, RIGHTS}
    own_home = home(ws, run)
    binds = [Bind(own_home, own_home, is_writable=True), *_binds(ws, run, place, written)]
    words = [word.replace(sys.executable, container.PYTHON) for word in process.words]
    return Process(container.wrap(words, box, run.id, tree, own_home, binds, env, names, own), env)


def home(ws: Workspace, run: RunRecord) -> Path:
    """The home of a box, where its client keeps its sessions: an agent has one for its runs, and
    each task one of its own. No run can write beside it. Raises OSError."""
    name = run.id if run.task else run.agent
    folder = Path(f"{heartbeat.spare_folder(str(ws.common_dir), ws.environ)}{HOMES}") / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _identity(ws: Workspace) -> dict[str, str]:
    """Who commits: the person's global configuration is not in the container."""
    return {
        f"GIT_{role}_{field.upper()}": value
        for role in ("AUTHOR", "COMMITTER")
        for field in ("name", "email")
        if (value := ws.git_value(f"user.{field}"))
    }


def _files(place: Path) -> list[Path]:
    """What the agent writes of a run's folder: these files, and the home of Gemini CLI in it."""
    files = [place / REFUSED, place / BOX_FILE, place / transcript.FILE]
    for path in files:
        path.touch(mode=0o600)
    return [*files, *(path.parents[1] for path in gemini_home.settings(place))]
