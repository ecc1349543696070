"""Each agent's work merged into the main branch, as a trial: does it conflict, and what is new."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.conflicts.overlap import NetChange
from ghp_agents.conflicts.path_conflict import PathConflict, conflicts_of
from ghp_agents.conflicts.work import AgentWork, UnreadWork
from ghp_agents.git import loose, tree_changes, trial_merge
from ghp_agents.git.trial_merge import TrialMerge, TrialPlace
from ghp_agents.hotpath.quoting import one_line

_WHO = "ghp <ghp@localhost> 0 +0000"


class OnTrunk(NamedTuple):
    """Work on top of the main branch."""

    work: AgentWork
    commit: str  # a commit of both; with conflicts, its files have conflict markers
    tree: str
    own_tree: str  # of the work alone
    change: NetChange  # what it would change on the main branch
    conflicts: tuple[PathConflict, ...] = ()

    @property
    def is_stale(self) -> bool:
        """Whether the main branch has something that the work lacks."""
        return self.tree != self.own_tree


def merge_each(
    place: TrialPlace, trunk: str, works: Sequence[AgentWork]
) -> tuple[list[OnTrunk], list[UnreadWork]]:
    """Merge each work into the commit `trunk`. What is on the main branch already is left out.
    Raises GitError."""
    if not works:
        return [], []
    trunk_tree, *own_trees = tree_changes.trees(place, [trunk, *(work.commit for work in works)])
    merges = trial_merge.merge_all(place, [(trunk, work.commit) for work in works])
    unread: list[UnreadWork] = []
    ready: list[tuple[AgentWork, str, TrialMerge]] = []
    for work, own_tree, merged in zip(works, own_trees, merges, strict=True):
        if merged.failure:
            unread.append(UnreadWork(work.name, _why(merged.failure)))
        elif not merged.is_clean or merged.tree != trunk_tree:
            ready.append((work, own_tree, merged))
    differing = tree_changes.changes(place, [(trunk_tree, merged.tree) for *_, merged in ready])
    fresh = loose.NewObjects(str(place.objects), len(trunk))
    on_trunk: list[OnTrunk] = []
    for (work, own_tree, merged), changes in zip(ready, differing, strict=True):
        content = loose.commit(merged.tree, [trunk, work.commit], _WHO, _WHO, "On the main branch")
        conflicts = tuple(conflicts_of(merged))
        touched = {change.path for change in changes} | {conflict.path for conflict in conflicts}
        change = NetChange(
            frozenset(touched),
            frozenset(blob_change.path for blob_change in changes if not blob_change.old),
            frozenset(blob_change.path for blob_change in changes if not blob_change.new),
        )
        on_trunk.append(
            OnTrunk(work, fresh.add("commit", content), merged.tree, own_tree, change, conflicts)
        )
    fresh.flush(durable=False)
    return on_trunk, unread


def _why(failure: str) -> str:
    if "unrelated histories" in failure:
        return "it has no commit in common with the main branch here"
    return f"git cannot merge it: {one_line(failure, 200)}"
