"""The default branch as this clone knows it, files on it, and how to notice that it moved.

The working copy is not read: another branch may be checked out.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import clone_files, plain_config
from ghp_agents.git import process as git
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.hotpath import locate

USUAL = ("main", "master")
TOOLS = ("ghp/", "ghp-")  # branches that hold records, not files of the project
HEADS, REMOTES = "refs/heads/", "refs/remotes/"


class DefaultBranch(NamedTuple):
    """The location of the default branch."""

    name: str
    ref: str  # on the remote as last fetched, or local if no remote has it
    remote: str


def find(
    folder: Path, *, remote: str | None = None, named: str | None = None
) -> DefaultBranch | None:
    """The default branch: the one that is `named`, else as `chosen` says. None if there is no such
    branch. Raises GitError."""
    from ghp_agents.git import worktree  # rarely needed

    refs = worktree.branches(folder, *USUAL, *([named] if named else []))
    remote = remote or remote_of(folder, refs)
    name = named or chosen(folder, refs, remote)
    if name and name not in (*USUAL, named):
        refs = worktree.branches(folder, name)
    places = (f"{REMOTES}{remote}/{name}", f"{HEADS}{name}")
    ref = next((place for place in places if name and place in refs), None)
    return DefaultBranch(name, ref, remote) if name and ref else None


def remote_of(folder: Path, refs: Mapping[str, str]) -> str:
    """The remote to use if none is named: origin, or the only one. Several others are none."""
    remotes = None
    with suppress(UnreadableRefsError):
        remotes = plain_config.remotes(Path(clone_files.find(folder).common_dir))
    names = {ref.removeprefix(REMOTES).partition("/")[0] for ref in refs if ref.startswith(REMOTES)}
    names = names if remotes is None else {*remotes}
    return next(iter(names)) if len(names) == 1 else "origin"


def chosen(folder: Path, refs: Mapping[str, str], remote: str) -> str | None:
    """The remote's default branch if that is there, else its main or master, else its only branch;
    `refs` are those of `worktree.branches`. What is only here counts if the remote has no branch:
    else clones would differ. In a bare repository, HEAD names it. None if none of these is there.
    """
    from ghp_agents.git import worktree_admin  # rarely needed

    place = f"{REMOTES}{remote}/"
    head = refs.get(f"{place}HEAD", "")
    if head and (head in refs or worktree_admin.tip(folder, head)):
        return head.removeprefix(place)
    named = _of_bare(folder) or _usual(refs, place)
    if named:
        return named
    pushed = [x for x in worktree_admin.remote_branches(folder, remote) if not _is_aside(x)]
    return _only(pushed) if pushed else _usual(refs, HEADS) or _only(candidates(folder, remote)[1])


def candidates(folder: Path, remote: str) -> list[list[str]]:
    """The branches that may be the default one, on the remote and here, without those for issues.
    Raises GitError."""
    from ghp_agents.git import worktree_admin  # rarely needed

    places = worktree_admin.remote_branches(folder, remote), worktree_admin.branches(folder)
    return [[name for name in names if not _is_aside(name)] for names in places]


def _usual(refs: Mapping[str, str], place: str) -> str | None:
    return next((name for name in USUAL if place + name in refs), None)


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _is_aside(name: str) -> bool:
    return name.startswith(TOOLS) or locate.issue_of_branch(name) is not None


def _of_bare(folder: Path) -> str | None:
    """The branch that HEAD of a bare repository names: a clone has the remote's choice there."""
    name = None
    with suppress(UnreadableRefsError):
        place = clone_files.find(folder)
        name = locate.branch(place.common_dir) if locate.core(place.common_dir)[0] else None
        return name if name and clone_files.ref(folder, f"{HEADS}{name}") else None
    return name


def text(folder: Path, commit: str, path: str) -> str | None:
    """A file in a commit; None if the commit lacks it."""
    with suppress(UnreadableRefsError):
        content = clone_files.blob(folder, commit, path)
        return None if content is None else content.decode("utf-8", "replace").rstrip("\n")
    shown = git.run(["cat-file", "blob", f"{commit}:{path}"], cwd=folder)
    return shown.text if shown.code == 0 else None


def watched(
    common_dir: str, remotes: Iterable[str], names: Iterable[str], line: DefaultBranch | None
) -> list[str]:
    """The files and folders that change when the default branch moves away from `line`. They are
    watched without git. Local branches matter only if no remote has it."""
    branches = sorted({*USUAL, *(name for name in names if ".." not in name.split("/"))})
    paths = ["packed-refs", "refs/remotes", "reftable/tables.list"]
    if line is None or line.name not in USUAL:  # another branch may be the only one no more
        paths += [HEADS, *(REMOTES + remote for remote in remotes)]
        paths += ["HEAD"] if locate.core(common_dir)[0] else []
    if line is None or line.ref.startswith(HEADS):
        paths += [HEADS + name for name in branches]
        paths += [REMOTES + remote for remote in remotes]
    for remote in sorted(set(remotes)):
        paths += [f"{REMOTES}{remote}/{name}" for name in ("HEAD", *branches)]
    return [f"{common_dir}/{path}" for path in paths]
