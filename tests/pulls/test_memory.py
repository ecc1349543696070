"""Pull requests in memory do what every forge does."""

import secrets

import pytest

from ghp_agents.core.ids import digest
from ghp_agents.ports import Forge
from tests.contracts.forge import ForgeContract, Site
from tests.support.clock import ManualClock
from tests.support.twins.pulls import Branches, MemoryForge


class MemorySite(Site):
    def __init__(self, clock: ManualClock) -> None:
        self._branches = Branches({"main": secrets.token_hex(20)})
        self._forge = MemoryForge(clock, self._branches)
        self._merged: dict[str, str] = {}

    @property
    def forge(self) -> Forge:
        return self._forge

    def work(self, branch: str) -> str:
        self._branches.tips[branch] = secrets.token_hex(20)
        return self._branches.tips[branch]

    def spoil(self, branch: str) -> str:
        self._branches.conflicting.add(branch)
        return self.work(branch)

    @property
    def trunk(self) -> str:
        return self._branches.tips["main"]

    def joined(self, below: str, head: str) -> str:
        return digest("merge", below, head, length=40)

    def has(self, commit: str) -> bool:
        return any(pull.head == commit for pull in self._forge.list(closed=True))


class TestMemoryForge(ForgeContract):
    @pytest.fixture
    def site(self, clock: ManualClock) -> Site:
        return MemorySite(clock)
