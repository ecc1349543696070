"""The schema of the key `runs` of the configuration files: what `ghp agent-work` starts."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

# Who gets the code and a key; what agents may run, and in what.
PERSONS = ("openai", "tasks", "sandbox", "image", "network")


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
    # `cards/sandbox.py`, `cards/container.py`
    sandbox: Literal["auto", "bwrap", "container", "podman", "docker", "none"] = "auto"
    # The image of containers; and their network, for cards that allow not all of it.
    image: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$")
    network: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    tasks: tuple[str, ...] = ()  # background tasks that agents may start; * is all


def trusted(runs: dict[str, Any], *, is_persons: bool) -> dict[str, Any]:
    """The part of `runs` that counts in a person's own file, or in a repository's."""
    return runs if is_persons else {key: value for key, value in runs.items() if key not in PERSONS}
