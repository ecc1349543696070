"""The schema of `agents.memory`: the engines that find notes. Only `schema.py` loads it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class EngineConfig(BaseModel):
    """A component of mem0: its name and configuration there."""

    model_config = ConfigDict(extra="forbid")

    provider: str = Field(min_length=1)
    config: dict[str, Any] = Field(default_factory=dict)


class MemoryConfig(BaseModel):
    """The key `memory`: the engines that find notes. Engines receive the notes and may be anywhere,
    so only a person can name them, not a repository."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    embedder: EngineConfig | None = None
    vector_store: EngineConfig | None = None
    llm: EngineConfig | None = None
    infer: bool = False
    project: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")


def trusted(memory: dict[str, Any], *, is_persons: bool) -> dict[str, Any]:
    """The trusted part of `memory` in one file: a repository names its project, no engine."""
    if is_persons:
        return memory
    ignored = sorted(to_camel(key) for key in memory if key != "project")
    kept = {key: value for key, value in memory.items() if key == "project"}
    return kept | ({"ignored": ignored} if ignored else {})
