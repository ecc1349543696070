"""What a knowledge base answers, and how it is set up."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError


class KnowledgeError(GhpError):
    """The knowledge base cannot do what was asked; the notes themselves are not touched."""


class Hit(NamedTuple):
    """A note that was found, and how well it fits: comparable within one answer only."""

    note: str  # its id
    score: float


class IndexUpdate(NamedTuple):
    """What it took to let exactly some notes be found."""

    total: int
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def nothing_new(self) -> bool:
        """Whether all was as it had to be."""
        return not (self.added or self.changed or self.removed)


class Engine(NamedTuple):
    """A part that mem0 brings: its name there, and its configuration as mem0 has it."""

    provider: str
    config: Mapping[str, Any] = {}


class Engines(NamedTuple):
    """How mem0 is set up; what is None is our default, which needs no key and no network."""

    embedder: Engine | None = None
    store: Engine | None = None
    llm: Engine | None = None
    infer: bool = False


def engines(values: Mapping[str, Any]) -> Engines:
    """The engines in the setting `memory`, which was checked when it was read."""

    def engine(name: str) -> Engine | None:
        said = values.get(name)
        return Engine(said["provider"], said.get("config") or {}) if said else None

    return Engines(
        engine("embedder"), engine("vector_store"), engine("llm"), values.get("infer") is True
    )
