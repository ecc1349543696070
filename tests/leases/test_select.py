"""Which leases a name or patterns mean."""

import pytest

from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.leases import select as hold_choice
from ghp_agents.leases.hold import Hold

AT = Timestamp("2025-06-15T15:06:40Z")
MINE, OTHER = Actor("worker-1"), Actor("worker-2")


def hold(number: str, who: Actor, *patterns: str, name: str | None = None) -> Hold:
    return Hold(number, who.name, who.is_person, patterns, name, AT)


def test_of_several_that_fit_mine_is_meant() -> None:
    one, two = hold("a1", MINE, "/src/"), hold("b2", OTHER, "/src/")
    assert hold_choice.leased([two, one], MINE, ("/src/",)) == [one]
    assert hold_choice.leased([two], MINE, ("/src/",)) == [two]


def test_a_name_that_nobody_leased_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="Nobody has leased staging"):
        hold_choice.named([hold("a1", MINE, "/src/")], MINE, "staging")
