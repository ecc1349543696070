"""A lease: the value of a right that at most one may hold, fenced by its generation."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.glob_paths import spelled_all
from ghp_agents.core.ids import NUMBERS_END, Timestamp, one_line
from ghp_agents.hotpath.quoting import named, when
from ghp_agents.state import legacy_causes
from ghp_agents.state.cause import CLAIMED, DISPUTE, RELEASED, UNKNOWN, Cause

REASON_LIMIT = 500
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

# What there are several of. A name is a word, or one of these and a word, so that no name is a
# folder of another: `issue` and `issue/1` cannot both be refs.
KINDS = ("issue", "path", "name")

NUMBERS = "numbers"  # the right whose generation is the number of the next issue
NUMBERS_LAST = 10**9  # from here on numbers are provisional

# Lower case only: on some file systems two refs that differ in case are one.
_WORD = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")


class Lock(NamedTuple):
    """Who holds a right. `holder` is None after a release; the generation stays and only grows."""

    name: str  # issue/12, path/0a1b, name/staging, trunk, numbers
    holder: str | None
    generation: int
    epoch: int  # the holder's epoch when it acquired; 0 for a person, who has none
    acquired_at: Timestamp
    nonce: str  # two claimants must never push identical objects
    reason: str = ""
    revision: str = ""  # what a compare-and-swap compares; opaque
    patterns: tuple[str, ...] = ()  # the paths that it is a right to
    cause: Cause = CLAIMED  # why it is as it is; the reason is only shown
    clone: str = ""  # the holder's; empty where that is not known
    until: Timestamp | None = None  # by the holder's clock; it is not held for longer

    @property
    def is_person(self) -> bool:
        """Whether a person holds it: no death of anybody's ends that."""
        return self.holder is not None and self.epoch == 0

    @property
    def is_disputed(self) -> bool:
        """Whether two had it because the remote lost history: it is refused to everybody until a
        person has released it."""
        return self.holder is None and self.cause.kind == DISPUTE

    @property
    def is_at_end(self) -> bool:
        """Whether no generation can follow: a hand wrote that. It is not put back where the ref is
        deleted, so that the right can begin anew."""
        return self.generation + 1 >= (NUMBERS_LAST if self.name == NUMBERS else NUMBERS_END)

    @property
    def is_taken(self) -> bool:
        """Whether nobody else can take it."""
        return self.holder is not None or self.is_disputed


class LockMovedError(RefusedError):
    """The right is not what was expected: somebody else acquired or released it first."""

    def __init__(self, name: str, current: Lock | None) -> None:
        self.current = current
        holder = current.holder if current else None
        super().__init__(
            f"{name} is held by {named(holder, current.is_person)} since "
            f"{when(current.acquired_at)} "
            f"(generation {current.generation})."
            if current and holder
            else f"{name} was changed by somebody else.",
            hint="Read it again and decide again.",
        )


def lease_name(text: str) -> str:
    """Check the name of a right; it becomes part of a ref. Raises UsageError."""
    kind, slash, word = text.rpartition("/")
    good = _WORD.fullmatch(word) and (kind in KINDS if slash else word not in KINDS)
    if not good or len(text) > 100 or ".." in text or text.endswith(".lock"):
        kinds = " or ".join(f"{kind}/" for kind in KINDS)
        raise UsageError(
            f"{text[:80]!r} is not a name for a right.",
            hint=f"Use a-z, 0-9, '.', '_', '-', after {kinds} where it is one of many: issue/12.",
        )
    return text


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
    """The lease that follows `expected` when `holder` takes the right. Raises UsageError, or
    RefusedError where somebody set the generation to the very end: none could follow it."""
    if not _can_hold(holder):
        raise UsageError(
            f"{holder[:80]!r} cannot hold a right.",
            hint="Name an agent or a person, in one line of at most 200 characters.",
        )
    generation = (expected.generation if expected else 0) + 1
    if generation >= NUMBERS_END:
        raise RefusedError(
            f"The right {name} cannot be taken any more: generation {generation - 1} is the last.",
            hint="Somebody changed it by hand. Delete its ref (`git push REMOTE "
            f":refs/ghp/lease/{name}`); it then begins anew, and whoever holds the right must take "
            "it again.",
        )
    return Lock(
        name=lease_name(name),
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
    """The lease that follows `expected` when its holder gives the right back."""
    lease_name(name)
    return expected._replace(
        holder=None,
        generation=expected.generation + expected.is_disputed,  # above that of all who had it
        nonce=nonce,
        reason=one_line(reason, REASON_LIMIT),
        revision=nonce,
        patterns=(),
        cause=cause,
        clone="",
        until=None,
    )


def still_free(expected: Lock, current: Lock | None) -> Lock:
    """The lease that was given back before, if nobody took it since. Raises LeaseMovedError."""
    if revision(current) != revision(expected):
        raise LockMovedError(expected.name, current)
    return expected


def revision(lease: Lock | None) -> str:
    """What a compare-and-swap compares; empty for a right that nobody ever took."""
    return lease.revision if lease else ""


def encode(lease: Lock) -> bytes:
    """A lease as the content of its ref."""
    fields = lease._asdict()
    del fields["revision"]
    if not lease.patterns:
        del fields["patterns"]
    for name in ("clone", "until"):
        if not fields[name]:
            del fields[name]
    fields["cause"] = {key: value for key, value in lease.cause._asdict().items() if value}
    fields["acquiredAt"] = fields.pop("acquired_at")
    return json.dumps(fields, indent=2, sort_keys=True).encode() + b"\n"


def decode(data: bytes, revision: str) -> Lock:
    """The reverse of `encode`. Raises ValueError when it is not a lease."""
    try:
        fields: dict[str, Any] = json.loads(data)
        found = Lock(
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
        raise ValueError(f"not a lease: {error}") from None
    words = [found.name, found.acquired_at, found.nonce, found.reason, found.clone]
    words += [x for x in (found.holder, found.until) if x is not None]
    if not all(isinstance(word, str) for word in words):
        raise ValueError("not a lease: a text is not a text")
    if found.holder is not None and not _can_hold(found.holder):
        raise ValueError("not a lease: its holder has no name")
    for number, least in ((found.generation, 1), (found.epoch, 0)):
        if type(number) is not int or not least <= number < NUMBERS_END:
            raise ValueError("not a lease: a number is out of range")
    if found.until is not None:
        to_seconds(found.until), to_seconds(found.acquired_at)
    return _explained(found, fields)


def _explained(found: Lock, fields: dict[str, Any]) -> Lock:
    """The lease with its cause; one that an older version wrote has it in its reason."""
    if "cause" in fields:
        return found._replace(cause=_cause(fields["cause"]))
    return found._replace(
        cause=legacy_causes.of_right(found.name, found.holder, found.reason),
        clone=legacy_causes.clone_of(found.name, found.reason),
    )


def _cause(value: Any) -> Cause:
    """A cause; what cannot be read as one is none that decides anything."""
    words = [value.get(key, "") for key in Cause._fields] if isinstance(value, dict) else []
    return Cause(*words) if words and all(isinstance(x, str) for x in words) else Cause(UNKNOWN)


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError("the patterns are no list of patterns")
    try:
        spelled_all(value)
    except UsageError as error:
        raise ValueError(f"not a lease: {error}") from None
    return tuple(value)
