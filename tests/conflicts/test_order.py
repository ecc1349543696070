"""The order of merging with the fewest conflicts."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.conflicts.order import EXACT, MergeOrder, best_order

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 9) -> tuple[int, Edges, set[int]]:
    number = draw(st.integers(0, most))
    pairs = [*combinations(range(number), 2)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return number, edges, draw(st.sets(st.integers(0, number - 1))) if number else set()


def is_free(chosen: set[int], edges: Edges) -> bool:
    return not any(chosen.issuperset(edge) for edge in edges)


def most_free(number: int, edges: Edges, blocked: set[int]) -> int:
    """By trying every set."""
    left = [agent for agent in range(number) if agent not in blocked]
    return max(
        size
        for size in range(len(left) + 1)
        if any(is_free({*chosen}, edges) for chosen in combinations(left, size))
    )


def test_one_of_two_resolves_and_the_preferred_one_is_free() -> None:
    assert best_order(3, [(0, 1)]) == MergeOrder((0, 2), (1,))
    assert best_order(3, [(0, 1)], preferred={1}) == MergeOrder((1, 2), (0,))


def test_finished_work_comes_first_also_if_more_agents_have_to_resolve() -> None:
    many = [(0, 1), (0, 2), (0, 3), (1, 4)]
    assert best_order(5, many, finished={0}) == MergeOrder((0, 4), (2, 3, 1))
    assert best_order(5, many, finished={0, 1, 2}) == MergeOrder((1, 2, 3), (0, 4))
    crowd = [*combinations(range(200), 2)]
    assert best_order(200, crowd, preferred={1}, finished={99}).free == (99,)


def test_one_that_conflicts_with_many_comes_after_them() -> None:
    assert best_order(4, [(0, 1), (0, 2), (0, 3)]) == MergeOrder((1, 2, 3), (0,))


def test_who_conflicts_with_the_main_branch_keeps_nobody_from_being_free() -> None:
    assert best_order(3, [(0, 1), (1, 2)], blocked={1}) == MergeOrder((0, 2), (1,))
    assert best_order(2, [(0, 1)], blocked={0, 1}) == MergeOrder((), (0, 1))


@given(graphs())
def test_no_order_lets_more_agents_be_free(graph: tuple[int, Edges, set[int]]) -> None:
    number, edges, blocked = graph
    order = best_order(number, edges, blocked)
    assert sorted((*order.free, *order.resolving)) == [*range(number)]
    assert is_free({*order.free}, edges)
    assert blocked.isdisjoint(order.free)
    assert len(order.free) == most_free(number, edges, blocked)


@given(graphs(most=EXACT + 16))
def test_for_many_agents_nobody_can_be_added_to_the_free_ones(
    graph: tuple[int, Edges, set[int]],
) -> None:
    number, edges, blocked = graph
    order = best_order(number, edges, blocked)
    assert is_free({*order.free}, edges)
    for agent in {*order.resolving} - blocked:
        assert not is_free({*order.free, agent}, edges)


def test_many_agents_that_all_conflict_are_ordered_at_once() -> None:
    order = best_order(200, [*combinations(range(200), 2)])
    assert (len(order.free), len(order.resolving)) == (1, 199)
