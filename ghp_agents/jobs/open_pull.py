"""What the open pull request of an issue waits for, with the next command."""

from typing import NamedTuple

from ghp_agents.handoffs import returned_work
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls import requested_changes, review
from ghp_agents.pulls.pull import Pull

REQUIRED = "required"  # of the setting `review`


class PullTrace(NamedTuple):
    """What a pull request waits for. `words` are sentences."""

    words: str
    change: str  # a command
    is_sent_back: bool = False  # its agent has to do something


def trace(ctx: Context, pull: Pull) -> list[PullTrace]:
    """What an open pull request waits for: its agent, a review, or its merge."""
    snapshot = ctx.store.snapshot()
    traces = [
        PullTrace(
            requested_changes.words(entry), f"ghp agent-pull show {pull.number}", is_sent_back=True
        )
        for entry in requested_changes.standing(snapshot, [pull])
    ]
    back = returned_work.unresolved(ctx.ws, snapshot, lambda entry: entry.pull == pull.number)
    traces += [
        PullTrace(
            f"#{entry.pull} was sent back: {returned_work.why(entry)} (round {number}).",
            f"ghp agent-pull show {pull.number}",
            is_sent_back=True,
        )
        for entry, number in back
        if entry.head == pull.head
    ]
    return traces or [_waits(ctx, pull, is_approved=_is_approved(snapshot, pull))]


def _is_approved(snapshot: Snapshot, pull: Pull) -> bool:
    reviews, _ = review.read_reviews(snapshot.files(review.folder_of(pull.number)))
    return any(entry.head == pull.head and entry.review.approves for entry in reviews)


def _waits(ctx: Context, pull: Pull, *, is_approved: bool) -> PullTrace:
    number = pull.number
    if pull.draft:
        return PullTrace(f"Its pull request #{number} is a draft.", "ghp agent-finish")
    if ctx.ws.settings.review == REQUIRED and not is_approved:
        return PullTrace(
            f"Its pull request #{number} waits for an approval.",
            f"ghp agent-review {number} --approve",
        )
    return PullTrace(
        f"Its pull request #{number} waits for its merge.", f"ghp agent-merge {number}"
    )
