"""What set-up and the doctor need of the place where the state is kept.

A `StoreAdmin` is a record of functions. An adapter fills it in and `wiring.py` hands it over, so
that the services need not know that the state is kept in git. No decision depends on it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ghp_agents.core.finding import Check, Repair


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that set-up makes or takes away, and how."""

    doing: str  # make
    did: str  # Made
    what: str  # the private repository .git/ghp/state.git
    act: Callable[[], object]


@dataclass(frozen=True, slots=True)
class PublishPlan:
    """What leaves this machine, and where it goes."""

    remote: str | None  # None: nothing leaves this clone
    address: str = ""  # where is pushed to, without credentials
    refs: tuple[tuple[str, str], ...] = ()  # pattern, what is in it
    why_not: str = ""  # where there is no remote


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether the remote takes what we push."""

    remote: str
    taken: bool | None  # None: it could not be asked
    place: str = ""  # where it takes our refs
    words: str = ""  # what it said where it refused
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class RemoteRef:
    """One of our refs on the remote."""

    name: str
    oid: str
    about: str  # for people: this clone, another clone, a right
    last: float | None = None  # when its writer last wrote, by the writer's clock
    is_foreign: bool = False  # another clone's


@dataclass(frozen=True, slots=True)
class StoreAdmin:
    """What an adapter of the state can do for set-up and the doctor."""

    sharing: Callable[[], PublishPlan]
    missing: Callable[[], list[Step]]  # what is still to be made
    last_probe: Callable[[], Probe | None]  # what was found out before
    probe: Callable[[], Probe | None]  # None where there is no remote
    belongings: Callable[[], list[Step]]  # all that is ours on this machine
    losses: Callable[[], list[str]]  # what is nowhere but here
    remote_refs: Callable[[], list[RemoteRef]]  # raises UnknownError
    remove_remote_refs: Callable[[Sequence[RemoteRef]], None]
    checks: Mapping[str, Check]
    repairs: Mapping[str, Repair]  # by the code of what they repair, in the order to do them
