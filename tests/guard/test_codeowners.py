"""CODEOWNERS, as hosts read it."""

import pytest

from ghp_agents.guard.codeowners import OwnersLine, owned, parse_owners

TEXT = """\
# Who has a say
*            @acme/all
/docs/*      @acme/docs   # the pages, not what is below
apps/        @ann bob@example.invalid
*.lock
/src/it\\ is/ @acme/core
[Section]
^[Optional] @x
!no/such @x
**/logs      @acme/core
"""


def test_the_lines_are_read_as_hosts_read_them() -> None:
    assert parse_owners(TEXT) == [
        OwnersLine("*", ("@acme/all",)),
        OwnersLine("/docs/*", ("@acme/docs",), only_here=True),
        OwnersLine("apps/", ("@ann", "bob@example.invalid")),
        OwnersLine("*.lock", ()),
        OwnersLine("/src/it\\ is/", ("@acme/core",)),
        OwnersLine("logs", ("@acme/core",)),
    ]


def test_of_owners_every_line_is_said_for_a_later_one_takes_back() -> None:
    lines = owned(parse_owners(TEXT), ["@ACME/core"])
    assert [mine for _, mine in lines] == [False, False, False, False, True, True]


@pytest.mark.parametrize("owners", [[], ["@nobody"]])
def test_where_no_line_is_theirs_nothing_is_said(owners: list[str]) -> None:
    assert owned(parse_owners(TEXT), owners) == []


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n", "\x00\x00", "../up @x\n", "a" * 5_000])
def test_what_is_no_line_is_left_out(text: str) -> None:
    assert parse_owners(text) == []
