"""GitHub's merge queue: what a merge is answered, and what GraphQL knows of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.support.faults import Asked, Said

if TYPE_CHECKING:
    from tests.support.github_pulls import Pulls

VIOLATION = "Repository rule violations found\n\n"
REQUIRED = f"{VIOLATION}Changes must be made through the merge queue\n\n"


class MergeQueue:
    """The queue of one branch that requires one."""

    def __init__(self, pulls: "Pulls") -> None:
        self._pulls = pulls
        self.numbers: list[int] = []

    def words(self, number: int) -> str:
        """What GitHub says to a merge beside the queue."""
        return "Pull Request is in the merge queue" if number in self.numbers else REQUIRED

    def answer(self, query: str, values: Mapping[str, Any]) -> Said | None:
        """What GraphQL says; None if it is not about the queue."""
        if "enqueuePullRequest" in query:
            return self._enqueue(values["id"], values["head"])
        return self._state(values["number"]) if "isInMergeQueue" in query else None

    def run(self) -> int:
        """Merge the first one, as GitHub does when its checks have passed."""
        number, *self.numbers = self.numbers
        self._pulls.queue, gaps = None, self._pulls.gaps
        path = f"/repos/{gaps.repository}/pulls/{number}/merge"
        request = Asked(gaps.repository.split("/")[0], "PUT", path, {}, {})
        assert self._pulls.merge(request, str(number)).status == 200
        self._pulls.queue = self
        return number

    def _state(self, number: int) -> Said:
        pull = self._pulls.told(self._pulls.gaps.ask("GET", f"pulls/{number}").body)
        state = "MERGED" if pull["merge_commit_sha"] else pull["state"].upper()
        entry = self._entry(number)
        fields = {"id": pull["node_id"], "state": state, "isInMergeQueue": entry is not None}
        node = {**fields, "mergeQueueEntry": entry}
        return Said(200, {"data": {"repository": {"pullRequest": node}}})

    def _entry(self, number: int) -> dict[str, int] | None:
        return {"position": self.numbers.index(number) + 1} if number in self.numbers else None

    def _enqueue(self, node: str, head: str) -> Said:
        every = self._pulls.gaps.every("pulls", state="all")
        pull = next(self._pulls.told(x) for x in every if x["node_id"] == node)
        words = self._pulls.rule
        if pull["head"]["sha"] != head or pull["number"] in self.numbers:
            words = "The pull request is in the queue already, or its head has moved"
        if words:
            wrong = [{"type": "UNPROCESSABLE", "message": words}]
            return Said(200, {"data": {"enqueuePullRequest": None}, "errors": wrong})
        self.numbers.append(pull["number"])
        entry = {"mergeQueueEntry": self._entry(pull["number"])}
        return Said(200, {"data": {"enqueuePullRequest": entry}})
