"""The card of an agent that runs."""

import os
from pathlib import Path

import pytest

from ghp_agents.cards.card import AgentCard
from ghp_agents.core.errors import RefusedError
from ghp_agents.runs import cards
from ghp_agents.workspace import open_workspace
from tests.support.consent import agree
from tests.support.git import commit, git

CARD = ".ghp/agents/night.md"


def of(repo: Path, name: str | None = "night") -> AgentCard:
    return cards.of(open_workspace(repo, dict(os.environ)), name)


def test_without_a_card_it_says_nothing(repo: Path) -> None:
    assert (of(repo), of(repo, None)) == (AgentCard("night"), AgentCard(""))


def test_its_instructions_are_what_is_below_the_fields(repo: Path) -> None:
    commit(repo, {CARD: "---\nmodel: opus\n---\nYou write tests.\n"})
    ws = open_workspace(repo, dict(os.environ))
    assert cards.instructions(ws, of(repo)) == "You write tests."
    assert cards.instructions(ws, AgentCard("other")) == ""


def test_no_agent_runs_with_a_card_that_cannot_be_read(repo: Path) -> None:
    commit(repo, {CARD: "---\npermission: []\n---\n"})
    with pytest.raises(RefusedError) as refused:
        of(repo)
    assert str(refused.value) == (
        "The card of night cannot be used: .ghp/agents/night.md, line 2 on main: `permission` is "
        "not known (did you mean `permissions`?)."
    )


@pytest.mark.parametrize("text", ["agents: [", "agents: &a {x: *a}\n", "x" * 100_001])
def test_no_agent_without_a_file_runs_if_machines_cannot_be_read(repo: Path, text: str) -> None:
    commit(repo, {".ghp/machines.yaml": text})
    with pytest.raises(RefusedError) as refused:
        of(repo)
    assert str(refused.value).startswith(
        "The permissions of night are unknown: .ghp/machines.yaml on main cannot be used: it"
    )
    commit(repo, {CARD: "---\nmodel: opus\n---\n"})
    assert of(repo).model == "opus"


def test_what_a_card_grants_waits_for_a_person(repo: Path) -> None:
    commit(repo, {CARD: "---\nurl: http://elsewhere/v1\n---\n"})
    with pytest.raises(RefusedError) as refused:
        of(repo)
    assert str(refused.value) == (
        ".ghp/agents/night.md on main says what night may run, reach or read, but nobody has "
        "approved it in this clone."
    )
    agree(repo)
    assert of(repo).url == "http://elsewhere/v1"


def test_the_address_and_model_of_a_card_are_options_of_the_runner() -> None:
    card = AgentCard("gtx", model="qwen2.5:32b", url="http://gtx:11434/v1")
    assert cards.endpoint(card) == ("--url=http://gtx:11434/v1", "--model=qwen2.5:32b")
    assert cards.endpoint(AgentCard("gtx")) == ()


@pytest.mark.parametrize("text", ["---\nmodel: opus\n---\n", None])
def test_a_card_that_a_person_agreed_to_is_not_lost_without_another_word(
    repo: Path, text: str | None
) -> None:
    commit(repo, {CARD: "---\npermissions:\n  - tool: bash\n---\n"})
    agree(repo)
    assert of(repo).permissions
    (repo / CARD).write_text(text or "")
    if text is None:
        (repo / CARD).unlink()
    git(repo, "commit", "--quiet", "--all", "-m", "Less")
    with pytest.raises(RefusedError) as refused:
        of(repo)
    assert str(refused.value) == (
        ".ghp/agents/night.md on main is not what a person agreed to for night."
    )
    agree(repo)
    assert of(repo).permissions is None


def test_machines_that_a_person_agreed_to_are_not_lost_either(repo: Path) -> None:
    path = ".ghp/machines.yaml"
    commit(repo, {path: "agents:\n  night:\n    permissions:\n      - tool: bash\n"})
    agree(repo)
    assert of(repo).permissions
    commit(repo, {path: "agents:\n  day: {}\n"})
    with pytest.raises(RefusedError) as refused:
        of(repo)
    assert str(refused.value) == (
        f"{path} on main is not what a person agreed to, and says nothing of night."
    )
    agree(repo)
    assert of(repo).permissions is None
