"""Git as processes: nothing leaks in from a hook, nothing is left behind, every answer is whole."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import ExitCode, NotSetUpError
from ghp_agents.git import process as git
from ghp_agents.git.objects import read_objects
from ghp_agents.git.process import GitError, GitTimeoutError, Result
from tests.support.git import git as run_git

# ------------------------------------------------------------------------------ the environment


def test_no_variable_that_git_sets_for_its_hooks_reaches_our_git(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named = run_git(tmp_path, "rev-parse", "--local-env-vars").split()
    assert "GIT_DIR" in named
    for name in named:
        monkeypatch.setenv(name, "/nowhere")
    left = {name for name in git.environment() if name in named}
    # Settings of `git -c` may carry credentials, and a folder that is safe.
    assert left == {"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"} & set(named)


def test_inside_the_hook_of_another_repository_git_sees_the_folder_that_it_was_given(
    monkeypatch: pytest.MonkeyPatch, repo: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    run_git(tmp_path, "init", "--quiet", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    shown = git.check(["rev-parse", "--show-toplevel", "HEAD"], cwd=repo)
    assert shown.text.splitlines()[0] == str(repo)


def test_no_hook_of_a_person_runs_whatever_set_it(
    monkeypatch: pytest.MonkeyPatch, repo: Path, tmp_path: Path
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "reference-transaction").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    (hooks / "reference-transaction").chmod(0o755)
    run_git(repo, "config", "core.hooksPath", str(hooks))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.hooksPath'='{hooks}'")
    git.check(["update-ref", "refs/x/y", "HEAD"], cwd=repo)
    assert not (tmp_path / "ran").exists()


def test_git_speaks_english_and_never_asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    env = git.environment({"MORE": "1"})
    assert (env["LC_ALL"], env["GIT_TERMINAL_PROMPT"], env["MORE"]) == ("C", "0", "1")


def test_what_gemini_switches_off_in_its_shell_is_on_for_our_git(
    monkeypatch: pytest.MonkeyPatch, repo: Path
) -> None:
    run_git(repo, "config", "core.sshCommand", "ssh -4")
    overrides = {"core.hooksPath": "", "core.sshCommand": "", "credential.helper": ""}
    for number, (name, value) in enumerate(overrides.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", name)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(overrides)))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_ASKPASS", "")
    assert git.config(repo, "core.sshCommand") == ""
    monkeypatch.setenv("GEMINI_CLI", "1")
    assert git.config(repo, "core.sshCommand") == "ssh -4"
    assert {"GIT_CONFIG_GLOBAL", "GIT_ASKPASS"}.isdisjoint(git.environment())


# ------------------------------------------------------------------------------ running


def test_output_is_bytes_and_text_without_its_last_line_end(repo: Path) -> None:
    shown = git.check(["log", "-1", "--format=%s%n"], cwd=repo)
    assert (shown.code, shown.out, shown.text, shown.err) == (0, b"Begin\n\n", "Begin", "")


def test_standard_input_is_given_or_empty(repo: Path) -> None:
    blob = git.check(["hash-object", "--stdin"], cwd=repo, stdin=b"x").text
    assert blob == run_git(repo, "hash-object", "--stdin", stdin="x")
    assert git.check(["hash-object", "--stdin"], cwd=repo).text.startswith("e69de29")


def _is_over(pid: int) -> bool:
    """Whether a process ended; one that nobody has asked for its exit code has ended, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_git_that_hangs_is_ended_with_all_that_it_started(repo: Path, tmp_path: Path) -> None:
    alias = f"alias.hang=!sleep 600 & echo $$ $! > {tmp_path}/pids; wait"
    with pytest.raises(GitTimeoutError, match=r"`git hang` did not finish within 0\.5 s") as caught:
        git.run(["-c", alias, "hang"], cwd=repo, timeout=0.5)
    assert caught.value.exit_code is ExitCode.ERROR
    deadline = time.monotonic() + 5
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    while not all(_is_over(pid) for pid in pids):
        assert time.monotonic() < deadline, "what git started goes on"


def test_a_failure_says_gits_last_words(repo: Path) -> None:
    with pytest.raises(GitError) as caught:
        git.check(["rev-parse", "--verify", "nothing"], cwd=repo)
    assert str(caught.value) == "`git rev-parse` failed: fatal: Needed a single revision"
    assert caught.value.stderr == "fatal: Needed a single revision\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("fatal: detected dubious ownership in repository at '/x'", "safe.directory"),
        ("error: unable to write file: No space left on device", "The disk is full"),
        ("error: unable to write file: Disk quota exceeded", "The disk is full"),
        ("fatal: cannot create pack: Read-only file system", "GHP_STATE_DIR"),
        ("error: cannot open .git/x: Permission denied", "GHP_STATE_DIR"),
        ("fatal: something else", "agent-doctor"),
        ("", "agent-doctor"),
    ],
)
def test_a_known_cause_has_its_own_hint(words: str, hint: str) -> None:
    assert hint in git.failure(["push"], Result(128, b"", words)).hint


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotSetUpError, match="does not exist") as caught:
        git.run(["version"], cwd=tmp_path / "gone")
    assert caught.value.exit_code is ExitCode.NOT_SET_UP


def test_a_machine_without_git_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotSetUpError, match="Cannot start git") as caught:
        git.run(["version"], cwd=tmp_path)
    assert caught.value.hint == "Install git 2.31 or newer."
    with pytest.raises(NotSetUpError), read_objects(tmp_path):
        pass


def test_the_installed_git_is_new_enough() -> None:
    assert git.version() >= git.MINIMUM_VERSION


def test_a_value_of_the_configuration_or_none(repo: Path) -> None:
    run_git(repo, "config", "x.y", "two words")
    assert git.config(repo, "x.y") == "two words"
    assert git.config(repo, "x.z") is None


def test_the_whole_configuration_has_the_values_and_scopes_of_each_name(repo: Path) -> None:
    run_git(repo, "config", "x.Y.z", "one\nline")
    run_git(repo, "config", "--add", "x.Y.Z", "two")
    run_git(repo, "config", "extensions.worktreeConfig", "true")
    run_git(repo, "config", "--worktree", "x.here", "yes")
    configuration = git.configuration(repo, repo / ".git")
    assert configuration["x.Y.z"] == [("local", "one\nline"), ("local", "two")]
    assert configuration["x.here"] == [("worktree", "yes")]
    assert configuration["user.name"] == [("global", "Test Person")]


# ------------------------------------------------------------------------------ a person's worktree


@pytest.mark.slow
def test_a_look_at_a_worktree_answers_or_is_an_error(repo: Path) -> None:
    assert git.run_gitpython(repo, repo / ".git", "log", "-1", "--format=%s") == b"Begin\n"
    with pytest.raises(GitError, match="`git rev-parse` failed: fatal: Needed a single revision"):
        git.run_gitpython(repo, repo / ".git", "rev-parse", "--verify", "nothing")


def test_a_look_from_inside_the_hook_of_another_worktree_is_at_this_one(
    repo: Path, worktree: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = worktree(repo, "147")
    monkeypatch.setenv("GIT_DIR", str(repo / ".git"))
    git_dir = repo / ".git/worktrees" / linked.name
    assert git.run_gitpython(linked, git_dir, "symbolic-ref", "HEAD") == b"refs/heads/agent/147\n"


@pytest.mark.parametrize(
    ("lock", "args"),
    [
        ("index.lock", ("add", "f")),
        ("refs/heads/main.lock", ("update-ref", "refs/heads/main", "HEAD", "")),
        ("config.lock", ("config", "a.b", "c")),
    ],
)
def test_a_lock_that_is_left_over_is_named_with_the_command_that_removes_it(
    repo: Path, lock: str, args: tuple[str, ...]
) -> None:
    (repo / "f").touch()
    place = repo / ".git" / lock
    place.touch()
    with pytest.raises(GitError) as failed:
        git.check(args, cwd=repo, git_dir=repo / ".git")
    (named,) = re.findall(r"`rm -f (\S+)`", failed.value.hint)
    assert (repo / named).resolve() == place
