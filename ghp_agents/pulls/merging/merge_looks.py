"""Looks at many pull requests for the queue: which are merged already, in few git processes."""

from collections.abc import Mapping, Sequence

from ghp_agents.git import merge
from ghp_agents.pulls.merging.merge_trial import Merger, TrialLook, branch_gone
from ghp_agents.pulls.pull import Pull, no_base
from ghp_agents.state import remote_branches as branches


class MergeLooks:
    """What can be told of pull requests of one base before any is merged."""

    def __init__(
        self, who: Merger, base: str, tips: Mapping[str, str], pulls: Sequence[Pull]
    ) -> None:
        self._folder, self._tips, self._base = who.ws.folder, tips, base
        self.trunk = tips.get(base, "")
        self._is_local = who.forge.is_local
        refs = branches.refs(who.ws, *(pull.branch for pull in pulls if pull.branch in tips))
        self._marked = merge.merged_heads(self._folder, self.trunk) if self.trunk else {}
        self._ahead = merge.containing(self._folder, self.trunk, refs) if self.trunk else set()

    def look(self, pull: Pull) -> TrialLook:
        """Look at one of them. The candidate is left out. Raises RefusedError."""
        if not self.trunk:
            raise no_base(self._base)
        head = self._tips.get(pull.branch)
        if self._is_merged(head or pull.head):
            return TrialLook(head or pull.head, self.trunk, self.trunk, is_there=True)
        if head is None:
            raise branch_gone(pull)
        return TrialLook(head, self.trunk, "")

    def _is_merged(self, head: str) -> bool:
        if not self._is_local:
            return False  # a host knows what it merged
        if head in self._marked:
            return True
        if head in self._ahead and head != self.trunk:
            return False
        return merge.landed_unmarked(self._folder, self.trunk, head) is not None
