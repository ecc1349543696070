"""What all records share is written in one way, and read back or refused in one way."""

import json
import re
from typing import Any

import pytest

from ghp_agents.core.fields import dump
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.issues.record import IssueEvent, decode, encode
from ghp_agents.state.codec import (
    Provenance,
    any_provenance,
    ledger_record,
    order,
    read_files,
    written_provenance,
)
from ghp_agents.state.record import Problem, Record

AT = Timestamp("2025-06-15T15:06:40Z")
WORKER, ADA = Actor("worker-1"), Actor("Ada Lovelace", True)
EVENT = IssueEvent("aaaaaaaa", "bbbbbbbb", "create", 7, CloneId("c1"), AT, ADA)
PATH = EVENT.path
FIELDS = {"by": "Ada Lovelace", "person": True, "at": AT, "clock": 7, "clone": "c1"}


def test_provenance_is_read_as_it_was_written() -> None:
    expected = Provenance(ADA, AT, 7, CloneId("c1"))._asdict()
    assert written_provenance(EVENT) == FIELDS
    assert any_provenance(FIELDS) == expected


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"by": None}, "'by' is missing or not a text"),
        ({"at": 7}, "'at' is missing or not a text"),
        ({"clock": "7"}, "'clock' is not a whole number"),
        ({"clock": -1}, "'clock' is not a whole number"),
        ({"clone": []}, "'clone' is missing or not a text"),
    ],
)
def test_an_event_with_a_wrong_provenance_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        decode(PATH, dump(FIELDS | {"kind": "create"} | change))


def test_a_document_needs_only_an_author() -> None:
    expected = Provenance(WORKER, Timestamp(""), 0, CloneId(""))._asdict()
    assert any_provenance({"by": "worker-1"}) == expected
    assert any_provenance({"by": "worker-1", "at": 7, "clock": True, "clone": []}) == expected


@pytest.mark.parametrize(
    ("by", "why"),
    [
        (None, "it does not say who wrote it"),
        (" ", "it does not say who wrote it"),
        ("../x", "'../x' is not a valid agent name."),
        ("Worker-1", "'Worker-1' has capital letters"),
    ],
)
def test_a_document_by_nobody_is_refused(by: object, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        any_provenance({"by": by})


def test_an_event_is_written_without_its_empty_fields() -> None:
    content = encode(EVENT._replace(texts={"title": "Zoë"}))
    first = {"kind": "create", "clock": 7, "clone": "c1", "at": AT, "by": ADA.name, "person": True}
    assert list(json.loads(content).items()) == [
        ("schemaVersion", 1),
        *first.items(),
        ("set", {"title": "Zoë"}),
    ]
    assert content.endswith('"Zoë"\n  }\n}\n'.encode())


def test_records_are_ordered_by_clock_then_clone_then_id() -> None:
    late = EVENT._replace(clock=8, clone=CloneId("a"), id="a")
    other = EVENT._replace(clone=CloneId("d"), id="a")
    assert sorted([late, other, EVENT], key=order) == [EVENT, other, late]


def test_a_ledger_record_has_the_file_and_its_provenance() -> None:
    expected = Record(
        "issue-edit", ADA, "#12", EVENT.id, AT, 7, ((EVENT.path, b"x"),), issue=12, text="T"
    )
    files = [(EVENT.path, b"x")]
    assert ledger_record(EVENT, "issue-edit", "#12", files, issue=12, text="T") == expected


def test_an_unreadable_file_hides_no_other_and_unknown_ones_are_ignored() -> None:
    def decode(name: str, data: bytes) -> tuple[str, int] | None:
        return (name, int(data)) if data else None

    files = {"a.n": b"1", "b.n": b"one", "c.n": b"", "d.x": b"4", "e.n": b"5"}
    values, problems = read_files(files, decode, re.compile(r"(.)\.n"), "no number: ")
    assert values == [("a", 1), ("e", 5)]
    why = "no number: invalid literal for int() with base 10: b'one'"
    assert problems == [Problem("b.n", why)]
    assert read_files({"x\ny": b"1"}, decode) == ([("x\ny", 1)], [])
