"""Wherever a repository's git folder is, agents get worktrees that are guarded and complete."""

import json
from pathlib import Path

import pytest

from ghp_agents.git import main_worktree, worktree
from ghp_agents.workspace import open_workspace
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.layouts import LAYOUTS, git_folder

CLAUDE = ".claude/settings.local.json"
BARE = ("hidden_bare", "bare_in_dot_git", "bare")


@pytest.fixture
def origin(repo: Path, tmp_path: Path) -> Path:
    """A remote with one commit, whose files do not include `.env`."""
    commit(repo, {".gitignore": ".env\n"})
    place = tmp_path / "origin.git"
    git(repo, "clone", "--quiet", "--bare", str(repo), str(place))
    return place


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """An empty folder."""
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_each_worktree_knows_its_home(name: str, origin: Path, there: Path) -> None:
    top = LAYOUTS[name](origin, there)
    record = git_folder(top) / main_worktree.RECORD
    record.parent.mkdir(exist_ok=True)
    record.write_text(f"{top}\n")
    other = there / "other"
    git(top, "worktree", "add", "--quiet", "-b", "other", str(other))
    nested = there / "nested"
    git(other, "worktree", "add", "--quiet", "-b", "nested", str(nested))
    for place in (top, other, nested):
        ws = open_workspace(place, {})
        assert (ws.home_worktree, ws.root) == (top, top)
        assert ws.main_worktree == (None if name in BARE else top)
        folders = worktree.folders(place)
        assert {top, other, nested} <= set(folders)
        assert all((folder / ".git").is_file() for folder in folders if folder.name != "tree")


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_an_agents_way_from_issue_to_main(name: str, origin: Path, there: Path) -> None:
    top = LAYOUTS[name](origin, there)
    (top / ".env").write_text("A=1\n")
    assert invoke("agent-init --no-agents-md --hooks claude,git", top).code == 0
    again = invoke("agent-init --no-agents-md --hooks claude,git", top)
    assert "Nothing to do" in again.err
    assert not (git_folder(top) / CLAUDE).exists()
    assert invoke("agent-issue new Parse", top).code == 0
    assert invoke("agent-start 1 --as worker-1", top).code == 0
    place = Path(invoke("agent-where 1", top).out.strip())
    assert (place / ".env").read_text() == "A=1\n"
    assert json.loads((place / CLAUDE).read_text()) == json.loads((top / CLAUDE).read_text())
    assert git(place, "status", "--porcelain") == ""
    head = commit(place, {"new.txt": "new\n"})
    assert invoke("agent-finish --as worker-1", place).code == 0
    merged = invoke("agent-merge 2 --unchecked --as worker-1", top)
    assert (merged.code, "Kept" in merged.err) == (0, False), merged.err
    assert not place.exists()
    assert git(top, "merge-base", "--is-ancestor", head, "HEAD") == ""
    assert (top / "new.txt").read_text() == "new\n"
    assert git(origin, "branch", "--list", "agent/*") == ""


def test_no_folder_that_a_configuration_names_is_believed(repo: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    git(repo, "config", "core.worktree", str(home))
    (repo / ".git/ghp").mkdir()
    (repo / ".git/ghp/main-worktree").write_text(f"{home}\n")
    assert open_workspace(repo, {}).root == repo
    assert main_worktree.find_from_inside(repo / ".git") == repo


def test_git_dir_is_found_from_anywhere(origin: Path, there: Path) -> None:
    place = there / "files"
    place.mkdir()
    git(there, "init", "--quiet", "--bare", "dots.git")
    git(there / "dots.git", "config", "core.bare", "false")
    git(there / "dots.git", "config", "core.worktree", "../files")
    ws = open_workspace(place, {"GIT_DIR": str(there / "dots.git")})
    assert (ws.root, ws.main_worktree) == (place, place)


@pytest.mark.slow
def test_what_cannot_be_copied_is_said(origin: Path, there: Path) -> None:
    top = LAYOUTS["bare"](origin, there)
    git(top, "switch", "--quiet", "-c", "elsewhere")
    assert invoke("agent-init --no-agents-md", top).code == 0
    assert invoke("agent-issue new Parse", top).code == 0
    started = invoke("agent-start 1 --as worker-1", top)
    assert "Copied no untracked files (such as .env)" in started.err
