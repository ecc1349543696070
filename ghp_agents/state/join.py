"""The state: the join of all clones' records. Commutative, associative, idempotent."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.state.presence import Agents, merge
from ghp_agents.state.record import Record


class JoinedTree(NamedTuple):
    """The state of one clone, or of several joined."""

    agents: Agents = {}  # noqa: RUF012  (its type has no way to change it)
    files: Mapping[str, bytes] = {}


class Tip(NamedTuple):
    """The last commit of a clone, as far as it is known here."""

    clone: CloneId
    oid: str
    clock: int
    at: Timestamp


def join(trees: Iterable[JoinedTree]) -> JoinedTree:
    """The join of `trees`."""
    all_trees = list(trees)
    return JoinedTree(
        agents=merge(tree.agents for tree in all_trees),
        files=join_files(tree.files for tree in all_trees),
    )


def join_files(many: Iterable[Mapping[str, bytes]]) -> dict[str, bytes]:
    """Records by path. Each path has one writer, who writes it once. If contents differ anyway (a
    twin, a manual edit), every machine takes the greater one."""
    joined: dict[str, bytes] = {}
    for files in many:
        for path, content in files.items():
            previous = joined.get(path)
            joined[path] = content if previous is None or content > previous else previous
    return joined


class Settled(NamedTuple):
    """The records of a subject that has ended: an issue, a lease, a question."""

    paths: frozenset[str]
    last: frozenset[str]  # those that say that it has ended; they leave last


def leaving(
    subjects: Iterable[Settled], own: Collection[str], elsewhere: Collection[str], most: int
) -> set[str]:
    """The paths that leave a tip with the paths `own`, about `most`; `elsewhere` are the paths of
    all other tips.

    While a tip has any record of a subject, some tip has those that say that it has ended. So no
    clone ever sees a lease without its release, whichever clone compacted.
    """
    left: set[str] = set()
    for subject in subjects:
        if len(left) >= most:
            break
        left |= subject.paths.intersection(own)
        if subject.paths.isdisjoint(elsewhere):
            left |= subject.last.intersection(own)
    return left


class SetAside(NamedTuple):
    """A record that the remote refused: it is kept in this clone and not sent."""

    id: str  # R- and the beginning of a digest
    record: Record
    words: str  # of the remote
    pages: tuple[str, ...] = ()  # where a person may allow it, in the remote's words
    at: float = 0.0  # seconds; when it was set aside


class SyncStatus(NamedTuple):
    """This clone's sync status; times in seconds, None for never."""

    remote: str | None = None  # None: no remote, or the configuration keeps everything here
    news_at: float | None = None  # when the remote was last fetched
    sent_at: float | None = None
    unsent: int = 0  # commits that the remote lacks
    unsent_since: float | None = None  # the time of the oldest of them
    records: int = 0  # of them those that a command confirmed: all but presence
    waiting: int = 0  # records without a commit
    trouble: str | None = None  # the last problem
    permanent: bool = False
    refused: int = 0  # records that were set aside


class SyncReport(NamedTuple):
    """The result of a sync, for people and scripts."""

    remote: str | None  # None: no remote, or the configuration keeps everything here
    fetched: bool = False
    pushed: bool = False
    news: int = 0  # clones with new commits
    unsent: int = 0  # commits that the remote lacks
    trouble: str | None = None  # why something could not be done
    permanent: bool = False  # a retry will not help
    notes: tuple[str, ...] = ()
    again_at: float | None = None  # when the rest can be sent, if not now
    refused: int = 0  # records that the remote refused; they were set aside


class Absorption(NamedTuple):
    """The result of absorbing clones."""

    absorbed: tuple[CloneId, ...] = ()
    left: tuple[tuple[CloneId, str], ...] = ()  # those that stay, and why
