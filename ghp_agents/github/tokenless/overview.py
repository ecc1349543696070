"""What people read about clones without a token: which tracker, how old, and how much waits."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ghp_agents.core.clock import ago
from ghp_agents.core.ids import count, one_line
from ghp_agents.github.tokenless import place, request
from ghp_agents.github.tokenless.place import MIRROR, Tracker
from ghp_agents.github.tokenless.request import RequestResult, WriteRequest
from ghp_agents.ports import Snapshot
from ghp_agents.state.codec import seconds

SYNC = "Run `ghp agent-sync` in a clone with a token."


class TokenlessOverview(NamedTuple):
    """The recorded tracker, and what clones without a token asked for."""

    tracker: Tracker | None = None
    waiting: Sequence[WriteRequest] = ()
    refused: Sequence[tuple[WriteRequest, RequestResult]] = ()

    @property
    def waits(self) -> str:
        """What waits, in words; empty if nothing does."""
        if not self.waiting:
            return ""
        first = self.waiting[0]
        whose = f"{first.says} by {one_line(first.by.name, 80)}"
        return f"{count(len(self.waiting), 'write')} for GitHub; first: {whose}"


def overview(snapshot: Snapshot) -> TokenlessOverview:
    """The overview of a state."""
    requests = request.outgoing(snapshot)
    tracker = place.read_tracker(snapshot.present(MIRROR))
    return TokenlessOverview(tracker, requests.waiting, requests.refused)


def where(tracker: Tracker, now: float) -> str:
    """Where issues are for a clone without a token, and how old the published issues are."""
    age = ago(max(0.0, now - seconds(tracker.at)))
    return (
        f"Issues are on GitHub: https://{tracker.place}. This clone has no token: it reads what "
        f"other clones published {age} ago."
    )


def in_short(snapshot: Snapshot, now: float, *, has_token: bool) -> Iterator[tuple[str, str]]:
    """Lines for `agent-status`; a warning has a hint."""
    summary = overview(snapshot)
    if summary.tracker and not has_token:
        yield where(summary.tracker, now), ""
    if summary.waits:
        hint = "Run `ghp agent-sync` to send it." if has_token else SYNC
        yield f"Waiting for a clone with a token: {summary.waits}.", hint
    for entry, result in summary.refused[-3:]:
        yield (
            f"Not sent to GitHub: {entry.says} by {one_line(entry.by.name, 80)}: {result.why}",
            "Run `ghp agent-doctor` for all of them.",
        )
