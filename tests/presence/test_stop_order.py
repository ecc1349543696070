"""An order to stop binds one life of an agent, and only some may give it."""

import pytest

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.presence.stop_order import StopOrder, binds, encode, newest, read_orders

KIM = Actor("Kim", is_person=True)
ORDER = StopOrder(
    "a" * 12, "worker-1", 2, "Wrong approach", False, KIM, Timestamp("2026-01-02T03:04:05Z"), 5,
    CloneId("b" * 12),
)  # fmt: skip


def test_a_record_is_read_as_it_was_written() -> None:
    record = encode(ORDER)
    assert (record.event, record.object, record.text) == ("stop", "worker-1", "Wrong approach")
    assert read_orders(dict(record.files)) == ([ORDER], [])


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"epoch": -1}'])
def test_an_unreadable_record_is_a_problem_and_hides_no_other(content: bytes) -> None:
    orders, (problem,) = read_orders({".ghp/stops/worker-2/00000000.json": content} | dict(
        encode(ORDER).files
    ))  # fmt: skip
    assert orders == [ORDER]
    assert problem.reason.startswith("not an order to stop: ")


@pytest.mark.parametrize(
    ("by", "counts"),
    [
        (KIM, True),
        (Actor("lead"), True),
        (Actor("worker-1"), True),
        (Actor("worker-2"), False),
    ],
)
def test_people_orchestrators_and_the_agent_itself_give_orders(by: Actor, counts: bool) -> None:
    assert bool(newest([ORDER._replace(by=by)], ["lead"])) is counts


def test_an_agent_that_was_told_to_stop_does_not_lift_the_order_itself() -> None:
    for by, counts in ((KIM, True), (Actor("lead"), True), (Actor("worker-1"), False)):
        lifted = ORDER._replace(by=by, is_lifted=True, clock=6)
        assert (newest([ORDER, lifted], ["lead"]) == {}) is counts


def test_the_last_order_counts() -> None:
    lifted = ORDER._replace(is_lifted=True, clock=6)
    assert newest([ORDER, lifted], []) == {}
    assert newest([lifted, ORDER._replace(clock=7)], []) == {"worker-1": ORDER._replace(clock=7)}


def test_an_agent_that_started_again_is_not_bound() -> None:
    assert binds(ORDER, {"epoch": 2})
    assert not binds(ORDER, {"epoch": 3})
    assert not binds(None, {"epoch": 1})


def test_the_agent_reads_by_whom_and_why() -> None:
    assert ORDER._replace(reason="x`» <!-- y").words == (
        "«Kim» (a person) told you to stop. Reason given: «x'' <!-- y». Change nothing more, for "
        "edits are refused, and end your turn. Your issues are free again, and the next "
        "agent continues your work."
    )
