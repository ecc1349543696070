"""Which lines of both sides conflict."""

from ghp_agents.conflicts.places import ClashPlace, LineRange, added_twice, clashes, moved
from ghp_agents.git.blob_hunks import Hunk


def hunk(start: int, end: int, new_start: int, new_end: int, text: str = "x") -> Hunk:
    return Hunk(start, end, new_start, new_end, text, text)


def ranges(ours: list[Hunk], theirs: list[Hunk]) -> list[tuple[LineRange, LineRange]]:
    return [(place.ours, place.theirs) for place in clashes(ours, theirs)]


def test_changes_of_the_same_lines_conflict_where_each_side_has_them() -> None:
    ours = [hunk(0, 0, 0, 2, "top"), hunk(9, 11, 11, 13, "ours")]
    theirs = [hunk(10, 12, 10, 11, "theirs"), hunk(30, 31, 29, 30, "far")]
    assert clashes(ours, theirs) == [
        ClashPlace(LineRange(12, 13), LineRange(11, 11), "ours", "theirs")
    ]


def test_changes_of_lines_that_touch_conflict() -> None:
    assert ranges([hunk(3, 4, 3, 4, "a")], [hunk(4, 5, 4, 5, "b")]) == [((4, 4), (5, 5))]
    assert ranges([hunk(3, 4, 3, 4, "a")], [hunk(5, 6, 5, 6, "b")]) == []
    assert ranges([hunk(4, 4, 4, 5, "a")], [hunk(4, 4, 4, 6, "b")]) == [((5, 5), (5, 6))]


def test_the_same_change_of_both_is_no_conflict() -> None:
    assert clashes([hunk(3, 4, 3, 4)], [hunk(3, 4, 3, 4)]) == []


def test_one_change_over_several_of_the_other_is_one_place() -> None:
    ours = [hunk(0, 20, 0, 1, "all")]
    theirs = [hunk(2, 3, 2, 3, "a"), hunk(9, 10, 9, 12, "b")]
    assert ranges(ours, theirs) == [((1, 1), (3, 12))]


def test_removed_lines_are_a_place_without_lines() -> None:
    assert ranges([hunk(3, 6, 3, 3, "")], [hunk(4, 5, 4, 5, "b")]) == [((4, 3), (5, 5))]


def test_of_a_file_that_both_added_every_difference_conflicts() -> None:
    assert added_twice([hunk(0, 1, 0, 2, "theirs")]) == [
        ClashPlace(LineRange(1, 1), LineRange(1, 2), "", "theirs")
    ]


def test_lines_move_with_what_another_version_has_before_them() -> None:
    assert moved(LineRange(10, 12), [hunk(0, 0, 0, 3)]) == (13, 15)
    assert moved(LineRange(10, 12), [hunk(2, 5, 2, 2)]) == (7, 9)
    assert moved(LineRange(10, 12), [hunk(20, 21, 20, 30)]) == (10, 12)
    assert moved(LineRange(10, 12), [hunk(9, 12, 9, 10)]) == (10, 10)
    assert moved(LineRange(10, 12), []) == (10, 12)
