"""Merges of pull requests on top of each other, without touching any branch or worktree."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core import mentions
from ghp_agents.git import changed_paths, merge
from ghp_agents.pulls.pull import MergeStep, Pull
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace


class Queued(NamedTuple):
    """A pull request and its branch's commit."""

    pull: Pull
    head: str


def message(ws: Workspace, pull: Pull, head: str, text: str = "") -> str:
    """Return the message of the commit that merges `head`; its trailer shows that it did. It starts
    no agent where main is pushed to."""
    text = text.strip() or f"Merge #{pull.number} from {pull.branch}\n\n{pull.title}"
    text = mentions.in_commit(text, ws.settings.mentionable)
    return f"{text}\n\n{merge.HEAD_TRAILER}: {head}\n"


def names(numbers: Sequence[int]) -> str:
    """Return numbers of pull requests in words: `#1, #2 and #3`."""
    words = [f"#{number}" for number in numbers]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


class MergeStack:
    """The commits that merging pull requests in some order creates on a commit `trunk`."""

    def __init__(self, ws: Workspace, trunk: str, by: str) -> None:
        self.trunk = trunk
        self._ws = ws
        self._method = ws.settings.merge_method
        self._identity = branches.identity(ws, by)
        self._merges: dict[tuple[str, ...], merge.MergeResult] = {}

    def commit(self, queued: Sequence[Queued]) -> str:
        """Return the commit of a sequence that `mergeable` has returned."""
        heads = tuple(pull.head for pull in queued)
        return self._merges[heads].oid if heads else self.trunk

    def mergeable(self, queued: Sequence[Queued]) -> list[Queued]:
        """Return those that git can merge in this order."""
        done: list[Queued] = []
        for pull in queued:
            if not self._add(done, pull).conflicts:
                done.append(pull)
        return done

    def conflicts(self, entry: Queued) -> tuple[str, ...]:
        """Return the paths in which a pull request alone conflicts with the trunk."""
        return self._add([], entry).conflicts

    def steps(self, queued: Sequence[Queued]) -> list[MergeStep]:
        """Return the merges of a sequence, with the paths that each changes."""
        commits = [self.commit(queued[: n + 1]) for n in range(len(queued))]
        if not queued:
            return []
        pairs = list(zip([self.trunk, *commits], commits, strict=False))
        paths = changed_paths.differing_each(self._ws.folder, pairs)
        return [
            MergeStep(entry.pull.number, entry.head, commit, tuple(changed))
            for entry, commit, changed in zip(queued, commits, paths, strict=True)
        ]

    def _add(self, below: Sequence[Queued], entry: Queued) -> merge.MergeResult:
        heads = (*(pull.head for pull in below), entry.head)
        if heads not in self._merges:
            self._merges[heads] = merge.merge_commits(
                self._ws.folder, self._ws.ghp_dir, self.commit(below), entry.head, self._method,
                message(self._ws, entry.pull, entry.head), self._identity,
            )  # fmt: skip
        return self._merges[heads]
