"""The paths that differ between pairs of trees: one `git diff-tree` for all pairs."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from ghp_agents.git import process as git
from ghp_agents.git.trial_merge import TrialPlace


class GitPlace(Protocol):
    """Where git can be asked."""

    def check(self, *args: str, stdin: bytes | None = None) -> git.Result:
        """Run git. Raises GitError unless it exits with 0."""


class TreeChange(NamedTuple):
    """A path that differs; an id is empty where the path is absent."""

    path: str
    old: str
    new: str


def trees(place: TrialPlace, commits: Sequence[str]) -> list[str]:
    """The trees of commits. Raises GitError."""
    return place.check("rev-parse", *(f"{commit}^{{tree}}" for commit in commits)).text.split("\n")


def changes(place: GitPlace, pairs: Sequence[tuple[str, str]]) -> list[list[TreeChange]]:
    """The changed paths of each pair of trees. A rename is a removal and an addition. Raises
    GitError."""
    if not pairs:
        return []
    lines = "".join(f"{old} {new}\n" for old, new in pairs).encode()
    args = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
    out = place.check(*args, stdin=lines).out
    listed = [*_parse(out)]
    assert len(listed) == len(pairs), "git prints a line for each pair"
    return listed


def _parse(out: bytes) -> Iterator[list[TreeChange]]:
    """Each pair has a line with its trees, then fields that end with NUL: a description, a path."""
    at = 0
    pair_changes: list[TreeChange] | None = None
    while at < len(out):
        if out[at : at + 1] != b":":
            if pair_changes is not None:
                yield pair_changes
            at, pair_changes = out.index(b"\n", at) + 1, []
            continue
        middle = out.index(b"\0", at)
        end = out.index(b"\0", middle + 1)
        old, new = out[at:middle].split(b" ")[2:4]
        assert pair_changes is not None
        pair_changes.append(TreeChange(os.fsdecode(out[middle + 1 : end]), _oid(old), _oid(new)))
        at = end + 1
    if pair_changes is not None:
        yield pair_changes


def _oid(text: bytes) -> str:
    return text.decode() if text.strip(b"0") else ""
