"""Assignments of former holders of which the taker had not heard are made up for, once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.issues import service as issues
from tests.support.claimants import Claimant, Team
from tests.support.consent import anyone_steals

Clones = Callable[[int], list[Path]]


def stolen(one: Claimant, two: Claimant) -> None:
    """The second takes it from the first, of whose claim it has not heard."""
    anyone_steals()
    one.claim(1)
    taken = two.claim(1, steal=True, reason="It is urgent")
    assert taken.issue.assignees == ("worker-2",)


@pytest.mark.slow
def test_it_is_taken_away_when_a_sync_has_brought_it(one: Claimant, two: Claimant) -> None:
    stolen(one, two)
    one.sync()
    two.sync()
    assert two.assignees(1) == ("worker-2",)
    assert one.sync().assignees(1) == ("worker-2",)


@pytest.mark.slow
def test_what_is_said_on_purpose_since_stays(one: Claimant, two: Claimant) -> None:
    stolen(one, two)
    one.sync()
    two.sync()
    one.sync()
    person = Claimant(one.ws.folder, "@me", one.clock)
    issues.assign(person.parts, "1", ["worker-1"])
    one.sync()
    assert two.sync().assignees(1) == ("worker-1", "worker-2")


@pytest.mark.slow
def test_it_is_owed_until_it_comes(one: Claimant, two: Claimant) -> None:
    stolen(one, two)
    two.sync()
    two.sync()
    one.sync()
    assert two.sync().assignees(1) == ("worker-2",)


@pytest.mark.slow
def test_what_was_settled_by_who_came_later_is_forgotten(one: Claimant, two: Claimant) -> None:
    stolen(one, two)
    one.claim(1, steal=True, reason="It was mine")
    one.sync()
    two.sync()
    one.sync()
    assert two.sync().assignees(1) == one.assignees(1) == ("worker-1",)


@pytest.mark.slow
def test_a_memory_that_cannot_be_read_costs_only_what_is_shown(
    one: Claimant, two: Claimant
) -> None:
    stolen(one, two)
    (two.ws.cache_dir / "claims-owed.json").write_text('{"issue/1": 7}')
    one.sync()
    assert two.sync().assignees(1) == ("worker-1", "worker-2")


@pytest.mark.slow
def test_who_gave_back_what_another_held_owes_the_same(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    person = team.person("worker-2")
    assert person.release(1).previous == "worker-1"
    one.sync()
    two.sync()
    assert two.assignees(1) == ()
