"""A note: its id, how changes fold, how it is named."""

import itertools

import pytest

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.notes.note import (
    NoteChange,
    as_json,
    find,
    folded,
    identity,
    last_day,
    normalised,
    ordered,
    short_names,
)
from tests.support.notes import NOW, note

ADA = Actor("Ada", is_person=True)


def change(clock: int, clone: str = "aaaa", event: str = "edit", **values: object) -> NoteChange:
    identity = f"{clock:04}{clone}"
    return NoteChange(identity, "n", event, ADA, Timestamp(NOW), clock, CloneId(clone), values)


@pytest.mark.parametrize(
    "text",
    [
        "The API needs JWTs",
        "the api  needs\nJWTs.",
        "  THE API NEEDS JWTS!  ",
        "The\N{NO-BREAK SPACE}API needs JWTs",
    ],
)
def test_the_same_fact_in_another_dress_has_the_same_id(text: str) -> None:
    assert identity("shop", text) == identity("shop", "The API needs JWTs")


def test_another_fact_and_another_project_have_another_id() -> None:
    ids = {identity("shop", "One"), identity("shop", "Two"), identity("bank", "One")}
    assert len(ids) == 3


def test_words_keep_their_order_and_punctuation_when_normalised() -> None:
    assert normalised("Use X-Tenant, not X_Tenant...") == "use x-tenant, not x_tenant"


def test_of_two_edits_of_one_field_the_later_wins_in_every_order() -> None:
    changes = [
        change(2, "aaaa", text="first", kind="gotcha"),
        change(3, "aaaa", text="third"),
        change(3, "bbbb", text="fourth"),
        change(2, "bbbb", kind="howto"),
    ]
    all_orders = {
        (now.text, now.kind)
        for order in itertools.permutations(changes)
        for now in [folded(note("told"), order)]
    }
    assert all_orders == {("fourth", "howto")}


def test_what_is_forgotten_stays_so_whatever_is_said_of_it_later() -> None:
    gone = change(2, event="forget")
    for changes in ([gone, change(9, text="again")], [change(9, text="again"), gone]):
        now = folded(note("told", paths=("src/",)), changes)
        assert (now.text, now.paths, now.state("2025-01-01")) == ("", (), "forgotten")
        assert now.forgotten == gone


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "active"),
        ({"expires": "2025-06-15"}, "active"),
        ({"expires": "2025-06-14"}, "expired"),
        ({"superseded_by": "ffff", "expires": "2025-06-14"}, "superseded"),
    ],
)
def test_a_note_is_active_until_it_is_replaced_or_its_last_day_is_over(
    fields: dict[str, object], state: str
) -> None:
    assert note("told", **fields).state("2025-06-15") == state


def test_notes_are_in_the_order_in_which_they_were_told_on_every_machine() -> None:
    late, other = note("c", clock=3), note("b", clock=2, clone=CloneId("bbbb"))
    early = note("a", clock=2)
    assert ordered([late, other, early]) == [early, other, late]


@pytest.mark.parametrize("reference", ["N-12ab", "12AB", "n12ab", "N-12ab0000"])
def test_a_note_is_found_by_any_beginning_of_its_id(reference: str) -> None:
    wanted = note("one", id="12ab0000")
    assert find([wanted, note("two", id="12cd0000")], reference) == wanted


def test_a_beginning_that_fits_several_names_them_and_none_says_where_to_look() -> None:
    notes = [note("one", id="12ab0000"), note("two", id="12cd0000")]
    with pytest.raises(UsageError) as caught:
        find(notes, "12")
    assert str(caught.value) == "'12' matches 2 notes."
    assert caught.value.hint == "Use more characters of the id: N-12ab0000 (one), N-12cd0000 (two)."
    for reference in ("ff", "", "N-"):
        with pytest.raises(NotFoundError):
            find(notes, reference)


def test_short_names_are_as_short_as_they_are_unique() -> None:
    notes = [note("a", id="12ab0000"), note("b", id="12ab1000"), note("c", id="ffff0000")]
    assert short_names(notes) == {
        "12ab0000": "N-12ab0", "12ab1000": "N-12ab1", "ffff0000": "N-ffff",
    }  # fmt: skip


def test_a_last_day_is_a_day_of_the_calendar() -> None:
    assert last_day("2024-02-29") == "2024-02-29"
    for text in ("2025-02-29", "20250101", "tomorrow", "2025-1-1", ""):
        with pytest.raises(UsageError):
            last_day(text)


def test_a_note_for_scripts_says_who_when_and_where() -> None:
    fields = as_json(note("told", id="12ab", issue=7, superseded_by="ff"), "2025-06-15")
    assert fields == {
        "id": "N-12ab", "state": "superseded", "kind": "fact", "text": "told", "by": "worker-1",
        "person": False, "at": NOW, "issue": 7, "paths": [], "expires": None, "branch": None,
        "commit": None, "supersededBy": "N-ff", "changedBy": None, "changedAt": None,
    }  # fmt: skip
