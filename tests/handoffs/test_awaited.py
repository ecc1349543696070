"""A claim may be here before the handoff that it names: then the handoff is fetched."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs import awaited
from ghp_agents.wiring import App
from tests.support.ghp import invoke

Clones = Callable[[int], list[Path]]
ONE, TWO = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}


@pytest.fixture
def two(clones: Clones) -> tuple[Path, str]:
    """A clone that was in step just before worker-1 handed #1 over in another; and the handoff."""
    one, other = clones(2)
    for folder, line in (
        (one, "agent-init"), (one, "agent-issue new Parse"), (one, "agent-claim 1 --as worker-1"),
        (one, "agent-sync"), (other, "agent-init"), (other, "agent-sync"),
    ):  # fmt: skip
        assert invoke(line, folder).code == 0, line
    handed = invoke("agent-handoff --issue 1 --to worker-2 --note 'Read me first.'", one, ONE)
    return other, next(word.strip(".,") for word in handed.err.split() if word.startswith("H-"))


@pytest.mark.slow
def test_resume_fetches_the_handoff_that_the_claim_names(two: tuple[Path, str]) -> None:
    other, name = two
    assert invoke("agent-claim 1", other, TWO).code == 0
    resumed = invoke("agent-resume", other, TWO)
    assert f"({name}, " in resumed.out
    assert "Read me first." in resumed.out


@pytest.mark.slow
def test_a_handoff_that_nobody_sent_is_named(two: tuple[Path, str]) -> None:
    other, name = two
    house = App(other, os.environ, name="worker-2")
    lock = house.locks.read("issue/1")
    assert lock
    assert awaited.missing(house, lock) == name
    assert awaited.fetch(house, lock) == ""
    lost = lock._replace(reason="given by worker-1: handed over in H-0123456789ab")
    assert awaited.fetch(house, lost) == "H-0123456789ab"
    assert awaited.fetch(house, lock._replace(reason="it was urgent")) == ""
