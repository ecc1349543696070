"""A claim: the right to an issue; who may take it, and who was replaced. Pure, light to load."""

from typing import Literal, NamedTuple

from ghp_agents.model.cause import CLOSED, DISPUTE, MERGED
from ghp_agents.model.quote import named, phrase, reason, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.model.lease import Lease
    from ghp_agents.model.names import Timestamp

PREFIX = "issue/"

Standing = Literal["free", "mine", "lapsed", "held", "disputed"]


def claim_name(issue: int) -> str:
    """The name of the right to an issue."""
    return f"{PREFIX}{issue}"


def claimed_issue(name: str) -> int | None:
    """The issue that a right is to; None for a right to something else."""
    word = name.removeprefix(PREFIX)
    return int(word) if word != name and word.isascii() and word.isdigit() else None


def is_mine(lease: "Lease", holder: str, epoch: int, clone: str) -> bool:
    """Whether `holder` has the right; `epoch` is the holder's, 0 for a person.

    An agent is its name, its epoch and its clone: one in a copy of the clone has nothing of what
    the original has. It keeps its rights when it is started again, with a higher epoch. A person
    is the same in every clone. Where the lease does not say its clone, an older version wrote it.
    """
    if lease.holder != holder:
        return False
    if epoch == 0 or lease.epoch == 0:
        return lease.epoch == epoch
    return lease.epoch <= epoch and not is_elsewhere(lease, clone)


def is_elsewhere(lease: "Lease", clone: str) -> bool:
    """Whether an agent of another clone than `clone` has the right."""
    return lease.epoch > 0 and bool(lease.clone and clone) and lease.clone != clone


def standing(
    lease: "Lease | None", holder: str, epoch: int, clone: str, *, lives: bool
) -> Standing:
    """How `holder` stands to a right, whose present holder `lives` or does not.

    A person's right never lapses: nobody's silence says anything about a person.
    """
    if lease and lease.is_disputed:
        return "disputed"
    if lease is None or lease.holder is None:
        return "free"
    if is_mine(lease, holder, epoch, clone):
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
    cause: str = ""  # the kind of it
    is_namesake: bool = False  # the holder is the same name in another clone

    @property
    def words(self) -> str:
        """What happened, for who was replaced."""
        if self._is_merged:
            return f"Your work on #{self.issue} is done: {phrase(self.reason)}."
        if self._is_closed:
            return f"#{self.issue} is closed, and your claim of it ended with that."
        if self.cause == DISPUTE:
            return f"Your claim of #{self.issue} is in dispute.{reason(self.reason)}"
        if self.holder is None:
            free = f"Your claim of #{self.issue} was given back; nobody holds it."
            return free + reason(self.reason)
        who = named(self.holder, self.is_person)
        if self.is_namesake:
            return (
                f"#{self.issue} is claimed by {who} in another clone since {when(self.since)}, "
                "not in this one. A copied clone does not take the claims of the original with it."
            )
        taken = f"Your claim of #{self.issue} was taken: {who} holds it since {when(self.since)}."
        return taken + reason(self.reason, who)

    @property
    def hint(self) -> str:
        """What next, for who was replaced."""
        other = "`ghp agent-claim --next` finds other work."
        if self._is_merged:
            return f"What else there is to do about it needs an issue of its own; {other}"
        if self.is_namesake:
            return (
                f"Work on in the other clone. If it is gone, take the claim over: `ghp agent-claim "
                f"{self.issue} --steal --reason TEXT`. {other}"
            )
        begin = "Nothing is left to do" if self._is_closed else "Stop working"
        return (
            f"{begin} on #{self.issue}; what you have not pushed can be handed over with "
            f"`ghp agent-handoff --issue {self.issue}`. {other}"
        )

    @property
    def _is_merged(self) -> bool:
        return self.holder is None and self.cause == MERGED

    @property
    def _is_closed(self) -> bool:
        return self.holder is None and self.cause == CLOSED


def fence_of(
    known: "Mapping[str, Lease]", agent: str, presence: "Mapping[str, Any]", clone: str
) -> Fence | None:
    """Whether `agent` in `clone` was replaced as the holder of the issue that it works on.

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
    if is_mine(lease, agent, epoch if type(epoch) is int else 0, clone):
        return None
    return Fence(
        issue, lease.holder, lease.is_person, lease.acquired_at, lease.generation, lease.reason,
        lease.cause.kind, lease.holder == agent and is_elsewhere(lease, clone),
    )  # fmt: skip
