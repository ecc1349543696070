"""Record a review of a pull request; require one before a merge where `agents.review` says so."""

from typing import NamedTuple

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Timestamp
from ghp_agents.core.secret_scan import redacted
from ghp_agents.issues import service as issues
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls import review as rules
from ghp_agents.pulls.merging.merge_evidence import is_branch_as_sent
from ghp_agents.pulls.merging.merge_trial import Merger, TrialLook
from ghp_agents.pulls.pull import Pull, Review
from ghp_agents.pulls.review import ReviewRecord
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text, settings_at

REQUIRED = "required"


class Reviewed(NamedTuple):
    """A review, and whether it is new."""

    record: ReviewRecord
    is_new: bool
    notes: tuple[str, ...] = ()


def review(ctx: Context, pull: Pull, verdict: str, text: str = "") -> Reviewed:
    """Record a review of a pull request's present commit, and comment on its issue. The same review
    again changes nothing. `verdict` is one of VERDICTS. Raises RefusedError for one's own pull
    request, and for one that is not open."""
    by, fresh = ctx.ws.actor(), random_hex(6)
    if pull.state != "open":
        raise RefusedError(
            f"#{pull.number} is {pull.state}.", hint="Only an open pull request can be reviewed."
        )
    if by.name in rules.authors(pull):
        raise RefusedError(
            f"#{pull.number} is your own work.",
            hint="Another agent or a person can review it: `ghp agent-review "
            f"{pull.number} --approve`.",
        )

    def decide(snapshot: Snapshot) -> tuple[Reviewed, list[Record]]:
        entry = entry_of(ctx, snapshot, fresh, pull, verdict, text)
        earlier = [record for record in _records(snapshot, pull.number) if record.by == by]
        if earlier and earlier[-1][2:5] == entry[2:5]:
            return Reviewed(earlier[-1], is_new=False), []
        return Reviewed(entry, is_new=True), [rules.encode(entry, pull.issue)]

    done = transact(ctx.store, decide)
    if pull.issue is None:
        return done
    return done._replace(notes=comment(ctx, pull.issue, done))


def entry_of(
    ctx: Context, snapshot: Snapshot, identity: str, pull: Pull, verdict: str, text: str
) -> ReviewRecord:
    """The review of a pull request's commit by the actor."""
    return ReviewRecord(
        pull.number, identity, pull.head, verdict, redacted(text).strip()[: rules.TEXT_LIMIT],
        Timestamp(now_text(ctx.ws)), ctx.ws.actor(), snapshot.clock + 1, snapshot.clone,
    )  # fmt: skip


def comment(ctx: Context, issue: int, done: Reviewed, marker: str = "") -> tuple[str, ...]:
    """Comment on the issue, unless an earlier run did; return notes on failures. Without a marker,
    the issue's agent hears of it."""
    text = rules.comment(done.record)
    try:
        with ctx.tracker.showing():
            if marker:
                ctx.tracker.comment(issue, text, done.record.by, marker=marker)
            elif done.is_new or all(
                remark.body != text for remark in ctx.tracker.get(issue).comments
            ):
                issues.comment(ctx, str(issue), text)
    except UnknownError as error:
        return (f"Cannot comment on #{issue}: {error} The review counts; repeat it to comment.",)
    return ()


def require(who: Merger, pull: Pull, tried: TrialLook, *, by_name: bool) -> None:
    """Refuse to merge work that nobody else has approved, if main's settings require a review. A
    person who merges the work of others by its number approves it. Raises RefusedError."""
    if settings_at(who.ws, tried.trunk).review != REQUIRED:
        return
    me = who.me.actor
    if by_name and me.is_person and me.name not in rules.authors(pull):
        return
    reviews = read_reviews(who.me.ctx, pull)
    heads = {head for head in {x.head for x in reviews} if is_branch_as_sent(who, head, tried)}
    why = rules.missing((x for x in reviews if x.head in heads), pull)
    if why:
        raise RefusedError(
            f"#{pull.number} needs an approval by another agent or a person, and {why}.",
            hint="After changes, run `ghp agent-finish` again. Another agent or a person approves "
            f"with `ghp agent-review {pull.number} --approve`.",
        )


def read_reviews(ctx: Context, pull: Pull) -> list[Review]:
    """Read the reviews of a pull request: those on its host, then those recorded here."""
    recorded = _records(ctx.store.snapshot(), pull.number)
    return [*ctx.forge.reviews(pull), *(record.review for record in recorded)]


def _records(snapshot: Snapshot, pull: int) -> list[ReviewRecord]:
    return rules.read_reviews(snapshot.files(rules.folder_of(pull)))[0]
