"""Cards are read from the commit of the default branch, and nothing wrong in one hides another."""

from pathlib import Path

import pytest

from ghp_agents.cards import read_cards
from ghp_agents.cards.card import AgentCard, Skill
from tests.support.git import git

MAIN = "refs/heads/main"
READER = """\
---
description: Reads
capabilities: [rust]
colour: red
---
You read.
"""
MACHINES = """\
agents:
  reader:
    role: other
  gtx:
    host: gtx:11434
    model: qwen2.5:32b
  bad:
    model: 3
"""


def commit(repo: Path, **texts: str | bytes) -> None:
    for name, text in texts.items():
        path = repo / ".ghp" / (f"agents/{name}.md" if name != "machines" else "machines.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Cards")


def read(repo: Path, *, approved: bool = False) -> read_cards.Cards:
    return read_cards.read(repo, MAIN, lambda _, __: approved)


def test_the_cards_of_both_files_are_read(repo: Path) -> None:
    commit(repo, reader=READER, machines=MACHINES)
    cards = read(repo, approved=True)
    why = ".ghp/machines.yaml, line 8 on main: bad: `model` is not a text"
    assert cards.by_agent == {
        "reader": AgentCard("reader", ".ghp/agents/reader.md", "Reads", skills=(Skill("rust"),)),
        "gtx": AgentCard(
            "gtx", ".ghp/machines.yaml", model="qwen2.5:32b", machine="gtx",
            url="http://gtx:11434/v1", approved=True,
        ),
        "bad": AgentCard("bad", ".ghp/machines.yaml", broken=why, approved=True),
    }  # fmt: skip
    assert [problem.told for problem in cards.problems] == [
        ".ghp/agents/reader.md, line 4 on main: `colour` is not known",
        why,
        ".ghp/machines.yaml on main: reader has a card in .ghp/agents/reader.md, which counts",
    ]
    assert read_cards.instructions(repo, MAIN, ".ghp/agents/reader.md") == "You read."
    assert read_cards.instructions(repo, MAIN, ".ghp/machines.yaml") == ""


def test_no_file_of_a_worktree_is_read(repo: Path) -> None:
    commit(repo, reader=READER)
    git(repo, "switch", "-qc", "agent/reader/1-x")
    commit(repo, reader=READER.replace("rust", "everything"), other=READER)
    assert [x.skills for x in read(repo).by_agent.values()] == [(Skill("rust"),)]


def test_links_are_not_followed_and_long_files_not_read(repo: Path) -> None:
    folder = repo / ".ghp/agents"
    folder.mkdir(parents=True)
    (folder / "link.md").symlink_to("/etc/passwd")
    commit(repo, long=READER + "x" * 100_000, reader=READER)
    cards = read(repo)
    assert [name for name, card in cards.by_agent.items() if not card.broken] == ["reader"]
    assert [problem.told for problem in cards.problems if problem.is_ignored] == [
        ".ghp/agents/link.md on main: it is a link or a folder, not a file",
        ".ghp/agents/long.md on main: it has more than 100,000 bytes",
    ]
    # Their agents must not run as if they had no card.
    assert {name for name, card in cards.by_agent.items() if card.broken} == {"link", "long"}


def test_an_entry_that_is_wrong_hides_no_other(repo: Path) -> None:
    text = "agents:\n  one: [1]\n  two: {host: 'a b'}\n  three: {model: m}\n"
    commit(repo, machines=text)
    cards = read(repo)
    broken = {name: bool(card.broken) for name, card in cards.by_agent.items()}
    assert broken == {"one": True, "two": True, "three": False}
    assert len(cards.problems) == 2
    assert read_cards.machines_problem(repo, MAIN) == ""


def test_more_cards_than_are_read_let_nobody_run_without_one(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_cards, "MOST", 1)
    commit(repo, a=READER, b=READER)
    cards = read(repo).by_agent
    assert [bool(cards[name].broken) for name in "ab"] == [False, True]


def test_yaml_that_is_too_much_is_a_problem_and_no_card(repo: Path) -> None:
    bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n"
    long = f"---\ndescription: {'x' * 9_000}\n---\n"
    commit(
        repo,
        bomb=bomb,
        long=long,
        none="no fence",
        bytes=b"---\n\xff\n---\n",
        deep="---\na: " + "[" * 4_000,
    )
    cards = read(repo)
    assert [problem.text for problem in cards.problems] == [
        "the front matter has an alias (`*name`)",
        "the front matter is not a list of fields",
        "the front matter has no end: no second `---`",
        "the front matter has more than 8000 characters",
        "no front matter: the first line is not `---`",
    ]
    assert all(card.broken for card in cards.by_agent.values())


def test_a_repository_without_cards_has_none(repo: Path) -> None:
    assert read(repo) == read_cards.Cards()
    commit(repo, machines="a: 1")
    assert read(repo).problems[0].told == (
        ".ghp/machines.yaml on main: it has no `agents:` with a name for each"
    )
