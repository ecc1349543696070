"""Trial merges of many commits with `git merge-tree`: no worktree, index or ref is read or changed.

New objects go to a temporary folder. Merge drivers and filters from the configuration never run: a
file with such a driver is merged as text. Git works in a temporary folder with the `.gitattributes`
of one commit, so that built-in drivers (`union`, `binary`) count as in a real merge.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import process as git
from ghp_agents.git.at_once import cores, each
from ghp_agents.git.index_copy import borrowed
from ghp_agents.git.merge import TIMEOUT_S, Stage, read_stages
from ghp_agents.git.objects import read_blobs
from ghp_agents.git.patch_text import is_git_folder

MANY = (2, 39)  # the first git with `merge-tree --stdin`
ATTRIBUTES = ".gitattributes"
LARGEST_ATTRIBUTES = 1_000_000  # bytes
_PLAIN = ("-c", "core.looseCompression=0", "-c", "core.fsync=none", "-c", "rerere.enabled=false")
_TEXT = "git merge-file --quiet --marker-size=%L %A %O %B"
_VALUES = {"TRIAL_TEXT_MERGE": _TEXT, "TRIAL_NOTHING": "", "TRIAL_FALSE": "false"}
_INSTEAD = {  # by the last word of the key
    "driver": "TRIAL_TEXT_MERGE", "clean": "TRIAL_NOTHING", "smudge": "TRIAL_NOTHING",
    "process": "TRIAL_NOTHING", "required": "TRIAL_FALSE",
}  # fmt: skip


class MergeMessage(NamedTuple):
    """What git says about some paths; `kind` is a short stable text."""

    paths: tuple[str, ...]
    kind: str
    text: str


class TrialMerge(NamedTuple):
    """The result of a trial merge. `failure` is git's reason if it could not merge at all."""

    tree: str
    is_clean: bool = True
    stages: tuple[Stage, ...] = ()
    messages: tuple[MergeMessage, ...] = ()
    failure: str = ""


class Programs(NamedTuple):
    """The names of the merge drivers and filters that the configuration defines, and the flags and
    variables that keep git from running them."""

    drivers: frozenset[str]
    filters: frozenset[str]
    flags: tuple[str, ...]
    env: dict[str, str]


class TrialPlace(NamedTuple):
    """Where trial merges run."""

    git_dir: Path
    folder: Path  # with the attributes
    objects: Path  # the new objects
    programs: Programs
    env: dict[str, str]

    def run(self, *args: str, stdin: bytes | None = None) -> git.Result:
        """Run git here, whatever its exit code."""
        return git.run(
            [*_PLAIN, *self.programs.flags, *args], cwd=self.folder, git_dir=self.git_dir,
            stdin=stdin, timeout=TIMEOUT_S, env=self.env,
        )  # fmt: skip

    def check(self, *args: str, stdin: bytes | None = None) -> git.Result:
        """Run git here. Raises GitError unless it exits with 0."""
        return self.run(*args, stdin=stdin).checked(args)


def programs(folder: Path) -> Programs:
    """The merge drivers and filters of a repository's configuration, which must not run."""
    args = ["config", "-z", "--name-only", "--get-regexp", r"^(merge|filter)\..*\."]
    keys = sorted({*git.run(args, cwd=folder).names})
    named = [(key, *key.partition(".")[::2]) for key in keys]
    flags: list[str] = []
    by_section: dict[str, set[str]] = {"merge": set(), "filter": set()}
    for key, section, rest in named:
        name, _, last = rest.rpartition(".")
        if (last == "driver") == (section == "merge") and last in _INSTEAD:
            by_section[section].add(name)
            flags.append(f"--config-env={key}={_INSTEAD[last]}")
    return Programs(
        frozenset(by_section["merge"]), frozenset(by_section["filter"]), tuple(flags), _VALUES
    )


def open_place(git_dir: Path, scratch: Path, programs: Programs) -> TrialPlace:
    """A place for trial merges in the empty folder `scratch`, which the caller deletes."""
    folder, objects = scratch / "attributes", scratch / "objects"
    folder.mkdir()
    objects.mkdir()
    env = {
        **borrowed(f"{git_dir}/objects", str(objects)), **programs.env,
        "GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(scratch / "no-index"),
    }  # fmt: skip
    return TrialPlace(git_dir, folder, objects, programs, env)


def use_attributes(place: TrialPlace, commit: str) -> None:
    """Apply the `.gitattributes` files of a commit."""
    listed = place.check("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).names
    paths = [path for path in listed if path.rpartition("/")[2] == ATTRIBUTES and _is_plain(path)]
    if not paths:
        return
    names = [f"{commit}:{path}" for path in paths]
    blobs = read_blobs(place.git_dir, names, place.env, largest=LARGEST_ATTRIBUTES)
    for path, content in zip(paths, blobs, strict=True):
        if content is not None:
            (place.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (place.folder / path).write_bytes(content)


def _is_plain(path: str) -> bool:
    """Whether a path of a tree leads nowhere else."""
    return not any(part in ("", ".", "..") or is_git_folder(part) for part in path.split("/"))


def merge_all(
    place: TrialPlace, pairs: Sequence[tuple[str, str]], version: tuple[int, ...] | None = None
) -> list[TrialMerge]:
    """Merge each pair of commits, several at once. The caller checks that git has `MERGE_TREE`."""
    if (version or git.version()) < MANY:
        return each(lambda pair: _one(place, pair), pairs)
    shares = each(lambda share: _share(place, share), _shares(pairs))
    merged: list[TrialMerge] = [TrialMerge("")] * len(pairs)
    for number, share in enumerate(shares):
        merged[number :: len(shares)] = share
    return merged


def _shares(pairs: Sequence[tuple[str, str]]) -> list[Sequence[tuple[str, str]]]:
    number = max(1, min(cores(), len(pairs) // 4))
    return [pairs[first::number] for first in range(number)]


def _one(place: TrialPlace, pair: tuple[str, str]) -> TrialMerge:
    done = place.run("merge-tree", "--write-tree", "-z", *pair)
    if done.code not in (0, 1) or not done.out:
        return TrialMerge("", False, failure=_reason(done))
    status = b"1" if done.code == 0 else b"0"
    return next(parse(status + b"\0" + done.out + b"\0"), TrialMerge("", False, failure="?"))


def _share(place: TrialPlace, pairs: Sequence[tuple[str, str]]) -> list[TrialMerge]:
    """Merge these in one process. It ends at a pair that cannot be merged; another one goes on."""
    merged: list[TrialMerge] = []
    while len(merged) < len(pairs):
        lines = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs[len(merged) :])
        done = place.run("merge-tree", "--write-tree", "-z", "--stdin", stdin=lines.encode())
        merged += parse(done.out)
        if len(merged) < len(pairs):
            merged.append(TrialMerge("", False, failure=_reason(done)))
    return merged


def _reason(done: git.Result) -> str:
    lines = done.err.strip().splitlines() or [f"exit code {done.code}"]
    return lines[-1].removeprefix("fatal: ")


def parse(out: bytes) -> Iterator[TrialMerge]:
    """The complete results in the output of `git merge-tree --write-tree -z --stdin`.

    Each is a status, a tree, the stages of conflicting files, an empty field, the messages, and
    another empty field. Clean merges have no messages.
    """
    fields = iter(os.fsdecode(out).split("\0")[:-1])
    with suppress(_CutShortError):  # git ended early: the last result is not complete
        for status in fields:
            tree = _next(fields)
            stages = read_stages(_section(fields))
            messages = () if status == "1" else tuple([*_messages(fields)])
            yield TrialMerge(tree, status == "1", stages, messages)


class _CutShortError(Exception):
    """There is no further field."""


def _next(fields: Iterator[str]) -> str:
    for field in fields:
        return field
    raise _CutShortError


def _section(fields: Iterator[str]) -> Iterator[str]:
    """The fields up to an empty one."""
    while field := _next(fields):
        yield field


def _messages(fields: Iterator[str]) -> Iterator[MergeMessage]:
    for number in _section(fields):
        if not number.isdigit():
            return  # advice about submodules, in place of the empty field
        paths = tuple([_next(fields) for _ in range(int(number))])
        yield MergeMessage(paths, _next(fields), _next(fields))
