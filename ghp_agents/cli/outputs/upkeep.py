"""The doctor, sweeps and consent, as JSON."""

from typing import Any, Literal, TypedDict

from ghp_agents.core.finding import Level


class FindingJson(TypedDict):
    """A finding of the doctor. Scripts rely on `code`."""

    level: Level
    code: str
    text: str
    remedy: str
    fixable: bool
    fixed: bool


class ActJson(TypedDict):
    """One act of a sweep."""

    kind: str
    issue: int | None
    agent: str | None
    to: str | None
    done: bool
    failed: bool
    text: str


class SweepJson(TypedDict):
    """The result of a sweep."""

    policy: str
    dryRun: bool
    agents: dict[str, int]
    acts: list[ActJson]
    notes: list[str]
    trouble: str | None


class BusySweepJson(TypedDict):
    """Another sweep runs."""

    busy: Literal[True]
    acts: list[ActJson]


class ConsentJson(TypedDict):
    """A setting that needs consent. `counts`: whether it is active."""

    key: str
    value: Any
    where: str
    counts: bool


class TrustJson(TypedDict):
    """The settings of the repository that need consent."""

    owner: str | None
    values: list[ConsentJson]
