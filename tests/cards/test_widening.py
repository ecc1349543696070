"""What a change of cards gives to agents."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.manifest import Permission
from ghp_agents.cards.read_cards import Cards
from ghp_agents.cards.widening import widened

SCOPES = {
    "bash": ["make", "make check", "*"], "network": ["*.example.org", "a.example.org", "*"],
    "read_file": ["src/", "**"], "write_file": ["src/", "**"], "WebSearch": [""],
}  # fmt: skip
PERMISSIONS = some.sampled_from(
    [Permission(tool, (scope,) if scope else ()) for tool in SCOPES for scope in SCOPES[tool]]
    + [Permission(tool) for tool in SCOPES]
)
CARDS = some.builds(
    AgentCard, some.just("a"), permissions=some.none() | some.lists(PERMISSIONS).map(tuple),
    autonomous=some.sampled_from(["", "ask", "true"]), github=some.booleans(),
    turns=some.integers(0, 3), broken=some.sampled_from(["", "odd"]),
)  # fmt: skip


def words(before: AgentCard | None, after: AgentCard | None) -> list[str]:
    return widened(*(Cards({"a": card} if card else {}) for card in (before, after)))


@pytest.mark.slow
@given(CARDS.filter(lambda card: not card.broken))
def test_the_same_card_gives_nothing_and_its_loss_is_named(card: AgentCard) -> None:
    assert words(card, card) == []
    assert words(card, None) == ["a loses its card"]


@pytest.mark.slow
@given(CARDS.filter(lambda card: not card.broken and bool(card.permissions)), PERMISSIONS)
def test_less_is_never_more(card: AgentCard, more: Permission) -> None:
    fewer = card._replace(permissions=(*(card.permissions or ()),), github=False)
    assert words(card._replace(permissions=(*(card.permissions or ()), more)), fewer) in (
        [], ["a may do more with read_file"]  # who may read some files, else reads all
    )  # fmt: skip


def test_a_wider_scope_is_named_and_a_narrower_one_is_not() -> None:
    for tool, wide, narrow in (
        ("bash", "make", "make check"), ("network", "*.x.org", "a.x.org"),
        ("write_file", "**", "src/"), ("bash", "*", "rm"),
    ):  # fmt: skip
        cards = [
            AgentCard("a", permissions=(Permission(tool, (scope,)),)) for scope in (wide, narrow)
        ]
        assert words(*cards) == []
        assert words(*reversed(cards)) == [f"a may do more with {tool}"]


def test_a_new_card_gives_only_what_no_agent_has() -> None:
    assert words(None, AgentCard("a", permissions=())) == []
    assert words(None, AgentCard("a", github=True)) == ["a gets the person's GitHub token"]


def test_another_client_or_model_of_an_agent_is_named_and_that_of_a_new_card_is_not() -> None:
    old, other = AgentCard("a", client="claude", model="opus"), AgentCard("a", client="aider")
    assert words(old, other) == ["a runs with aider"]
    assert words(old, old._replace(client="")) == ["a runs with another client"]
    assert words(AgentCard("a"), old) == ["a runs with claude"]
    assert words(old, old._replace(model="opus-2")) == ["a gets the model opus-2"]
    assert words(old, old._replace(model="")) == ["a gets another model"]
    assert words(None, old) == []
