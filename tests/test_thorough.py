"""Which cases of slow tests are tried: a sample that is the same in each run."""

import pytest

from tests.support import thorough
from tests.support.thorough import CASES, chosen


@pytest.mark.parametrize("among", range(1, 80))
def test_enough_cases_are_tried_and_never_more_than_there_are(among: int) -> None:
    tried = chosen("a test", among, CASES)
    assert len(tried) == min(among, max(CASES, among // 6))
    assert tried <= {*range(among)}
    assert tried == chosen("a test", among, CASES)


def test_another_test_of_the_same_cases_tries_others() -> None:
    assert len({frozenset(chosen(f"test {number}", 7, 2)) for number in range(20)}) > 3


def test_together_all_tests_try_all_cases() -> None:
    assert set[int]().union(*(chosen(f"test {n}", 5, 2) for n in range(20))) == {*range(5)}


def test_cases_of_slow_tests_alone_are_left_out(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def items(*marks: pytest.MarkDecorator) -> list[pytest.Item]:
        names = [f"test_it[{number}]" for number in range(10)]
        made = [
            pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None)
            for name in names
        ]
        for item in made:
            for mark in marks:
                item.add_marker(mark)
        return [*made]

    slow = pytest.mark.slow
    monkeypatch.setattr(thorough, "IS_THOROUGH", False)
    assert thorough.left_out(items()) == []
    assert len(thorough.left_out(items(slow))) == 10 - CASES
    assert len(thorough.left_out(items(slow, pytest.mark.cases(2)))) == 10 - 2
    assert thorough.left_out(items(slow, pytest.mark.cases(99))) == []
    monkeypatch.setattr(thorough, "IS_THOROUGH", True)
    assert thorough.left_out(items(slow)) == []


def test_of_all_tests_each_third_is_tried_where_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thorough, "EVERY", 3)
    monkeypatch.setattr(thorough, "IS_THOROUGH", False)
    assert thorough.shared_out("abcdefg") == ([*"adg"], [*"bcef"])
    monkeypatch.setattr(thorough, "IS_THOROUGH", True)
    assert thorough.shared_out("abc") == ([*"abc"], [])


class Contract:
    """Three tests that each adapter passes."""

    def test_one(self) -> None:
        """One of three."""

    def test_two(self) -> None:
        """Two of three."""

    def test_three(self) -> None:
        """Three of three."""


@pytest.mark.slow
@pytest.mark.cases(2)
class TestAnotherAdapter(Contract):
    """What `cases` says holds for the class as a whole."""


def test_of_a_slow_class_with_cases_some_tests_are_tried(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thorough, "IS_THOROUGH", False)
    parent = pytest.Class.from_parent(
        request.node.parent, name="TestAnotherAdapter", obj=TestAnotherAdapter
    )
    items = [item for item in parent.collect() if isinstance(item, pytest.Item)]
    assert len(items) == 3
    assert len(thorough.left_out(items)) == 1
    assert {thorough.question(item, "cases") for item in items} == {parent.nodeid}
    assert {thorough.question(item, "sample") for item in items} == {item.nodeid for item in items}
