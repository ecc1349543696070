"""The tests cannot touch the user's home, and nothing of the user's reaches them."""

import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import guard
from tests.support.ghp import CHECKOUT
from tests.support.git import git, refs

REAL_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_home_is_a_folder_of_this_test_alone(home: Path) -> None:
    assert Path.home() == home
    assert Path("~").expanduser() == home
    assert home != REAL_HOME
    assert not home.is_relative_to(CHECKOUT)
    assert [path.name for path in home.iterdir()] == [".gitconfig"]


def test_a_file_left_in_one_home_is_not_in_the_next(home: Path) -> None:
    # The one before looked too: whichever of the two runs second would find the other's file.
    assert not (home / "left").exists()
    (home / "left").touch()


def test_a_file_left_in_another_home_is_not_in_this_one(home: Path) -> None:
    assert not (home / "left").exists()
    (home / "left").touch()


def test_every_xdg_folder_is_inside_the_home(home: Path) -> None:
    folders = {name: path for name, path in os.environ.items() if name.startswith("XDG_")}
    assert len(folders) == 5
    assert all(Path(path).is_relative_to(home) for path in folders.values())


def test_git_reads_no_configuration_but_the_tests_own(home: Path, tmp_path: Path) -> None:
    listing = git(tmp_path, "config", "--list", "--show-origin")
    assert {line.split("\t")[0] for line in listing.splitlines()} == {f"file:{home}/.gitconfig"}


def test_a_child_process_has_the_same_home(home: Path) -> None:
    code = "import pathlib; print(pathlib.Path.home())"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == str(home)


def test_local_time_is_not_utc_so_that_mixing_them_up_shows() -> None:
    assert time.timezone == -(5 * 3600 + 45 * 60)
    assert time.gmtime(0) != time.localtime(0)


def test_what_an_agents_session_sets_is_taken_away() -> None:
    variables = {
        "CLAUDE_CODE_SESSION_ID": "1", "CLAUDECODE": "1", "CODEX_THREAD_ID": "1",
        "GEMINI_SESSION_ID": "1", "GHP_AGENT": "worker-1", "GIT_DIR": "/nowhere",
        "GIT_AUTHOR_NAME": "X", "GITHUB_TOKEN": "t", "GH_TOKEN": "t", "MEM0_DIR": "/nowhere",
        "XDG_STATE_HOME": "/nowhere", "NO_COLOR": "1", "CI": "true",
    }  # fmt: skip
    assert guard.scrubbed(variables | {"PATH": "/bin", "LANG": "C"}) == {
        "PATH": "/bin",
        "LANG": "C",
    }


@pytest.mark.slow
def test_the_guard_holds_inside_an_agents_session_and_a_git_hook(tmp_path: Path) -> None:
    hostile = {
        "HOME": "/nonexistent", "GIT_DIR": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent",
        "GIT_CONFIG_GLOBAL": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent",
        "GHP_AGENT": "somebody", "CLAUDE_CODE_SESSION_ID": "1", "GHP_BACKGROUND": "1",
    }  # fmt: skip
    inner = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    inner += ["--basetemp", str(tmp_path / "inner")]  # it clears nothing away of other runs
    child = subprocess.run(
        [*inner, "-k", "not inside_an_agents_session"],
        cwd=CHECKOUT, env=os.environ | hostile, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert child.returncode == 0, child.stdout


def test_background_processes_are_off() -> None:
    ours = {name: value for name, value in os.environ.items() if name.startswith("GHP_")}
    assert ours == {"GHP_ANCESTORS": "0", "GHP_BACKGROUND": "0"}


def test_the_repositories_are_what_their_fixtures_say(
    repo: Path,
    clones: Callable[[int], list[Path]],
    remote: Path,
    worktree: Callable[[Path, str], Path],
) -> None:
    one, two = clones(2)
    (three,) = clones(1)
    assert [path.name for path in (one, two, three)] == ["clone-1", "clone-2", "clone-3"]
    assert git(repo, "remote") == ""
    assert git(repo, "log", "--format=%s %an", "main") == "Begin Test Person"
    assert git(remote, "rev-parse", "--is-bare-repository", "main") == (
        f"true\n{git(repo, 'rev-parse', 'main')}"
    )
    assert [git(path, "remote", "get-url", "origin") for path in (one, three)] == [str(remote)] * 2
    assert git(two, "status", "--porcelain", "--branch") == "## main...origin/main"
    linked = worktree(one, "147")
    assert refs(linked, "refs/heads").keys() == {"refs/heads/agent/147", "refs/heads/main"}
    git(linked, "push", "--quiet", "origin", "agent/147")
    assert "refs/heads/agent/147" in refs(remote)
