"""The lines of a conflict, numbered as people count them."""

from ghp_agents.hotpath.conflict_report import THEIRS_LIMIT, excerpt, numbered


def test_lines_are_counted_from_one_and_an_empty_place_ends_before_it_starts() -> None:
    assert numbered(0, 1) == (1, 1)
    assert numbered(9, 12) == (10, 12)
    assert numbered(9, 9) == (10, 9)


def test_the_text_of_the_lines_is_cut_and_may_be_anything() -> None:
    text = b"one\n\xfftwo\nthree"
    assert excerpt(text, 2, 3) == "\ufffdtwo\nthree"
    assert excerpt(text, 3, 2) == ""
    assert excerpt(text, 7, 9) == ""
    assert excerpt(b"x" * 9_999, 1, 1) == "x" * (THEIRS_LIMIT - 1) + "…"
