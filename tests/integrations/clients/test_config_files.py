"""Which clients are used here, which files are theirs, and which settings count."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.integrations.clients.config_files import (
    FOUND,
    chosen,
    found,
    here,
    of_user,
    plugins_enabled,
    setting,
)
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.git import commit
from tests.support.hosts import executable


def test_a_list_is_put_in_order_and_case_does_not_matter() -> None:
    assert chosen(" git,Claude, codex,claude", []) == ["claude", "codex", "git"]
    assert chosen(FOUND, ["gemini"]) == ["gemini"]


@pytest.mark.parametrize(("words", "shown"), [("claude,vim", "'vim'"), ("", "''"), (",", "','")])
def test_a_client_that_is_not_known_is_refused(words: str, shown: str) -> None:
    with pytest.raises(UsageError) as refused:
        chosen(words, [])
    assert str(refused.value) == f"{shown} is not a client with hooks."
    assert refused.value.hint == (
        "Known clients: claude, codex, gemini, cursor, opencode, copilot, qwen, pi, git. "
        "A list has commas: `claude,git`."
    )


def test_where_none_is_found_the_list_is_asked_for() -> None:
    with pytest.raises(UsageError) as refused:
        chosen(FOUND, [])
    assert refused.value.hint == (
        "Name the one that you use, such as `ghp agent-init --hooks claude`. "
        "Known: claude, codex, gemini, cursor, opencode, copilot, qwen, pi, git."
    )


def test_a_client_is_found_by_its_folder_here_or_at_home_or_by_its_program(
    repo: Path, home: Path, tmp_path: Path
) -> None:
    environ = {"HOME": str(home), "PATH": str(tmp_path / "bin")}
    assert found([repo], environ) == []
    (repo / ".gemini").mkdir()
    (home / ".config/opencode").mkdir(parents=True)
    executable(tmp_path / "bin/cursor-agent", "")
    (tmp_path / "codex-home").mkdir()
    environ["CODEX_HOME"] = str(tmp_path / "codex-home")
    assert found([repo], environ) == ["codex", "gemini", "cursor", "opencode"]
    assert found([], environ) == ["codex", "cursor", "opencode"]


def test_every_worktree_has_its_own_file_and_the_user_has_one(
    repo: Path, home: Path, worktree: Callable[[Path, str], Path]
) -> None:
    linked = worktree(repo, "147")
    commit(linked, {".cursor/hooks.json": "{}"})
    targets = here(open_workspace(linked, os.environ, ManualClock()), ["claude", "cursor", "git"])
    assert [(target.client, target.shown, target.is_tracked) for target in targets] == [
        ("claude", ".claude/settings.local.json", False),
        ("claude", f"{linked}/.claude/settings.local.json", False),
        ("cursor", ".cursor/hooks.json", False),
        ("cursor", f"{linked}/.cursor/hooks.json", True),
    ]
    elsewhere = {"HOME": str(home), "CLAUDE_CONFIG_DIR": "/etc/claude"}
    assert [target.shown for target in of_user(elsewhere, ["claude", "codex", "opencode"])] == [
        "/etc/claude/settings.json",
        "~/.codex/hooks.json",
        "~/.config/opencode/plugins/ghp-agents.js",
    ]


def test_a_setting_is_read_from_whatever_is_there(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    assert setting(path, "a") is None
    for text, value in (('{"a": 1}', 1), ("[]", None), ("{", None), ('// x\n{"b": 1}', None)):
        path.write_text(text)
        assert setting(path, "a") == value
    path.write_bytes(b"\xff")
    assert setting(path, "a") is None


def test_the_plugin_is_on_where_some_file_turns_it_on(repo: Path, home: Path) -> None:
    files = [repo / ".claude/settings.json", home / ".claude/settings.json"]
    for path, value in zip(files, ("true", "false"), strict=True):
        path.parent.mkdir()
        path.write_text(
            f'{{"enabledPlugins": {{"ghp-agents@ghp-agents": {value}, "other@x": true}}}}'
        )
    assert plugins_enabled([repo], os.environ) == [files[0]]
    files[0].write_text('{"enabledPlugins": ["ghp-agents@ghp-agents"]}')
    assert plugins_enabled([repo], os.environ) == []
