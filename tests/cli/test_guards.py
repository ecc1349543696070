"""`agent-init --hooks` as people call it: what it says, writes, warns of and takes away."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import Result, invoke
from tests.support.git import commit, git, run_git
from tests.support.hosts import executable
from tests.support.setup import give_exclude, ours
from tests.support.terminal import terminal

Worktree = Callable[[Path, str], Path]
SETTINGS = ".claude/settings.local.json"
TRUST = (
    "Warning: Codex runs new hooks only after you trust them.\n"
    "Hint: Start `codex` here and accept them with /hooks.\n"
)
CODEX = TRUST + (
    "Warning: In Codex's sandbox, commands of ghp-agents cannot write to {0}/.git/ghp: leases, "
    "questions and claims fail.\n"
    'Hint: Add "{0}/.git/ghp" to `writable_roots` of [sandbox_workspace_write] in '
    "~/.codex/config.toml.\n"
)
GIT_HOOKS = """\
✓ Wrote .git/ghp/hooks/pre-commit, which the hook pre-commit calls.
✓ Wrote .git/ghp/hooks/prepare-commit-msg, which the hook prepare-commit-msg calls.
✓ Wrote .git/ghp/hooks/pre-push, which the hook pre-push calls.
✓ Wrote .git/ghp/hooks/reference-transaction, which the hook reference-transaction calls.
✓ Made the hook .git/hooks/pre-commit.
✓ Made the hook .git/hooks/prepare-commit-msg.
✓ Made the hook .git/hooks/pre-push.
✓ Made the hook .git/hooks/reference-transaction.
"""
DONE = (0, "", "✓ Nothing to do: this repository is set up and has its hooks.\n")
NONE = Result(0, "", "✓ Nothing to do: these hooks are not installed.\n")


@pytest.fixture
def place(repo: Path) -> Path:
    """A repository that is set up."""
    give_exclude(repo)
    invoke("agent-init", repo)
    return repo


def all_files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a worktree and of its hooks, with its mode."""
    tops = [path for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts]
    places = [*tops, *folder.glob(".git/hooks/*"), folder / ".git/info/exclude"]
    files = [path for path in places if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mode) for path in files}


@pytest.mark.slow
def test_hooks_go_into_every_worktree_and_out_of_it_again(place: Path, worktree: Worktree) -> None:
    linked = worktree(place, "147")
    before = all_files(place), all_files(linked)
    assert invoke("agent-init --hooks claude,codex,git", place) == (
        0,
        "",
        f"✓ Put hooks for Claude Code into {SETTINGS}.\n"
        f"✓ Put hooks for Claude Code into {linked}/{SETTINGS}.\n"
        "✓ Put hooks for Codex into .codex/hooks.json.\n"
        f"✓ Put hooks for Codex into {linked}/.codex/hooks.json.\n{GIT_HOOKS}"
        + CODEX.format(place),
    )
    for folder in (place, linked):
        assert git(folder, "status", "--porcelain") == ""
        settings = json.loads((folder / SETTINGS).read_text())
        (group,) = settings["hooks"]["Stop"]
        assert group["hooks"][0]["command"] == sys.executable
    after = all_files(place), all_files(linked)
    assert invoke("agent-init --hooks claude,codex,git", linked) == DONE
    assert (all_files(place), all_files(linked)) == after, "byte-identical files"
    assert invoke("agent-init --hooks codex --remove", linked) == (
        0,
        "",
        "✓ Removed the hooks of Codex: .codex/hooks.json.\n"
        f"✓ Removed the hooks of Codex: {linked}/.codex/hooks.json.\n"
        "✓ Removed the line /.codex/hooks.json from .git/info/exclude.\n",
    )
    assert (place / SETTINGS).exists(), "only what is named is taken away"
    assert invoke("agent-init --hooks --remove", linked) == (
        0,
        "",
        f"✓ Removed the hooks of Claude Code: {SETTINGS}.\n"
        f"✓ Removed the hooks of Claude Code: {linked}/{SETTINGS}.\n"
        f"✓ Removed the line /{SETTINGS} from .git/info/exclude.\n"
        "✓ Removed the hook .git/hooks/pre-commit.\n"
        "✓ Removed the hook .git/hooks/prepare-commit-msg.\n"
        "✓ Removed the hook .git/hooks/pre-push.\n"
        "✓ Removed the hook .git/hooks/reference-transaction.\n"
        "✓ Removed .git/ghp/hooks/pre-commit.\n"
        "✓ Removed .git/ghp/hooks/prepare-commit-msg.\n"
        "✓ Removed .git/ghp/hooks/pre-push.\n"
        "✓ Removed .git/ghp/hooks/reference-transaction.\n",
    )
    assert (all_files(place), all_files(linked)) == before
    assert invoke("agent-init --hooks --remove", place) == NONE


def test_a_dry_run_says_it_and_does_nothing(place: Path) -> None:
    before = all_files(place)
    assert invoke("agent-init --hooks gemini,git --dry-run", place) == (
        0,
        "Would put hooks for Gemini CLI into .gemini/settings.json.\n"
        "Would write .git/ghp/hooks/pre-commit, which the hook pre-commit calls.\n"
        "Would write .git/ghp/hooks/prepare-commit-msg, which the hook prepare-commit-msg calls.\n"
        "Would write .git/ghp/hooks/pre-push, which the hook pre-push calls.\n"
        "Would write .git/ghp/hooks/reference-transaction, which the hook reference-transaction "
        "calls.\n"
        "Would make the hook .git/hooks/pre-commit.\n"
        "Would make the hook .git/hooks/prepare-commit-msg.\n"
        "Would make the hook .git/hooks/pre-push.\n"
        "Would make the hook .git/hooks/reference-transaction.\n",
        "",
    )
    assert all_files(place) == before
    invoke("agent-init --hooks gemini", place)
    hooked = all_files(place)
    assert invoke("agent-init --hooks gemini --remove --dry-run", place) == (
        0,
        "Would remove the hooks of Gemini CLI: .gemini/settings.json.\n"
        "Would remove the line /.gemini/settings.json from .git/info/exclude.\n",
        "",
    )
    assert all_files(place) == hooked


def test_without_a_list_it_is_the_clients_that_are_found(place: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(shutil.which("git") or "")
    alone = {"PATH": f"{tmp_path}/bin"}
    none = (
        "Found no client with hooks: none is on PATH, and neither this repository nor your home "
        "folder has settings of one.\n"
        "Hint: Name the one that you use, such as `ghp agent-init --hooks claude`. Known: claude, "
        "codex, gemini, cursor, opencode, copilot, qwen, pi, git.\n"
    )
    done = "✓ Nothing to do: this repository is set up.\n"
    assert invoke("agent-init --hooks", place, alone) == (0, "", f"Warning: {none}{done}")
    assert invoke("agent-init --hooks --user", place, alone) == (2, "", f"Error: {none}")
    (place / ".cursor").mkdir()
    executable(tmp_path / "bin/claude", "")
    assert invoke("agent-init --hooks --dry-run", place, alone) == (
        0,
        f"Would put hooks for Claude Code into {SETTINGS}.\n"
        "Would put hooks for Cursor into .cursor/hooks.json.\n",
        "",
    )


def test_a_repository_that_is_not_set_up_is_set_up_first(repo: Path) -> None:
    assert invoke("agent-init --hooks claude", repo) == (
        0,
        "",
        "Nothing leaves this clone: there is no remote.\n"
        "✓ Created the private repository .git/ghp/state.git.\n"
        "✓ Wrote the view .ghp/agent-status.json, kept out of git by .git/info/exclude.\n"
        f"✓ Put hooks for Claude Code into {SETTINGS}.\n",
    )


def test_a_tracked_file_is_said_to_be_that(place: Path) -> None:
    before = '{"version": 1, "hooks": {"stop": [{"command": "./own.sh"}]}}\n'
    commit(place, {".cursor/hooks.json": before})
    assert invoke("agent-init --hooks claude,cursor", place).err == (
        f"✓ Put hooks for Claude Code into {SETTINGS}.\n"
        "✓ Put hooks for Cursor into .cursor/hooks.json.\n"
        "Warning: .cursor/hooks.json is tracked by git, but its hooks name a program of this "
        "machine.\n"
        "Hint: Do not commit them, or use `--user` instead.\n"
        "Warning: Cursor may also load the hooks of Claude Code, and then run each of them "
        "twice.\n"
        "Hint: Keep its setting for third-party hooks off.\n"
    )
    assert git(place, "status", "--porcelain") == " M .cursor/hooks.json"
    invoke("agent-init --hooks --remove", place)
    assert (place / ".cursor/hooks.json").read_text() == before


USERS = [
    ("cursor", ".cursor/hooks.json", '{"version": 1}'),
    ("cursor", ".cursor/hooks.json", '{"version": 1, "hooks": {}}'),
    ("codex", ".codex/hooks.json", '{"hooks": {}}'),
    ("claude", SETTINGS, '{"hooks": {"PreToolUse": []}, "x": 1}'),
    ("gemini", ".gemini/settings.json", '{ "hooks" : { } , "a":1}'),
    ("gemini", ".gemini/settings.json", "{}"),
]


@pytest.mark.parametrize(("client", "name", "text"), USERS)
@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.slow
def test_a_file_of_the_users_comes_back_with_every_byte_and_the_others_go(
    place: Path, worktree: Worktree, client: str, name: str, text: str, others: int
) -> None:
    linked = [worktree(place, str(number)) for number in range(others)]
    (place / name).parent.mkdir()
    (place / name).write_text(text)
    before = [all_files(folder) for folder in (place, *linked)]
    invoke(f"agent-init --hooks {client}", place)
    invoke(f"agent-init --hooks {client}", place)
    assert [(folder / name).exists() for folder in linked] == [True] * others
    removed = invoke(f"agent-init --hooks {client} --remove", place)
    assert removed.err.startswith("✓ Removed the hooks of ")
    assert [all_files(folder) for folder in (place, *linked)] == before
    assert not (place / ".git/ghp/guards").exists()
    invoke(f"agent-init --hooks {client}", place)
    invoke("agent-init --remove --yes", place)
    assert (place / name).read_text() == text


def test_an_empty_file_of_the_users_at_home_stays_too(tmp_path: Path, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex/hooks.json").write_text('{"hooks": {}}')
    before = all_files(home)
    invoke("agent-init --hooks codex --user", tmp_path)
    invoke("agent-init --hooks codex --user --remove", tmp_path)
    assert all_files(home) == before
    assert not (home / ".local/state/ghp").exists()


def test_a_file_of_the_users_is_never_hidden_from_git(place: Path, worktree: Worktree) -> None:
    linked = worktree(place, "147")
    (place / ".gemini").mkdir()
    (place / ".gemini/settings.json").write_text("{}")
    result = invoke("agent-init --hooks gemini", place)
    assert result.err == (
        "✓ Put hooks for Gemini CLI into .gemini/settings.json.\n"
        f"✓ Put hooks for Gemini CLI into {linked}/.gemini/settings.json.\n"
        f"Warning: `git status` shows {linked}/.gemini/settings.json as a new file: an ignore "
        "rule for it would also hide your .gemini/settings.json.\n"
        "Hint: Do not commit it; its hooks name a program of this machine.\n"
        f"Warning: Gemini CLI does not trust {place}: it runs none of the hooks in "
        ".gemini/settings.json.\n"
        f"Hint: Start `gemini` in {place} and trust the folder or one above it. Or use your own "
        "hooks, which need no trust: ghp agent-init --hooks gemini --user\n"
    )
    assert git(place, "status", "--porcelain") == "?? .gemini/"
    assert (place / ".git/info/exclude").read_text() == ("*.swp\n/.ghp/agent-status.json\n")


def test_a_line_of_ours_goes_when_the_user_has_such_a_file_in_another_worktree(
    place: Path, worktree: Worktree
) -> None:
    invoke("agent-init --hooks gemini", place)
    linked = worktree(place, "147")
    (linked / ".gemini").mkdir()
    (linked / ".gemini/settings.json").write_text("{}")
    assert git(linked, "status", "--porcelain") == "", "hidden by the line"
    assert invoke("agent-init --hooks gemini", place).err.startswith(
        "✓ Removed the line /.gemini/settings.json from .git/info/exclude.\n"
        f"✓ Put hooks for Gemini CLI into {linked}/.gemini/settings.json.\n"
        "Warning: `git status` shows .gemini/settings.json as a new file: "
    )
    assert git(linked, "status", "--porcelain") == "?? .gemini/"
    assert invoke("agent-init --hooks gemini", place) == DONE
    invoke("agent-init --hooks gemini --remove", place)
    assert (linked / ".gemini/settings.json").read_text() == "{}"
    assert not (place / ".gemini").exists()


def test_a_line_of_the_users_own_stays(place: Path) -> None:
    lines = "/.codex/hooks.json\n/.ghp/agent-status.json\n"
    (place / ".git/info/exclude").write_text(lines)
    invoke("agent-init --hooks codex", place)
    invoke("agent-init --hooks codex --remove", place)
    assert (place / ".git/info/exclude").read_text() == lines
    assert not (place / ".codex").exists()


def test_what_was_there_is_still_known_after_a_worktree_was_moved(
    place: Path, worktree: Worktree
) -> None:
    linked = worktree(place, "147")
    (linked / ".codex").mkdir()
    (linked / ".codex/hooks.json").write_text('{"hooks": {}}')
    invoke("agent-init --hooks codex", place)
    moved = linked.with_name("moved")
    git(place, "worktree", "move", "--force", str(linked), str(moved))
    invoke("agent-init --hooks codex --remove", place)
    assert (moved / ".codex/hooks.json").read_text() == '{"hooks": {}}'
    assert not (place / ".codex").exists()


def test_where_it_is_not_known_whose_file_it_was_it_stays(place: Path) -> None:
    invoke("agent-init --hooks codex", place)
    shutil.rmtree(place / ".git/ghp/guards")
    invoke("agent-init --hooks codex --remove", place)
    assert json.loads((place / ".codex/hooks.json").read_text()) == {}
    assert git(place, "status", "--porcelain") == "?? .codex/", "and is not hidden"


def test_a_file_that_is_broken_stops_everything_before_anything_is_written(place: Path) -> None:
    (place / ".gemini").mkdir()
    (place / ".gemini/settings.json").write_text('{\n  "a": 1,\n  b: 2\n}\n')
    before = all_files(place)
    assert invoke("agent-init --hooks claude,gemini,git", place) == (
        1,
        "",
        f"Error: {place}/.gemini/settings.json, line 3: a name in double quotes is missing; the "
        "file was not changed.\n"
        "Hint: Fix that line, and try again.\n",
    )
    assert all_files(place) == before


def test_the_users_own_files_need_no_repository(tmp_path: Path, home: Path, place: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{\n  "model" :  "x"\n}\n')
    before = all_files(home)
    result = invoke("agent-init --hooks claude,codex --user", tmp_path)
    assert result == (
        0,
        "",
        "✓ Put hooks for Claude Code into ~/.claude/settings.json.\n"
        f"✓ Put hooks for Codex into ~/.codex/hooks.json.\n{TRUST}",
    )
    nothing = (0, "", "✓ Nothing to do: the hooks are installed.\n")
    assert invoke("agent-init --hooks claude,codex --user", tmp_path) == nothing
    assert invoke("agent-init --hooks claude --remove", place) == (
        0,
        "",
        f"{NONE.err}Kept the hooks in ~/.claude/settings.json; with --user they are removed, "
        "too.\n",
    )
    assert invoke("agent-init --hooks --user --remove", tmp_path) == (
        0,
        "",
        "✓ Removed the hooks of Claude Code from ~/.claude/settings.json.\n"
        "✓ Removed the hooks of Codex: ~/.codex/hooks.json.\n",
    )
    assert all_files(home) == before


def test_the_plugin_beside_hooks_is_warned_of(place: Path, home: Path) -> None:
    user = home / ".claude/settings.json"
    user.parent.mkdir()
    user.write_text('{"enabledPlugins": {"ghp-agents@ghp-agents": true}}')
    assert invoke("agent-init --hooks claude", place).err == (
        f"✓ Put hooks for Claude Code into {SETTINGS}.\n"
        f"Warning: The plugin is enabled, too ({user}), so each hook would run twice.\n"
        "Hint: Remove one of them: `claude plugin uninstall ghp-agents`, or `ghp agent-init "
        "--hooks claude --remove`.\n"
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--hooks vim", "'vim' is not a client with hooks."),
        ("--user", "--user needs --hooks."),
        ("--hooks git --user", "git's hooks belong to a repository, not to a user."),
        ("--hooks claude --user --agent w", "--agent cannot be used with --user."),
        ("--hooks claude --remove --agent w", "--agent cannot be used with --remove."),
        ("--hooks claude --remove --remote-refs", "--remote-refs cannot be used with --hooks."),
        ("--hooks claude --yes", "--yes needs --remove."),
    ],
)
def test_words_that_do_not_fit_are_refused(place: Path, words: str, error: str) -> None:
    before = all_files(place)
    done = invoke(f"agent-init {words}", place)
    assert (done.code, done.err.splitlines()[0]) == (2, f"Error: {error}")
    assert all_files(place) == before


@pytest.mark.slow
def test_removing_all_that_is_ours_removes_the_hooks_too(place: Path) -> None:
    before = git(place, "status", "--porcelain", "--ignored")
    (place / ".gemini").mkdir()
    (place / ".gemini/settings.json").write_text("{ }")
    invoke("agent-init --hooks codex,gemini,git", place)
    done = invoke("agent-init --remove --yes", place)
    assert done.code == 0
    assert "  the hooks of Codex: .codex/hooks.json\n" in done.err
    assert "  the hooks of Gemini CLI from .gemini/settings.json\n" in done.err
    assert (place / ".gemini/settings.json").read_text() == "{ }"
    assert "✓ Removed the hook .git/hooks/pre-commit.\n" in done.err
    assert ours(place) == []
    assert (place / ".git/info/exclude").read_text() == "*.swp\n"
    assert not (place / ".codex").exists()
    assert not (place / ".git/hooks").exists()
    assert before == "!! .ghp/"
    assert git(place, "status", "--porcelain", "--ignored") == "?? .gemini/"


def test_what_cannot_be_done_is_said_and_the_next_run_goes_on(place: Path) -> None:
    (place / ".git/ghp/hooks").write_text("in the way")
    done = invoke("agent-init --hooks codex,git", place)
    assert done.code == 1
    lines = done.err.splitlines()
    assert lines[0] == "✓ Put hooks for Codex into .codex/hooks.json."
    assert lines[1].startswith(
        "Error: Could not write .git/ghp/hooks/pre-commit, which the hook pre-commit calls: "
    )
    assert lines[2:] == ["Hint: Fix that and run the command again; it continues where it stopped."]
    (place / ".git/ghp/hooks").unlink()
    assert invoke("agent-init --hooks codex,git", place) == (
        0,
        "",
        GIT_HOOKS + CODEX.format(place),
    )


@pytest.mark.slow
def test_a_person_is_asked_whether_codexs_sandbox_may_write_to_our_folder(place: Path) -> None:
    command = [sys.executable, "-m", "ghp_agents", "agent-init", "--hooks", "codex"]
    with terminal(command, place, os.environ) as screen:
        screen.wait_for("Allow this in .codex/config.toml? [y/N]: ")
        screen.type("y\n")
        screen.wait_for("Wrote .codex/config.toml.")
    assert f'writable_roots = ["{place}/.git/ghp"]' in (place / ".codex/config.toml").read_text()
    assert git(place, "status", "--porcelain") == ""
    assert "✓ Removed the sandbox's folder for Codex: .codex/config.toml." in (
        invoke("agent-init --hooks codex --remove", place).err
    )


def test_hooks_of_the_user_beside_those_of_a_clone_are_warned_of(place: Path) -> None:
    invoke("agent-init --hooks gemini --user", place)
    assert invoke("agent-init --hooks gemini", place).err == (
        "✓ Put hooks for Gemini CLI into .gemini/settings.json.\n"
        "Warning: Gemini CLI runs each of our hooks twice: from ~/.gemini/settings.json and from "
        ".gemini/settings.json.\n"
        "Hint: Keep one: run `ghp agent-init --hooks gemini --remove`, or the same with --user.\n"
    )


# ------------------------------------------------------------------------------ the guard at work


@pytest.mark.slow
def test_an_agent_cannot_commit_what_is_in_anothers_hands_and_a_person_can(place: Path) -> None:
    commit(place, {"src/a.py": "1\n", "b.py": "1\n"})
    invoke(["agent-issue", "new", "Parser", "--body", "## Scope\n\n- src/**\n"], place)
    assert invoke("agent-claim 1 --as worker-2", place).code == 0
    invoke("agent-init --hooks git", place)
    (place / "src/a.py").write_text("2\n")
    (place / "b.py").write_text("2\n")
    refused = run_git(place, "commit", "-am", "Change", env={"GHP_AGENT": "worker-1"})
    assert refused.returncode == 1
    assert "src/a.py" in refused.stderr
    assert "worker-2" in refused.stderr
    assert "\n  Next: " in refused.stderr
    free = run_git(place, "commit", "-m", "Change", "--", "b.py", env={"GHP_AGENT": "worker-1"})
    assert (free.returncode, free.stderr) == (0, "")
    assert git(place, "log", "-1", "--format=%B").rstrip() == "Change\n\nAgent: worker-1"
    committed = run_git(place, "commit", "-am", "By a person")
    assert committed.returncode == 0
    assert "worker-2" in committed.stderr


@pytest.mark.slow
def test_a_merge_is_checked_for_what_its_maker_changed_and_not_for_what_comes_with_it(
    place: Path,
) -> None:
    commit(place, {"src/a.py": "1\n", "b.py": "1\n"})
    git(place, "checkout", "--quiet", "-b", "side")
    commit(place, {"src/a.py": "2\n", "b.py": "side\n"})
    git(place, "checkout", "--quiet", "main")
    commit(place, {"b.py": "main\n"})
    invoke(["agent-issue", "new", "Parser", "--body", "## Scope\n\n- src/**\n"], place)
    assert invoke("agent-claim 1 --as worker-2", place).code == 0
    invoke("agent-init --hooks git", place)
    agent = {"GHP_AGENT": "worker-1"}
    assert run_git(place, "merge", "side", env=agent).returncode == 1, "b.py is in conflict"
    (place / "b.py").write_text("both\n")
    (place / "src/a.py").write_text("mine\n")
    refused = run_git(place, "commit", "-a", "--no-edit", env=agent)
    assert refused.returncode == 1
    assert "src/a.py" in refused.stderr
    (place / "src/a.py").write_text("2\n")
    merged = run_git(place, "commit", "-a", "--no-edit", env=agent)
    assert (merged.returncode, merged.stderr) == (0, "")
