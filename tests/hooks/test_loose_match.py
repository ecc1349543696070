"""Text is found although its quotes or indentation differ, and only if it is there once."""

import pytest

from ghp_agents.hooks import loose_match
from ghp_agents.hooks.event import UnknownEditError


@pytest.mark.parametrize(
    ("client", "text", "old", "new", "expected"),
    [
        ("claude", "a ‘b’ c", "'b'", "d", ("‘b’", "d")),  # noqa: RUF001
        ("gemini", "  a\n  b\nc", "a\nb\n", "x\ny\n", ("  a\n  b\n", "  x\n  y\n")),
        ("opencode", "\ta  \nc", "a", "\tb", ("\ta  ", "\tb")),
        ("opencode", "\ta\nc", "a\n", "b\n", ("\ta\n", "b\n")),
    ],
)
def test_what_looks_alike_is_found(
    client: str, text: str, old: str, new: str, expected: tuple[str, str]
) -> None:
    given = (part.encode() for part in (text, old, new))
    place = loose_match.found(client, *given)
    assert tuple(part.decode() for part in place) == expected


@pytest.mark.parametrize(
    ("client", "text", "old"),
    [
        ("claude", " a", "  a"),
        ("gemini", " a\nx\n a\n", "  a"),
        ("gemini", "a", " \n"),
        ("opencode", "a\nb", "b\nc"),
    ],
)
def test_what_is_not_there_once_is_unknown(client: str, text: str, old: str) -> None:
    with pytest.raises(UnknownEditError, match="the text to replace was not found"):
        loose_match.found(client, text.encode(), old.encode(), b"new")


def test_a_file_of_equal_lines_ends_soon() -> None:
    old = b"a\n" * 5_000 + b"b"
    with pytest.raises(UnknownEditError, match="too many lines are alike"):
        loose_match.found("opencode", b" a\n" * 100_000, old, b"")
