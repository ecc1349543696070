"""What set-up and the doctor need from the store of the state.

A `StoreAdmin` is a record of functions. An adapter fills it in and `wiring.py` passes it on, so
callers need not know that the state is in git. No decision depends on it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ghp_agents.core.finding import Repair


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that set-up creates or removes, and how."""

    doing: str  # make
    did: str  # Made
    what: str  # the private repository .git/ghp/state.git
    act: Callable[[], object]


@dataclass(frozen=True, slots=True)
class PublishPlan:
    """What leaves this machine, and where it goes."""

    remote: str | None  # None: nothing leaves this clone
    address: str = ""  # the push address, without credentials
    refs: tuple[tuple[str, str], ...] = ()  # pattern, what is in it
    why_not: str = ""  # if there is no remote


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether the remote accepts what we push."""

    remote: str
    taken: bool | None  # None: the remote could not be asked
    place: str = ""  # the namespace of our refs there
    words: str = ""  # the remote's reason for a refusal
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class RemoteRef:
    """One of our refs on the remote."""

    name: str
    oid: str
    about: str  # for people: this clone, another clone, a lock
    last: float | None = None  # when its writer last wrote, by the writer's clock
    is_foreign: bool = False  # another clone wrote it


@dataclass(frozen=True, slots=True)
class StoreAdmin:
    """What a state adapter can do for set-up and the doctor."""

    sharing: Callable[[], PublishPlan]
    missing: Callable[[], list[Step]]  # what must still be created
    last_probe: Callable[[], Probe | None]  # the stored result
    probe: Callable[[], Probe | None]  # None if there is no remote
    belongings: Callable[[], list[Step]]  # all that is ours on this machine
    losses: Callable[[], list[str]]  # what exists only here
    remote_refs: Callable[[], list[RemoteRef]]  # raises UnknownError
    remove_remote_refs: Callable[[Sequence[RemoteRef]], None]
    repairs: Mapping[str, Repair]  # by finding code, in the order to run them
