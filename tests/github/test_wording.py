"""What people read: who wrote a text, in one line that no name can break."""

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.github.wording import PROGRAM, cell, footer, without_footer


@pytest.mark.parametrize(
    ("by", "account", "whom"),
    [
        (Actor("worker-1"), "ada", " for the agent worker-1 and ada"),
        (Actor("worker-1"), "", " for the agent worker-1"),
        (Actor("Ann Example", is_person=True), "ada", " for Ann Example"),
        (PROGRAM, "ada", " for ada"),
        (PROGRAM, "", ""),
    ],
)
def test_the_footer_says_for_whom_a_program_wrote_it(by: Actor, account: str, whom: str) -> None:
    line = footer(by, account)
    assert line == f"<sub>A program (ghp-agents) wrote this{whom}.</sub>"
    assert without_footer(f"Text\n\n{line}") == "Text"
    assert without_footer(line) == ""


def test_no_name_ends_the_footer_or_mentions_anybody() -> None:
    line = footer(Actor("</sub>\n@eve *b* " + "<" * 80, is_person=True))
    assert line.startswith(
        "<sub>A program (ghp-agents) wrote this for &lt;/sub> @\u200beve \\*b\\* "
    )
    assert ("\n" not in line, line.count("</sub>")) == (True, 1)


def test_a_footer_inside_a_text_stays() -> None:
    text = f"{footer(PROGRAM)}\n\nmore"
    assert without_footer(text) == text


def test_text_of_others_calls_and_formats_nothing() -> None:
    assert cell("@ada | **x** <!-- [a](b) `c`\n/agent stop \x1b[2J") == (
        "@\u200bada \\| \\*\\*x\\*\\* &lt;!-- \\[a\\](b) \\`c\\` /agent stop \\[2J"
    )
