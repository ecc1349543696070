"""Read what calls agents back to issues that they have worked on: their pull requests, answers to
their questions, and closed blockers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ghp_agents.conflicts import stale_base
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import escalation as rules
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.messages import News
from ghp_agents.handoffs import returned
from ghp_agents.jobs import listing
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls import review
from ghp_agents.pulls.pull import Pull
from ghp_agents.runs import outcome, reaction
from ghp_agents.runs.host_news import NOTHING, HostNews
from ghp_agents.runs.reaction import PullNews, PullVerdict, RunCause
from ghp_agents.runs.record import BLOCKED, RunRecord
from ghp_agents.state import remote_branches as branches
from ghp_agents.world import World


def standing(
    ctx: Context, jobs: Sequence[RunRecord], host: Mapping[int, HostNews] | None = None
) -> list[RunCause]:
    """The obstacles of the issues of these runs, the last ones of their agents. `host` is what the
    host reports of pull requests. Raises GhpError."""
    if not jobs:
        return []
    snapshot = ctx.store.snapshot()
    return [
        *_of_pulls(ctx, snapshot, jobs, host or {}),
        *_unblocked(ctx, jobs),
        *_answered(ctx, snapshot, jobs),
    ]


def _of_pulls(
    ctx: Context, snapshot: Snapshot, jobs: Iterable[RunRecord], host: Mapping[int, HostNews]
) -> Iterator[RunCause]:
    pulls = listing.open_pulls(ctx)
    for run in jobs:
        pull = pulls.get(run.issue)
        if pull is not None:
            yield from reaction.of_pull(_news(ctx, snapshot, run, pull, host))


def _news(
    ctx: Context, snapshot: Snapshot, run: RunRecord, pull: Pull, host: Mapping[int, HostNews]
) -> PullNews:
    returns = returned.read_returns(snapshot.files(returned.folder_of(pull.number)))[0]
    reviews = review.read_reviews(snapshot.files(review.folder_of(pull.number)))[0]
    base, hosted = stale_base.known(ctx.ws, run.agent), host.get(pull.number, NOTHING)
    verdicts = [PullVerdict(x.id, x.by, x.head, x.verdict, x.text) for x in reviews]
    return PullNews(
        pull, run.issue, (pull.head, branches.known_tip(ctx.ws, pull.branch)),
        tuple((entry, returned.round_of(returns, entry)) for entry in returns),
        (*hosted.verdicts, *verdicts), hosted.failed if hosted.head == pull.head else "",
        base.words if base and base.folder == run.path else "",
    )  # fmt: skip


def _unblocked(ctx: Context, jobs: Iterable[RunRecord]) -> Iterator[RunCause]:
    for run in jobs:
        if run.outcome == BLOCKED and not outcome.waits_for(ctx, run.issue):
            blockers = ctx.tracker.get(run.issue).blocked_by
            yield reaction.unblocked(run.issue, blockers)


def _answered(ctx: Context, snapshot: Snapshot, jobs: Iterable[RunRecord]) -> Iterator[RunCause]:
    """Answers that the agents have not read, unless a person wants no more runs."""
    for run in jobs:
        for news in escalation.news_for(World(ctx, snapshot), AgentName(run.agent)):
            if news.escalation.question.issue == run.issue and _calls(news):
                name = news.escalation.name
                yield reaction.answered(run.issue, name, news.answer.by)


def _calls(news: News) -> bool:
    decides = news.answer in news.escalation.answers
    option = rules.picked(news.escalation.question, [news.answer])
    return decides and not {option, news.answer.text} & {*rules.ENDS}
