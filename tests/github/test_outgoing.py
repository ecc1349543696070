"""Texts of agents go to GitHub without mentions."""

import os
from pathlib import Path

from ghp_agents.github import outgoing
from ghp_agents.workspace import open_workspace


def test_a_text_of_an_agent_mentions_nobody_and_fields_that_are_no_text_stay(repo: Path) -> None:
    ws = open_workspace(repo, {**os.environ, "GHP_AGENT": "worker-1"})
    fields = {"body": "Look, @copilot", "title": "@codex", "state": "@closed", "labels": ["@x"]}
    checked = outgoing.checked(ws, "issues/1/comments", fields)
    assert "@copilot" not in checked["body"]
    assert "@codex" not in checked["title"]
    assert (checked["state"], checked["labels"]) == ("@closed", ["@x"])
    assert outgoing.checked(ws, "issues/1", {"state": "closed"}) == {"state": "closed"}
    assert outgoing.checked(ws, "issues/1", None) is None


def test_a_text_that_fills_what_github_takes_still_fits(repo: Path) -> None:
    ws = open_workspace(repo, {**os.environ, "GHP_AGENT": "worker-1"})
    full = ("@copilot " * 10_000)[: outgoing.LONGEST]
    body = outgoing.checked(ws, "issues/1/comments", {"body": full})["body"]
    assert len(body) == len(full)
    assert "@copilot" not in body
