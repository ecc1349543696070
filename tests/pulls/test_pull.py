"""The rules that hold for pull requests, whatever keeps them."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.pulls.pull import (
    MergeConflictError,
    NewPull,
    Pull,
    PullChange,
    brought_up,
    checked_new,
    effective,
    newest,
    refuse_unready,
)

ONE = Pull(1, "agent/one", "main", "a" * 40, "One")


def test_only_what_is_not_so_already_is_a_change() -> None:
    assert effective(ONE, PullChange(title="One", draft=True)) == PullChange(draft=True)
    assert effective(ONE, PullChange(title="One", draft=False)) == PullChange()


def test_of_what_is_merged_only_texts_change() -> None:
    merged = ONE._replace(state="merged")
    change = PullChange("Two", "Body", "b" * 40, True, "closed")
    assert effective(merged, change) == PullChange("Two", "Body")


def test_an_open_one_is_brought_up_to_what_a_new_one_would_say() -> None:
    new = NewPull("agent/one", "main", "b" * 40, "One", "Body", 3)
    assert brought_up(ONE, new) == PullChange(body="Body", head="b" * 40)


def test_of_a_branch_the_open_one_counts_else_the_newest() -> None:
    two, three = ONE._replace(number=2, state="merged"), ONE._replace(number=3, state="closed")
    assert newest([ONE, two, three], "agent/one") == ONE
    assert newest([two, three], "agent/one") == three
    assert newest([ONE], "agent/two") is None


def test_texts_are_tidied() -> None:
    new = checked_new(NewPull("b", "main", "a" * 40, " A\ttitle\n", "\r\nBody\r\n"))
    assert (new.title, new.body) == ("A title", "Body")


@pytest.mark.parametrize(
    ("pull", "why"),
    [(ONE._replace(draft=True), "a draft"), (ONE._replace(state="closed"), "closed")],
)
def test_what_is_not_ready_says_why(pull: Pull, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        refuse_unready(pull)


def test_a_conflict_names_some_of_the_files() -> None:
    error = MergeConflictError(ONE, [f"{number}.txt" for number in range(12)])
    assert str(error).endswith("in 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, 5.txt, 6.txt, 7.txt, 8.txt, "
                               "9.txt and 2 more.")  # fmt: skip
