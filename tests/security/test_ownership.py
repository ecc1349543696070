"""A repository of another user runs nothing as us, and has nothing written into it.

Two of these tests use two real users; without root they are skipped, and so are those that give
files to another user.
"""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.files import locked
from ghp_agents.hotpath.locate import Location, locate
from tests.support import hooks
from tests.support.ghp import CHECKOUT, invoke, run_ghp
from tests.support.git import git
from tests.support.traces import listing, trap
from tests.support.users import OTHER, as_other, give_away, only_root, shared_folder

BEAT = [sys.executable, "-P", "-m", "ghp_agents", "agent-heartbeat", "--action", "Works"]
PRESENCE = (
    '{"issue": null, "status": "idle", "lastAction": "", "timestamp": "2026-01-01T00:00:00Z", '
    '"epoch": 1, "seq": 1, "startedAt": "2026-01-01T00:00:00Z", '
    '"lastProgress": "2026-01-01T00:00:00Z"}'
)
MAKE = f"""
git init --quiet --initial-branch=main shared
mkdir -p shared/.git/ghp/agents shared/src
printf '%s' '{PRESENCE}' > shared/.git/ghp/agents/w1.json
"""


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder below which both users have folders of their own."""
    only_root()
    with shared_folder() as folder:
        for name, owner in (("theirs", OTHER), ("home", os.geteuid())):
            (folder / name).mkdir()
            os.chown(folder / name, owner, owner)
        yield folder


# ------------------------------------------------------------------- with two real users


@pytest.mark.slow
def test_no_beat_and_no_hook_writes_through_the_links_of_another_user(ground: Path) -> None:
    home, theirs = ground / "home", ground / "theirs"
    (home / ".bashrc").write_text("# mine\n")
    victim = ground / "home/created"
    made = as_other(
        f"{MAKE}\nln -s {victim} shared/.git/ghp/agents/.w1.lock\n"
        f"ln -s {home}/.bashrc shared/.git/ghp/log.jsonl\n",
        theirs,
    )
    assert made.returncode == 0, made.stderr
    place = theirs / "shared/src"
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "GHP_AGENT": "w1"}
    # The number of the process is known before it starts, and so was the name of its file.
    waiting = subprocess.Popen(
        ["/bin/sh", "-c", 'read go; exec "$@"', "sh", *BEAT],
        cwd=place,
        env=env,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    name = f"w1.json.{waiting.pid}.tmp"
    as_other(f"ln -s {home}/.bashrc shared/.git/ghp/agents/{name}", theirs)
    before = listing(theirs)
    _, err = waiting.communicate(b"go\n", timeout=60)
    assert (waiting.returncode, err) == (0, b"")
    for said in ("claude-SessionStart-startup", "claude-PreToolUse-Write", "claude-Stop"):
        payload = hooks.payload(said, place)
        assert hooks.call("claude", payload, place, {"GHP_AGENT": "w1"}) == hooks.SILENT
    assert listing(theirs) == before
    assert listing(home) == {".bashrc": b"# mine\n"}


@pytest.mark.slow
def test_another_user_cannot_hold_our_locks(ground: Path) -> None:
    repo = ground / "home/repo"
    git(ground, "init", "--quiet", str(repo))
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    older = repo / ".git/ghp/state.lock"
    older.parent.mkdir()
    older.touch(0o644)  # as older versions made them
    with locked(older):
        pass
    assert invoke("agent-init --agent w1", repo).code == 0
    assert invoke(["agent-issue", "new", "A task"], repo).code == 0
    assert run_ghp("agent-heartbeat --action Works", repo).code == 0
    locks = sorted(str(path) for path in (repo / ".git/ghp").rglob("*lock") if path.is_file())
    assert len(locks) > 2
    for lock in locks:
        held = as_other(f'exec 9< "{lock}"', ground / "theirs")
        assert held.returncode != 0, lock
        assert "ermission denied" in held.stderr


# -------------------------------------------------------------- files that were given away


def test_a_command_says_what_git_says_of_the_repository_of_another_user(repo: Path) -> None:
    only_root()
    give_away(repo)
    done = invoke("agent-status", repo)
    assert done == (
        3,
        "",
        f"Error: git does not use the repository at {repo}: detected dubious ownership in "
        f"repository at '{repo}'.\n"
        "Hint: If you trust everybody who can write there, run `git config --global --add "
        f"safe.directory {repo}`.\n",
    )


def test_where_the_user_trusts_a_shared_repository_commands_work_and_hooks_stay_silent(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_root()
    hooks.set_up(repo)
    give_away(repo)
    git(repo, "config", "--global", "--add", "safe.directory", "*")
    assert invoke("agent-heartbeat --status testing", repo).code == 0
    assert invoke(["agent-issue", "new", "A task"], repo).code == 0
    shown = invoke("agent-issues", repo)
    assert (shown.code, "A task" in shown.out) == (0, True)
    before = listing(repo / ".git/ghp")
    payload = hooks.payload("claude-SessionStart-startup", repo)
    assert hooks.call("claude", payload, repo) == hooks.SILENT
    assert listing(repo / ".git/ghp") == before


def test_the_configuration_of_the_repository_itself_makes_nobody_trust_it(repo: Path) -> None:
    only_root()
    git(repo, "config", "safe.directory", "*")
    give_away(repo)
    assert invoke("agent-status", repo).code == 3


@pytest.mark.parametrize("part", ["worktree", "git folder", "pointer", "common folder"])
def test_each_part_of_a_repository_has_to_belong_to_the_user(repo: Path, part: str) -> None:
    only_root()
    linked = repo.parent / "linked"
    git(repo, "worktree", "add", "--quiet", "--detach", str(linked))
    place = locate(str(linked), {})
    assert place is not None
    paths = {
        "worktree": place.toplevel,
        "git folder": place.git_dir,
        "pointer": f"{linked}/.git",
        "common folder": place.common_dir,
    }
    os.chown(str(paths[part]), OTHER, OTHER)
    assert locate(str(linked), {}) is None


def test_a_link_of_another_user_leads_to_no_repository(repo: Path) -> None:
    only_root()
    (repo / ".git").rename(repo / "elsewhere")
    (repo / ".git").symlink_to("elsewhere")
    assert locate(str(repo), {}) == Location(str(repo), f"{repo}/.git", f"{repo}/.git")
    os.chown(repo / ".git", OTHER, OTHER, follow_symlinks=False)
    assert locate(str(repo), {}) is None


# ------------------------------------------------------------------------ for every user


def test_whoever_is_not_the_owner_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert locate(str(repo), {}) is not None
    monkeypatch.setattr(os, "geteuid", lambda: OTHER)
    assert locate(str(repo), {}) is None
    assert locate(str(repo), {"SUDO_UID": str(repo.stat().st_uid)}) is None  # for root only
    environ = {"GIT_DIR": str(repo / ".git")}
    assert locate("/", environ) is None


def test_root_uses_the_repositories_of_the_user_who_called_sudo(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        give_away(repo)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    owner = repo.stat().st_uid
    for caller, is_found in (
        (str(owner), True),
        (str(owner + 1), False),
        ("", False),
        ("x", False),
    ):
        found = locate(str(repo), {"SUDO_UID": caller})
        assert (found is not None) is is_found, caller


def test_what_we_keep_is_open_to_nobody_else_than_git_keeps_it(repo: Path) -> None:
    hooks.set_up(repo)
    invoke("agent-heartbeat --action Works", repo)
    hooks.call("claude", hooks.write(repo / "README.md", repo), repo)
    invoke(["agent-issue", "new", "A task"], repo)
    ours = repo / ".git/ghp"
    private = [*ours.glob("agents/*"), *ours.glob("agents/.*"), *ours.glob("touched/*")]
    private += [*ours.rglob("*.lock"), *ours.glob("log.jsonl")]
    assert len(private) > 3
    private += [path for path in ours.glob("cache/**/*") if path.is_file()]
    for path in private:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    for path in ours.rglob("*"):
        assert not path.stat().st_mode & 0o022, path  # nobody else writes anywhere


def test_a_repository_of_ours_asks_git_nothing(repo: Path, tmp_path: Path) -> None:
    program, mark = trap(tmp_path, "git")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").symlink_to(program)
    hooks.set_up(repo)
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    assert run_ghp("agent-heartbeat --action Works", repo, path).code == 0
    assert not mark.exists()
