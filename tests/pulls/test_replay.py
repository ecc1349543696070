"""Records of pull requests, joined: whoever has the same sees the same."""

import itertools

import pytest

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.pulls import replay as pull_log
from ghp_agents.pulls.record import FOLDER, PullEvent, encode

AT = [Timestamp(f"2025-06-15T15:0{minute}:00Z") for minute in range(9)]
WORKER, ANN = Actor("worker-1"), Actor("Ann Example", is_person=True)
PULL = pull_log.pull_id("agent/one", [])


def event(
    kind: str, clock: int, number: int | None = None, clone: str = "c1", **fields: object
) -> PullEvent:
    record = f"{clock:08x}{'1' if clone == 'c1' else '2'}"
    by = WORKER if kind == "open" else ANN
    return PullEvent(PULL, record, kind, clock, CloneId(clone), AT[clock], by, fields, number)


OPEN = event("open", 1, 7, branch="agent/one", base="main", head="a" * 40, title="One", issue=3)


def test_each_field_is_the_one_that_was_said_last_in_whatever_order_they_come() -> None:
    story = [
        OPEN,
        event("change", 2, title="Two", draft=True),
        event("change", 3, draft=False, state="closed"),
        event("change", 3, clone="c2", title="Three"),
        event("change", 4, state="open"),
    ]
    results = {
        pull_log.fold(pull_log.PullEvents(tuple(order)))[0]
        for order in itertools.permutations(story)
    }
    (result,) = results
    pull = result.pull
    assert (pull.number, pull.title, pull.draft, pull.state) == (7, "Three", False, "open")
    assert (pull.author, pull.created_at, pull.updated_at) == ("worker-1", AT[1], AT[4])


def test_what_was_merged_stays_so_whatever_is_said_after_it() -> None:
    story = (
        OPEN,
        event("merge", 2, head="b" * 40, mergedAs="c" * 40),
        event("change", 3, state="closed", draft=True, head="d" * 40),
    )
    pull = pull_log.fold(pull_log.PullEvents(story))[0].pull
    assert (pull.state, pull.head, pull.merged_as, pull.draft) == (
        "merged", "b" * 40, "c" * 40, False,
    )  # fmt: skip


def test_opened_twice_at_once_it_has_two_numbers_and_the_first_is_its_own() -> None:
    other = event("open", 1, 8, "c2", branch="agent/one", base="main", head="a" * 40, title="One")
    (result,) = pull_log.fold(pull_log.PullEvents((other, OPEN)))
    assert (result.pull.number, result.numbers) == (7, (7, 8))


def test_a_change_of_what_is_not_here_yet_waits_for_it() -> None:
    assert pull_log.fold(pull_log.PullEvents((event("change", 2, title="Two"),))) == []


def test_what_is_read_is_what_was_written() -> None:
    log = pull_log.read_events({OPEN.path: encode(OPEN)})
    assert log == pull_log.PullEvents((OPEN,))
    assert (log.numbers, log.clock) == (frozenset({7}), 1)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (f"{FOLDER}x/1.json", b"{}"),
        (f"{FOLDER}{PULL}/0a1b2c3d.json", b"not json"),
        (f"{FOLDER}{PULL}/0a1b2c3d.json", encode(OPEN).replace(b"a" * 40, b"../../x")),
        (f"{FOLDER}{PULL}/0a1b2c3d.json", encode(OPEN).replace(b"7", b'"7"')),
        (f"{FOLDER}{PULL}/0a1b2c3d.json", encode(OPEN).replace(b'"One"', b"[1]")),
    ],
)
def test_what_cannot_be_read_is_a_problem_and_hides_no_other(path: str, content: bytes) -> None:
    log = pull_log.read_events({OPEN.path: encode(OPEN), path: content})
    assert log.events == (OPEN,)
    assert [problem.place for problem in log.problems] == [path]


def test_a_kind_of_a_newer_version_is_passed_over() -> None:
    newer = encode(OPEN).replace(b'"open"', b'"review"')
    assert pull_log.read_events({OPEN.path: newer}) == pull_log.PullEvents()


def test_the_next_pull_request_of_a_branch_has_another_id() -> None:
    first = pull_log.fold(pull_log.PullEvents((OPEN,)))[0].pull
    assert pull_log.pull_id("agent/one", [first]) != PULL
    assert pull_log.pull_id("agent/two", [first]) != PULL
