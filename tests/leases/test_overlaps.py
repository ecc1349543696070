"""Leases that two clones granted before they heard of each other, and the question about them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.escalations.service import questions
from ghp_agents.leases import overlaps as conflicts
from ghp_agents.leases.overlaps import Overlap
from tests.support.leases import Yard, two_yards

Clones = Callable[[int], list[Path]]


@pytest.fixture
def yards(clones: Clones) -> tuple[Yard, Yard]:
    one, other = two_yards(*clones(2))
    return one, other


def found(yard: Yard) -> list[Overlap]:
    listing = yard.listing()
    return conflicts.find(
        yard.ws(None), listing.held, listing.logs, questions(yard.parts(None).world)
    )


@pytest.mark.slow
def test_two_that_overlap_are_found_in_every_clone_with_their_question(
    yards: tuple[Yard, Yard],
) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    one.take("worker-3", "docs/")
    other.take("worker-2", "src/a.py")
    other.take("worker-1", "src/b.py")  # with oneself there is no conflict
    assert found(one) == found(other) == []
    one.sync()
    other.sync()
    one.sync()
    (overlap,) = found(other)
    assert (overlap.earlier.holder, overlap.later.holder, overlap.place) == (
        "worker-1", "worker-2", "src/a.py",
    )  # fmt: skip
    assert overlap.question == questions(other.parts(None).world)[0]
    assert found(one) == [overlap]
    one.give("worker-1", "src/")
    assert found(one) == []


def test_before_anybody_asked_there_is_no_question(yards: tuple[Yard, Yard]) -> None:
    one, other = yards
    one.take("worker-1", name="db")
    other.take("worker-2", name="db")
    other.sync()
    one.store.sync()
    (overlap,) = found(one)
    assert (overlap.place, overlap.question) == ("db", None)
