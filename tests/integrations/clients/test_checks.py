"""What the doctor says of guards that are gone, old, lost, or there twice."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core import finding
from ghp_agents.core.finding import Finding, Level, warning
from ghp_agents.integrations.clients import aider
from ghp_agents.integrations.clients import checks as guard_checks
from ghp_agents.integrations.clients import config_files as client_places
from ghp_agents.integrations.clients import install as guards
from ghp_agents.integrations.git_hooks import install as git_guard
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.doctor import checks_made
from tests.support.git import git
from tests.support.hosts import executable
from tests.support.setup import give_exclude
from tests.support.users import OTHER, only_root

SETTINGS = ".claude/settings.local.json"
PYTHON = sys.executable


def ws(folder: Path) -> Workspace:
    return open_workspace(folder, os.environ, ManualClock())


def put(folder: Path, *clients: str, python: str = PYTHON, user: bool = False) -> None:
    here = ws(folder)
    targets = (
        client_places.of_user(os.environ, clients) if user else client_places.here(here, clients)
    )
    for step in guards.to_put(targets, python, os.environ, None if user else here.common_dir):
        step.act()
    for step in git_guard.to_put(here, python) if "git" in clients else []:
        step.act()


def found(folder: Path) -> list[Finding]:
    return checks_made("integrations.clients.checks:", ws=ws(folder))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Another installation's interpreter."""
    path = tmp_path / "old/python"
    path.parent.mkdir()
    path.symlink_to(PYTHON)
    return path


@pytest.fixture(autouse=True)
def settled(home: Path) -> None:
    """OpenCode needs no packages, and Codex runs commands without a sandbox."""
    (home / ".npmrc").write_text("fetch-retries=0\n")
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text('sandbox_mode = "danger-full-access"\n')


def trust(home: Path, *hooks: Path) -> None:
    """Codex's user trusts the hooks in these files, and their projects."""
    events = "session_start user_prompt_submit pre_tool_use post_tool_use stop pre_compact"
    with (home / ".codex/config.toml").open("a") as config:
        for path in hooks:
            config.write(f'[projects."{path.parents[1]}"]\ntrust_level = "trusted"\n')
            for event in [*events.split(), "session_end"]:
                config.write(f'[hooks.state."{path}:{event}:0:0"]\ntrusted_hash = "sha256:1"\n')


def test_where_nothing_is_installed_nothing_is_said(repo: Path) -> None:
    (repo / ".claude").mkdir()
    (repo / SETTINGS).write_text('{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]')
    assert found(repo) == []


@pytest.mark.slow
def test_all_that_is_as_it_should_be_is_said_in_a_line_each(repo: Path, home: Path) -> None:
    put(repo, "claude", "codex", "opencode", "git")
    trust(home, repo / ".codex/hooks.json")
    assert found(repo) == [
        finding.ok("hooks", f"Claude Code has hooks in {SETTINGS}."),
        finding.ok("hooks", "Codex has hooks in .codex/hooks.json."),
        finding.ok("hooks", "OpenCode has hooks in .opencode/plugins/ghp-agents.js."),
        finding.ok("git-hooks", "git hooks check what agents commit."),
    ]


def test_hooks_whose_interpreter_is_gone_guard_nothing(repo: Path, old: Path) -> None:
    put(repo, "cursor", "opencode", "git", python=str(old))
    put(repo, "claude", python=str(old), user=True)
    old.unlink()
    gone = "call {old}, which does not exist: nothing is guarded."
    assert found(repo) == [
        finding.warning(
            "hooks",
            f"The hooks of Claude Code in ~/.claude/settings.json {gone.format(old=old)}",
            "Install them again: ghp agent-init --hooks claude --user",
        ),
        finding.warning(
            "hooks",
            f"The hooks of Cursor in .cursor/hooks.json {gone.format(old=old)}",
            "Install them again: ghp agent-init --hooks cursor",
        ),
        finding.warning(
            "hooks",
            f"The hooks of OpenCode in .opencode/plugins/ghp-agents.js {gone.format(old=old)}",
            "Install them again: ghp agent-init --hooks opencode",
        ),
        finding.warning(
            "git-hooks",
            f"The git hooks call {old}, which does not exist: commits are not checked.",
            "Install them again: ghp agent-init --hooks git",
        ),
    ]


def test_another_installation_is_worth_knowing(repo: Path, old: Path) -> None:
    old.unlink()
    executable(old, f'exec {PYTHON} "$@"\n')
    put(repo, "cursor", "git", python=str(old))
    assert found(repo) == [
        finding.info(
            "hooks",
            f"The hooks of Cursor in .cursor/hooks.json call another installation, {old}.",
            "To use this one: ghp agent-init --hooks cursor",
        ),
        finding.info("git-hooks", f"The git hooks call another installation, {old}."),
    ]


@pytest.mark.slow
def test_where_aider_is_used_its_commits_should_be_checked(repo: Path) -> None:
    (repo / aider.CONFIG).write_text("model: x\n")
    assert found(repo) == [finding.warning("aider", *aider.NO_HOOKS)]
    put(repo, "git")
    assert finding.warning("aider", *aider.NO_VERIFY) in found(repo)
    (repo / aider.CONFIG).write_text("git-commit-verify: true\n")
    assert {one.level for one in found(repo)} == {Level.OK}


@pytest.mark.slow
def test_hooks_of_another_version_are_told(repo: Path) -> None:
    put(repo, "claude", "opencode", "git")
    for name in (SETTINGS, ".opencode/plugins/ghp-agents.js", ".git/ghp/hooks/pre-commit"):
        text = (repo / name).read_text()
        (repo / name).write_text(text.replace("10", "11").replace("exit code", "exit"))
    assert [(one.level, one.text) for one in found(repo)] == [
        (
            Level.WARNING,
            f"The hooks of Claude Code in {SETTINGS} are from another version.",
        ),
        (
            Level.WARNING,
            "The hooks of OpenCode in .opencode/plugins/ghp-agents.js are from another version.",
        ),
        (Level.WARNING, "The git hooks are from another version."),
    ]


@pytest.mark.slow
def test_a_worktree_that_came_later_has_no_hooks_unless_the_user_has(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    put(repo, "claude")
    linked = worktree(repo, "147")
    warning = finding.warning(
        "hooks",
        f"Claude Code has hooks in some worktrees but not in {linked}: its edits there are not "
        "guarded.",
        "Install them again: ghp agent-init --hooks claude",
    )
    assert warning in found(repo)
    put(repo, "claude", user=True)
    assert warning not in found(repo)


@pytest.mark.slow
def test_a_block_that_another_program_wrote_over_is_told(repo: Path) -> None:
    give_exclude(repo)
    put(repo, "git")
    (repo / ".git/hooks/pre-commit").write_text("#!/bin/sh\n# generated anew\n")
    assert found(repo) == [
        finding.warning(
            "git-hooks",
            "Our block is missing in .git/hooks/pre-commit: commits there are not checked.",
            "Install them again: ghp agent-init --hooks git",
        )
    ]
    put(repo, "git")
    git(repo, "config", "core.hooksPath", "elsewhere")
    assert [one.text for one in found(repo)] == [
        "git does not run our hooks in front of yours: commits are not checked."
    ]
    put(repo, "git")
    assert {one.level for one in found(repo)} == {Level.OK}


def test_the_plugin_and_hooks_in_settings_would_both_run(repo: Path, home: Path) -> None:
    user = home / ".claude/settings.json"
    user.parent.mkdir()
    user.write_text(json.dumps({"enabledPlugins": {"ghp-agents@ghp-agents": True}}))
    assert found(repo) == []
    put(repo, "claude")
    assert [one for one in found(repo) if one.level is not Level.OK] == [
        finding.warning(
            "hooks-twice",
            f"Claude Code runs each of our hooks twice: from the plugin ({user}) and from "
            f"{SETTINGS}.",
            "Keep one: `claude plugin uninstall ghp-agents`, or `ghp agent-init --hooks claude "
            "--remove` (with --user for your own file).",
        )
    ]


def test_settings_that_claude_code_ignores_guard_nothing(repo: Path) -> None:
    put(repo, "claude")
    path = repo / SETTINGS
    path.write_text(path.read_text().replace("{\n", "{\n  // mine\n", 1))
    (finding,) = found(repo)
    assert (finding.level, finding.text, finding.remedy) == (
        Level.WARNING,
        f"Claude Code ignores {SETTINGS}, because line 2 has a comment or a trailing comma: "
        "nothing is guarded.",
        "Remove it from that line.",
    )


def test_hooks_that_are_turned_off_are_told(repo: Path) -> None:
    put(repo, "claude")
    value = json.loads((repo / SETTINGS).read_text()) | {"disableAllHooks": True}
    (repo / SETTINGS).write_text(json.dumps(value, indent=2))
    assert [one.text for one in found(repo) if one.level is not Level.OK] == [
        f"{repo / SETTINGS} disables all hooks of Claude Code: nothing is guarded."
    ]


@pytest.mark.slow
def test_a_status_line_that_the_user_changed_since_is_told(repo: Path, home: Path) -> None:
    put(repo, "claude")
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/settings.json").write_text('{"statusLine": {"command": "date"}}')
    assert [one for one in found(repo) if one.code == "status-line"] == [
        finding.warning(
            "status-line",
            f"The status line in {SETTINGS} runs your own one, which you have changed.",
            "Install them again: ghp agent-init --hooks claude",
        )
    ]
    put(repo, "claude")
    assert [one for one in found(repo) if one.code == "status-line"] == []


def test_codex_that_runs_no_hook_of_ours_is_told_and_so_is_its_sandbox(
    repo: Path, home: Path
) -> None:
    put(repo, "codex")
    (home / ".codex/config.toml").unlink()
    assert found(repo) == [
        finding.warning(
            "hooks",
            "Nobody has told Codex to trust the hooks in .codex/hooks.json: it runs none of them.",
            f"Start `codex` in {repo}, trust the project, and accept the hooks with /hooks.",
        ),
        finding.info(
            "codex-sandbox",
            f"In Codex's sandbox, commands of ghp-agents cannot write to {repo}/.git/ghp: leases, "
            "questions and claims fail.",
            f'Add "{repo}/.git/ghp" to `writable_roots` of [sandbox_workspace_write] in '
            "~/.codex/config.toml.",
        ),
    ]


def test_a_slow_start_of_opencode_without_a_network_is_told(repo: Path, home: Path) -> None:
    put(repo, "opencode")
    (home / ".npmrc").unlink()
    assert found(repo) == [
        finding.ok("hooks", "OpenCode has hooks in .opencode/plugins/ghp-agents.js."),
        finding.info(
            "opencode-packages",
            "OpenCode has not installed its packages for plugins yet. Without a network, each "
            "start takes over a minute.",
            "Start OpenCode once with a network, or write `fetch-retries=0` to ~/.npmrc.",
        ),
    ]


@pytest.mark.slow
def test_the_users_hooks_and_a_clones_would_both_run(repo: Path, home: Path, old: Path) -> None:
    put(repo, "codex")
    put(repo, "codex", user=True)
    trust(home, repo / ".codex/hooks.json", home / ".codex/hooks.json")
    assert [one for one in found(repo) if one.level is not Level.OK] == [
        finding.warning(
            "hooks-twice",
            "Codex runs each of our hooks twice: from ~/.codex/hooks.json and from "
            ".codex/hooks.json.",
            "Keep one: run `ghp agent-init --hooks codex --remove`, or the same with --user.",
        )
    ]
    for step in guards.to_take(client_places.here(ws(repo), ["codex"]), ws(repo).common_dir):
        step.act()
    put(repo, "claude")
    put(repo, "claude", user=True)
    assert {one.level for one in found(repo)} == {Level.OK}, "Claude Code runs the same one once"
    put(repo, "claude", python=str(old), user=True)
    assert [one.code for one in found(repo) if one.level is Level.WARNING] == ["hooks-twice"]


def test_another_name_of_this_interpreter_is_not_another_installation(repo: Path) -> None:
    put(repo, "claude", python=str(Path(PYTHON).with_name("python3")))
    assert {one.level for one in found(repo)} == {Level.OK}


def test_where_hooks_are_silent_the_doctor_says_why(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    moved = (tmp_path / "linked").rename(tmp_path / "moved")
    says = "Hooks do nothing in this worktree, so edits are not guarded: "
    assert list(guard_checks.check_silence(ws(moved))) == [
        warning(
            "hooks-silent",
            says + "its git folder names another path.",
            f"cd {moved} && git worktree repair",
        ),
    ]
    git(moved, "worktree", "repair")
    assert list(guard_checks.check_silence(ws(moved))) == []
    only_root()
    os.chown(repo, OTHER, OTHER)
    git(repo, "config", "--global", "safe.directory", "*")
    assert list(guard_checks.check_silence(ws(repo))) == [
        warning(
            "hooks-silent",
            says + "a part of the repository belongs to another user.",
            f'sudo chown -R "$(id -un)" {repo} {repo}/.git',
        )
    ]
