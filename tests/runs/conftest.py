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
    made = shift_of(repo, "One", "Two")
    yield made
    made.end_all()
    assert [pid for run in made.runs() for pid in processes.marked(run.id)] == []
