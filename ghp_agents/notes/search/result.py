"""Results of a knowledge base, and its configuration."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError


class KnowledgeError(GhpError):
    """The knowledge base failed; the notes themselves are unchanged."""


class Hit(NamedTuple):
    """A note that was found, and its score; scores compare within one result only."""

    note: str  # its id
    score: float


class IndexUpdate(NamedTuple):
    """The changes that an update made to the index."""

    total: int
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def nothing_new(self) -> bool:
        """Whether the index was up to date already."""
        return not (self.added or self.changed or self.removed)


class Engine(NamedTuple):
    """A part of mem0's: its provider name, and its configuration in mem0's form."""

    provider: str
    config: Mapping[str, Any] = {}


class Engines(NamedTuple):
    """mem0's configuration; None means our default, without a key or network."""

    embedder: Engine | None = None
    store: Engine | None = None
    llm: Engine | None = None
    infer: bool = False


def engines(values: Mapping[str, Any]) -> Engines:
    """Return the engines of the setting `memory`; it was checked when it was read."""

    def engine(name: str) -> Engine | None:
        config = values.get(name)
        return Engine(config["provider"], config.get("config") or {}) if config else None

    return Engines(
        engine("embedder"), engine("vector_store"), engine("llm"), values.get("infer") is True
    )
