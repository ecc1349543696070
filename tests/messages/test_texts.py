"""The texts of a message: tidied, bounded, and free of secrets."""

import re

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.messages import texts


def test_a_line_is_one_line_and_a_body_has_plain_line_ends() -> None:
    assert texts.line("subject", " Look\nat it\t", 20) == "Look at it"
    assert texts.body("\n  One\r\ntwo\r\n\n") == "  One\ntwo"


@pytest.mark.parametrize("text", ["", " ", "x" * 21])
def test_a_line_has_a_length(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape("it needs 1 to 20.")):
        texts.line("subject", text, 20)


@pytest.mark.parametrize(
    ("to", "text", "body", "error"),
    [
        ((), "{}", "Look", "A payload is the body."),
        ((), "{", "", "The payload is not JSON"),
        ((), "[NaN]", "", "NaN is not JSON"),
        (("@task.started",), "{}", "", "it lacks task"),
    ],
)
def test_a_wrong_payload_is_refused(to: tuple[str, ...], text: str, body: str, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        texts.payload(to, text, body)
