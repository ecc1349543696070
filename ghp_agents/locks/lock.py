"""A lock: exclusive over all clones, and fenced by its generation."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, NotRequired, TypedDict

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.glob_paths import spelled_all
from ghp_agents.core.ids import NUMBERS_END, Timestamp, digest, one_line
from ghp_agents.core.schema_version import unversioned, versioned
from ghp_agents.hotpath.quoting import named, when
from ghp_agents.locks.names import AGENTS
from ghp_agents.state import legacy_causes
from ghp_agents.state.cause import CLAIMED, DISPUTE, RELEASED, UNKNOWN, Cause

REASON_LIMIT = 500
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

# Kinds of locks with many instances. A name is one word, or a kind and a word. So no name is a
# folder of another: `issue` and `issue/1` cannot both be refs.
KINDS = ("issue", "path", "name", "inbox", "agent")

NUMBERS = "numbers"  # the lock whose generation is the number of the next issue
NUMBERS_LAST = 10**9  # from here on numbers are provisional

# Lower case only: some file systems ignore case in ref names.
_WORD = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")


class Lock(NamedTuple):
    """The value of a lock. `holder` is None after a release; the generation never falls."""

    name: str  # issue/12, path/0a1b, name/staging, trunk, numbers
    holder: str | None
    generation: int
    epoch: int  # the holder's epoch when it acquired; 0 for a person
    acquired_at: Timestamp
    nonce: str  # makes each claimant's object unique
    reason: str = ""
    revision: str = ""  # compared by compare-and-swap; opaque
    patterns: tuple[str, ...] = ()  # the paths that it covers
    cause: Cause = CLAIMED  # why it changed; the reason is for display only
    clone: str = ""  # the holder's clone; empty if unknown
    until: Timestamp | None = None  # expiry, by the holder's clock

    @property
    def is_person(self) -> bool:
        """Whether a person holds it; then no agent's death ends it."""
        return self.holder is not None and self.epoch == 0

    @property
    def is_disputed(self) -> bool:
        """Whether two had acquired it because the remote lost history. Nobody can acquire it until
        a person has released it."""
        return self.holder is None and self.cause.kind == DISPUTE

    @property
    def is_at_end(self) -> bool:
        """Whether the generation is at its maximum, which only a manual change can cause. It is not
        restored when its ref is deleted, so that the lock can start again."""
        return self.generation + 1 >= (NUMBERS_LAST if self.name == NUMBERS else NUMBERS_END)

    @property
    def is_taken(self) -> bool:
        """Whether others cannot acquire it."""
        return self.holder is not None or self.is_disputed


class LockMovedError(RefusedError):
    """The lock is not as expected: someone else acquired or released it first."""

    def __init__(self, name: str, current: Lock | None) -> None:
        self.current = current
        holder = current.holder if current else None
        super().__init__(
            f"{name} is held by {named(holder, current.is_person)} since "
            f"{when(current.acquired_at)} "
            f"(generation {current.generation})."
            if current and holder
            else f"Somebody else changed {name}.",
            hint="Read it again, then decide again.",
        )


def checked_lock_name(text: str) -> str:
    """Check the name of a lock; it becomes part of a ref. Raises UsageError."""
    kind, slash, word = text.rpartition("/")
    good = _WORD.fullmatch(word) and (kind in KINDS if slash else word not in KINDS)
    if not good or len(text) > 100 or ".." in text or text.endswith(".lock"):
        kinds = " or ".join(f"{kind}/" for kind in KINDS)
        raise UsageError(
            f"{text[:80]!r} is not a valid lock name.",
            hint=f"Use a-z, 0-9, '.', '_' and '-', with a prefix of {kinds} if needed: issue/12.",
        )
    return text


def agent_lock(agent: str) -> str:
    """The name of the lock on an agent's name: its holder's clone is where the agent lives. Some
    names of agents cannot be part of a ref."""
    try:
        return checked_lock_name(f"{AGENTS}{agent}")
    except UsageError:
        return f"{AGENTS}{digest(agent)}"


def taken(
    name: str,
    holder: str,
    expected: Lock | None,
    *,
    at: Timestamp,
    nonce: str,
    epoch: int = 0,
    reason: str = "",
    patterns: Sequence[str] = (),
    cause: Cause = CLAIMED,
    clone: str = "",
    until: Timestamp | None = None,
) -> Lock:
    """The lock after `holder` acquires it from `expected`. Raises UsageError, or RefusedError if
    the generation is at its maximum."""
    if not _can_hold(holder):
        raise UsageError(
            f"{holder[:80]!r} cannot hold a lock.",
            hint="Name an agent or a person in one line of at most 200 characters.",
        )
    generation = (expected.generation if expected else 0) + 1
    if generation >= NUMBERS_END:
        raise RefusedError(
            f"The lock {name} can no longer be acquired: generation {generation - 1} is the last.",
            hint="Somebody changed it by hand. Delete its ref (`git push REMOTE "
            f":refs/ghp/lease/{name}`); then the holder must acquire it again.",
        )
    return Lock(
        name=checked_lock_name(name),
        holder=holder,
        generation=generation,
        epoch=epoch,
        acquired_at=at,
        nonce=nonce,
        reason=one_line(reason, REASON_LIMIT),
        revision=nonce,
        patterns=tuple(patterns),
        cause=cause,
        clone=clone,
        until=until,
    )


def _can_hold(holder: str) -> bool:
    return bool(holder.strip()) and len(holder) <= 200 and not _CONTROL.search(holder)


def given_back(
    name: str, expected: Lock, nonce: str, reason: str = "", cause: Cause = RELEASED
) -> Lock:
    """The lock after its holder releases it."""
    checked_lock_name(name)
    return expected._replace(
        holder=None,
        generation=expected.generation + expected.is_disputed,  # above all earlier generations
        nonce=nonce,
        reason=one_line(reason, REASON_LIMIT),
        revision=nonce,
        patterns=(),
        cause=cause,
        clone="",
        until=None,
    )


class Release(NamedTuple):
    """A lock to release, as it is known."""

    expected: Lock
    reason: str = ""
    cause: Cause = RELEASED


def still_free(expected: Lock, current: Lock | None) -> Lock:
    """The released lock, if nobody acquired it since. Raises LockMovedError."""
    if revision(current) != revision(expected):
        raise LockMovedError(expected.name, current)
    return expected


def revision(lock: Lock | None) -> str:
    """The value that compare-and-swap compares; empty for a lock that never existed."""
    return lock.revision if lock else ""


class CauseFields(TypedDict, total=False):
    """Why a lock changed."""

    kind: str
    by: str
    ref: str


class LockFile(TypedDict):
    """The value of a lock; absent fields are empty."""

    name: str
    holder: str | None
    generation: int
    epoch: int
    acquiredAt: str
    nonce: str
    reason: NotRequired[str]
    patterns: NotRequired[list[str]]
    cause: NotRequired[CauseFields]
    clone: NotRequired[str]
    until: NotRequired[str]


def encode(lock: Lock) -> bytes:
    """A lock as the content of its ref."""
    fields = lock._asdict()
    del fields["revision"]
    if not lock.patterns:
        del fields["patterns"]
    for name in ("clone", "until"):
        if not fields[name]:
            del fields[name]
    fields["cause"] = {key: value for key, value in lock.cause._asdict().items() if value}
    fields["acquiredAt"] = fields.pop("acquired_at")
    return json.dumps(versioned(fields), indent=2, sort_keys=True).encode() + b"\n"


def decode(data: bytes, revision: str) -> Lock:
    """The reverse of `encode`. Raises ValueError if the content is not a lock."""
    try:
        fields: dict[str, Any] = unversioned(json.loads(data))
        lock = Lock(
            name=fields["name"],
            holder=fields["holder"],
            generation=fields["generation"],
            epoch=fields["epoch"],
            acquired_at=fields["acquiredAt"],
            nonce=fields["nonce"],
            reason=fields.get("reason", ""),
            revision=revision,
            patterns=_patterns(fields.get("patterns", [])),
            clone=fields.get("clone", ""),
            until=fields.get("until"),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a lock record: {error}") from None
    words = [lock.name, lock.acquired_at, lock.nonce, lock.reason, lock.clone]
    words += [x for x in (lock.holder, lock.until) if x is not None]
    if {*map(type, words)} != {str}:
        raise ValueError("not a lock record: a text field is not a string")
    if lock.holder is not None and not _can_hold(lock.holder):
        raise ValueError("not a lock record: its holder has no name")
    for number, least in ((lock.generation, 1), (lock.epoch, 0)):
        if type(number) is not int or not least <= number < NUMBERS_END:
            raise ValueError("not a lock record: a number is out of range")
    if lock.until is not None:
        to_seconds(lock.until), to_seconds(lock.acquired_at)
    return _with_cause(lock, fields)


def _with_cause(lock: Lock, fields: dict[str, Any]) -> Lock:
    """The lock with its cause. Older versions wrote the cause into the reason."""
    if "cause" in fields:
        return lock._replace(cause=_cause(fields["cause"]))
    return lock._replace(
        cause=legacy_causes.of_right(lock.name, lock.holder, lock.reason),
        clone=legacy_causes.clone_of(lock.name, lock.reason),
    )


def _cause(value: Any) -> Cause:
    """A cause; UNKNOWN if it cannot be read."""
    words = [value.get(key, "") for key in Cause._fields] if isinstance(value, dict) else []
    return Cause(*words) if {*map(type, words)} == {str} else Cause(UNKNOWN)


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(pattern, str) for pattern in value):
        raise TypeError("'patterns' is not a list of patterns")
    try:
        spelled_all(value)
    except UsageError as error:
        raise ValueError(f"not a lock record: {error}") from None
    return tuple(value)
