"""Records of issues as files: written once, read by everybody, whatever is in them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, CloneId, IssueNumber, Timestamp
from ghp_agents.core.metadata import as_metadata
from ghp_agents.issues.issue import NO_CHANGE, Issue, IssueChange
from ghp_agents.issues.record import (
    SETS,
    TEXTS,
    IssueEvent,
    decode,
    described,
    encode,
    entry,
    event_of,
    ids_of,
    spelled,
)

AT = Timestamp("2026-01-02T03:04:05Z")
ISSUES = [
    Issue("aaaaaaaa0001", IssueNumber(1), "One"),
    Issue("aaaaaaaa0002", IssueNumber(2), "Two"),
    Issue("aaaaaaaa0003", IssueNumber(3), "Three"),
]
SAID = IssueEvent(
    issue="aaaaaaaa0001",
    id="bbbbbbbb0001",
    kind="create",
    clock=7,
    clone=CloneId("c1"),
    at=AT,
    by=Actor("Jürgen Example", is_person=True),
)
PATH = ".ghp/issues/aaaaaaaa0001/bbbbbbbb0001.json"

FULL = IssueChange(
    title="Fix “it”",
    body="Body\nof two lines",
    state="open",
    priority="high",
    parent=IssueNumber(3),
    add_labels=("bug",),
    remove_labels=("ui",),
    add_assignees=("worker-1",),
    remove_assignees=("Ann",),
    add_blockers=(IssueNumber(2),),
    remove_blockers=(IssueNumber(3),),
)


def test_a_creation_is_a_file_that_people_can_read() -> None:
    event = spelled(SAID, FULL, ISSUES)._replace(number=1)
    assert event.path == PATH
    assert (
        encode(event).decode()
        == """\
{
  "schemaVersion": 1,
  "kind": "create",
  "clock": 7,
  "clone": "c1",
  "at": "2026-01-02T03:04:05Z",
  "by": "Jürgen Example",
  "person": true,
  "number": 1,
  "set": {
    "title": "Fix “it”",
    "body": "Body\\nof two lines",
    "state": "open",
    "priority": "high",
    "parent": "aaaaaaaa0003"
  },
  "add": {
    "labels": [
      "bug"
    ],
    "assignees": [
      "worker-1"
    ],
    "blockedBy": [
      "aaaaaaaa0002"
    ]
  },
  "remove": {
    "labels": [
      "ui"
    ],
    "assignees": [
      "Ann"
    ],
    "blockedBy": [
      "aaaaaaaa0003"
    ]
  }
}
"""
    )


def test_what_is_not_said_is_not_in_the_file() -> None:
    event = SAID._replace(kind="comment", body="Hello", marker="m", by=Actor("worker-1"))
    assert json.loads(encode(event)) == {
        "schemaVersion": 1,
        "kind": "comment",
        "clock": 7,
        "clone": "c1",
        "at": AT,
        "by": "worker-1",
        "person": False,
        "body": "Hello",
        "marker": "m",
    }
    gone = spelled(SAID._replace(kind="change"), IssueChange(no_parent=True), ISSUES)
    assert json.loads(encode(gone))["set"] == {"parent": None}


IDS = st.text("0123456789abcdef", min_size=8, max_size=12)
LINES = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@st.composite
def elements(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    names = draw(st.sets(st.sampled_from(SETS)))
    types = {name: IDS if name == "blockedBy" else LINES for name in names}
    return {n: tuple(draw(st.lists(s, min_size=1, max_size=3))) for n, s in types.items()}


@st.composite
def texts(draw: st.DrawFn) -> dict[str, str | None]:
    metadata = st.dictionaries(LINES, LINES, max_size=2).map(as_metadata)
    values = {"body": TEXT, "parent": st.none() | IDS, "metadata": metadata}
    return {n: draw(values.get(n, LINES)) for n in draw(st.sets(st.sampled_from(TEXTS)))}


SAYINGS = st.builds(
    IssueEvent,
    issue=IDS,
    id=IDS,
    kind=st.sampled_from(["create", "change", "comment", "number"]),
    clock=st.integers(0, 2**53 - 1),
    clone=LINES.map(CloneId),
    at=st.just(AT),
    by=st.builds(Actor, LINES, st.booleans()),
    number=st.none() | st.integers(1, 2**53 - 1),
    texts=texts(),
    added=elements(),
    removed=elements(),
    body=TEXT,
    marker=TEXT,
)


@pytest.mark.slow
@given(SAYINGS)
def test_what_is_written_is_what_is_read(event: IssueEvent) -> None:
    assert decode(event.path, encode(event)) == event


@pytest.mark.slow
@given(st.binary() | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(
        ["kind", "clock", "clone", "at", "by", "number", "set", "add", "remove", "body", "labels"]
    ), inner),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_what_cannot_be_read_is_a_value_error_and_nothing_else(data: bytes) -> None:
    try:
        decode(PATH, data)
    except ValueError:
        return


def broken(**fields: object) -> bytes:
    return json.dumps(json.loads(encode(SAID)) | fields).encode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"[]", "not a JSON object"),
        (broken(kind=None), "'kind' is missing or not a text"),
        (broken(clock="7"), "'clock' is not a whole number"),
        (broken(clock=True), "'clock' is not a whole number"),
        (broken(clock=-1), "'clock' is not a whole number"),
        (broken(clock=2**53), "'clock' is not a whole number"),
        (broken(number="1"), "'number' is not a whole number"),
        (broken(by=["x"]), "'by' is missing or not a text"),
        (broken(set=[]), "'set' is not an object"),
        (broken(set={"title": 5}), "'title' is missing or not a text"),
        (broken(set={"parent": "../x"}), "'../x' is not an id"),
        (broken(add={"labels": "bug"}), "'labels' is not a list"),
        (broken(add={"blockedBy": ["12"]}), "'12' is not an id"),
    ],
)
def test_a_broken_record_says_what_is_wrong_with_it(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        decode(PATH, data)


@pytest.mark.parametrize(
    "path",
    [
        ".ghp/issues/aaaaaaaa0001",
        ".ghp/issues/aaaaaaaa0001/bbbbbbbb0001",
        ".ghp/issues/aaaaaaaa0001/README.json",
        ".ghp/issues/../bbbbbbbb0001.json",
        ".ghp/issues/aaaaaaaa0001/x/bbbbbbbb0001.json",
        ".ghp/notes/aaaaaaaa0001/bbbbbbbb0001.json",
    ],
)
def test_a_path_that_is_not_a_records_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        ids_of(path)


def test_what_newer_versions_say_is_let_through() -> None:
    assert decode(PATH, broken(kind="vote", set=7)) is None
    newer = broken(set={"title": "T", "colour": 5}, add={"watchers": 7}, extra=[1])
    assert decode(PATH, newer) == SAID._replace(texts={"title": "T"})


def test_lines_of_others_are_one_line_and_every_text_can_be_printed() -> None:
    data = broken(set={"title": "A\n\x1b[31mB", "body": "\ud800x\ny"}, add={"labels": ["a\nb"]})
    event = decode(PATH, data)
    assert event is not None
    assert event.texts == {"title": "A [31mB", "body": "?x\ny"}
    assert event.added == {"labels": ("a b",)}


@pytest.mark.parametrize(
    ("change", "event", "words"),
    [
        (FULL, "issue-reopen", "title: Fix “it”, priority: high, body, part of #3, +bug, "
         "+worker-1, -ui, -Ann, blocked by #2, not blocked by #3"),
        (IssueChange(state="closed"), "issue-close", ""),
        (IssueChange(add_assignees=("a",), remove_assignees=("b",)), "issue-assign", "+a, -b"),
        (IssueChange(add_blockers=(IssueNumber(2),)), "issue-block", "blocked by #2"),
        (IssueChange(remove_blockers=(IssueNumber(2),)), "issue-block", "not blocked by #2"),
        (IssueChange(no_parent=True), "issue-edit", "part of nothing"),
        (IssueChange(add_labels=("x",), add_assignees=("a",)), "issue-edit", "+x, +a"),
        (NO_CHANGE, "issue-assign", ""),
    ],
)  # fmt: skip
def test_a_change_has_a_word_and_a_line_for_the_ledger(
    change: IssueChange, event: str, words: str
) -> None:
    assert (event_of(change), described(change)) == (event, words)


def test_an_entry_of_the_ledger_names_issue_actor_and_file() -> None:
    record = entry(SAID, "issue-new", ISSUES[1], "Title\nof two lines")
    assert (record.event, record.actor, record.object, record.issue) == (
        "issue-new",
        SAID.by,
        "#2",
        2,
    )
    assert (record.id, record.at, record.clock) == ("bbbbbbbb0001", AT, 7)
    assert record.files == ((PATH, encode(SAID)),)
    assert record.text == "Title of two lines"
