"""Notes as lines of markdown."""

from ghp_agents.core.clock import to_seconds
from ghp_agents.handoffs.note_lines import note_lines
from tests.support.notes import NOW, note


def test_a_line_says_who_learnt_it_when_and_where_and_quotes_the_text() -> None:
    gotcha = note("# Not a\nheading", id="12ab0000", kind="gotcha", issue=7, commit="a" * 40)
    assert note_lines([gotcha], to_seconds(NOW) + 7_200) == [
        "N-12ab0000, gotcha by agent worker-1, 2 h ago, on #7, at aaaaaaaaaaaa: «# Not a heading»"
    ]


def test_a_long_note_is_cut() -> None:
    (line,) = note_lines([note("x" * 999)], to_seconds(NOW))
    assert line.endswith("x…»")
    assert len(line) < 420
