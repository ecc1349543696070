"""Record a review of a pull request; require one before a merge where `agents.review` says so,
and a person's before a merge that changes what runs by itself, or what agents may do.
"""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.clock import age
from ghp_agents.core.errors import RefusedError, UnapprovedError, UnknownError, sentence
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.core.secret_scan import redacted
from ghp_agents.git import changed_paths
from ghp_agents.handoffs import what_runs
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues import service as issues
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls import review as rules
from ghp_agents.pulls.merging.merge_evidence import is_branch_as_sent
from ghp_agents.pulls.merging.merge_trial import Merger, TrialLook
from ghp_agents.pulls.pull import Pull, Review
from ghp_agents.pulls.requested_changes import quoted
from ghp_agents.pulls.review import ReviewRecord
from ghp_agents.settings import rights
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text, settings_at

REQUIRED = "required"
REQUESTS_SHOWN = 3


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
        earlier = _since_requests(_records(snapshot, pull.number), by)
        if earlier and earlier[-1][2:5] == entry[2:5]:
            return Reviewed(earlier[-1], is_new=False), []
        return Reviewed(entry, is_new=True), [rules.encode(entry, pull.issue)]

    done = transact(ctx.store, decide)
    if pull.issue is None:
        return done
    return done._replace(notes=comment(ctx, pull.issue, done))


def _since_requests(records: Sequence[ReviewRecord], by: Actor) -> list[ReviewRecord]:
    """The reviews by `by` since the last request for changes by others."""
    mine: list[ReviewRecord] = []
    for record in records:
        if record.by == by:
            mine.append(record)
        elif not record.review.approves:
            mine.clear()
    return mine


def entry_of(
    ctx: Context, snapshot: Snapshot, identity: str, pull: Pull, verdict: str, text: str
) -> ReviewRecord:
    """The review of a pull request's commit by the actor."""
    return ReviewRecord(
        pull.number, identity, pull.head, verdict, redacted(text).strip()[: rules.TEXT_LIMIT],
        ctx.ws.actor(), Timestamp(now_text(ctx.ws)), snapshot.clock + 1, snapshot.clone,
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
        return (
            f"Cannot comment on #{issue}: {sentence(error)} The review counts; repeat it to "
            "comment.",
        )
    return ()


def require(who: Merger, pull: Pull, tried: TrialLook, *, by_name: bool) -> None:
    """Refuse to merge work that nobody else has approved, if main's settings require a review. A
    person who merges the work of others by its number approves it, but overrules no request for
    changes by that. Raises RefusedError."""
    if settings_at(who.ws, tried.trunk).review != REQUIRED:
        return
    me = who.me.actor
    reviews = read_reviews(who.me.ctx, pull)
    heads = {head for head in {x.head for x in reviews} if is_branch_as_sent(who, head, tried)}
    counted = [review for review in reviews if review.head in heads]
    is_other = me.name not in rules.authors(pull)
    if is_other and rights.decides_merge(me, by_name=by_name):
        _refuse_requested(who, pull, rules.requests(counted, pull, me))
        return
    why = rules.missing(counted, pull)
    if why:
        raise UnapprovedError(
            f"#{pull.number} needs an approval by another agent or a person, and {why}.",
            hint="After changes, run `ghp agent-finish` again. Another agent or a person approves "
            f"with `ghp agent-review {pull.number} --approve`.",
        )


def _refuse_requested(who: Merger, pull: Pull, requests: Sequence[Review]) -> None:
    if not requests:
        return
    now = who.ws.clock.now()
    words = [
        f"{named(review.by.name, review.by.is_person)} requested changes, {age(review.at, now)}"
        f"{quoted(review.text)}"
        for review in requests[:REQUESTS_SHOWN]
    ]
    raise UnapprovedError(
        f"Cannot merge #{pull.number}: {'; '.join(words)}.",
        hint=f"`ghp agent-pull show {pull.number}` shows its reviews. To merge it all the same, "
        f"approve it yourself: `ghp agent-review {pull.number} --approve`. Then merge it again.",
    )


def read_reviews(ctx: Context, pull: Pull) -> list[Review]:
    """Read the reviews of a pull request on its host and here, oldest first. Those of one place
    keep their order."""
    recorded = (record.review for record in _records(ctx.store.snapshot(), pull.number))
    return [*heapq.merge(ctx.forge.reviews(pull), recorded, key=lambda review: review.at)]


def _records(snapshot: Snapshot, pull: int) -> list[ReviewRecord]:
    return rules.read_reviews(snapshot.files(rules.folder_of(pull)))[0]


def require_person(who: Merger, pull: Pull, tried: TrialLook, *, by_name: bool) -> tuple[str, ...]:
    """Refuse a merge of an agent's work that changes what runs, if no person has approved this
    commit, and one that gives an agent more than its card. A person who merges by number decides;
    returns what to tell them. Raises RefusedError."""
    folder = who.ws.folder
    changed = what_runs.of_branch(folder, tried.trunk, tried.head)
    if changed.running and tried.candidate:  # two changes of a card may give more together
        paths = changed_paths.differing(folder, tried.trunk, tried.candidate)
        merged = what_runs.look(folder, paths, tried.trunk, tried.candidate)
        changed = what_runs.together([changed, merged])
    if rights.decides_merge(who.me.actor, by_name=by_name):
        return (f"#{pull.number} changes {changed.words}.",) if changed.words else ()
    if pull.sent and pull.sent.by.is_person:
        return ()
    if changed.wider:
        raise RefusedError(
            f"#{pull.number} gives agents more than their cards on main: "
            f"{'; '.join(changed.wider)}.",
            hint=f"Only a person can do so: `ghp agent-merge {pull.number}` after a look at it.",
        )
    if changed.running and not _is_approved(who, pull, tried):
        raise UnapprovedError(
            f"#{pull.number} changes {changed.words}, and no person has approved this commit.",
            hint="A person reads it and approves it: `ghp agent-review "
            f"{pull.number} --approve`. Or a person merges it: `ghp agent-merge {pull.number}`.",
        )
    return ()


def _is_approved(who: Merger, pull: Pull, tried: TrialLook) -> bool:
    """Whether a person approved this commit, and none requests changes of it."""
    last = {
        review.by: review
        for review in read_reviews(who.me.ctx, pull)
        if rights.may_approve_merge(review.by, rules.authors(pull))
        and is_branch_as_sent(who, review.head, tried)
    }
    return bool(last) and all(review.approves for review in last.values())
