"""Read what calls agents back to issues that they have worked on: returned pull requests and
reviews."""

from collections.abc import Iterable, Iterator, Sequence

from ghp_agents.handoffs import returned
from ghp_agents.jobs import listing
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls import review
from ghp_agents.pulls.pull import Pull
from ghp_agents.runs import reaction
from ghp_agents.runs.reaction import PullNews, PullVerdict, RunCause
from ghp_agents.runs.record import RunRecord
from ghp_agents.state import remote_branches as branches


def standing(ctx: Context, jobs: Sequence[RunRecord]) -> list[RunCause]:
    """What stands in the way of the issues of these runs, the last ones of their agents. Raises
    GhpError."""
    return list(_of_pulls(ctx, jobs)) if jobs else []


def _of_pulls(ctx: Context, jobs: Iterable[RunRecord]) -> Iterator[RunCause]:
    snapshot, pulls = ctx.store.snapshot(), listing.open_pulls(ctx)
    for run in jobs:
        pull = pulls.get(run.issue)
        if pull is not None:
            yield from reaction.of_pull(_news(ctx, snapshot, run.issue, pull))


def _news(ctx: Context, snapshot: Snapshot, issue: int, pull: Pull) -> PullNews:
    returns = returned.read_returns(snapshot.files(returned.folder_of(pull.number)))[0]
    reviews = review.read_reviews(snapshot.files(review.folder_of(pull.number)))[0]
    tips = (pull.head, branches.known_tip(ctx.ws, pull.branch))
    return PullNews(
        pull, issue, tips,
        tuple((entry, returned.round_of(returns, entry)) for entry in returns),
        tuple(PullVerdict(x.id, x.by, x.head, x.verdict == "approve", x.text) for x in reviews),
    )  # fmt: skip
