"""A claim: the right to an issue; who may take it, and who was replaced. Pure, light to load."""

from typing import Literal, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.model.lease import Lease
    from ghp_agents.model.names import Timestamp

PREFIX = "issue/"
CLOSED = "its issue is closed"  # the reason for which the claim of a closed issue ends
MERGED = "merged by #"  # how the reason begins for which the claim of merged work ends

Standing = Literal["free", "mine", "lapsed", "held"]


def claim_name(issue: int) -> str:
    """The name of the right to an issue."""
    return f"{PREFIX}{issue}"


def claimed_issue(name: str) -> int | None:
    """The issue that a right is to; None for a right to something else."""
    word = name.removeprefix(PREFIX)
    return int(word) if word != name and word.isascii() and word.isdigit() else None


def is_mine(lease: "Lease", holder: str, epoch: int) -> bool:
    """Whether `holder` has the right; `epoch` is the holder's, 0 for a person.

    An agent that moved to another clone and claimed there shuts out its former self: that one's
    epoch is lower.
    """
    if lease.holder != holder:
        return False
    return 1 <= lease.epoch <= epoch if epoch else lease.epoch == 0


def standing(lease: "Lease | None", holder: str, epoch: int, *, lives: bool) -> Standing:
    """How `holder` stands to a right, whose present holder `lives` or does not.

    A person's right never lapses: nobody's silence says anything about a person.
    """
    if lease is None or lease.holder is None:
        return "free"
    if is_mine(lease, holder, epoch):
        return "mine"
    return "held" if lives or lease.is_person else "lapsed"


class Fence(NamedTuple):
    """What keeps a former holder from going on: its claim was taken, or given back for it, or its
    work is done."""

    issue: int
    holder: str | None  # who has it now; None: nobody
    is_person: bool
    since: "Timestamp"  # of the present holder's claim
    generation: int
    reason: str

    @property
    def words(self) -> str:
        """What happened, for who was replaced."""
        if self._is_merged:
            return f"Your work on #{self.issue} is done: {self.reason}."
        if self._is_closed:
            return f"#{self.issue} is closed, and your claim of it ended with that."
        why = f" ({self.reason})" if self.reason else ""
        if self.holder is None:
            return f"Your claim of #{self.issue} was given back{why}; nobody holds it."
        who = f"{self.holder} (a person)" if self.is_person else self.holder
        return f"Your claim of #{self.issue} was taken: {who} holds it since {self.since}{why}."

    @property
    def hint(self) -> str:
        """What next, for who was replaced."""
        other = "`ghp agent-claim --next` finds other work."
        if self._is_merged:
            return f"What else there is to do about it needs an issue of its own; {other}"
        begin = "Nothing is left to do" if self._is_closed else "Stop working"
        return (
            f"{begin} on #{self.issue}; what you have not pushed can be handed over with "
            f"`ghp agent-handoff --issue {self.issue}`. {other}"
        )

    @property
    def _is_merged(self) -> bool:
        return self.holder is None and self.reason.startswith(MERGED)

    @property
    def _is_closed(self) -> bool:
        return self.holder is None and self.reason == CLOSED


def fence_of(
    known: "Mapping[str, Lease]", agent: str, presence: "Mapping[str, Any]"
) -> Fence | None:
    """Whether `agent` was replaced as the holder of the issue that it works on, by what is known.

    Its presence names the generation by which it holds the issue; one that names none never
    claimed it, and is not fenced.
    """
    issue, generation = presence.get("issue"), presence.get("generation")
    if type(issue) is not int or type(generation) is not int:
        return None
    lease = known.get(claim_name(issue))
    if lease is None or lease.generation < generation:
        return None
    epoch = presence.get("epoch")
    if is_mine(lease, agent, epoch if type(epoch) is int else 0):
        return None
    return Fence(
        issue, lease.holder, lease.is_person, lease.acquired_at, lease.generation, lease.reason
    )
