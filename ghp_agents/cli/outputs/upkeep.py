"""The doctor, sweeps and consent, as JSON."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from ghp_agents.consent.service import ConsentItem
from ghp_agents.sweep.messages import SweepLine


class SweepJson(TypedDict):
    """The result of a sweep."""

    policy: str
    dryRun: bool
    agents: dict[str, int]
    acts: list[SweepLine]
    notes: list[str]
    trouble: str | None


class BusySweepJson(TypedDict):
    """Another sweep runs."""

    busy: Literal[True]
    acts: list[SweepLine]


class TrustJson(TypedDict):
    """The settings of the repository that need consent."""

    owner: str | None
    values: Sequence[ConsentItem]
