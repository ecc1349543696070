"""A pull request must not add a repository that is no submodule. It must not point to a commit of a
submodule that nobody else can fetch."""

import posixpath
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core import files, progress
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import listed
from ghp_agents.git import gitlinks
from ghp_agents.git import process as git
from ghp_agents.git.gitlinks import Submodule
from ghp_agents.git.own_work import MODULES
from ghp_agents.hotpath.quoting import file, path_word, phrase
from ghp_agents.state import git_credentials
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace

SHOWN = 5  # names
TIMEOUT_S = 60.0  # seconds for one remote: it is asked for one commit
# What remotes say of a commit that they do not have.
_ABSENT = ("not our ref", "couldn't find remote ref", "unadvertised object", "no such remote ref")
_ALL = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


def refuse(ws: Workspace, base: str, head: str) -> None:
    """Refuse a commit `head` that added a repository, or changed a submodule's commit to one that
    its remote does not have. Raises RefusedError, UnknownError."""
    refuse_nested(ws.folder, base, head)
    for submodule in gitlinks.pointers(ws.folder, base, head):
        if any(_is_sent(place, submodule.commit) for place in _copies(ws, submodule)):
            continue
        with progress.step(f"submodule {file(submodule.path)}"):
            if _has(ws, submodule):
                continue
        raise RefusedError(
            f"The commit {submodule.commit[:12]} of the submodule {file(submodule.path)} is not on "
            "its remote: nobody else could check it out.",
            hint=f"Push it first, in the worktree: `git -C {path_word(submodule.path)} push origin "
            "HEAD:NAME`, to a branch NAME.",
        )


def refuse_nested(folder: Path, base: str, head: str) -> None:
    """Refuse a commit `head` that added a repository, and no submodule, since it left `base`.
    Raises RefusedError."""
    paths = gitlinks.added(folder, base, head)
    if paths:
        names = listed([*map(file, paths)], SHOWN)
        one = len(paths) == 1
        raise RefusedError(
            f"{names} {'is a repository' if one else 'are repositories'} of "
            f"{'its' if one else 'their'} own, maybe a worktree, and no submodule: `git submodule` "
            "would fail in every clone of main.",
            hint=f"Take it out: `git rm --cached {file(paths[0])}`, add it to .gitignore, and "
            "commit. A real submodule needs an entry in .gitmodules (`git submodule add`).",
        )


def _copies(ws: Workspace, submodule: Submodule) -> Iterator[Path]:
    """The git folders of a submodule in this clone."""
    places = [ws.folder / submodule.path / ".git"]
    places += [ws.main_worktree / submodule.path / ".git"] if ws.main_worktree else []
    if files.stays_below(submodule.name):
        places += [top / MODULES / submodule.name for top in (ws.git_dir, ws.common_dir)]
    return (place for place in dict.fromkeys(places) if (place / "HEAD").is_file())


def _is_sent(place: Path, commit: str) -> bool:
    """Whether a copy knows the commit from a branch of its remote."""
    args = ["rev-list", "--max-count=1", commit, "--not", "--remotes", "--"]
    done = git.run(args, cwd=place, git_dir=place, env={"GIT_WORK_TREE": str(place)})
    return done.code == 0 and not done.out


def _has(ws: Workspace, submodule: Submodule) -> bool:
    """Ask the remote whether it has a commit. Nothing that an agent could configure is used. Raises
    UnknownError without an answer."""
    url = address(ws, submodule)
    with tempfile.TemporaryDirectory(prefix="ghp-") as folder:
        place = Path(folder)
        git.check(["init", "--quiet", "--bare", "."], cwd=place)
        # Git treats the address like one in .gitmodules: `file` and `ext` only if the user agrees.
        env = {"GIT_PROTOCOL_FROM_USER": "0", **git_credentials.for_address(ws, url)}
        fetch = ["fetch", "--quiet", "--no-write-fetch-head", "--no-auto-maintenance"]
        done = git.run(
            [*fetch, "--depth=1", "--end-of-options", url, submodule.commit],
            cwd=place, env=env, timeout=TIMEOUT_S,
        )  # fmt: skip
        if done.code != 0 and "unadvertised object" in done.err:  # an old server, so ask for all
            git.run([*fetch, "--end-of-options", url, *_ALL], cwd=place, env=env,
                    timeout=TIMEOUT_S)  # fmt: skip
        if git.run(["cat-file", "-e", submodule.commit], cwd=place).code == 0:
            return True
    if any(sign in done.err for sign in _ABSENT):
        return False
    words = phrase(next(iter(done.errors), "") or "no answer")
    raise UnknownError(
        f"Cannot tell whether the remote of the submodule {file(submodule.path)} has its commit "
        f"{submodule.commit[:12]}: {words}.",
        hint="Try again when it is reachable. If the commit is not pushed: "
        f"`git -C {path_word(submodule.path)} push origin HEAD:NAME`.",
    )


def address(ws: Workspace, submodule: Submodule) -> str:
    """The address of a submodule: that of the clone's configuration, else the registered one. A
    relative one counts from the remote's."""
    configured = git.run(["config", f"submodule.{submodule.name}.url"], cwd=ws.common_dir,
                         git_dir=ws.common_dir).text  # fmt: skip
    address = configured or submodule.address
    if not address.startswith(("./", "../")):
        return address
    parent = branches.address(ws) or str(ws.main_worktree or ws.folder)
    begin, slash, path = parent.rstrip("/").partition("://")
    if slash:
        return f"{begin}://{posixpath.normpath(posixpath.join(path, address))}"
    host, colon, rest = begin.partition(":")
    if colon and "/" not in host:  # host:path
        return f"{host}:{posixpath.normpath(posixpath.join(rest, address))}"
    return posixpath.normpath(posixpath.join(begin, address))
