"""Records on their way into a commit: whole, or known not to be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.state import record as records
from ghp_agents.state.record import Record

AT = Timestamp("2026-01-02T03:04:05Z")
PATHS = st.text(st.characters(), min_size=1, max_size=8)
RECORDS = st.builds(
    Record,
    event=st.text(max_size=6),
    actor=st.builds(Actor, st.text(st.characters(), max_size=6), st.booleans()),
    object=st.text(max_size=6),
    id=st.text(max_size=6),
    at=st.just(AT),
    clock=st.integers(0, 2**63),
    files=st.lists(st.tuples(PATHS, st.binary(max_size=20)), max_size=3).map(tuple),
    issue=st.none() | st.integers(1, 2**53),
    generation=st.none() | st.integers(1, 2**53),
    text=st.text(st.characters(), max_size=9),
)
SIMPLE = Record(
    event="escalate",
    actor=Actor("worker-1"),
    object="E-3f9a",
    id="3f9a",
    at=AT,
    clock=7,
    files=((".ghp/escalations/3f9a.md", b"---\nid: 3f9a\n---\n"), (".ghp/x", b"\0\n\xff")),
    issue=147,
    text="Which colour?",
)


@pytest.mark.slow
@given(RECORDS)
def test_a_record_is_read_back_as_it_was_written(record: Record) -> None:
    assert records.decode(records.encode(record)) == record


@pytest.mark.slow
@given(RECORDS, st.data())
def test_a_torn_record_is_never_taken_for_a_whole_one(record: Record, data: st.DataObject) -> None:
    whole = records.encode(record)
    length = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(ValueError, match=r"."):
        records.decode(whole[:length])


def test_something_after_the_record_makes_it_no_record() -> None:
    with pytest.raises(ValueError, match="not a whole record"):
        records.decode(records.encode(SIMPLE) + b"x")


def _with(**changes: object) -> bytes:
    header, _, body = records.encode(SIMPLE).partition(b"\n")
    return json.dumps(json.loads(header) | changes).encode() + b"\n" + body


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n", b"null\n", b"[]\n", b"{}\n", b'"x"\n', b"\xff\n", b"[" * 200_000,
        _with(files=None), _with(files=[1]), _with(files=[["a"]]), _with(files=[["a", "x"]]),
        _with(files=[["a", -4], ["b", 25]]), _with(files=[["a", 1e999]]), _with(files={}),
        _with(clock="soon"), _with(clock=None), _with(clock=1e999), _with(issue="7\nEvent: x"),
        _with(issue=[]), _with(generation={}),
    ],
)  # fmt: skip
def test_what_is_no_record_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        records.decode(data)


def test_a_field_from_a_newer_version_does_not_make_a_record_unreadable() -> None:
    assert records.decode(_with(fromANewerVersion=1)) == SIMPLE


@given(st.binary(max_size=80))
def test_no_bytes_do_worse_than_a_value_error(data: bytes) -> None:
    try:
        records.decode(data)
    except ValueError:
        return


def test_there_is_always_a_clock_after_those_that_were_seen() -> None:
    assert records.highest() == 0
    assert records.highest(3, 7, 5) == 7
    assert records.highest(records.LAST, 7) + 1 == records.LAST
    assert records.highest(10**18) + 1 == records.LAST


def test_a_record_without_files_that_lost_its_last_byte_is_torn() -> None:
    whole = records.encode(SIMPLE._replace(files=()))
    with pytest.raises(ValueError, match="its first line has no end"):
        records.decode(whole[:-1])
