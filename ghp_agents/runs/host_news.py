"""What a host reports of pull requests: failed checks with their output, and reviews.

Each look sends a few conditional requests for each pull request, so the supervisor looks once a
minute.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.github.commands import reviews
from ghp_agents.github.commands.reviews import HostReview
from ghp_agents.hotpath import background
from ghp_agents.jobs import listing
from ghp_agents.ports import Context
from ghp_agents.runs.reaction import APPROVES, COMMENTS, REQUESTS, PullVerdict
from ghp_agents.runs.record import RunRecord

_VERDICTS = {"APPROVED": APPROVES, "CHANGES_REQUESTED": REQUESTS, "COMMENTED": COMMENTS}


class HostNews(NamedTuple):
    """What a host reports of one pull request."""

    head: str = ""  # the commit that was checked
    failed: str = ""  # its failed checks, with their output
    verdicts: tuple[PullVerdict, ...] = ()  # oldest first


NOTHING = HostNews()
EVERY = 60.0  # seconds between two looks


def read(ctx: Context, jobs: Iterable[RunRecord]) -> dict[int, HostNews]:
    """What the host reports of the open pull requests of these runs, by number; nothing without a
    host. Raises GhpError."""
    if ctx.hub is None:
        return {}
    news: dict[int, HostNews] = {}
    pulls = listing.open_pulls(ctx)
    for run in jobs:
        pull = pulls.get(run.issue)
        if pull is None or pull.waits:
            continue
        checks = ctx.forge.checks(pull)
        failed = checks.output if checks.state == "red" else ""
        given = reviews.of_pull(ctx.ws, ctx.hub, run.agent, pull.number)
        news[pull.number] = HostNews(pull.head, failed, tuple(map(_verdict, given)))
    return news


class HostWatch:
    """Looks once a minute at what is in no record: the host, and what moved on main."""

    def __init__(self) -> None:
        self.news: Mapping[int, HostNews] = {}  # by pull request
        self._looked = -1e9

    def look(
        self, ctx: Context, jobs: Iterable[RunRecord], now: float, tell: Callable[[str], None]
    ) -> bool:
        """Look again if it is time; returns whether there is something new. `now` is in seconds of
        `Clock.interval`."""
        if now < self._looked + EVERY:
            return False
        self._looked, before, ws = now, self.news, ctx.ws
        settings = {"background": ws.settings.background}
        background.start_sync(
            ws.folders, ws.environ, ws.clock.now(), settings, urgent=True, pause=EVERY
        )
        try:
            self.news = read(ctx, jobs)
        except GhpError as error:
            tell(f"Checks and reviews are unknown: {error}")
        return self.news != before


def _verdict(review: HostReview) -> PullVerdict:
    return PullVerdict(review.id, review.by, review.head, _VERDICTS[review.state], review.text)
