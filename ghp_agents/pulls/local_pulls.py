"""The local pull requests of a snapshot."""

from collections.abc import Sequence

from ghp_agents.core.moment import derived
from ghp_agents.ports import Snapshot
from ghp_agents.pulls import replay
from ghp_agents.pulls.record import FOLDER
from ghp_agents.pulls.replay import NumberedPull, PullEvents


@derived
def read_events(snapshot: Snapshot) -> PullEvents:
    """All records of pull requests."""
    return replay.read_events(snapshot.files(FOLDER))


@derived
def read_all(snapshot: Snapshot) -> Sequence[NumberedPull]:
    """All pull requests, each with all its numbers, oldest first."""
    return replay.fold(read_events(snapshot))


@derived
def read_present(snapshot: Snapshot) -> Sequence[NumberedPull]:
    """The same without settled ones: of years of pull requests, few are left."""
    return replay.fold(replay.read_events(snapshot.present(FOLDER)))
