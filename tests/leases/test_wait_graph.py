"""Who waits for whom: from issues to chains and circles."""

from itertools import pairwise, permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import Issue
from ghp_agents.leases import wait_graph as waiting
from ghp_agents.leases.wait_graph import (
    Wait,
    circles,
    for_issues,
    of_each,
    onwards,
    options,
    question,
    sentence,
)
from ghp_agents.locks.lock import Lock

NAMES = ("a", "b", "c", "d", "e")
EDGES = [pair for pair in product(NAMES, NAMES) if pair[0] != pair[1]]


def issue(number: int, *blockers: int, **fields: object) -> Issue:
    result = Issue(f"{number:012x}", IssueNumber(number), f"Title {number}")
    result = result._replace(blocked_by=tuple(map(IssueNumber, blockers)))
    return result._replace(**fields)  # type: ignore[arg-type]


def claim(number: int, holder: str | None, generation: int = 1, epoch: int = 1) -> Lock:
    at = Timestamp("2026-01-02T03:04:05Z")
    return Lock(f"issue/{number}", holder, generation, epoch, at, "nonce")


def held(**holders: str | None) -> dict[int, Lock]:
    """`held(i11="a")`: a holds #11."""
    return {int(name[1:]): claim(int(name[1:]), holder) for name, holder in holders.items()}


def chains(waits: list[Wait], waiter: str) -> list[tuple[Wait, ...]]:
    """A chain for each wait of `waiter`."""
    by_waiter = of_each(waits)
    return [onwards(by_waiter, first) for first in by_waiter.get(waiter, ())]


def edges(waits: list[Wait]) -> list[tuple[str, str, str]]:
    return [wait[:3] for wait in waits]


def waits(*pairs: tuple[str, str]) -> list[Wait]:
    return [Wait(one, other, f"lease of {other}", f"L-{one}{other}") for one, other in pairs]


# ---------------------------------------------------------------------------- from issues


@pytest.mark.parametrize(
    ("issues", "claims", "in_hand", "expected"),
    [
        pytest.param(
            [issue(11), issue(12, 11)], held(i11="b", i12="a"), {}, [("a", "b", "#11")],
            id="a holder waits for the holder of what blocks its issue",
        ),
        pytest.param(
            [issue(11, state="closed"), issue(12, 11)], held(i11="b", i12="a"), {}, [],
            id="a closed issue blocks nobody",
        ),
        pytest.param(
            [issue(11), issue(12, 11, state="closed")], held(i11="b", i12="a"), {}, [],
            id="a closed issue waits for nobody",
        ),
        pytest.param(
            [issue(11), issue(12, 11)], held(i12="a"), {}, [],
            id="nobody is waited for where nobody holds the blocker",
        ),
        pytest.param(
            [issue(11), issue(12, 11)], held(i11=None, i12="a"), {}, [],
            id="what was given back is held by nobody",
        ),
        pytest.param(
            [issue(11), issue(12, 11)], held(i11="a", i12="a"), {}, [],
            id="nobody waits for themselves",
        ),
        pytest.param(
            [issue(10), issue(11, 10), issue(12, 11)], held(i10="b", i12="a"), {},
            [("a", "b", "#10")],
            id="a blocker that nobody holds is waited for through what blocks it",
        ),
        pytest.param(
            [issue(10), issue(11, 10), issue(12, 11)], held(i10="b", i11="a", i12="a"),
            {"a": 12}, [("a", "b", "#10")],
            id="so is a blocker of one's own",
        ),
        pytest.param(
            [issue(10), issue(11, 10), issue(12, 11)], held(i10="c", i11="b", i12="a"), {},
            [("a", "b", "#11"), ("b", "c", "#10")],
            id="each waits for the next one only",
        ),
        pytest.param(
            [issue(11), issue(12, 11), issue(13)], held(i11="b", i12="a", i13="a"),
            {"a": 13}, [],
            id="who works on another issue is not stuck",
        ),
        pytest.param(
            [issue(11), issue(12, 11), issue(13)], held(i11="b", i12="a", i13="a"),
            {"a": 12}, [("a", "b", "#11")],
            id="who has the blocked one in hand is",
        ),
        pytest.param(
            [issue(11), issue(12, 11), issue(99)], held(i11="b", i12="a"),
            {"a": 99}, [("a", "b", "#11")],
            id="an issue in hand that is another's or nobody's does not count",
        ),
        pytest.param(
            [issue(11), issue(12, 7, 11)], held(i11="b", i12="a"), {}, [("a", "b", "#11")],
            id="a blocker that is not known here is passed over",
        ),
        pytest.param(
            [issue(11, 13), issue(13, 11), issue(12, 11)], held(i12="a"), {}, [],
            id="a circle of issues that nobody holds leads nowhere",
        ),
        pytest.param(
            [issue(11, other_numbers=(IssueNumber(4),)), issue(12, 4)], held(i4="b", i12="a"), {},
            [("a", "b", "#4")],
            id="an issue is blocked by whatever number of the other",
        ),
    ],
)  # fmt: skip
def test_who_waits_for_whom(
    issues: list[Issue],
    claims: dict[int, Lock],
    in_hand: dict[str, int],
    expected: list[tuple[str, str, str]],
) -> None:
    assert edges(for_issues(issues, claims, in_hand)) == expected


def test_a_right_that_is_taken_anew_is_another_one() -> None:
    issues = [issue(11), issue(12, 11)]
    (first,) = for_issues(issues, {11: claim(11, "b", 3), 12: claim(12, "a")}, {})
    (second,) = for_issues(issues, {11: claim(11, "b", 4), 12: claim(12, "a")}, {})
    assert (first.right, second.right) == ("issue/11@3", "issue/11@4")


# ------------------------------------------------------------------------------- chains


def test_a_chain_is_told_in_one_sentence() -> None:
    links = [
        Wait("worker-1", "worker-2", "#11", "issue/11@1"),
        Wait("worker-2", "worker-3", "lease db", "L-3f9a"),
    ]
    (chain,) = chains(links, "worker-1")
    assert sentence(chain) == (
        "worker-1 waits for #11 (worker-2), who waits for lease db (worker-3)"
    )
    assert [sentence(x) for x in chains(links, "worker-2")] == [
        "worker-2 waits for lease db (worker-3)"
    ]
    assert chains(links, "worker-3") == []


def test_a_chain_that_comes_back_ends_there() -> None:
    links = waits(("a", "b"), ("b", "c"), ("c", "b"))
    (chain,) = chains(links, "a")
    assert sentence(chain) == (
        "a waits for lease of b (b), who waits for lease of c (c), "
        "who waits for lease of b (b): a circle"
    )


def test_who_waits_for_several_has_a_chain_for_each() -> None:
    assert len(chains(waits(("a", "b"), ("a", "c")), "a")) == 2


def test_a_name_from_elsewhere_stays_on_its_line() -> None:
    (chain,) = chains([Wait("a", "Eve\nworker-9 waits", "#1", "issue/1@1")], "a")
    assert "\n" not in sentence(chain)
    assert "\n" not in options(chain)[0]
    assert question(chain).count("\n") == 2


# ------------------------------------------------------------------------------ circles


def test_a_circle_begins_with_the_first_of_its_names_however_it_was_found() -> None:
    links = waits(("c", "a"), ("a", "b"), ("b", "c"), ("d", "a"))
    assert circles(links) == [tuple(waits(("a", "b"), ("b", "c"), ("c", "a")))]


def test_two_circles_that_touch_are_both_found() -> None:
    links = waits(("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"))
    assert circles(links) == [
        tuple(waits(("a", "b"), ("b", "a"))),
        tuple(waits(("b", "c"), ("c", "b"))),
    ]


def test_the_question_names_each_right_and_the_options_who_goes_first() -> None:
    circle = (
        Wait("worker-1", "worker-2", "#11", "issue/11@3"),
        Wait("worker-2", "worker-1", "lease src/a.py", "L-3f9a"),
    )
    assert question(circle) == (
        "worker-1, worker-2 wait for each other in a deadlock. Who goes first?\n\n- worker-1 "
        "waits for #11 of worker-2 (issue/11@3)\n- worker-2 waits for lease src/a.py of "
        "worker-1 (L-3f9a)"
    )
    assert options(circle) == (
        "worker-1 goes first: without #11",
        "worker-2 goes first: worker-1 releases lease src/a.py",
    )


GRAPHS = st.lists(st.sampled_from(EDGES), max_size=12, unique=True)


@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_order_in_which_waits_are_known_changes_nothing(
    graph: list[tuple[str, str]], random: Random
) -> None:
    shuffled = graph[:]
    random.shuffle(shuffled)
    assert circles(waits(*graph)) == circles(waits(*shuffled))
    assert chains(waits(*graph), "a") == chains(waits(*shuffled), "a")


@given(GRAPHS)
def test_everybody_who_is_in_a_circle_is_in_one_that_is_found_and_nobody_else_is(
    graph: list[tuple[str, str]],
) -> None:
    stuck = {name for ring in all_rings(graph) for name in ring}
    listed = circles(waits(*graph))
    assert {wait.waiter for circle in listed for wait in circle} == stuck
    for circle in listed:
        names = [wait.waiter for wait in circle]
        assert names[0] == min(names)
        assert len(set(names)) == len(names)
        assert [wait.holder for wait in circle] == [*names[1:], names[0]]
        assert {(wait.waiter, wait.holder) for wait in circle} <= set(graph)


def all_rings(graph: list[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Every circle, found by trying every order of every choice of names."""
    edges = set(graph)
    orders = (o for size in range(2, len(NAMES) + 1) for o in permutations(NAMES, size))
    return [o for o in orders if set(zip(o, (*o[1:], o[0]), strict=True)) <= edges]


@given(GRAPHS)
def test_every_chain_ends(graph: list[tuple[str, str]]) -> None:
    links = waits(*graph)
    for name in NAMES:
        for chain in chains(links, name):
            assert chain[0].waiter == name
            assert all(one.holder == other.waiter for one, other in pairwise(chain))
            last = chain[-1].holder
            ends = not any(wait.waiter == last for wait in links)
            assert ends or last in {wait.waiter for wait in chain}
            assert sentence(chain).endswith(": a circle") == (not ends)


def test_each_of_a_circle_is_waited_for_by_the_one_before_whatever_else_they_wait_for() -> None:
    links = waits(("a", "b"), ("b", "a"))
    twice = [*links, Wait("a", "b", "#3", "issue/3@1")]
    (circle,) = circles(twice)
    assert [wait.what for wait in circle] == ["#3", "lease of a"]
    assert waiting.of_each([Wait("a", "a", "#1", "issue/1@1")]) == {}
