"""What the open pull request of an issue waits for, with the next command."""

from typing import NamedTuple

from ghp_agents.handoffs import returned_work
from ghp_agents.hotpath.quoting import named, phrase
from ghp_agents.ports import Context
from ghp_agents.pulls import review
from ghp_agents.pulls.pull import Pull

TEXT_SHOWN = 200  # characters of a review
REQUIRED = "required"  # of the setting `review`


class PullTrace(NamedTuple):
    """What a pull request waits for. `words` are sentences."""

    words: str
    change: str  # a command
    is_sent_back: bool = False  # its agent has to do something


def trace(ctx: Context, pull: Pull) -> list[PullTrace]:
    """What an open pull request waits for: its agent, a review, or its merge."""
    snapshot = ctx.store.snapshot()
    reviews, _ = review.read_reviews(snapshot.files(review.folder_of(pull.number)))
    latest = {entry.by: entry for entry in reviews if entry.head == pull.head}.values()
    traces = [
        PullTrace(
            f"{named(entry.by.name, entry.by.is_person)} requested changes to #{pull.number}"
            + (f": {phrase(entry.text, TEXT_SHOWN)}." if entry.text else "."),
            f"ghp agent-pull show {pull.number}",
            is_sent_back=True,
        )
        for entry in latest
        if not entry.review.approves
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
    return traces or [_waits(ctx, pull, is_approved=any(x.review.approves for x in latest))]


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
