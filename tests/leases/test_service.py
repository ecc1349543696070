"""Leases as they count, and giving them back: by whom, by what words, and what is in the way."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.leases.record import FOLDER
from ghp_agents.leases.service import is_id
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from tests.support.consent import mine
from tests.support.leases import NOW, Yard, make_yard, two_yards

Clones = Callable[[int], list[Path]]


@pytest.fixture
def yard(repo: Path) -> Yard:
    return make_yard(repo)


def say(yard: Yard, path: str, content: bytes) -> None:
    """Put a file into the state, as another version or a hand might."""
    record = Record("lease", Actor("x"), "L-x", "x", Timestamp(NOW), 1, ((path, content),))
    transact(yard.store, lambda snapshot: (None, [record._replace(clock=snapshot.clock + 1)]))


# -------------------------------------------------------------------------------- reading


def test_leases_are_listed_in_the_order_in_which_they_count(yard: Yard) -> None:
    yard.take("worker-2", "src/a.py")
    yard.clock.wait(1)
    yard.take("worker-1", "docs/")
    yard.clock.wait(1)
    yard.take("worker-3", name="db", strict=True)
    assert yard.held() == [
        ("worker-3", "db"),
        ("worker-2", "/src/a.py"),
        ("worker-1", "docs/"),
    ]


def test_edits_are_listed_while_their_agent_lives(yard: Yard) -> None:
    yard.edit("worker-1", "src/a.py")
    yard.edit("worker-2", "docs/a.md")
    edits = [(touch.agent, touch.path) for touch in yard.listing().edits]
    assert edits == [("worker-2", "docs/a.md"), ("worker-1", "src/a.py")]


def test_what_cannot_be_read_is_reported_and_hides_nothing(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    torn, odd, newer = (f"{FOLDER}{digit * 12}/{digit * 12}.json" for digit in "abc")
    say(yard, torn, b"{")
    say(yard, odd, b'{"kind": "request", "clock": 1, "clone": "x", "at": "x", "by": "w"}')
    say(yard, newer, b'{"kind": "pledge"}')
    listing = yard.listing()
    assert [hold.holder for hold in listing.held] == ["worker-1"]
    assert [(problem.place, problem.reason) for problem in listing.problems] == [
        (torn, "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (odd, "a request without a holder, patterns or name"),
    ]


# ---------------------------------------------------------------------------- giving back


def test_a_lease_is_given_back_by_its_patterns_in_any_order(yard: Yard) -> None:
    yard.take("worker-1", "src/", "docs/", "!gen/")
    assert len(yard.give("worker-1", "docs/", "src/", "!gen/").holds) == 1
    assert yard.held() == []


def test_a_lease_is_given_back_by_its_id_or_the_beginning_of_it(yard: Yard) -> None:
    hold = yard.take("worker-1", "src/").hold
    given = yard.give("worker-1", hold.short.upper(), reason="done")
    assert (given.holds, given.by) == ((hold,), Actor("worker-1"))
    assert yard.held() == []
    assert yard.events()[-1] == ("worker-1", "lease-release", "src/: done")


def test_several_are_given_back_at_once_each_by_what_it_was_leased_by(yard: Yard) -> None:
    first = yard.take("worker-1", "src/").hold
    yard.take("worker-1", "docs/")
    yard.take("worker-1", "*.toml")
    yard.take("worker-1", name="db")
    given = yard.give("worker-1", f"L-{first.id}", "docs/", "*.toml", name="db")
    assert len(given.holds) == 4
    assert yard.held() == []


def test_patterns_count_from_the_folder_in_which_they_are_said(yard: Yard) -> None:
    yard.take("worker-1", "./src/a.py")
    with pytest.raises(NotFoundError):
        yard.give("worker-1", "./a.py")
    assert yard.give("worker-1", "./a.py", cwd=yard.repo / "src").holds


def test_one_pattern_of_several_cannot_be_given_back_alone(yard: Yard) -> None:
    hold = yard.take("worker-1", "src/", "docs/").hold
    with pytest.raises(NotFoundError) as caught:
        yard.give("worker-1", "src/")
    assert str(caught.value) == "No lease covers exactly src/."
    assert caught.value.hint == (
        f"{hold.short} covers it together with other paths: `ghp agent-release {hold.short}`."
    )
    assert yard.held() == [("worker-1", "src/ docs/")]


@pytest.mark.parametrize(
    ("words", "name", "error", "message"),
    [
        (("src/",), None, NotFoundError, "No lease covers exactly src/."),
        (("L-3f9a",), None, NotFoundError, "There is no lease L-3f9a."),
        ((), "db", NotFoundError, "Nobody has leased db."),
        ((), "No name", UsageError, "'No name' is not a valid resource name."),
        (("../x",), None, UsageError, "'../x' is outside this repository."),
    ],
)
def test_what_is_not_leased_cannot_be_given_back(
    yard: Yard, words: tuple[str, ...], name: str | None, error: type[GhpError], message: str
) -> None:
    with pytest.raises(error) as caught:
        yard.give("worker-1", *words, name=name)
    assert str(caught.value) == message
    assert caught.value.hint


def test_the_beginning_of_several_ids_names_none(yard: Yard) -> None:
    for number, identity in enumerate(("abcd11110000", "abcd22220000")):
        content = (
            '{"kind": "request", "clock": 1, "clone": "x", "at": "x", "by": "w", "granted": true, '
            f'"holder": "worker-1", "name": "db-{number}"}}'
        )
        say(yard, f"{FOLDER}{identity}/{identity}.json", content.encode())
    with pytest.raises(UsageError) as caught:
        yard.give("worker-1", "L-abcd")
    assert str(caught.value) == "'L-abcd' matches 2 leases."
    assert caught.value.hint == (
        "Use more characters of the id: L-abcd11110000 (db-0), L-abcd22220000 (db-1)."
    )


def test_another_may_not_give_back_what_a_living_agent_has(yard: Yard) -> None:
    hold = yard.take("worker-1", "src/").hold
    with pytest.raises(RefusedError) as caught:
        yard.give("worker-2", "src/")
    assert str(caught.value) == (
        f"{hold.short} (src/) is leased by worker-1 since {NOW}, and worker-1 is still running."
    )
    assert yard.held() == [("worker-1", "src/")]


def test_a_person_an_orchestrator_and_whoever_finds_it_dead_may(yard: Yard) -> None:
    mine({"agents": {"orchestrators": ["boss"]}})
    for who in (None, "boss", "worker-2"):
        yard.take("worker-1", "src/")
        if who == "worker-2":
            yard.beat("worker-1", "stopped")
        given = yard.give(who, "src/")
        assert [hold.holder for hold in given.holds] == ["worker-1"]
    released = [who for who, event, _ in yard.events() if event == "lease-release"]
    assert released == ["Test Person", "boss", "worker-2"]


def test_where_two_leased_the_same_it_is_mine_that_is_given_back(clones: Clones) -> None:
    one, other = two_yards(*clones(2))
    one.take("worker-1", "src/")
    other.take("worker-2", "src/")
    for yard in (one, other, one):
        yard.sync()
    assert [hold.holder for hold in one.give("worker-2", "src/").holds] == ["worker-2"]
    assert one.held() == [("worker-1", "src/")]


def test_what_was_given_back_is_refused_a_second_time(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    yard.give("worker-1", "src/")
    with pytest.raises(NotFoundError):
        yard.give("worker-1", "src/")
    assert [event for _, event, _ in yard.events()] == ["lease", "lease-release"]


def test_a_strict_one_that_cannot_be_given_back_stays(clones: Clones) -> None:
    one, _ = two_yards(*clones(2))
    one.take("worker-1", "src/", strict=True)
    one.locks._board.reachable = False
    with pytest.raises(UnknownError):
        one.give("worker-1", "src/")
    assert one.held() == [("worker-1", "src/")]


def test_words_that_are_ids() -> None:
    assert [is_id(word) for word in ("L-3f9a", "l-3F", "L-", "L-x/y", "src/", "L")] == [
        True, True, False, False, False, False,
    ]  # fmt: skip
