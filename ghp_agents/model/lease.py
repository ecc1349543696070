"""A lease: the value of a right that at most one may hold, fenced by its generation."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from ghp_agents.errors import RefusedError
from ghp_agents.model.names import Timestamp


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a right. `holder` is None after a release; the generation stays and only grows."""

    name: str  # issue/12, trunk, numbers
    holder: str | None
    generation: int
    epoch: int  # the holder's epoch when it acquired
    acquired_at: Timestamp
    nonce: str  # two claimants must never push identical objects
    reason: str = ""
    revision: str = ""  # what a compare-and-swap compares; opaque


class LeaseMovedError(RefusedError):
    """The right is not what was expected: somebody else acquired or released it first."""

    def __init__(self, name: str, current: Lease | None) -> None:
        self.current = current
        holder = current.holder if current else None
        super().__init__(
            f"{name} is held by {holder} since {current.acquired_at} (generation {current.generation})."
            if current and holder
            else f"{name} was changed by somebody else.",
            hint="Read it again and decide again.",
        )


def encode(lease: Lease) -> bytes:
    """A lease as the content of its ref."""
    fields = asdict(lease)
    del fields["revision"]
    fields["acquiredAt"] = fields.pop("acquired_at")
    return json.dumps(fields, indent=2, sort_keys=True).encode() + b"\n"


def decode(data: bytes, revision: str) -> Lease:
    """The reverse of `encode`. Raises ValueError when it is not a lease."""
    fields: dict[str, Any] = json.loads(data)
    try:
        return Lease(
            name=str(fields["name"]),
            holder=fields["holder"],
            generation=int(fields["generation"]),
            epoch=int(fields["epoch"]),
            acquired_at=Timestamp(str(fields["acquiredAt"])),
            nonce=str(fields["nonce"]),
            reason=str(fields.get("reason", "")),
            revision=revision,
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a lease: {error}") from None
