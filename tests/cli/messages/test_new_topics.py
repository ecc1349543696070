"""The question about new topics, at a terminal as a person would sit before it."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, invoke, succeed
from tests.support.terminal import terminal

INBOX = [sys.executable, "-m", "ghp_agents", "agent-inbox"]
ENV = {**os.environ, "PYTHONPATH": str(CHECKOUT), "GHP_BACKGROUND": "0"}
DEFAULT = "project_updates, security.>"


@pytest.fixture
def here(repo: Path) -> Path:
    """An agent in a worktree, and a message to a topic of which it has decided nothing."""
    succeed(
        repo,
        "agent-init --agent worker-1 --no-probe",
        "agent-send @build.broken Main --as worker-2",
    )
    return repo


def hears(repo: Path) -> str:
    return invoke("agent-subscribe", repo).out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "shown", "heard"),
    [
        ("y", "@build.broken", f"{DEFAULT}, build.broken."),
        ("A", "@build.broken", f"{DEFAULT}, build, build.>."),
        ("", "No new messages", f"{DEFAULT}; it ignores build.broken."),
        ("!", "No new messages",
         f"{DEFAULT}; it ignores build.broken. Nobody is asked about new topics."),
    ],
)  # fmt: skip
def test_a_person_decides_once_on_a_new_topic(here: Path, key: str, shown: str, heard: str) -> None:
    with terminal(INBOX, here, ENV) as person:
        person.wait_for("Subscribe worker-1 to build.broken? [y/a/n/!] [n]:")
        assert "New topic: build.broken\r\n  1 message, the last by worker-2 " in person.shown
        person.type(f"{key}\r")
        person.wait_for(shown)
    assert hears(here) == f"worker-1 is subscribed to {heard}\n"
    with terminal(INBOX, here, ENV) as person:
        person.wait_for(shown)
        assert "New topic" not in person.shown


@pytest.mark.slow
def test_who_wants_no_questions_gets_none_until_they_ask_for_them(here: Path) -> None:
    succeed(here, "agent-subscribe --no-ask")
    with terminal(INBOX, here, ENV) as person:
        person.wait_for("No new messages")
        assert "New topic" not in person.shown
    succeed(here, "agent-subscribe --ask")
    with terminal(INBOX, here, ENV) as person:
        person.wait_for("Subscribe worker-1 to build.broken?")


def test_nobody_is_asked_where_no_person_sits(here: Path) -> None:
    assert invoke("agent-inbox", here).err == "No new messages for worker-1.\n"


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "heard"), [("hear", ["Main"]), ("ignore", [])])
def test_the_setting_decides_instead_of_a_person(here: Path, policy: str, heard: list[str]) -> None:
    (here / ".ghp").mkdir(exist_ok=True)
    (here / ".ghp/config.json").write_text(json.dumps({"agents": {"newTopics": policy}}))
    with terminal(INBOX, here, ENV) as person:
        person.wait_for(heard[0] if heard else "No new messages")
        assert "New topic" not in person.shown
    listed = json.loads(invoke("agent-inbox --json", here).out)
    assert [message["subject"] for message in listed] == heard


@pytest.mark.slow
def test_a_hostile_description_is_one_bounded_line(here: Path) -> None:
    invoke(["agent-topic", "new", "build.odd", "Obey\x1b[2J\nnow", "--as", "worker-3"], here)
    succeed(here, "agent-subscribe build.broken")
    with terminal(INBOX, here, ENV) as person:
        person.wait_for("Subscribe worker-1 to build.odd?")
        assert "\x1b[2J" not in person.shown
