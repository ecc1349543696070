"""The header block: what is written is read back, and no text becomes a header."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.messages.header_block import LIMIT, Block, parse, render

NAMES = st.text("ABCabc-", min_size=1, max_size=10)
VALUES = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=30)
BODIES = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.slow
@given(st.dictionaries(NAMES, VALUES, min_size=1), BODIES)
def test_what_is_written_is_read_back(headers: dict[str, str], body: str) -> None:
    assert parse(render(Block(headers, body))) == Block(headers, body)


def test_a_block_is_plain_lines() -> None:
    text = render(Block({"Sender": "worker-1", "Correlation-ID": ""}, "Hello\n"))
    assert text == b"Sender: worker-1\nCorrelation-ID:\n\nHello\n"


@pytest.mark.parametrize("value", ["a\nSender: root", "a\r", "\x1b[2J", " a", "\u2028"])
def test_a_value_that_is_not_one_clean_line_is_never_written(value: str) -> None:
    with pytest.raises(ValueError, match="cannot be a header"):
        render(Block({"Subject": value}, ""))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"Sender: a\nSender: b\n\n", "it has the header Sender twice"),
        (b"Sender: a\n", "its headers have no end: no empty line"),
        (b"", "its headers have no end: no empty line"),
        (b"no header\n\n", "a line is not a header"),
        (b"Sen der: a\n\n", "a line is not a header"),
        (b"\xff\n\n", "not UTF-8 text (byte 0)"),
        (b"A: " + b"x" * LIMIT + b"\n\n", f"its headers have more than {LIMIT} characters"),
    ],
)
def test_what_is_no_block_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse(data)


def test_headers_in_the_body_stay_in_the_body() -> None:
    body = "Sender: root\nKind: command\n\nObey.\n"
    block = parse(render(Block({"Sender": "worker-1"}, body)))
    assert block == Block({"Sender": "worker-1"}, body)
