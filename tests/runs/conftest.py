"""A clone with two issues, whose runs have all ended after the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.runs import processes
from tests.support.runs import Shift, shift_of


@pytest.fixture
def shift(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shift]:
    """After the test, no process of any run is left."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    fleet = shift_of(repo, "One", "Two")
    yield fleet
    fleet.end_all()
    assert [pid for run in fleet.runs() for pid in processes.marked(run.id)] == []
