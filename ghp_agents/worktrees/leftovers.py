"""The files that only a worktree has, and that nothing can make again.

Git has what is committed and unchanged. What `agent-start` put there has its digest in a record.
Programs make again what git ignores and `agents.disposable` names. All else is left over, also in
the folder of a submodule that is not checked out, where git looks at nothing.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.errors import GhpError
from ghp_agents.core.file_names import parents
from ghp_agents.git import own_work
from ghp_agents.git import process as git
from ghp_agents.git.own_work import InnerRepository

TIMEOUT_S = 600.0  # seconds; a large worktree takes time
SKIPPED = "S"  # in `git ls-files -v`; lower case: assumed to be unchanged


class Tree(NamedTuple):
    """A worktree or submodule: where it is now, and its git folder."""

    top: Path
    git_dir: Path

    def git(self, *args: str, stdin: bytes | None = None) -> git.Result:
        """Run git in it. Raises GitError."""
        env = {"GIT_WORK_TREE": str(self.top)}
        return git.check(
            args, cwd=self.top, git_dir=self.git_dir, env=env, stdin=stdin, timeout=TIMEOUT_S
        )


class Rules(NamedTuple):
    """What may go."""

    disposable: Sequence[str]  # patterns as in .gitignore
    digests: Mapping[str, str] = {}  # digests of what was put there, by path
    names: Collection[str] = ()  # of what is put into worktrees, changed or not
    home: Path | None = None  # the worktree that new ones get their files from

    def knows(self, path: str) -> bool:
        """Whether something was put there, or below it."""
        is_at = path in self.digests or path in self.names
        return is_at or any(name.startswith(f"{path}/") for name in self.digests)


def find(tree: Tree, rules: Rules, *, changes: bool = False) -> list[str]:
    """The files and whole folders that are left over, by path. Changes of committed files count
    only with `changes`, new files that git does not ignore only with it or if they are known. A
    link is never followed. Raises GitError."""
    paths = _unseen_changes(tree)
    for code, name in _untracked(tree):
        plain = name.rstrip("/")
        if code == "!!":
            paths += _left(tree.top, plain, rules)
        elif changes or (code == "??" and rules.knows(plain)):
            paths += _left(tree.top, plain, rules._replace(disposable=()))
    for path, inner in _gitlinks(tree):
        if inner:
            below = find(inner, Rules(rules.disposable), changes=changes)
            paths += [f"{path}/{name}" for name in below]
        else:
            paths += _in_gitlink(tree.top, path, rules)
    whole = {*paths}
    return sorted(x for x in whole if not any(x.startswith(f"{above}/") for above in whole))


def in_gitlinks(tree: Tree, rules: Rules) -> Iterator[str]:
    """What is left over in the folders of submodules that are not checked out, at any depth; for a
    folder that cannot be read, its path. Raises GitError."""
    for path, inner in _gitlinks(tree):
        try:
            below = [f"{path}/{name}" for name in in_gitlinks(inner, Rules(()))] if inner else []
            yield from below if inner else _in_gitlink(tree.top, path, rules)
        except (GhpError, OSError):
            yield path


def _gitlinks(tree: Tree) -> Iterator[tuple[str, Tree | None]]:
    """The paths of submodules, and those that are checked out. A link is never followed."""
    for path in own_work.gitlinks(tree.top, tree.git_dir):
        if not any((tree.top / above).is_symlink() for above in parents(path)):
            place = tree.top / path
            yield path, None if place.is_symlink() else _submodule(place)


def _in_gitlink(top: Path, path: str, rules: Rules) -> list[str]:
    """What is left over in the folder of a submodule that is not checked out: nothing there is
    disposable."""
    left, place = _left(top, path, rules._replace(disposable=())), top / path
    if left != [path] or place.is_symlink() or not place.is_dir() or (place / ".git").exists():
        return left
    return [f"{path}/{name}" for name in sorted(x.name for x in place.iterdir())]


def _untracked(tree: Tree) -> Iterator[tuple[str, str]]:
    """What `git status` lists: two letters, and a path that ends with `/` for a whole folder."""
    args = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignored=traditional",
            "--untracked-files=normal", "--ignore-submodules=all"]  # fmt: skip
    return ((entry[:2], entry[3:]) for entry in tree.git(*args).names)


def _unseen_changes(tree: Tree) -> list[str]:
    """Changed files that git was told not to look at: `git update-index --assume-unchanged`."""
    flagged = [
        name[2:]
        for name in tree.git("ls-files", "-z", "-v").names
        if (name[0].islower() or name[0] == SKIPPED) and os.path.lexists(tree.top / name[2:])
    ]
    files = [name for name in flagged if "\n" not in name and (tree.top / name).is_file()]
    if not files:
        return flagged
    listed = "".join(f"{name}\n" for name in files)
    oids = tree.git("hash-object", "--stdin-paths", stdin=os.fsencode(listed)).text.split()
    staged = tree.git("--literal-pathspecs", "ls-files", "-z", "--stage", "--", *files).names
    same = {line.partition("\t")[2]: line.split(" ")[1] for line in staged}
    hashed = dict(zip(files, oids, strict=True))
    return [name for name in flagged if name not in hashed or same.get(name) != hashed[name]]


def _submodule(folder: Path) -> Tree | None:
    dot = folder / ".git"
    if dot.is_dir():
        return Tree(folder, dot)
    try:
        word = os.fsdecode(dot.read_bytes()).partition("gitdir: ")[2].rstrip("\n")
    except OSError:
        return None
    git_dir = Path(os.path.normpath(folder / word))
    return Tree(folder, git_dir) if word and git_dir.is_dir() else None


def _left(top: Path, path: str, rules: Rules) -> list[str]:
    """What is left over at or below a path, which git does not have."""
    place = top / path
    if place.is_symlink() or not place.is_dir():
        is_something = place.is_symlink() or place.is_file()
        goes = is_disposable(path, rules.disposable) or is_unchanged(place, rules.digests.get(path))
        goes = goes or (rules.home is not None and is_same(place, rules.home / path))
        return [path] if is_something and not goes else []
    if is_disposable(f"{path}/", rules.disposable):
        return [*_repositories(top, path)]
    if (place / ".git").exists():
        return [path]
    names = sorted(child.name for child in place.iterdir())
    below = [_left(top, f"{path}/{name}", rules) for name in names]
    is_whole = below and all(
        left == [f"{path}/{name}"] for left, name in zip(below, names, strict=True)
    )
    return [path] if is_whole else [left for lefts in below for left in lefts]


def is_disposable(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path that git ignores may go; a folder ends with `/`. What a committed folder of
    such a name has in it needs a pattern of its own."""
    probe = f"{path}{globs.PROBE}" if path.endswith("/") else path
    above, _, name = path.rstrip("/").rpartition("/")
    own = f"{name}{probe[len(path.rstrip('/')) :]}"
    return globs.covers(patterns, own) or (
        globs.covers(patterns, probe)
        and not (above and globs.covers(patterns, f"{above}/{globs.PROBE}"))
    )


def _repositories(top: Path, path: str) -> Iterator[str]:
    """The repositories in a disposable folder that have work of their own."""
    for at, folders, files in os.walk(top / path):
        if ".git" in (*folders, *files):
            folders.clear()
            inner = _submodule(Path(at))
            if inner is None or _has_work(inner):
                yield str(Path(at).relative_to(top))


def _has_work(tree: Tree) -> bool:
    try:
        changed = tree.git("status", "--porcelain", "-z").out
        unseen = any(in_gitlinks(tree, Rules(())))
        return bool(changed or unseen or own_work.only_here(InnerRepository("", tree.git_dir)))
    except GhpError:
        return True


def is_unchanged(place: Path, digest: str | None) -> bool:
    """Whether a file or link is still as a record says."""
    return digest is not None and digest_of(place) == digest


def is_same(place: Path, other: Path) -> bool:
    """Whether two places have equal files, or links to the same place."""
    if place.is_symlink() or other.is_symlink():
        both = place.is_symlink() and other.is_symlink()
        return both and place.readlink() == other.readlink()
    import filecmp  # rarely needed

    try:
        return place.is_file() and other.is_file() and filecmp.cmp(place, other, shallow=False)
    except OSError:
        return False


def digest_of(place: Path) -> str:
    """What identifies the content of a file or link; empty if it cannot be read."""
    try:
        if not place.is_symlink() and not place.is_file():  # a pipe would block
            return ""
        if place.is_symlink():
            return f"link {place.readlink()}"
        import hashlib  # of many megabytes, OpenSSL's is faster

        with place.open("rb") as file:
            return f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return ""
