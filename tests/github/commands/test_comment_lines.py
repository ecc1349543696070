"""Which lines of a comment are its author's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.github.commands.comment_lines import OWN, lines


def own(body: str) -> list[str]:
    return [line.text for line in lines(body) if line.kind == OWN]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc", ["a", "b", "c"]),
        ("a\u2028b\x0bc\x0cd\x85e", ["a\u2028b\x0bc\x0cd\x85e"]),  # no ends of lines to a page
        ("> quoted\nstill quoted\n\nmine", ["mine"]),
        ("   > quoted", []),
        ("- > quoted\nstill quoted\n\nmine", ["mine"]),
        ("12. > quoted\nstill quoted", []),
        ("```no`fence\n```\ncode\n```\nmine", ["```no`fence", "mine"]),
        ("> quoted\n```\ncode\n```\nmine", ["mine"]),
        ("    code\n\tcode\n   mine", ["   mine"]),
        ("```\ncode\n```\nmine", ["mine"]),
        ("```sh\ncode\n~~~\n````\nmine", ["mine"]),
        ("````\ncode\n```\nstill code", []),
        ("~~~\ncode", []),
        ("<pre>\ncode\n\ncode\n</pre>\nperhaps mine", []),
        ("<PRE>code</PRE>\nperhaps mine", []),
        ("mine\n<!-- hidden -->\nperhaps mine", ["mine"]),
        ("<!-- hidden\nhidden\n-->\nperhaps mine", []),
        ("mine <b>\nperhaps mine", ["mine <b>"]),
        (
            "a < b, <https://x.example>\nmine",
            ["a < b, <https://x.example>", "mine"],
        ),
        ("$$\nperhaps mine", ["$$"]),
        ("1. ```\nperhaps mine", ["1. ```"]),
        ("\t```\nperhaps mine", []),
        ("> <b>\n\nmine", ["mine"]),
        ("```\n<b> $$\n```\nmine", ["mine"]),
        ("<!-- hidden\nto the end", []),
        ("<!-- a -->mine", [" mine"]),  # it does not begin the line
        ("mi<!-- a -->ne", ["mi ne"]),
        ("```\n<!--\n```\n-->\nperhaps mine", []),  # read in two ways: taken for nobody's words
        ("", []),
    ],
)
def test_only_what_a_page_shows_as_the_authors_own_words_is_theirs(
    body: str, expected: list[str]
) -> None:
    assert own(body) == expected


@given(st.text(alphabet="> `~<!-->pre\n/agent stop", max_size=60))
def test_no_words_are_made_up_of_what_somebody_wrote(body: str) -> None:
    for text in own(body):
        assert text.replace(" ", "") in body.replace(" ", "") or "<!--" in body
