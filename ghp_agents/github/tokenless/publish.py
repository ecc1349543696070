"""A clone with a token publishes the issues that it just read, for clones without one."""

from collections.abc import Iterable

from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import UNNAMED, CloneId, Timestamp, digest
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.tokenless import place, published
from ghp_agents.github.tokenless.place import MIRROR, Tracker
from ghp_agents.github.tokenless.published import BUCKETS, Published, PublishedIssue
from ghp_agents.github.tracker import comments
from ghp_agents.github.tracker import mirror as mirror_file
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.github.wording import PROGRAM
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state import ledger
from ghp_agents.state.codec import seconds
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text

RENEW_S = 3_600.0  # seconds after which unchanged issues are confirmed
TAKE_OVER_S = 7 * 86_400.0  # seconds after which a record that nobody renewed stops nobody


def publish(ctx: Context, hub: GitHubRepository) -> bool:
    """Publish changed issues and the place of the tracker; return whether anything was written.

    Sends no request: it reads the mirror, which a sync has just updated.
    """
    context = TrackerContext(ctx.ws, hub, ctx.locks)
    mirror = context.mirror()
    if mirror is None:
        return False
    cursor = mirror_file.checked(ctx.ws, context.repository).cursor
    wanted = published.bounded(
        (
            PublishedIssue(issue, tuple(comments.cached(context, issue)))
            for issue in mirror.issues.values()
        ),
        cursor,
    )

    def decide(snapshot: Snapshot) -> tuple[bool, list[Record]]:
        current = published.read_published(snapshot.present(MIRROR))
        at, clone = Timestamp(now_text(ctx.ws)), snapshot.clone
        if clone == UNNAMED:  # its first record gives it an id, and two may not share a path
            clone = CloneId(random_hex(6))
        mine = Tracker(hub.host, hub.repository, at, cursor, snapshot.clock + 1, clone)
        if current.tracker and not _may_follow(current.tracker, mine):
            return False, []
        new = {
            bucket: [issue for n, issue in sorted(wanted.items()) if n % BUCKETS == bucket]
            for bucket in range(BUCKETS)
        }
        changed = [n for n, issues in new.items() if _differs(current, n, issues, clone)]
        if not changed and current.tracker and not _is_due(current.tracker, mine):
            return False, []
        files = [published.bucket_file(mine, n, new[n]) for n in changed]
        content = (*files, place.tracker_file(mine))
        # The ledger treats it as presence: it is an observation, not an event.
        record = Record(
            ledger.PRESENCE, PROGRAM, "GitHub's issues", digest("mirror", str(mine.clock), clone),
            at, mine.clock, content,
        )  # fmt: skip
        return True, [record]

    return transact(ctx.store, decide)


def _may_follow(current: Tracker, mine: Tracker) -> bool:
    """Whether this clone's record may replace the last one: an old one, of the same repository if
    this clone has read as much, of another if that record was its own."""
    if _age(current, mine) >= TAKE_OVER_S:
        return True
    if current.place == mine.place:
        return mine.cursor >= current.cursor
    return current.clone == mine.clone


def _is_due(current: Tracker, mine: Tracker) -> bool:
    return current.place != mine.place or _age(current, mine) >= RENEW_S


def _age(current: Tracker, mine: Tracker) -> float:
    return abs(seconds(mine.at) - seconds(current.at))


def _differs(
    current: Published, bucket: int, issues: Iterable[PublishedIssue], clone: CloneId
) -> bool:
    """Whether a bucket differs from what was published. In a bucket of another publisher, fields
    that depend on the token are ignored; else two publishers would overwrite each other."""
    before, now = current.bucket(bucket), list(issues)
    if current.writers.get(bucket) == clone:
        return before != now
    return [_bare(issue) for issue in before] != [_bare(issue) for issue in now]


def _bare(entry: PublishedIssue) -> MirroredIssue:
    return entry.issue._replace(comments=0).bare
