"""A record of a pull request is one thing that was said."""

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.record import PullEvent, decode, encode, entry

AT = Timestamp("2025-06-15T15:06:40Z")
SAID = PullEvent(
    "0a1b2c3d4e5f", "f5e4d3c2b1a0", "open", 4, CloneId("c1"), AT, Actor("worker-1"),
    {"branch": "agent/one", "base": "main", "head": "a" * 40, "title": "One", "draft": True}, 7,
)  # fmt: skip
PULL = Pull(7, "agent/one", "main", "a" * 40, "One", issue=3)


def test_it_is_read_as_it_was_written() -> None:
    assert decode(SAID.path, encode(SAID)) == SAID


def test_it_is_a_file_that_people_can_read() -> None:
    assert SAID.path == ".ghp/pulls/0a1b2c3d4e5f/f5e4d3c2b1a0.json"
    assert encode(SAID).decode().splitlines()[:5] == [
        "{", '  "schemaVersion": 1,', '  "kind": "open",', '  "clock": 4,', '  "clone": "c1",',
    ]  # fmt: skip


def test_the_ledger_says_what_happened() -> None:
    record = entry(SAID, PULL, "agent/one: One")
    assert (record.event, record.object, record.issue, record.text) == (
        "pull-open", "#7", 3, "agent/one: One",
    )  # fmt: skip
