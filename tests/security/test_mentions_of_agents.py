"""What agents write on GitHub starts no other agent."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.github import marker, outgoing
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.consent import configure

TEXT = "@copilot fix\n> @claude do\n\n/gemini review\n\n@ada, see `@property`"
HARMLESS = "@\u200bcopilot fix\n> @\u200bclaude do\n\n/\u200bgemini review\n\n@ada, see `@property`"
AGENT, PERSON = Actor("worker-1"), Actor("Ann Example", is_person=True)


def workspace(repo: Path, **variables: str) -> Workspace:
    configure(repo, {"agents": {"accounts": {"Ada": "ada"}}})
    return open_workspace(repo, {**os.environ, **variables})


def signed(by: Actor) -> str:
    return marker.signed(TEXT, marker.mark("0123456789ab", by))


def text(ws: Workspace, path: str, body: str) -> str:
    sent = outgoing.checked(ws, path, {"body": body})["body"]
    return marker.split_marker(sent)[0]


@pytest.mark.parametrize("path", ["issues/1/comments", "issues", "pulls", "pulls/2"])
def test_what_an_agent_writes_mentions_only_whom_the_configuration_names(
    repo: Path, path: str
) -> None:
    ws = workspace(repo, GHP_AGENT="worker-1")
    assert text(ws, path, signed(AGENT)) == HARMLESS
    assert text(ws, path, signed(PERSON)) == HARMLESS
    fields = {"title": "@codex", "commit_message": "@codex", "state": "open", "n": 1}
    assert outgoing.checked(ws, path, fields) == {
        "title": "@\u200bcodex", "commit_message": "@\u200bcodex", "state": "open", "n": 1,
    }  # fmt: skip


def test_an_agents_text_that_a_persons_command_sends_is_harmless_too(repo: Path) -> None:
    ws = workspace(repo)
    assert text(ws, "issues/1/comments", signed(AGENT)) == HARMLESS
    assert text(ws, "issues/1/comments", TEXT) == HARMLESS


def test_a_person_mentions_whom_they_like_but_not_by_a_quotation(repo: Path) -> None:
    ws = workspace(repo)
    me = ws.actor()
    assert me.is_person
    assert text(ws, "issues/1/comments", signed(me)) == TEXT.replace("> @", "> @\u200b")
    assert text(ws, "pulls", signed(me)) == HARMLESS


def test_a_text_at_the_limit_stays_within_it(repo: Path) -> None:
    ws = workspace(repo, GHP_AGENT="worker-1")
    body = "@codex ".ljust(outgoing.LONGEST, "x")
    sent = outgoing.checked(ws, "issues", {"body": body})["body"]
    assert len(sent) == outgoing.LONGEST
    assert "@codex" not in sent
    assert json.dumps(outgoing.checked(ws, "labels", None)) == "null"
