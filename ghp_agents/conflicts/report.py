"""What `agent-conflicts` found."""

from typing import NamedTuple

from ghp_agents.conflicts.definitions import LostDefinition
from ghp_agents.conflicts.order import MergeOrder
from ghp_agents.conflicts.path_conflict import PathConflict
from ghp_agents.conflicts.spellings import SpellingWarning
from ghp_agents.conflicts.work import AgentWork, UnreadWork


class PairConflict(NamedTuple):
    """Two agents whose work git cannot merge. `ours` should be merged first."""

    ours: AgentWork
    theirs: AgentWork
    files: tuple[PathConflict, ...]


class TrunkConflict(NamedTuple):
    """An agent whose work git cannot merge into the main branch. In `files` the main branch is
    ours, and the agent is theirs."""

    work: AgentWork
    files: tuple[PathConflict, ...]


class ConflictWarning(NamedTuple):
    """Something that git merges and that may still be wrong, in one sentence."""

    agents: tuple[str, ...]
    path: str
    line: int
    text: str
    lost: LostDefinition


class ConflictReport(NamedTuple):
    """Who conflicts with whom, and with the main branch."""

    trunk: str  # the main branch's name
    works: tuple[AgentWork, ...] = ()  # all that is compared
    pairs: tuple[PairConflict, ...] = ()
    with_trunk: tuple[TrunkConflict, ...] = ()
    order: MergeOrder | None = None  # None: not all pairs were compared
    unread: tuple[UnreadWork, ...] = ()
    warnings: tuple[ConflictWarning, ...] = ()
    spellings: tuple[SpellingWarning, ...] = ()
    fetched: float | None = None  # when the main branch was fetched; None: unknown, or only here

    @property
    def is_clean(self) -> bool:
        """Whether nothing conflicts. Warnings are not conflicts."""
        return not self.pairs and not self.with_trunk
