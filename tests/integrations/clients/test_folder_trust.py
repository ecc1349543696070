"""Some clients run a repository's hooks only in folders that their user trusts."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.integrations.clients import (
    checks,
    config_files,
    folder_trust,
    install,
    new_worktree,
)
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock

FILES = {
    "copilot": ".copilot/config.json",
    "gemini": ".gemini/trustedFolders.json",
    "pi": ".pi/agent/trust.json",
    "qwen": ".qwen/trustedFolders.json",
}
SETTINGS = {"gemini": ".gemini/settings.json", "pi": ".pi/agent/settings.json",
            "qwen": ".qwen/settings.json"}  # fmt: skip
ON = {"security": {"folderTrust": {"enabled": True}}}
OFF = {"security": {"folderTrust": {"enabled": False}}}


def at(repo: Path, environ: Mapping[str, str] = os.environ) -> Workspace:
    return open_workspace(repo, environ, ManualClock())


def trusts(client: str, repo: Path, environ: Mapping[str, str] = os.environ) -> bool:
    (target,) = config_files.here(at(repo), [client])
    return folder_trust.trusts(target, environ)


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.mark.parametrize("key", ["trustedFolders", "trusted_folders"])
def test_copilot_trusts_the_named_folders_and_all_below_them(
    repo: Path, home: Path, key: str
) -> None:
    assert not trusts("copilot", repo)
    for folder, expected in ((repo, True), (repo.parent, True), (repo / "sub", False)):
        text = f"// Managed automatically.\n{json.dumps({key: [str(folder)]})}"
        write(home / FILES["copilot"], text)
        assert trusts("copilot", repo) is expected


@pytest.mark.parametrize("client", ["gemini", "qwen"])
def test_of_levels_the_one_with_the_longest_name_counts(
    repo: Path, home: Path, client: str
) -> None:
    write(home / SETTINGS[client], ON)
    below, above = str(repo / "x"), str(repo.parent)
    cases: list[tuple[dict[str, Any], bool]] = [
        ({}, False),
        ({str(repo): "TRUST_FOLDER"}, True),
        ({above: "TRUST_FOLDER"}, True),
        ({"/": "TRUST_FOLDER"}, True),
        ({below: "TRUST_FOLDER"}, False),
        ({below: "TRUST_PARENT"}, True),
        ({f"{repo}-other": "TRUST_FOLDER"}, False),
        ({above: "TRUST_FOLDER", str(repo): "DO_NOT_TRUST"}, False),
        ({above: "DO_NOT_TRUST", str(repo): "TRUST_FOLDER"}, True),
        ({str(repo): "MAYBE"}, False),
        ({str(repo): True}, False),
    ]
    for levels, expected in cases:
        write(home / FILES[client], levels)
        assert trusts(client, repo) is expected, levels


def test_gemini_asks_unless_its_switch_is_off_and_qwen_only_if_it_is_on(
    repo: Path, home: Path
) -> None:
    for client, expected in (("gemini", (False, False, True)), ("qwen", (True, False, True))):
        seen = []
        for settings in ({}, ON, OFF):
            write(home / SETTINGS[client], settings)
            seen.append(trusts(client, repo))
        assert tuple(seen) == expected
        write(home / FILES[client], {str(repo): "DO_NOT_TRUST"})
        assert trusts(client, repo), "without the switch, no level counts"


def test_pi_asks_the_nearest_answer_and_then_its_setting(repo: Path, home: Path) -> None:
    cases: list[tuple[dict[str, Any], bool, bool]] = [  # also with the setting "always"
        ({}, False, True),
        ({str(repo): True}, True, True),
        ({str(repo.parent): True, str(repo): False}, False, False),
        ({str(repo.parent): False, str(repo): True}, True, True),
        ({str(repo): None}, False, True),
    ]
    for answers, asks, always in cases:
        write(home / FILES["pi"], answers)
        for choice, expected in (("ask", asks), ("never", asks), ("always", always)):
            write(home / SETTINGS["pi"], {"defaultProjectTrust": choice})
            assert trusts("pi", repo) is expected, (answers, choice)


@pytest.mark.parametrize("client", ["copilot", "gemini", "pi"])
@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "7", '{"trustedFolders": 1}', '{"trustedFolders": [7]}', '{"a\\u0000b": true}'],
)
def test_odd_files_trust_nothing(repo: Path, home: Path, client: str, text: str) -> None:
    write(home / FILES[client], text)
    if client in SETTINGS:
        write(home / SETTINGS[client], text)
    assert not trusts(client, repo)


def test_a_folder_is_known_by_all_its_names(repo: Path, home: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(repo)
    write(home / FILES["gemini"], {str(link): "TRUST_FOLDER"})
    assert trusts("gemini", repo)


def test_geminis_variables_count_first(repo: Path, home: Path, tmp_path: Path) -> None:
    name = "GEMINI_CLI_TRUST_WORKSPACE"
    assert trusts("gemini", repo, {**os.environ, name: "true"})
    write(home / FILES["gemini"], {str(repo): "TRUST_FOLDER"})
    assert not trusts("gemini", repo, {**os.environ, name: "false"})
    assert trusts("gemini", repo, {**os.environ, name: "1"}), "it is neither"
    other = {**os.environ, "GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(tmp_path / "none.json")}
    assert not trusts("gemini", repo, other)


def test_a_run_trusts_its_worktree_unless_the_user_said_otherwise(repo: Path, home: Path) -> None:
    name = "GEMINI_CLI_TRUST_WORKSPACE"
    assert folder_trust.for_run("gemini", repo, os.environ) == {name: "true"}
    assert folder_trust.for_run("claude", repo, os.environ) == {}
    for value in ("false", "true"):
        assert folder_trust.for_run("gemini", repo, {**os.environ, name: value}) == {}
    write(home / FILES["gemini"], {str(repo): "DO_NOT_TRUST"})
    assert folder_trust.for_run("gemini", repo, os.environ) == {}


@pytest.mark.parametrize("client", FILES)
def test_the_users_own_hooks_need_no_trust(home: Path, client: str) -> None:
    write(home / ".qwen/settings.json", ON)
    assert folder_trust.trusts(config_files.users(os.environ, client), os.environ)


def put(repo: Path, client: str) -> None:
    ws = at(repo)
    for step in install.to_put(
        config_files.here(ws, [client]), "/bin/sh", os.environ, ws.common_dir
    ):
        step.act()


@pytest.mark.parametrize("client", ["copilot", "gemini", "pi"])
def test_hooks_that_a_client_skips_are_never_called_fine(
    repo: Path, home: Path, client: str
) -> None:
    put(repo, client)
    ws = at(repo)
    texts = [each.text for each in checks.check_hooks(ws)]
    (each,) = new_worktree.untrusted(ws, repo, os.environ)
    assert each.client == client
    assert f" does not trust {repo}: it runs none of the hooks in " in each.fact
    assert each.remedy.endswith(f"ghp agent-init --hooks {client} --user")
    assert texts == [each.fact]
    for step in install.to_put(
        config_files.of_user(os.environ, [client]), "/bin/sh", os.environ, None
    ):
        step.act()
    assert new_worktree.untrusted(ws, repo, os.environ) == [], "the user's own hooks guard it"


def test_a_variable_that_keeps_a_plugin_from_loading_is_named(repo: Path, home: Path) -> None:
    for variable in ("OPENCODE_PURE", "OPENCODE_DISABLE_PROJECT_CONFIG"):
        for value, expected in (("1", False), ("true", False), ("0", True), ("", True)):
            assert trusts("opencode", repo, {**os.environ, variable: value}) is expected
        environ = {**os.environ, variable: "1"}
        users = config_files.users(environ, "opencode")
        assert folder_trust.trusts(users, environ) is (variable != "OPENCODE_PURE")
        (target,) = config_files.here(at(repo), ["opencode"])
        assert folder_trust.warning(target, environ) == (
            f"{variable} is set, so OpenCode does not load {target.shown}: nothing is guarded.",
            f"Unset {variable}.",
        )
