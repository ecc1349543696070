"""What a card may say, and what is refused."""

from typing import Any

import pytest

from ghp_agents.cards import card
from ghp_agents.cards.card import AgentCard, CardError, Skill
from ghp_agents.cards.manifest import Permission

WHOLE: dict[str, Any] = {
    "name": "reviewer",
    "description": "Reviews  pull\nrequests",
    "kind": "background",
    "role": "reviewer",
    "client": "claude",
    "model": "qwen2.5-coder:14b-instruct-q5_K_M",
    "host": "i9-machine:11434",
    "capabilities": ["Rust", {"code_review": "Reads a change."}],
    "subscriptions": ["code.>"],
    "permissions": [{"tool": "write_file", "scope": "docs/**/*.md"}],
    "autonomous": "ask",
    "github": True,
    "turns": 40,
    "cost": 2.5,
    "minutes": 30,
}


def test_a_card_says_what_an_agent_is_and_may_do() -> None:
    parsed = card.parse("reviewer", ".ghp/agents/reviewer.md", WHOLE)
    assert parsed == AgentCard(
        "reviewer", ".ghp/agents/reviewer.md", "Reviews pull requests", "background", "reviewer",
        "claude", "qwen2.5-coder:14b-instruct-q5_K_M", "i9-machine", "http://i9-machine:11434/v1",
        (Skill("rust"), Skill("code_review", "Reads a change.")), ("code.>",),
        "ask", True, 40, 2.5, 30.0,
        permissions=(Permission("write_file", ("docs/**/*.md",)),),
    )  # fmt: skip
    assert card.decode("reviewer", card.encode(parsed)) == parsed
    assert parsed.grants is True


def test_a_card_of_nothing_grants_nothing() -> None:
    parsed = card.parse("reader", "a.md", {})
    assert (parsed, parsed.grants) == (AgentCard("reader", "a.md"), False)
    only = card.parse("reader", "a.md", {"permissions": [{"tool": "write_file", "scope": "docs/"}]})
    assert only.grants is False


def test_permissions_that_are_words_are_the_channels_that_it_joins() -> None:
    parsed = card.parse("worker", "m.yaml", {"permissions": ["general", "workflow"]})
    assert (parsed.permissions, parsed.subscriptions) == (None, ("general", "workflow"))


@pytest.mark.parametrize(
    ("name", "fields", "why"),
    [
        ("../../evil", {}, "'../../evil' is not an agent's name"),
        ("a", {"name": "b"}, "`name` is not the name of the file, a"),
        ("a", {"model": "--dangerous"},
         "`model` is '--dangerous', which is not the name of a model"),
        ("a", {"client": "sh -c x"},
         "`client` is 'sh -c x', which is not a runner such as `claude`"),
        ("a", {"url": "file:///etc/passwd"},
         "`url` is 'file:///etc/passwd', which is not an address such as http://gtx:11434/v1"),
        ("a", {"host": "a b"}, "`host` is 'a b', which is not a host such as gtx:11434"),
        ("a", {"kind": "evil"}, "`kind` is 'evil', not interactive or background"),
        ("a", {"description": 3}, "`description` is not a text"),
        ("a", {"capabilities": "rust"}, "`capabilities` are not a list of words"),
        ("a", {"capabilities": ["a b"]}, "`capabilities` have 'a b', which is not one word"),
        ("a", {"capabilities": [str(n) for n in range(51)]}, "`capabilities` are more than 50"),
        ("a", {"capabilities": {"x": [1]}},
         "`capabilities` describe x by something that is not a text"),
        ("a", {"subscriptions": ["a b"]}, "`subscriptions` have 'a b', which is not a topic"),
        ("a", {"github": "yes"}, "`github` is not true or false"),
        ("a", {"autonomous": False}, "`autonomous` is not a text"),
        ("a", {"autonomous": "maybe"}, "`autonomous` is 'maybe', not true or ask"),
        ("a", {"turns": True}, "`turns` is not a number from 0 to 1,000,000"),
        ("a", {"cost": -1}, "`cost` is not a number from 0 to 1,000,000"),
        ("a", {"minutes": float("nan")}, "`minutes` is not a number from 0 to 1,000,000"),
        ("a", {"permisions": []}, "`permisions` is not known (did you mean `permissions`?)"),
        ("a", {"permissions": {}}, "`permissions` are not a list of at most 50 tools"),
    ],
)  # fmt: skip
def test_what_no_card_may_say(name: str, fields: dict[str, Any], why: str) -> None:
    with pytest.raises(CardError) as caught:
        card.parse(name, "x", fields)
    assert str(caught.value) == why


def test_unknown_fields_are_named_with_what_was_meant() -> None:
    fields = {"descripton": "x", "_note": "y", "colour of \x1b[31m": 1}
    assert card.unknown(fields) == [("descripton", "description"), ("colour of [31m", "")]
