"""What nobody leases: ignored and generated files, asked one by one and together."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.git.ignored_files import among
from ghp_agents.hotpath import ignored_files as exempt
from tests.support.ghp import CHECKOUT
from tests.support.git import commit, git

EXEMPT = {
    "README.md": False, "src/a.py": False, "build/a.o": True, "a.log": True, "kept.log": False,
    "tracked.log": False, "gen/a.py": True, "gen/by-hand.py": False, "odd/é\nü.pb.py": True,
    "new.py": False, "-x": False, ":(top)README.md": False, ":(top)a.log": True, ":!a.log": True,
    "\udcff.log": True, "\udcff.py": False,
}  # fmt: skip


@pytest.fixture
def ground(repo: Path) -> Path:
    commit(repo, {"src/a.py": "", "tracked.log": ""})
    commit(
        repo,
        {
            ".gitignore": "build/\n*.log\n!kept.log\n",
            ".gitattributes": "gen/** linguist-generated\ngen/by-hand.py -linguist-generated\n"
            "*.pb.py linguist-generated=true\nREADME.md linguist-generated=false\n",
        },
    )
    return repo


@pytest.mark.parametrize("path", EXEMPT)
def test_one_file_is_asked_for(ground: Path, path: str) -> None:
    assert exempt.is_exempt(str(ground), path, os.environ) is EXEMPT[path]


def test_many_are_asked_for_together(ground: Path) -> None:
    assert among(str(ground), [*EXEMPT]) == {path for path, is_so in EXEMPT.items() if is_so}
    assert among(str(ground), []) == set()


def test_inside_a_hook_of_another_repository_it_is_this_one_that_is_asked(
    ground: Path, clone: Path
) -> None:
    hook = {**os.environ, "GIT_DIR": str(clone / ".git"), "GIT_INDEX_FILE": "/nowhere/index"}
    assert exempt.is_exempt(str(ground), "a.log", hook)
    assert not exempt.is_exempt(str(ground), "tracked.log", hook)


def test_the_variables_that_are_left_out_are_those_that_git_prints(ground: Path) -> None:
    named = {*git(ground, "rev-parse", "--local-env-vars").split()}
    assert "GIT_DIR" in named
    # Settings of `git -c` may carry credentials, and a folder that is safe.
    assert named - exempt.LOCAL_VARIABLES <= {"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"}


@pytest.mark.parametrize("path", ["a\0b", "../outside.log", "x" * 200_000])
def test_where_git_cannot_tell_nothing_is_exempt(ground: Path, path: str) -> None:
    assert not exempt.is_exempt(str(ground), path, os.environ)


def test_without_git_or_a_worktree_nothing_is_exempt(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not exempt.is_exempt(str(tmp_path / "nowhere"), "a.log", os.environ)
    monkeypatch.setenv("PATH", "/nowhere")
    assert not exempt.is_exempt(str(ground), "a.log", os.environ)


LOOK_OFTEN = """\
import os, sys
from ghp_agents.hotpath import ignored_files as exempt
def descriptors():
    return sorted(os.listdir("/proc/self/fd"))
before = descriptors()
for _ in range(20):
    exempt.is_exempt(sys.argv[1], "a.log", os.environ)
exempt.is_exempt(sys.argv[1], "a\\0b", os.environ)
assert descriptors() == before
try:
    sys.exit(f"a child is left: {os.waitpid(-1, os.WNOHANG)}")
except ChildProcessError:
    pass
"""


def test_no_descriptor_and_no_process_is_left(ground: Path) -> None:
    # In a process of its own: other tests may have children that have not ended yet.
    command = [sys.executable, "-c", LOOK_OFTEN, str(ground)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert (done.returncode, done.stderr) == (0, "")
