"""JSON and its schema derive from the fields of a record."""

from typing import Annotated, NamedTuple

import pytest

from ghp_agents.core.declared import (
    HIDDEN,
    INLINE,
    NULL,
    OPTIONAL,
    TIME,
    WORD,
    Name,
    Read,
    decoded,
    members,
    plain,
)
from ghp_agents.core.fields import Flag, Text, Whole, line
from ghp_agents.core.finding import Level
from ghp_agents.core.ids import Actor


class Inner(NamedTuple):
    made_at: Annotated[float, TIME]
    level: Annotated[Level, WORD]


class Outer(NamedTuple):
    by: Annotated[Actor, Name("by", "byPerson")]
    parts: tuple[Inner, ...] = ()
    inner: Annotated[Inner, INLINE] = Inner(0, Level.OK)
    title: Annotated[str, Name("name"), NULL] = ""
    limit: Annotated[int, OPTIONAL] = 0
    secret: Annotated[str, HIDDEN] = "x"


EPOCH = {"madeAt": "1970-01-01T00:00:00Z", "level": "ok"}


def test_a_record_is_an_object_with_what_its_marks_say() -> None:
    whole = Outer(Actor("ann", True), (Inner(1, Level.ERROR),), title="T", limit=2)
    part = {"madeAt": "1970-01-01T00:00:01Z", "level": "error"}
    assert list(plain(whole).items()) == [
        ("by", "ann"), ("byPerson", True), ("parts", [part]), *EPOCH.items(), ("name", "T"),
        ("limit", 2),
    ]  # fmt: skip
    bare: object = {"by": "w", "byPerson": False, "parts": [], **EPOCH, "name": None}
    assert plain([{"row": Outer(Actor("w"))}]) == [{"row": bare}]


def test_the_members_are_those_of_the_object_and_begin_with_the_inner_ones() -> None:
    assert [*members(Outer)] == [
        ("madeAt", str, True), ("level", str, True),
        ("by", str, True), ("byPerson", bool, True), ("parts", tuple[Inner, ...], True),
        ("name", str | None, True), ("limit", int, False),
    ]  # fmt: skip
    assert {name for name, _, _ in members(Outer)} >= plain(Outer(Actor("w"))).keys()


class Kept(NamedTuple):
    id: Annotated[str, HIDDEN]
    by: Annotated[Actor, Name("by", "person"), Read(lambda pair, _: Actor(*pair))]
    why: Annotated[str, line(3)]
    size: Annotated[Whole, Name("bytes")] = 5
    body: Annotated[Text, OPTIONAL] = ""
    is_new: Flag = False


def test_a_record_is_read_as_it_was_written() -> None:
    kept = Kept("a1", Actor("ann", True), "abc", 7, "B", True)
    assert decoded(Kept, plain(kept), id="a1") == kept
    values = {"by": "ann", "person": False, "why": "abcd", "isNew": 1, "unknown": 2}
    assert decoded(Kept, values, id="a1") == Kept("a1", Actor("ann"), "abc")
    assert {name for name, _, is_required in members(Kept) if is_required} == {
        "by", "person", "why"
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [{"why": None}, {"why": 7}, {"bytes": None}, {"bytes": -1}])
def test_a_wrong_value_is_named(wrong: dict[str, object]) -> None:
    values = {"by": "ann", "person": False, "why": "x"} | wrong
    with pytest.raises(ValueError, match=f"'{min(wrong)}'"):
        decoded(Kept, values, id="a1")
