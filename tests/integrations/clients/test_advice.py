"""What a person is told about guards that were put in: facts with what to do."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.integrations.clients import config_files as client_places
from ghp_agents.integrations.clients import install as guards
from ghp_agents.integrations.clients.advice import advice, doubled
from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock


def put(folder: Path, client: str) -> list[ConfigFile]:
    ws = open_workspace(folder, os.environ, ManualClock())
    targets = client_places.here(ws, [client])
    for step in guards.to_put(targets, "/py", os.environ, ws.common_dir):
        step.act()
    return targets


def put_for_user(client: str) -> list[ConfigFile]:
    targets = client_places.of_user(os.environ, [client])
    for step in guards.to_put(targets, "/py", os.environ, None):
        step.act()
    return targets


def test_where_all_is_well_nothing_is_said(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    worktree(repo, "147")
    targets = put(repo, "gemini")
    assert list(advice(["gemini"], targets, [])) == []


def test_a_file_that_git_shows_beside_one_of_the_users_is_named(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    linked = worktree(repo, "147")
    (linked / ".cursor").mkdir()
    (linked / ".cursor/hooks.json").write_text('{"version": 1}')
    targets = put(repo, "cursor")
    assert list(advice(["cursor"], targets, [])) == [
        (
            "`git status` shows .cursor/hooks.json as a new file: an ignore rule for it would "
            f"also hide your {linked}/.cursor/hooks.json.",
            "Do not commit it; its hooks name a program of this machine.",
        )
    ]
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").write_text(".cursor/\n")
    assert list(advice(["cursor"], targets, [])) == [], "the user hides both"


@pytest.mark.parametrize(("client", "twice"), [("gemini", True), ("claude", False)])
def test_hooks_in_two_files_run_twice_but_for_claude(
    repo: Path, home: Path, client: str, twice: bool
) -> None:
    users, here = put_for_user(client), put(repo, client)
    assert (doubled([*users, *here]) is not None) is twice
    assert doubled(users) is None
    assert doubled(here) is None
