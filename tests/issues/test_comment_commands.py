"""What became of commands, as files of the state, and what follows from them."""

import json

import pytest

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.issues.comment_commands import (
    DONE,
    REFUSED,
    Act,
    Obeyed,
    encode,
    path_of,
    read_commands,
    retried,
    stopped,
    told_to_stop,
)

THEN = Timestamp("2025-01-25T10:30:00Z")


def obeyed(comment: int, verb: str, fate: str = DONE, issue: int = 12, agent: str = "") -> Obeyed:
    act = Act(verb, f"/agent {verb}", fate, "so it is", agent, 3 if agent else 0)
    return Obeyed(comment, issue, Actor("@ada", True), (act,), THEN, comment * 2, CloneId("c1"))


def test_a_record_is_read_as_it_was_written() -> None:
    command = obeyed(7, "stop", agent="worker-1")
    record = encode(command)
    assert (record.event, record.object, record.issue) == ("command", "#12", 12)
    assert record.text == "/agent stop: so it is"
    assert record.files[0][0] == path_of(7) == command.path
    assert read_commands(dict(record.files)) == ([command], [])


def test_two_clones_write_the_same_path_for_the_same_comment() -> None:
    one, other = obeyed(7, "stop"), obeyed(7, "stop")._replace(clone=CloneId("c2"), clock=99)
    assert encode(one).id == encode(other).id
    assert one.path == other.path


@pytest.mark.parametrize(
    "change",
    [
        {"comment": "7"}, {"comment": True}, {"issue": -1}, {"by": None}, {"acts": 1},
        {"acts": [{}]}, {"acts": [{"verb": "stop"}]}, {"clock": None}, {"comment": 8},
        {"acts": [{"verb": "stop", "said": "", "fate": "obeyed?", "words": "", "agent": "",
                   "generation": 0}]},
    ],
)  # fmt: skip
def test_what_is_no_record_is_a_problem_and_hides_no_other(change: dict[str, object]) -> None:
    good, bad = obeyed(6, "stop"), obeyed(7, "stop")
    fields = json.loads(encode(bad).files[0][1]) | change
    files = {**dict(encode(good).files), bad.path: json.dumps(fields).encode(), "x": b"[" * 10_000}
    records, problems = read_commands(files)
    assert records == [good]
    assert {problem.place for problem in problems} == {bad.path, "x"}


def test_texts_that_came_from_elsewhere_are_one_line_without_escapes() -> None:
    record = obeyed(7, "stop")._replace(by=Actor("@a\x1b[2Jda\nb", True))
    assert read_commands(dict(encode(record).files))[0][0].by == Actor("@a [2Jda b", True)


def test_an_issue_is_stopped_until_it_is_assigned_or_retried() -> None:
    records = [obeyed(1, "stop"), obeyed(2, "status"), obeyed(3, "retry", REFUSED)]
    assert stopped(records) == {12}
    assert stopped([*records, obeyed(4, "assign")]) == set()
    assert stopped([*records, obeyed(4, "retry")]) == set()
    assert stopped([*records, obeyed(4, "retry", issue=13)]) == {12}


def test_attempts_count_from_the_last_retry() -> None:
    records = [
        obeyed(1, "retry"),
        obeyed(5, "retry"),
        obeyed(9, "retry", REFUSED),
        obeyed(6, "stop"),
    ]
    assert retried(records) == {12: 10}


def test_only_who_held_it_is_told_to_stop() -> None:
    records = [obeyed(1, "stop", agent="worker-1"), obeyed(2, "stop"), obeyed(3, "assign")]
    assert told_to_stop(records, "worker-1") == [(records[0], records[0].acts[0])]
    assert told_to_stop(records, "worker-2") == []
