"""The state: the join of what all clones say. Commutative, associative, idempotent."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.state.presence import Agents, merge


class JoinedTree(NamedTuple):
    """What one clone says, or what several say together."""

    agents: Agents = {}  # noqa: RUF012  (its type has no way to change it)
    files: Mapping[str, bytes] = {}


class Tip(NamedTuple):
    """Where a clone's history ends, as far as it is known here."""

    clone: CloneId
    oid: str
    clock: int
    at: Timestamp


def join(trees: Iterable[JoinedTree]) -> JoinedTree:
    """All that is said in `trees`."""
    known = list(trees)
    return JoinedTree(
        agents=merge(tree.agents for tree in known),
        files=join_files(tree.files for tree in known),
    )


def join_files(many: Iterable[Mapping[str, bytes]]) -> dict[str, bytes]:
    """Records by path. A path belongs to one writer, who says it once; should two contents ever
    meet (a twin's, a hand-made one), the greater is taken, on every machine the same."""
    joined: dict[str, bytes] = {}
    for files in many:
        for path, content in files.items():
            had = joined.get(path)
            joined[path] = content if had is None or content > had else had
    return joined


class Problem(NamedTuple):
    """Something in the state that could not be read; it is kept, and never hides the rest."""

    place: str
    reason: str


class SyncStatus(NamedTuple):
    """How this clone stands with the remote; times in seconds, None for never."""

    remote: str | None = None  # None: there is none, or the configuration keeps everything here
    news_at: float | None = None  # when the remote was last heard
    sent_at: float | None = None
    unsent: int = 0  # commits that the remote does not have
    waiting: int = 0  # records that are not in a commit yet
    trouble: str | None = None  # what stood in the way last time
    permanent: bool = False


class SyncReport(NamedTuple):
    """What a sync did, each part a fact for people and scripts."""

    remote: str | None  # None: there is no remote, or the configuration keeps everything here
    fetched: bool = False
    pushed: bool = False
    news: int = 0  # clones that said something new
    unsent: int = 0  # commits that the remote does not have
    trouble: str | None = None  # why something could not be done
    permanent: bool = False  # trying again will not help
    notes: tuple[str, ...] = ()
    again_at: float | None = None  # when what is left can be sent, if not now


class Absorption(NamedTuple):
    """What became of clones that were to be absorbed."""

    absorbed: tuple[CloneId, ...] = ()
    left: tuple[tuple[CloneId, str], ...] = ()  # those that stay as they are, and why
