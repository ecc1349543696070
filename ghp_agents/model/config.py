"""The configuration files: what they may hold, checked, with the line of each error.

The only user of pydantic: importing it costs twice what click costs, so it is loaded only when a
configuration changed; the result is kept as plain values (see `workspace.py`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from ghp_agents.errors import GhpError

MAX_SECONDS = 10 * 365 * 86_400


class ConfigError(GhpError):
    """A configuration file that cannot be used; it is left as it is."""


class AgentsConfig(BaseModel):
    """The key `agents` of `.ghp/config.json`. Unknown keys are kept: a newer version's, say."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow", strict=False)

    remote: str | None = Field(None, min_length=1, description="the coordination remote")
    push: bool = Field(True, description="false keeps everything in this clone")
    view: bool = Field(True, description="keep .ghp/agent-status.json in the main worktree")
    background: bool = Field(True, description="beats may fold and sync in the background")
    throttle: float = Field(5.0, ge=0, le=3600, description="seconds between two equal beats")
    fold_every: float = Field(60.0, gt=0, le=86_400, description="seconds between folds of beats")
    sync_every: float = Field(15.0, gt=0, le=86_400, description="least seconds between syncs")
    stale_after: float = Field(600.0, gt=0, le=MAX_SECONDS, description="seconds until stale")
    dead_after: float = Field(1_800.0, gt=0, le=MAX_SECONDS, description="seconds until dead")
    gone_after: float = Field(86_400.0, gt=0, le=MAX_SECONDS, description="seconds until gone")
    timeout: float = Field(30.0, gt=0, le=3600, description="seconds for one exchange")
    trunk: str | None = Field(None, min_length=1, description="the main branch")
    resume_chars: int = Field(16_000, ge=500, description="size budget of agent-resume")
    patch_bytes: int = Field(5_000_000, ge=0, description="most uncommitted work in a handoff")
    capabilities: dict[str, tuple[str, ...]] = Field(default_factory=dict)




def known_keys() -> tuple[str, ...]:
    """The keys that this version knows, as they are written."""
    return tuple(to_camel(name) for name in AgentsConfig.model_fields)


def read(files: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The settings said in `files` [(name, text)], later files winning, as plain values.

    Upstream's own keys stay untouched; of them only `mainBranch` is used, as the trunk.
    Raises ConfigError with file and line.
    """
    said: dict[str, Any] = {}
    for name, text in files:
        whole = _parse(name, text)
        ours = whole.get("agents", {})
        if not isinstance(ours, Mapping):
            raise _error(name, _line(text, ["agents"]), "`agents` is not an object")
        if isinstance(whole.get("mainBranch"), str):
            said.setdefault("trunk", whole["mainBranch"])
        said |= _validate(name, text, ours)
    return said


def _parse(name: str, text: str) -> Mapping[str, Any]:
    try:
        whole = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise _error(name, error.lineno, f"not valid JSON: {error.msg}") from None
    if not isinstance(whole, dict):
        raise _error(name, 1, "not a JSON object")
    return whole


def _validate(name: str, text: str, ours: Mapping[str, Any]) -> dict[str, Any]:
    try:
        checked = AgentsConfig.model_validate(ours)
    except ValidationError as error:
        first = error.errors()[0]
        path = ["agents", *map(str, first["loc"])]
        reason = f"`{'.'.join(path)}`: {first['msg'].lower()}"
        raise _error(name, _line(text, path), reason) from None
    return checked.model_dump(exclude_unset=True, include=set(AgentsConfig.model_fields))


def _line(text: str, path: Sequence[str]) -> int:
    position = 0
    for key in path:
        found = re.compile(rf'"{re.escape(key)}"\s*:').search(text, position)
        if found:
            position = found.start()
    return text.count("\n", 0, position) + 1


def _error(name: str, line: int, reason: str) -> ConfigError:
    return ConfigError(
        f"{name}, line {line}: {reason}.",
        hint="Correct the file (it was left as it is); `ghp agent-doctor` checks it again.",
    )
