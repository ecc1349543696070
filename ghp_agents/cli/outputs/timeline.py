"""A timeline, as JSON."""

from typing import TypedDict


class TimelineSpanJson(TypedDict):
    """A time of an agent: `work`, `wait`, `idle` or `dead`; or a `question` or `queue` that is
    open."""

    kind: str
    start: str
    end: str
    issue: int | None
    status: str | None
    text: str | None


class TimelineMarkJson(TypedDict):
    """A moment of an agent. `by` is null if the agent itself acted."""

    kind: str
    at: str
    issue: int | None
    by: str | None
    text: str | None


class LaneJson(TypedDict):
    """An agent. `spans` follow each other; `open` overlaps them."""

    agent: str
    spans: list[TimelineSpanJson]
    open: list[TimelineSpanJson]
    events: list[TimelineMarkJson]


class TimelineJson(TypedDict):
    """Who worked on what, and when. `titles` are of the issues, by number."""

    since: str
    until: str
    agents: list[LaneJson]
    titles: dict[str, str]
    agentsLeftOut: int
    eventsLeftOut: int
    unread: int
