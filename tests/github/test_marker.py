"""The hidden line at the end of what we write, and texts that look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor
from ghp_agents.github import marker as github_marker
from ghp_agents.github.marker import Mark, mark, plain, signed, split_marker

ID = "3f9a12c4d5e6"
FOOTER = "<sub>A program (ghp-agents) wrote this for the agent worker-1.</sub>"
LINE = f'<!-- ghp-agents:{{"id":"{ID}","by":"worker-1"}} -->'


def test_a_text_is_signed_by_a_line_that_no_page_shows() -> None:
    signature = mark(ID, Actor("worker-1"))
    assert signed("It works.", signature) == f"It works.\n\n{FOOTER}\n\n{LINE}"
    assert signed("", signature) == f"{FOOTER}\n\n{LINE}"
    for text in (f"It works.\n\n{FOOTER}\n\n{LINE}", f"It works.\n\n{LINE}"):  # and as earlier
        assert split_marker(text) == ("It works.", signature)


def test_whose_account_wrote_it_is_in_both_lines() -> None:
    signature = mark(ID, Actor("worker-1"), account="ada")
    text = signed("It works.", signature)
    assert text == (
        "It works.\n"
        "\n"
        "<sub>A program (ghp-agents) wrote this for the agent worker-1 and ada.</sub>\n"
        "\n"
        f'<!-- ghp-agents:{{"id":"{ID}","by":"worker-1","account":"ada"}} -->'
    )
    assert split_marker(text) == ("It works.", signature)


def test_a_bot_is_no_person() -> None:
    assert mark(ID, Actor("github-actions[bot]", is_person=True)).actor == Actor(
        "github-actions[bot]"
    )


def test_a_footer_that_somebody_says_through_us_can_be_seen() -> None:
    forged = "Yes\n\n<sub>A program (ghp-agents) wrote this for Ann.</sub>"
    text = signed(forged, mark(ID, Actor("worker-1")))
    assert text == f"Yes\n\n&lt;{forged[6:]}\n\n{FOOTER}\n\n{LINE}"
    assert split_marker(text)[0] == f"Yes\n\n&lt;{forged[6:]}"


def test_a_quoted_line_is_not_the_authors() -> None:
    text = "> It works.\n>\n> " + LINE  # as an e-mail quotes the source of a comment
    assert split_marker(text) == (text, None)


def test_a_person_and_what_is_said_once_are_in_it() -> None:
    signature = mark(ID, Actor('Ann --> "E"', is_person=True), marker="escalation 3f9a")
    text = signed("Yes", signature)
    assert "Ann --\\u003e" in text  # nothing in a name ends the line
    assert split_marker(text) == ("Yes", signature)
    assert signature.actor == Actor('Ann --> "E"', is_person=True)
    assert signature.once == github_marker.once("escalation 3f9a") != github_marker.once("other")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No line at all",
        f"{LINE}\n\nSomething follows",
        f"It works. {LINE} really",
        '<!-- ghp-agents:{"id":"../../x","by":"worker-1"} -->',
        '<!-- ghp-agents:{"id":"3f9a12c4","by":["worker-1"]} -->',
        '<!-- ghp-agents:["3f9a12c4"] -->',
        "<!-- ghp-agents:state -->",
        "<!-- ghp-agents:" + "[" * 400 + " -->",
        "<!-- ghp-agents:" + "x" * 1_000_000 + " -->",
        "<!-- ghp-branch: user/123-x -->",
    ],
)
def test_what_is_no_line_of_ours_stays_text(text: str) -> None:
    assert split_marker(text) == (text, None)


def test_only_the_last_of_several_lines_counts() -> None:
    other = LINE.replace("worker-1", "worker-2")
    text, signature = split_marker(f"{other}\n\n{LINE}")
    assert (text, signature) == (other, Mark(ID, "worker-1"))


def test_a_line_that_somebody_says_through_us_can_be_seen_and_means_nothing() -> None:
    forged = f"Look:\n{LINE.upper()}\n<!--  ghp-agents :{{}} -->\n<!-- other -->"
    text = signed(forged, mark(ID, Actor("worker-2")))
    text, read_mark = split_marker(text)
    assert text == plain(forged)
    assert text.startswith('Look:\n&lt;!-- GHP-AGENTS:{"ID"')
    assert text.endswith("&lt;!--  ghp-agents :{} -->\n<!-- other -->")
    assert read_mark == Mark(ID, "worker-2")


@given(st.text(), st.text(max_size=60), st.booleans(), st.text(max_size=20))
def test_whatever_is_signed_is_read_back(text: str, name: str, person: bool, marker: str) -> None:
    signature = mark(ID, Actor(name, person), marker)
    visible = plain(text)
    got, read_mark = split_marker(signed(text, signature))
    assert got == visible.rstrip("\n") if visible else got == ""
    assert read_mark == signature
    assert plain(visible) == visible
