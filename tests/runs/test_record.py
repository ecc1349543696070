"""What is kept of a run, and what is not taken for one."""

import json

import pytest

from ghp_agents.runs import record
from ghp_agents.runs.record import FAILED, FINISHED, is_session
from tests.support.runs import RUN


def test_a_record_is_read_as_it_was_written() -> None:
    run = RUN._replace(pid=4, started="boot 5", session="s-1", cost=0.5, why="no reason")
    assert record.decode(json.loads(json.dumps(record.encode(run)))) == run


def test_unknown_fields_are_left_out() -> None:
    assert record.decode({**record.encode(RUN), "mood": "good"}) == RUN


@pytest.mark.parametrize(
    "change",
    [{"id": "../x"}, {"pid": True}, {"pid": "1"}, {"cost": float("nan")}, {"session": "-x"}],
)
def test_what_is_no_record_is_refused(change: dict[str, object]) -> None:
    assert record.decode({**record.encode(RUN), **change}) is None


def test_a_record_without_a_field_that_it_needs_is_refused() -> None:
    assert record.decode({"id": RUN.id}) is None


def test_failures_are_counted_in_a_row() -> None:
    assert RUN._replace(tries=1, outcome=FAILED).failures == 2
    assert RUN._replace(tries=1, outcome=FINISHED).failures == 0  # a result ends the row


def test_a_session_is_never_an_option() -> None:
    words = ["0b1e", "ses_1.2", "--help", "", "a b", None, "x" * 200]
    assert [word for word in words if is_session(word)] == ["0b1e", "ses_1.2"]
