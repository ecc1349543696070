"""The answer to upstream's dashboard: who works on a branch, and what they ask and left."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.integrations.upstream_ghp import dashboard
from ghp_agents.wiring import App
from tests.support.ghp import invoke

Worktree = Callable[[Path, str], Path]
BRANCH = "agent/12-parse"


@pytest.fixture
def place(repo: Path, worktree: Worktree) -> Path:
    """A worktree on a branch for issue 12, in which worker-1 is at work."""
    folder = worktree(repo, "12-parse")
    ghp(folder, "agent-whoami --set worker-1")
    beat = "agent-heartbeat --status implementing --issue 12"
    ghp(folder, [*beat.split(), "--action", "Wrote the lexer"])
    return folder


def ghp(folder: Path, words: str | list[str]) -> str:
    result = invoke(words, folder)
    assert result.code == 0, result
    return result.out


def ask(folder: Path, branch: str = BRANCH) -> list[dict[str, Any]]:
    """The items of an answer, which has the form that upstream takes."""
    house = App(folder, os.environ)
    answer = dashboard.dashboard(house, branch)
    assert answer["success"] is True
    assert answer["data"]["title"] == "Agents"
    items: list[dict[str, Any]] = answer["data"]["items"]
    ids = [item["id"] for item in items]
    assert len(set(ids)) == len(ids)
    for item in items:
        assert {"id", "type", "title"} <= item.keys()
        assert item.keys() <= {"id", "type", "title", "summary", "timestamp", "metadata"}
        texts = [
            item[key] for key in ("id", "type", "title", "summary", "timestamp") if key in item
        ]
        assert all(isinstance(text, str) and text and text.isprintable() for text in texts)
    return items


def kinds(items: list[dict[str, Any]]) -> list[str]:
    return [item["id"] for item in items]


def test_an_untouched_repository_has_nothing_and_stays_so(repo: Path) -> None:
    assert ask(repo) == []
    assert not (repo / ".git/ghp").exists()


def test_the_agent_on_a_branch(place: Path) -> None:
    (item,) = ask(place)
    assert item["metadata"].pop("beat").endswith(" ago")
    assert item.pop("timestamp").endswith("Z")
    assert item == {
        "id": "agent:worker-1",
        "type": "agent",
        "title": "worker-1: active, implementing #12",
        "summary": "Wrote the lexer",
        "metadata": {
            "agent": "worker-1", "state": "active", "status": "implementing", "issue": 12,
        },
    }  # fmt: skip


def test_it_is_the_same_from_every_worktree(place: Path, repo: Path) -> None:
    assert kinds(ask(repo)) == ["agent:worker-1"]


def test_other_branches_have_their_own(place: Path) -> None:
    assert ask(place, "agent/13-other") == []
    assert ask(place, "main") == []


def test_who_works_on_the_branchs_issue_from_elsewhere_is_there_too(
    place: Path, repo: Path
) -> None:
    ghp(repo, "agent-heartbeat --as worker-2 --issue 12 --status reviewing")
    assert kinds(ask(place)) == ["agent:worker-1", "agent:worker-2"]


def test_questions_that_are_open_with_how_to_answer_them(place: Path) -> None:
    command = ["agent-escalate", "Tabs or blanks?", "--option", "tabs", "--option", "blanks"]
    name = ghp(place, command).split()[0]
    items = ask(place)
    question = items[1]
    assert question["type"] == "question"
    assert question["title"].endswith("worker-1 asks: Tabs or blanks?")
    short = question["id"].removeprefix("question:")
    assert name.startswith(short)
    assert question["summary"] == f"1. tabs; 2. blanks. Answer: ghp agent-answer {short} TEXT"
    ghp(place, f"agent-answer {short} tabs --as @me")
    assert [item["type"] for item in ask(place)] == ["agent"]


def test_the_last_handoff_of_the_issue(place: Path) -> None:
    ghp(place, ["agent-handoff", "--note", "The lexer is\nhalf done."])
    handoff = next(item for item in ask(place) if item["type"] == "handoff")
    name = handoff["id"].removeprefix("handoff:")
    assert handoff["title"] == f"{name}: handoff by worker-1"
    assert handoff["summary"] == "The lexer is half done."
    assert handoff["metadata"]["command"] == f"ghp agent-resume --handoff {name}"


def test_a_claim_of_somebody_who_is_not_on_the_branch(repo: Path, worktree: Worktree) -> None:
    ghp(repo, ["agent-issue", "new", "Parse"])
    ghp(repo, "agent-claim 1 --as worker-3")
    assert kinds(ask(repo, "ada/1-parse")) == ["agent:worker-3"]
    ghp(repo, "agent-heartbeat --as worker-3 --issue 2 --status implementing")
    assert "claim:1" in kinds(ask(repo, "ada/1-parse"))


def test_where_something_is_wrong_the_answer_says_what() -> None:
    assert dashboard.failed("No repository.") == {"success": False, "error": "No repository."}
