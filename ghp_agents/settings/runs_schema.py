"""The schema of the key `runs` of the configuration files: what `ghp agent-work` starts."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

PERSONS = ("openai", "tasks", "sandbox")  # who gets the code and a key; what agents may run


class OpenAIConfig(BaseModel):
    """The key `runs.openai`: the endpoint of the runner `openai`."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    url: str | None = Field(None, pattern=r"^https?://[^\s@]+$", max_length=1_000)
    model: str | None = Field(None, min_length=1, max_length=200, pattern=r"^[^\s-]\S*$")
    key_env: str | None = Field(None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    context: int | None = Field(None, ge=2_048, le=10_000_000)  # tokens that the model reads


class RunsConfig(BaseModel):
    """The key `runs`. Unknown keys are kept; a newer version may use them."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow")

    openai: OpenAIConfig | None = None
    sandbox: Literal["auto", "bwrap", "none"] = "none"  # `cards/sandbox.py`
    tasks: tuple[str, ...] = ()  # background tasks that agents may start; * is all


def trusted(runs: dict[str, Any], *, is_persons: bool) -> dict[str, Any]:
    """The part of `runs` that counts in a person's own file, or in a repository's."""
    return runs if is_persons else {key: value for key, value in runs.items() if key not in PERSONS}
