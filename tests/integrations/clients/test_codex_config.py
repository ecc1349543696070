"""Codex's trust and its sandbox: what its configuration says, and what we add to it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.integrations.clients import codex_config, config_files, new_worktree
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.setup import give_exclude

EVENTS = (
    "session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop", "pre_compact",
    "session_end",
)  # fmt: skip


def ws(folder: Path) -> Workspace:
    return open_workspace(folder, os.environ, ManualClock())


def configure(home: Path, text: str) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex/config.toml").write_text(text)


@pytest.fixture
def here(repo: Path) -> Path:
    """A repository with hooks for Codex."""
    give_exclude(repo)
    assert invoke("agent-init --hooks codex", repo).code == 0
    return repo


def state(path: Path, events: tuple[str, ...], key: str = "trusted_hash") -> str:
    return "".join(f'[hooks.state."{path}:{name}:0:0"]\n{key} = "sha256:1"\n' for name in events)


def test_hooks_are_trusted_once_codex_has_a_hash_of_each(here: Path, home: Path) -> None:
    (target,) = config_files.here(ws(here), ["codex"])
    for text, expected in [
        ("", False),
        ("no toml", False),
        ("hooks = 1", False),
        ("hooks.state = 1", False),
        (state(target.path, EVENTS[1:]), False),
        (state(target.path, EVENTS, key="enabled"), False),
        (state(home / "another.json", EVENTS), False),
        (state(target.path, EVENTS), True),
    ]:
        configure(home, f"{level(here, 'trusted')}{text}" if "hooks" in text else text)
        assert codex_config.trusts(target, os.environ) is expected, text


def level(folder: Path, word: str) -> str:
    return f'[projects."{folder}"]\ntrust_level = "{word}"\n'


def test_a_worktree_runs_the_main_ones_hooks_where_it_or_the_main_one_is_trusted(
    here: Path, home: Path, worktree: Callable[[Path, str], Path]
) -> None:
    linked = worktree(here, "147")
    for step in new_worktree.steps(ws(here), linked):
        step.act()
    targets = config_files.here(ws(here), ["codex"])
    hashes = state(targets[0].path, EVENTS)
    for levels, expected in [
        ("", (False, False)),
        (level(here, "trusted"), (True, True)),
        (level(here, "untrusted"), (False, False)),
        (level(here.parent, "trusted"), (False, False)),
        (level(linked, "trusted"), (False, True)),
        (level(here, "trusted") + level(linked, "untrusted"), (True, False)),
    ]:
        configure(home, levels + hashes)
        trusted = tuple(codex_config.trusts(target, os.environ) for target in targets)
        assert trusted == expected, levels
        unseen = [gap.client for gap in new_worktree.untrusted(ws(here), linked, os.environ)]
        assert unseen == ([] if expected[1] else ["codex"]), levels
    configure(home, level(here, "trusted") + state(targets[1].path, EVENTS))
    assert not codex_config.trusts(targets[1], os.environ), "its own hooks are not those that run"


def test_the_sandbox_is_open_where_a_configuration_names_our_folder(here: Path, home: Path) -> None:
    ours = here / ".git/ghp"

    def roots(*folders: Path) -> str:
        return f"[sandbox_workspace_write]\nwritable_roots = {json.dumps([*map(str, folders)])}\n"

    for text, expected in [
        ("", str(ours)),
        ("sandbox_workspace_write = 1", str(ours)),
        (roots(here), str(ours)),  # `.git` below a writable folder is read-only
        (roots(ours), None),
        (roots(here / ".git"), None),
        ('sandbox_mode = "danger-full-access"', None),
    ]:
        configure(home, text)
        assert codex_config.closed(ws(here)) == expected, text
    configure(home, roots(ours))
    (here / ".codex/config.toml").write_text(roots(here))  # it replaces the user's list
    assert codex_config.closed(ws(here)) == str(ours)


def test_a_file_for_this_clone_alone_opens_it_and_is_taken_away_with_the_hooks(
    here: Path, worktree: Callable[[Path, str], Path]
) -> None:
    for step in codex_config.to_open(ws(here), [here]):
        step.act()
    assert (here / ".codex/config.toml").read_text() == (
        "# ghp-agents: written by `ghp agent-init --hooks codex`; its --remove deletes it.\n"
        f'[sandbox_workspace_write]\nwritable_roots = ["{here}/.git/ghp"]\n'
    )
    assert codex_config.closed(ws(here)) is None
    assert git(here, "status", "--porcelain") == ""
    later = worktree(here, "147")
    for step in new_worktree.steps(ws(here), later):
        step.act()
    assert (later / ".codex/config.toml").exists()
    assert codex_config.closed(ws(here)) is None
    invoke("agent-init --hooks codex --remove", here)
    assert not (here / ".codex").exists()
    assert not (later / ".codex").exists()
    assert "/.codex" not in (here / ".git/info/exclude").read_text()


def test_our_file_is_known_with_the_line_ends_of_windows(here: Path) -> None:
    for step in codex_config.to_open(ws(here), [here]):
        step.act()
    path = here / ".codex/config.toml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert codex_config.closed(ws(here)) is None
    invoke("agent-init --hooks codex --remove", here)
    assert not path.exists()


def test_what_the_user_wrote_is_not_changed(here: Path, home: Path) -> None:
    configure(home, '[sandbox_workspace_write]\nwritable_roots = ["/opt"]\n')
    assert codex_config.to_open(ws(here), [here]) == []
    configure(home, "")
    (here / ".codex/config.toml").write_text('model = "m"\n')
    assert codex_config.to_open(ws(here), [here]) == []
    invoke("agent-init --hooks codex --remove", here)
    assert (here / ".codex/config.toml").read_text() == 'model = "m"\n'
