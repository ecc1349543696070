"""For an agent that lost its claim: whether it did, and its messages. Imported only if it lost its
current one, or had others before."""

from typing import NamedTuple

from ghp_agents.hotpath.heartbeat import former_claims
from ghp_agents.hotpath.quoting import named, phrase, reason, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.policy import EditRequest

    Claims = Mapping[str, Sequence[Any]]

# Causes; `state/cause.py` has all of them.
MERGED, CLOSED, DISPUTE, GIVEN = "merged", "closed", "dispute", "given"


def reason_of(holder: str | None, cause: str, reason: str, *, is_own: bool) -> str:
    """Return the reason that a former holder reads: not that of the release of another's claim."""
    return reason if is_own or holder is not None or cause in (MERGED, CLOSED) else ""


class LostClaim(NamedTuple):
    """Why a former holder must stop: its claim was taken or released, or its work is done."""

    issue: int
    holder: str | None  # the present holder; None: nobody
    is_person: bool
    since: str  # start of the present holder's claim
    generation: int
    reason: str
    cause: str = ""  # the kind of its cause
    is_namesake: bool = False  # the holder has the same name in another clone
    other: int = 0  # the newest issue that the agent still holds; 0: none

    @property
    def words(self) -> str:
        """What happened, for the former holder."""
        if self._is_merged:
            return f"Your work on #{self.issue} is done: {phrase(self.reason)}."
        if self._is_closed:
            return f"#{self.issue} is closed, so your claim of it ended."
        if self.cause == DISPUTE:
            return f"Your claim of #{self.issue} is disputed.{reason(self.reason)}"
        if self.holder is None:
            free = f"Your claim of #{self.issue} was released; nobody holds it."
            return free + reason(self.reason)
        who = named(self.holder, self.is_person)
        if self.is_namesake:
            return (
                f"#{self.issue} is claimed by {who} in another clone since {when(self.since)}, "
                "not in this one. A copied clone does not inherit the claims of the original."
            )
        taken = (
            f"Your claim of #{self.issue} was taken: {who} has held it since {when(self.since)}."
        )
        return taken + reason(self.reason, "" if self.cause == GIVEN else who)

    @property
    def short(self) -> str:
        """What happened, for everybody; the reason is not quoted."""
        if self._is_merged:
            return f"#{self.issue} was {self.reason}"
        if self._is_closed:
            return f"#{self.issue} was closed"
        if self.holder is None:
            return f"#{self.issue} was released" + (f": {self.reason}" if self.reason else "")
        return f"#{self.issue} is claimed by {self.holder}"

    @property
    def hint(self) -> str:
        """What to do next, for the former holder."""
        other = "`ghp agent-claim --next` finds other work."
        if self.other:
            other = f'You still hold #{self.other}: `cd "$(ghp agent-where {self.other})"`.'
        if self._is_merged:
            return f"Further work on it needs a new issue. {other}"
        if self.is_namesake:
            return (
                "Continue in the other clone. If it is gone, take over: "
                f"`ghp agent-claim {self.issue} --steal --reason TEXT`. {other}"
            )
        begin = "Nothing is left to do" if self._is_closed else "Stop working"
        return (
            f"{begin} on #{self.issue}. Hand over unpushed work with `ghp agent-handoff --issue "
            f"{self.issue}`. {other}"
        )

    @property
    def _is_merged(self) -> bool:
        return self.holder is None and self.cause == MERGED

    @property
    def _is_closed(self) -> bool:
        return self.holder is None and self.cause == CLOSED


def lost_here(claims: "Claims", held: "Claims", case: "EditRequest", here: str) -> LostClaim | None:
    """The lost claim of the issue that an agent works on in a worktree: that of the branch, `here`,
    if the agent holds it or had claimed it, else its current one.

    `claims` are those of the compiled policy, by issue; `held` are the agent's.
    """
    presence = case.presence or {}
    issue, generation = str(presence.get("issue")), presence.get("generation")
    former = former_claims(presence)
    if here in former:
        issue, generation = here, former[here]
    row = claims.get(issue) if type(generation) is int else None
    if row is None or row[2] < generation or issue in held or here in held:
        return None
    holder, epoch, current, since, text, cause, is_elsewhere = row
    other = max(held, key=lambda number: (held[number][3], int(number)), default="0")
    return LostClaim(
        int(issue), holder, epoch == 0, since, current,
        reason_of(holder, cause, text, is_own=current == generation), cause,
        is_elsewhere and holder == case.agent and case.is_here, int(other),
    )  # fmt: skip
