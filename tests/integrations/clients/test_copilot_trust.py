"""Copilot CLI runs a repository's hooks in folders that its user trusts."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.integrations.clients import config_files, copilot_trust
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock


def trusts(repo: Path) -> bool:
    ws = open_workspace(repo, os.environ, ManualClock())
    (target,) = config_files.here(ws, ["copilot"])
    return copilot_trust.trusts(target, os.environ)


@pytest.mark.parametrize("key", ["trustedFolders", "trusted_folders"])
def test_a_folder_is_trusted_with_all_below_it(repo: Path, home: Path, key: str) -> None:
    assert not trusts(repo)
    config = home / ".copilot/config.json"
    config.parent.mkdir()
    for folder, expected in ((repo, True), (repo.parent, True), (repo / "sub", False)):
        config.write_text(f"// Managed automatically.\n{json.dumps({key: [str(folder)]})}")
        assert trusts(repo) is expected


@pytest.mark.parametrize("text", ["", "[]", '{"trustedFolders": 1}', '{"trustedFolders": [7]}'])
def test_odd_configurations_trust_nothing(repo: Path, home: Path, text: str) -> None:
    (home / ".copilot").mkdir()
    (home / ".copilot/config.json").write_text(text)
    assert not trusts(repo)


def test_the_users_own_hooks_need_no_trust() -> None:
    assert copilot_trust.trusts(config_files.users(os.environ, "copilot"), os.environ)
