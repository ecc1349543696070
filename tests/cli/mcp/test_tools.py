"""The tools of a model: a command for each call, and nothing but what the schema allows."""

import json
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ghp_agents.cli.app import app
from ghp_agents.cli.mcp.tools import TOOLS, command
from ghp_agents.core.errors import UsageError

MOST = 3_000 * 4  # characters of all schemas: about 3,000 tokens
SAMPLES: dict[str, dict[str, Any]] = {
    "issue": {"number": 12},
    "check": {"paths": ["src/a.py"]},
    "lease": {"patterns": ["src/"], "reason": "New tokens", "ttl": "30m"},
    "release": {"names": ["12"]},
    "ask": {"question": "One or eight?", "options": ["one", "eight"], "urgency": "high"},
    "answer": {"id": "E-3f9a", "text": "eight"},
    "send": {"to": ["worker-2"], "subject": "Hi", "body": "x", "kind": "request", "or_agent": "w"},
    "inbox": {"act": "done", "ids": ["M-3f9a"], "text": "Fine", "excerpts": ["src/a.py#L1"]},
    "vote": {"id": "M-3f9a", "choice": "for", "reason": "Simple"},
    "remember": {"text": "A tab is eight columns"},
    "recall": {"query": "tabs"},
}
LEAVES = st.none() | st.booleans() | st.integers() | st.text()
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2), max_leaves=3)


def described() -> list[dict[str, Any]]:
    return [
        {"name": name, "description": tool.description, "inputSchema": tool.schema}
        for name, tool in TOOLS.items()
    ]


def test_a_model_reads_less_than_three_thousand_tokens_of_schemas() -> None:
    assert len(json.dumps(described())) <= MOST


@pytest.mark.parametrize("name", TOOLS)
def test_a_call_is_a_command_that_exists_with_options_that_it_has(name: str) -> None:
    words = command(name, SAMPLES.get(name, {}))
    Draft202012Validator.check_schema(TOOLS[name].schema)
    Draft202012Validator(TOOLS[name].schema).validate(SAMPLES.get(name, {}))
    group = app.get_command(click.Context(app), words[0])
    assert group is not None
    rest = words[1:]
    if isinstance(group, click.Group):
        group = group.get_command(click.Context(group), rest.pop(0))
        assert group is not None
    group.make_context(name, rest, resilient_parsing=False)


@pytest.mark.slow
@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(st.text(max_size=9), ANYTHING, max_size=4))
def test_arguments_that_do_not_fit_the_schema_are_refused(
    name: str, arguments: dict[str, Any]
) -> None:
    fits = Draft202012Validator(TOOLS[name].schema).is_valid(arguments)
    try:
        words = command(name, arguments)
    except UsageError:
        assert not fits or name == "inbox"
    else:
        assert fits
        assert words[0].startswith("agent-")


@pytest.mark.parametrize("value", ["--help", "-y", "--as=root", "--", "-"])
def test_no_value_is_taken_for_an_option(value: str) -> None:
    lease = command("lease", {"patterns": [value], "reason": value})
    assert lease == ["agent-lease", f"--reason={value}", "--", value]
    assert command("recall", {"query": value}) == ["agent-recall", "--", value]
    assert command("send", {"to": [value], "subject": value}) == ["agent-send", "--", value, value]


def test_a_reply_without_ids_is_refused() -> None:
    with pytest.raises(UsageError, match="`done` needs the ids"):
        command("inbox", {"act": "done"})
    assert command("inbox", {}) == ["agent-inbox", "list"]
