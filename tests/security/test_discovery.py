"""No files that a repository brings along are taken for a repository of their own."""

import os
from pathlib import Path

import pytest

from ghp_agents.hotpath.locate import Location, locate
from tests.support import hooks
from tests.support.ghp import Result, invoke, run_ghp
from tests.support.git import git, run_git
from tests.support.hooks import SILENT
from tests.support.traces import listing, trap


@pytest.fixture
def buried(clone: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A bare repository among the tracked files of a clone, whose configuration starts a program;
    and the mark that the program leaves."""
    program, mark = trap(tmp_path)
    lib = clone / "vendor/lib"
    git(clone, "init", "--quiet", "--bare", "--template=", "vendor/lib")
    for name, value in (
        ("core.sshCommand", str(program)),
        ("core.fsmonitor", str(program)),
        ("remote.origin.url", "ssh://host.invalid/lib"),
    ):
        git(clone, "config", "--file", str(lib / "config"), name, value)
    (lib / "ghp/agents").mkdir(parents=True)
    for folder in ("ghp/agents", "objects", "refs"):
        (lib / folder / "kept").write_text("")
    git(clone, "add", "vendor")
    git(clone, "commit", "--quiet", "--message", "Vendor lib")
    return lib, mark


@pytest.mark.slow
def test_a_command_in_a_buried_bare_repository_works_on_the_one_around_it(
    buried: tuple[Path, Path], clone: Path
) -> None:
    lib, mark = buried
    before = listing(lib)
    assert locate(str(lib), {}) == locate(str(clone), {})
    assert invoke("agent-init --agent w1", lib).code == 0
    assert run_ghp("agent-heartbeat --action Works", lib).code == 0
    done = invoke("agent-sync", lib)
    assert (done.code, "host.invalid" in done.err + done.out) == (0, False)
    assert not mark.exists()
    assert listing(lib) == before
    assert (clone / ".git/ghp/agents/w1.json").exists()


@pytest.mark.parametrize("name", ["SessionStart-startup", "PostToolBatch", "Stop"])
def test_a_hook_in_a_buried_bare_repository_starts_nothing_of_it(
    buried: tuple[Path, Path], name: str
) -> None:
    lib, mark = buried
    before = listing(lib)
    env = {"GHP_AGENT": "w1"}
    assert hooks.call("claude", hooks.payload(f"claude-{name}", lib), lib, env) == SILENT
    assert not mark.exists()
    assert listing(lib) == before


@pytest.mark.slow
def test_a_file_of_a_buried_bare_repository_is_guarded_like_any_other(
    buried: tuple[Path, Path], clone: Path
) -> None:
    lib, mark = buried
    hooks.set_up(clone, "w1")
    assert invoke("agent-heartbeat --as w2", clone).code == 0
    assert (
        invoke(["agent-lease", "vendor/", "--as", "w2", "--reason", "Updates lib"], clone).code == 0
    )
    said = hooks.call("claude", hooks.write(lib / "config", clone), clone, {"GHP_AGENT": "w1"}).said
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert not mark.exists()


# -------------------------------------------------------------- pointers to other repositories


def test_a_head_and_a_commondir_in_a_clone_lead_to_no_other_repository(
    repo: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    hooks.set_up(repo, "w1")
    trick = repo / "x"
    trick.mkdir()
    (trick / "HEAD").write_text("ref: refs/heads/main\n")
    (trick / "commondir").write_text(f"{other}/.git\n")
    before = listing(other)
    assert locate(str(trick), {}) == locate(str(repo), {})
    assert run_ghp("agent-heartbeat --action Works", trick).code == 0
    assert invoke("agent-status", trick).code == 0
    assert listing(other) == before


@pytest.mark.parametrize("kind", ["folder", "pointer"])
def test_a_commondir_counts_only_where_git_itself_made_a_worktree(
    repo: Path, tmp_path: Path, kind: str
) -> None:
    top = tmp_path / "top"
    fake = top / (".git" if kind == "folder" else "y")
    fake.mkdir(parents=True)
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    (fake / "commondir").write_text(f"{repo}/.git\n")
    (fake / "gitdir").write_text(f"{top}/.git\n")
    if kind == "pointer":
        (top / ".git").write_text("gitdir: y\n")
    before = listing(repo)
    assert run_git(top, "rev-parse").returncode == 0  # git itself goes there
    assert locate(str(top), {}) is None
    assert invoke("agent-status", top) == Result(
        3,
        "",
        f"Error: {fake} points to {repo}/.git, which has no such worktree.\n"
        "Hint: Remove that folder, or run `git worktree repair` in the repository.\n",
    )
    assert run_ghp("agent-heartbeat --as w1", top) == (0, "", "")
    assert hooks.call("claude", hooks.payload("claude-Stop", top), top) == SILENT
    assert listing(repo) == before


def test_a_worktree_counts_only_where_its_git_folder_points_back(
    repo: Path, tmp_path: Path
) -> None:
    linked, moved = tmp_path / "linked", tmp_path / "moved"
    git(repo, "worktree", "add", "--quiet", "--detach", str(linked))
    assert locate(str(linked), {}) is not None
    linked.rename(moved)
    assert locate(str(moved), {}) is None  # a hook there is silent …
    assert invoke("agent-init --agent w1", moved).code == 0  # … and for a command git is asked
    git(moved, "worktree", "repair")
    assert locate(str(moved), {}) == Location(
        str(moved), f"{repo}/.git/worktrees/linked", f"{repo}/.git"
    )


def test_a_bare_repository_below_a_moved_worktree_is_refused(
    buried: tuple[Path, Path], clone: Path, tmp_path: Path
) -> None:
    _, mark = buried
    git(clone, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    moved = (tmp_path / "linked").rename(tmp_path / "moved")
    lib = moved / "vendor/lib"
    assert invoke("agent-sync", lib) == Result(
        3,
        "",
        f"Error: {lib} is a bare repository inside another one, {moved}.\n"
        f"Hint: If you trust it, name it: `GIT_DIR={lib}`.\n",
    )
    assert not mark.exists()


# ---------------------------------------------------------------------- bare repositories


@pytest.mark.slow
def test_a_bare_repository_with_worktrees_works_in_them_and_in_itself(
    remote: Path, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git(remote, "worktree", "add", "--quiet", "--detach", str(linked))
    hooks.set_up(linked, "w1")
    hooked = hooks.call("claude", hooks.payload("claude-SessionStart-startup", linked), linked)
    assert "w1" in hooks.context(hooked)
    assert (remote / "ghp/agents/w1.json").exists()
    shown = invoke(["agent-status", "--json"], remote)
    assert (shown.code, '"w1"' in shown.out) == (0, True)


def test_a_bare_repository_that_the_users_git_does_not_use_is_not_used(remote: Path) -> None:
    git(remote, "config", "--global", "safe.bareRepository", "explicit")
    refused = invoke("agent-status", remote)
    assert (refused.code, refused.out) == (3, "")
    assert refused.err == (
        f"Error: git does not use the repository at {remote}: cannot use bare repository "
        f"'{remote}' (safe.bareRepository is 'explicit').\n"
        f"Hint: If you trust it, name it: `GIT_DIR={remote}`.\n"
    )
    assert invoke("agent-status", remote, {"GIT_DIR": str(remote)}).code == 0


def test_a_hook_uses_no_bare_repository_that_nobody_named(remote: Path) -> None:
    assert invoke("agent-init", remote).code == 0
    before = listing(remote)
    payload = hooks.payload("claude-SessionStart-startup", remote)
    assert hooks.call("claude", payload, remote, {"GHP_AGENT": "w1"}) == SILENT
    assert listing(remote) == before
    env = {"GHP_AGENT": "w1", "GIT_DIR": str(remote)}
    hooks.call("claude", payload, remote, env)
    assert (remote / "ghp/agents/w1.json").exists()


# ------------------------------------------------------------------- what a tarball brings


@pytest.mark.slow
def test_the_configuration_of_an_unpacked_repository_runs_nothing_for_those_who_only_look(
    repo: Path, tmp_path: Path
) -> None:
    program, mark = trap(tmp_path)
    hooks.set_up(repo, "w1")
    (repo / ".gitattributes").write_text("* diff=odd\n")
    (repo / ".git/hooks").mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "post-checkout", "pre-commit"):
        (repo / ".git/hooks" / name).symlink_to(program)
    for name in (
        *("core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand"),
        *("core.gitProxy", "diff.external", "diff.odd.textconv", "diff.odd.command"),
        *("gpg.program", "gpg.ssh.program", "credential.helper", "sequence.editor"),
        *("interactive.diffFilter", "uploadpack.packObjectsHook", "core.alternateRefsCommand"),
    ):
        git(repo, "config", name, str(program))
    for name in ("commit.gpgSign", "push.gpgSign", "log.showSignature"):
        git(repo, "config", name, "true")
    git(repo, "config", "core.hooksPath", str(repo / ".git/hooks"))
    mark.unlink(missing_ok=True)  # what git itself ran just now
    (repo / "README.md").write_text("# Changed\n")
    assert run_ghp("agent-heartbeat --action Works", repo).code == 0
    for words in ("agent-status", "agent-issues", "agent-log", "agent-escalations"):
        assert invoke(words, repo).code == 0, words
    for name in ("SessionStart-startup", "PostToolBatch", "Stop"):
        assert hooks.call("claude", hooks.payload(f"claude-{name}", repo), repo).code == 0
    hooks.call("claude", hooks.write(repo / "README.md", repo), repo)
    assert not mark.exists(), mark.read_text()
    assert os.access(program, os.X_OK)
