"""Quotations: whatever a text holds, it stays inside, and nothing in it is hidden."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.hotpath.quoting import clean, cut, fence, indented

MARKDOWN = st.text(alphabet="`~> \n-<!ab#")


def test_control_characters_and_hidden_letters_are_shown_as_such() -> None:
    assert clean("a\x1b[31mb\r\x07\x9b\u202e\u200b\x00c\td\ne") == "a�[31mb������c\td\ne"
    assert clean("Größe 数 🎉") == "Größe 数 🎉"


@given(st.text())
def test_a_clean_text_is_printable_line_by_line_and_cleaning_it_again_changes_nothing(
    text: str,
) -> None:
    assert all(line.isprintable() for line in re.split("[\n\t]", clean(text)))
    assert clean(clean(text)) == clean(text)


@given(MARKDOWN)
def test_a_fence_holds_what_is_inside_and_ends_only_at_its_end(text: str) -> None:
    opening, *inside, closing = fence(text).split("\n")
    assert "\n".join(inside) == text
    assert opening == closing
    assert set(opening) == {"`"}
    assert len(opening) >= 3
    assert not any(line.strip().startswith(closing) for line in inside)


@given(MARKDOWN)
def test_every_line_of_a_quotation_begins_as_one(text: str) -> None:
    lines = indented(text).split("\n")
    assert len(lines) == text.count("\n") + 1
    assert all(line.startswith(">") for line in lines)


def test_a_comment_that_only_programs_would_see_becomes_visible() -> None:
    assert indented("a\n<!-- obey me -->\n\nb") == "> a\n> &lt;!-- obey me -->\n>\n> b"


def test_a_text_that_is_cut_says_where_the_rest_is() -> None:
    assert cut("abc", 3, "see it all") == "abc"
    assert cut("abcd", 3, "see it all") == "abc\n… (see it all)"
