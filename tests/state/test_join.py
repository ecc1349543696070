"""The state: the join of what all clones say, whoever is heard first, and however often."""

from functools import reduce
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.state.join import JoinedTree, Settled, join, join_files, leaving
from ghp_agents.state.presence import position
from tests.support.said import AGENTS, exactly

PATHS = st.sampled_from((".ghp/a", ".ghp/b/c", "fromANewerVersion/d"))
FILES = st.dictionaries(PATHS, st.binary(max_size=2))
TREES = st.builds(JoinedTree, agents=AGENTS, files=FILES)
MANY = st.lists(TREES, max_size=5)


def same(one: JoinedTree, other: JoinedTree) -> bool:
    return exactly(one.agents) == exactly(other.agents) and one.files == other.files


@pytest.mark.slow
@given(TREES, TREES)
def test_the_join_does_not_depend_on_who_is_heard_first(one: JoinedTree, other: JoinedTree) -> None:
    assert same(join([one, other]), join([other, one]))


@pytest.mark.slow
@given(TREES, TREES, TREES)
def test_the_join_does_not_depend_on_what_is_joined_first(
    a: JoinedTree, b: JoinedTree, c: JoinedTree
) -> None:
    assert same(join([join([a, b]), c]), join([a, join([b, c])]))


@pytest.mark.slow
@given(TREES)
def test_joining_a_tree_with_itself_changes_nothing(tree: JoinedTree) -> None:
    assert same(join([tree, tree]), tree)
    assert same(join([tree]), tree)


@pytest.mark.slow
@given(MANY, st.randoms())
def test_any_order_and_any_repetition_of_news_gives_one_state(
    many: list[JoinedTree], by: Random
) -> None:
    heard = many + by.sample(many, k=by.randint(0, len(many)))
    by.shuffle(heard)
    one_by_one = reduce(lambda joined, news: join([joined, news]), heard, JoinedTree())
    assert same(one_by_one, join(many))


@pytest.mark.slow
@given(MANY)
def test_the_join_loses_no_record_and_no_step_of_an_agent(many: list[JoinedTree]) -> None:
    joined = join(many)
    for tree in many:
        assert tree.files.keys() <= joined.files.keys()
        for name, fields in tree.agents.items():
            assert position(joined.agents[name]) >= position(fields)
    written = {(path, content) for tree in many for path, content in tree.files.items()}
    assert set(joined.files.items()) <= written


def test_two_contents_of_one_path_become_the_same_one_everywhere() -> None:
    one, other = {"a": b"1", "b": b"x"}, {"a": b"2"}
    assert join_files([one, other]) == join_files([other, one]) == {"a": b"2", "b": b"x"}


def test_the_join_of_nobody_is_empty() -> None:
    assert join([]) == JoinedTree({}, {})


def test_what_says_that_a_subject_has_ended_leaves_last() -> None:
    lease = Settled(frozenset("ab"), frozenset("z"))
    assert leaving([lease], {"a", "z", "x"}, {"b"}, 9) == {"a"}
    assert leaving([lease], {"a", "z", "x"}, {"x"}, 9) == {"a", "z"}
    assert leaving([lease, Settled(frozenset("c"), frozenset())], {"a", "c"}, set(), 1) == {"a"}
