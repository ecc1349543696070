"""An override is a record that tells the other agent who edits its files, and why."""

import pytest

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.guard.override import OverrideRecord, encode, path_of, read_overrides

ENTRY = OverrideRecord(
    "a" * 12, "worker-2", 3, ("src/a.py", "odd name"), "it is a rename", False,
    Actor("worker-1"), Timestamp("2026-01-02T03:04:05Z"), 5, CloneId("b" * 12),
)  # fmt: skip


def test_a_record_is_read_as_it_was_written() -> None:
    record = encode(ENTRY)
    assert (record.event, record.object, record.text) == (
        "override", "worker-2", "src/a.py, «odd name»: it is a rename",
    )  # fmt: skip
    assert [path for path, _ in record.files] == [path_of("worker-2", "a" * 12)]
    assert read_overrides(dict(record.files)) == ([ENTRY], [])


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"epoch": -1}'])
def test_an_unreadable_record_is_a_problem_and_hides_no_other(content: bytes) -> None:
    files = dict(encode(ENTRY).files) | {path_of("worker-3", "0" * 8): content}
    records, (problem,) = read_overrides(files)
    assert records == [ENTRY]
    assert problem.reason.startswith("not an override: ")


def test_the_other_agent_reads_who_what_why_and_what_follows() -> None:
    assert ENTRY.words == (
        "worker-1 edits src/a.py, «odd name», although you are editing them, too. "
        "Reason given: «it is a rename». Expect a conflict when your branches are merged."
    )
    many = ENTRY._replace(
        paths=tuple(f"f{number}" for number in range(7)), reason="x`» y", is_same_worktree=True
    )
    assert many.words == (
        "worker-1 edits f0, f1, f2, f3, f4 and 2 more, although you are editing them, too. "
        "Reason given: «x'' y». Read each file again before you edit it."
    )
