"""Which pairs of changes git has to merge."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.conflicts.overlap import NetChange, candidates


def change(paths: str = "", added: str = "", removed: str = "") -> NetChange:
    words = [frozenset(text.split()) for text in (f"{paths} {added} {removed}", added, removed)]
    return NetChange(*words)


def test_only_changes_with_a_common_path_are_merged() -> None:
    changes = [change("a b"), change("b c"), change("d"), change("a")]
    assert candidates(changes) == [(0, 1), (0, 3)]


def test_a_rename_meets_an_edit_of_the_old_path_and_a_new_file_at_the_new_one() -> None:
    rename = change(added="new", removed="old")
    assert candidates([rename, change("old")]) == [(0, 1)]
    assert candidates([rename, change(added="new")]) == [(0, 1)]


def test_a_file_in_the_place_of_a_folder_may_conflict() -> None:
    assert candidates([change(added="x"), change(added="x/y/z")]) == [(0, 1)]
    assert candidates([change(added="x/y/z"), change(added="x")]) == [(0, 1)]
    assert candidates([change(added="xy"), change(added="x/y")]) == []


def test_a_moved_folder_meets_a_new_file_in_it() -> None:
    moved = change(added="to/1 to/2", removed="from/1 from/2")
    assert candidates([moved, change(added="from/3")]) == [(0, 1)]
    assert candidates([change(added="from/deep/3"), moved]) == [(0, 1)]
    assert candidates([moved, change(added="elsewhere/3")]) == []
    assert candidates([change(removed="from/1"), change(added="from/3")]) == []


@given(st.lists(st.frozensets(st.sampled_from("abcdefg")), max_size=8))
def test_every_pair_with_a_common_path_is_merged(sets: list[frozenset[str]]) -> None:
    pairs_found = candidates([NetChange(paths) for paths in sets])
    pairs = combinations(range(len(sets)), 2)
    assert pairs_found == [(x, y) for x, y in pairs if sets[x] & sets[y]]
