"""Where settled records are: a file at the tip names commits, and nobody trusts it."""

import pytest

from ghp_agents.state.git.settled import decode, encode

ONE, TWO = "1" * 40, "2" * 64


def test_the_commits_are_read_as_they_were_written() -> None:
    assert decode(encode([ONE, TWO])) == [ONE, TWO]


@pytest.mark.parametrize(
    "data",
    [b"", b"?", b"[]", b"{}", b'{"commits": 1}', b'{"commits": [1, "HEAD", ""]}', b"[" * 9999],
)
def test_what_another_clone_wrote_instead_names_none(data: bytes) -> None:
    assert decode(data) == []
