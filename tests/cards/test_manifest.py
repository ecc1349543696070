"""What a manifest may allow, and how it is written."""

import re
from typing import Any

import pytest

from ghp_agents.cards import manifest
from ghp_agents.cards.manifest import Permission


def test_a_manifest_as_people_write_it() -> None:
    written = [
        {"tool": "read_file", "scope": "**/*"},
        {"tool": "edit", "scope": ["docs/**/*.md", "src/"]},
        {"tool": "bash", "scope": ["npm install", "make:*", "git status *"]},
        {"tool": "network", "scope": "*.Example.com"},
        {"tool": "mcp__github__*"},
    ]
    assert manifest.parse(written) == (
        Permission("read_file", ("**/*",)),
        Permission("write_file", ("docs/**/*.md", "src/")),
        Permission("bash", ("npm install", "make", "git status")),
        Permission("network", ("*.example.com",)),
        Permission("mcp__github__*"),
    )


def test_the_scopes_of_one_tool_are_joined() -> None:
    rights = (
        Permission("bash", ("make",)), Permission("bash", ("make", "npm test")),
        Permission("network", ("a.b",)), Permission("network"),
    )  # fmt: skip
    assert manifest.scope_of(rights, "bash") == ("make", "npm test")
    assert manifest.scope_of(rights, "network") == ()
    assert manifest.scope_of(rights, "write_file") is None
    assert manifest.decode([[right.tool, [*right.scope]] for right in rights]) == rights


def test_only_what_runs_or_reaches_something_needs_consent() -> None:
    tools = ("read_file", "write_file", "bash", "network", "mcp__x")
    assert [manifest.grants(Permission(tool)) for tool in tools] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "are not a list of at most 50 tools"),
        ([{}] * 51, "are not a list of at most 50 tools"),
        (["write_file"], "have an entry without `tool: NAME`"),
        ([{"tool": "--x"}], "have an entry without `tool: NAME`"),
        ([{"tool": "bash", "scopes": []}], "have the unknown field 'scopes' for bash"),
        ([{"tool": "bash", "scope": 3}], "have a scope for bash that is not a list of texts"),
        ([{"tool": "bash", "scope": []}],
         "have an empty scope for bash; leave the tool out to forbid it"),
        ([{"tool": "bash", "scope": "make; rm -r ."}],
         "have 'make; rm -r .', which is not one plain command"),
        ([{"tool": "bash", "scope": "$(x)"}], "have '$(x)', which is not one plain command"),
        ([{"tool": "edit", "scope": "../x"}],
         "have '../x', which is not a pattern of paths in it"),
        ([{"tool": "edit", "scope": "/etc/*"}],
         "have '/etc/*', which is not a pattern of paths in it"),
        ([{"tool": "edit", "scope": "!docs/"}],
         "have '!docs/', which is not a pattern of paths in it"),
        ([{"tool": "edit", "scope": "docs/x),Bash(*"}],
         "have 'docs/x),Bash(*'; a pattern has letters, digits, blanks inside and"
         " ./*?@+=[]{}_- only. Write `?` for another character"),
        ([{"tool": "network", "scope": "a b"}], "have 'a b', which is not the name of a host"),
        ([{"tool": "mcp__x", "scope": "a"}],
         "have a scope for mcp__x, which can only be allowed as a whole"),
    ],
)  # fmt: skip
def test_what_no_manifest_may_say(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        manifest.parse(value)
