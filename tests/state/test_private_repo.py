"""The private repository: made once, found by all, and never met by the user's own git."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import CloneId
from ghp_agents.git.process import Result
from ghp_agents.state.private_repo import (
    RepositoryDamagedError,
    StateRepository,
    find_repository,
    heal,
    open_repository,
    rename_clone,
    state_path,
)
from ghp_agents.state.refusal import first_error
from tests.support import repos
from tests.support.clock import ManualClock
from tests.support.ghp import CHECKOUT
from tests.support.git import commit, git, refs, run_git
from tests.support.hosts import executable, workspace

# What a first command does, in a process of its own.
OPEN = """
import os
from pathlib import Path
from ghp_agents.state.private_repo import open_repository
from ghp_agents.workspace import open_workspace

print(open_repository(open_workspace(Path.cwd(), os.environ)).clone)
"""


def opened(folder: Path) -> StateRepository:
    """The private repository as a command in `folder` finds or makes it."""
    return open_repository(workspace(folder))


def said(repository: StateRepository, ref: str = "") -> str:
    """Say something in the private repository; the commit's id."""
    blob = git(repository.path, "hash-object", "-w", "--stdin", stdin="said")
    tree = git(repository.path, "mktree", stdin=f"100644 blob {blob}\tfile\n")
    oid = git(repository.path, "commit-tree", tree, "-m", "said")
    git(repository.path, "update-ref", ref or repository.ref, oid)
    return oid


# ---------------------------------------------------------------------------------- made once


def test_it_is_made_when_it_is_opened_and_found_from_then_on(repo: Path) -> None:
    assert find_repository(workspace(repo)) is None
    assert not (repo / ".git/ghp").exists()
    repository = opened(repo)
    assert repository == find_repository(workspace(repo)) == opened(repo)
    assert repository.path == state_path(workspace(repo)) == repo / ".git/ghp/state.git"
    assert repository.ref == f"refs/ghp/clone/{repository.clone}"
    assert sorted(path.name for path in (repo / ".git/ghp").iterdir()) == ["state.git"]
    assert git(repository.path, "fsck", "--strict") == ""


def test_every_clone_has_an_id_of_its_own_and_keeps_it(clones: Callable[[int], list[Path]]) -> None:
    one, two = clones(2)
    ids = [opened(one).clone, opened(two).clone]
    assert ids[0] != ids[1]
    assert [opened(one).clone, opened(two).clone] == ids


def test_first_commands_at_once_make_one(repo: Path) -> None:
    start = threading.Barrier(12)

    def first(_: int) -> StateRepository:
        start.wait()
        return opened(repo)

    with ThreadPoolExecutor(12) as pool:
        repositories = list(pool.map(first, range(12)))
    assert len(set(repositories)) == 1
    assert [path.name for path in (repo / ".git/ghp").iterdir()] == ["state.git"]


@pytest.mark.slow
def test_first_commands_in_processes_at_once_make_one(repo: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN], cwd=repo, env=env, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    ids = {process.communicate()[0].strip() for process in processes}
    assert ids == {opened(repo).clone}


def test_who_comes_second_takes_what_the_first_made_even_at_the_last_moment(repo: Path) -> None:
    # The rival's is there when ours is ready: both renames happen, in the order of a race.
    repository = opened(repo)
    said(repository)
    path, aside = repository.path, repository.path.with_name("aside")
    path.rename(aside)
    ws = workspace(repo)
    late = open_repository(ws)
    assert late.clone != repository.clone
    shutil.rmtree(path)
    aside.rename(path)
    assert open_repository(workspace(repo)) == repository


def test_what_a_killed_first_command_left_is_swept_once_nobody_can_be_at_work_on_it(
    repo: Path,
) -> None:
    clock = ManualClock()
    for name, age in ((".state.old.tmp", 61), (".state.young.tmp", 59)):
        left = repo / ".git/ghp" / name
        (left / "objects").mkdir(parents=True)
        os.utime(left, (clock.now() - age, clock.now() - age))
    open_repository(workspace(repo, clock))
    assert sorted(path.name for path in (repo / ".git/ghp").iterdir()) == [
        ".state.young.tmp",
        "state.git",
    ]


@pytest.mark.parametrize("content", [None, b"", b"\n", b"../../x\n", b"a b\n", b"\xff\xfe\n"])
def test_one_that_is_not_whole_is_left_as_it_is_and_said(repo: Path, content: bytes | None) -> None:
    repository = opened(repo)
    said(repository)
    if content is None:
        (repository.path / "ghp-clone").unlink()
    else:
        (repository.path / "ghp-clone").write_bytes(content)
    before = refs(repository.path)
    with pytest.raises(RepositoryDamagedError) as caught:
        opened(repo)
    assert (str(caught.value), caught.value.hint) == (
        f"{repository.path} is incomplete or was not created by ghp-agents; it was left unchanged.",
        "Run `ghp agent-doctor --fix`.",
    )
    assert refs(repository.path) == before
    assert [path.name for path in (repo / ".git/ghp").iterdir()] == ["state.git"]


def test_where_nothing_can_be_written_the_system_says_so(repo: Path) -> None:
    (repo / ".git/ghp").write_text("a file where our folder would be")
    with pytest.raises(FileExistsError):
        opened(repo)


def test_a_clone_takes_another_id_and_keeps_that(repo: Path) -> None:
    repository = opened(repo)
    renamed = rename_clone(repository, CloneId("abc123"))
    assert renamed == opened(repo)
    assert (renamed.ref, renamed.path) == ("refs/ghp/clone/abc123", repository.path)


# -------------------------------------------------------------------------------- found by all


def test_all_worktrees_of_a_clone_have_one(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    linked = worktree(repo, "147")
    deep = linked / "a/b"
    deep.mkdir(parents=True)
    assert opened(deep) == opened(repo) == opened(repo / ".git")
    assert opened(deep).path == repo / ".git/ghp/state.git"


def test_a_bare_main_repository_and_its_worktrees_have_one(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "main.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), str(bare))
    linked = tmp_path / "linked"
    git(bare, "worktree", "add", "--quiet", "-b", "work", str(linked))
    repository = opened(bare)
    assert repository == opened(linked)
    assert (repository.path, repository.folder) == (bare / "ghp/state.git", bare)
    assert said(repository)
    assert git(bare, "rev-parse", "--is-bare-repository") == "true"


@pytest.mark.slow
def test_a_submodule_has_its_own_beside_its_own_git_folder(repo: Path, clone: Path) -> None:
    git(clone, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "sub")
    git(clone, "commit", "--quiet", "-m", "Add sub")
    sub = clone / "sub"
    inner, outer = opened(sub), opened(clone)
    assert inner.path == clone / ".git/modules/sub/ghp/state.git"
    assert inner.clone != outer.clone
    oid = said(inner)
    assert inner.run("config", "core.worktree").text == "../../../sub"  # the user's; not obeyed
    assert inner.check("rev-parse", inner.ref).text == oid
    assert inner.check("config", "remote.origin.url").text == str(repo)
    assert git(sub, "status", "--porcelain") == git(clone, "status", "--porcelain") == ""
    linked = clone.parent / "linked-sub"
    git(sub, "worktree", "add", "--quiet", "-b", "work", str(linked))
    assert opened(linked) == inner
    assert inner.folder == sub


def test_a_git_folder_that_is_kept_elsewhere_has_it(repo: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", "--separate-git-dir=elsewhere.git", str(repo), "work")
    repository = opened(work)
    assert (repository.path, repository.folder) == (tmp_path / "elsewhere.git/ghp/state.git", work)


def test_a_repository_without_commits_has_one(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    repository = opened(tmp_path / "empty")
    oid = said(repository)
    assert refs(repository.path) == {repository.ref: oid}
    assert refs(tmp_path / "empty") == {}


def test_it_has_the_users_kind_of_objects(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "new")
    repository = opened(tmp_path / "new")
    assert repository.check("rev-parse", "--show-object-format").text == "sha256"
    assert len(said(repository)) == 64
    assert repository.check("rev-parse", f"{repository.ref}:file").code == 0


def test_it_moves_with_its_clone(clone: Path, tmp_path: Path, remote: Path) -> None:
    repository = opened(clone)
    oid = said(repository)
    moved = tmp_path / "deeper/moved"
    moved.parent.mkdir()
    clone.rename(moved)
    later = opened(moved)
    assert (later.clone, later.check("rev-parse", later.ref).text) == (repository.clone, oid)
    assert later.check("config", "remote.origin.url").text == str(remote)


def test_the_users_remotes_and_credentials_are_found_also_those_of_tomorrow(clone: Path) -> None:
    repository = opened(clone)
    git(clone, "remote", "add", "fork", "https://host.invalid/fork.git")
    git(clone, "config", "http.https://host.invalid/.extraHeader", "X: y")
    git(clone, "config", "credential.helper", "store")
    keys = ("remote.fork.url", "http.https://host.invalid/.extraheader", "credential.helper")
    assert [repository.check("config", key).text for key in keys] == [
        "https://host.invalid/fork.git",
        "X: y",
        "store",
    ]


def test_the_users_settings_for_repositories_do_not_reach_it(repo: Path) -> None:
    users = {
        "core.bare": "false",
        "core.hooksPath": "/users/hooks",
        "core.logAllRefUpdates": "always",
        "core.fsync": "none",
        "gc.auto": "1",
        "maintenance.auto": "true",
        "transfer.fsckObjects": "true",
        "push.gpgSign": "true",
    }
    for key, value in users.items():
        git(repo, "config", key, value)
    repository = opened(repo)
    assert {key: repository.check("config", key).text for key in users} == {
        "core.bare": "true",
        "core.hooksPath": "/dev/null",
        "core.logAllRefUpdates": "false",
        "core.fsync": "committed,derived-metadata,reference",
        "gc.auto": "0",
        "maintenance.auto": "false",
        "transfer.fsckObjects": "false",
        "push.gpgSign": "false",
    }
    said(repository)
    assert not (repository.path / "logs").exists()


# ---------------------------------------------------------------- never met by the user's own git


def seen_by_the_user(repo: Path) -> list[str]:
    """All that the user's git tells of the repository."""
    commands = [
        "log --all --format=%H%d",
        "for-each-ref",
        "reflog --all",
        "fsck --full --strict --unreachable",
        "count-objects -v",
        "status --porcelain --branch --ignored",
        "stash list",
        "worktree list --porcelain",
        "config --list --local",
        "ls-files --stage",
        "rev-parse HEAD --is-shallow-repository",
    ]
    return [git(repo, *command.split()) for command in commands]


@pytest.mark.slow
def test_the_users_git_sees_nothing_of_it(repo: Path) -> None:
    (repo / "new").write_text("not yet added")
    before = seen_by_the_user(repo)
    repository = opened(repo)
    for number in range(3):
        said(repository, f"refs/ghp/lease/issue/{number}")
    assert seen_by_the_user(repo) == before


@pytest.mark.slow
def test_it_survives_whatever_the_user_does_to_clean_up(repo: Path) -> None:
    repository = opened(repo)
    oid = said(repository)
    for command in (
        "gc --quiet --prune=now --aggressive",
        "repack -a -d -q",
        "prune --expire=now",
        "reflog expire --expire=now --all",
        "pack-refs --all --prune",
        "worktree prune",
        "clean -xdff --quiet",
        "maintenance run --quiet",
        "gc --quiet --prune=now",
    ):
        git(repo, *command.split())
    again = opened(repo)
    assert again == repository
    assert again.check("cat-file", "blob", f"{oid}:file").text == "said"
    assert git(repository.path, "fsck", "--strict", "--full") == ""


def test_a_clone_of_the_clone_does_not_get_it(repo: Path, tmp_path: Path) -> None:
    said(opened(repo))
    git(tmp_path, "clone", "--quiet", str(repo), "copy")
    assert find_repository(workspace(tmp_path / "copy")) is None
    assert not any("/ghp/" in ref for ref in refs(tmp_path / "copy"))


def test_the_users_hooks_and_template_stay_out_of_it(
    repo: Path, home: Path, tmp_path: Path
) -> None:
    for folder in (repo / ".git/hooks", home / "hooks", home / "template/hooks"):
        for name in ("reference-transaction", "post-checkout", "post-commit", "pre-auto-gc"):
            executable(folder / name, f"echo {name} >> {tmp_path}/ran\nexit 1\n")
    git(repo, "config", "--global", "init.templateDir", str(home / "template"))
    git(repo, "config", "--global", "core.hooksPath", str(home / "hooks"))
    state = opened(repo)
    tree = state.check("mktree", stdin=b"").text
    stream = f"commit {state.ref}\ncommitter x <x> 1 +0000\ndata 1\nx\nM 040000 {tree} \ndone\n"
    assert state.run("fast-import", "--quiet", "--done", stdin=stream.encode()).code == 0
    assert state.run("update-ref", "refs/ghp/seen/c1", state.ref).code == 0
    assert state.run("gc", "--quiet").code == 0
    assert not (state.path / "hooks").exists()
    assert not (tmp_path / "ran").exists()
    assert run_git(repo, "update-ref", "refs/heads/other", "HEAD").returncode != 0  # they do work


def test_commits_are_made_without_any_user(repo: Path, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgSign = true\n")
    repository = opened(repo)
    stream = f"commit {repository.ref}\ncommitter x <x> 1 +0000\ndata 1\nx\ndone\n"
    assert repository.run("fast-import", "--quiet", "--done", stdin=stream.encode()).code == 0


@pytest.mark.parametrize("already_made", [False, True])
def test_in_a_repository_of_somebody_else_git_decides_and_the_error_says_what_to_do(
    repo: Path, already_made: bool
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a repository that belongs to somebody else")
    if already_made:
        opened(repo)
    for path in (repo, *repo.rglob("*")):
        os.chown(path, 12_345, 12_345)
    with pytest.raises(RefusedError, match="dubious ownership") as caught:
        opened(repo)
    trust = f"git config --global --add safe.directory {repo}"
    assert caught.value.hint == f"If you trust everybody who can write there, run `{trust}`."
    assert (repo / ".git/ghp").exists() is already_made
    git(repo, "config", "--global", "--add", "safe.directory", str(repo))
    assert opened(repo).run("mktree", stdin=b"").code == 0


# ------------------------------------------------------------------------------------ its care


def test_healing_removes_the_lock_of_one_ref_and_reports_of_crashes(repo: Path) -> None:
    repository = opened(repo)
    said(repository)
    mine = repository.path / f"{repository.ref}.lock"
    others = repository.path / "refs/ghp/clone/other.lock"
    crash = repository.path / "fast_import_crash_123"
    for path in (mine, others, crash):
        path.touch()
    heal(repository, repository.ref, [1])
    assert [path.exists() for path in (mine, others, crash)] == [False, True, False]
    heal(repository, repository.ref, [1])  # nothing is left to heal
    assert repository.run("update-ref", "-d", repository.ref).code == 0


@pytest.mark.parametrize(
    ("err", "words"),
    [
        ("", "exit code 128"),
        ("warning: x\nfatal: not there\nhint: look\n", "fatal: not there"),
        ("remote: error: too big\nerror: failed to push some refs\n", "remote: error: too big"),
        ("banner\nERROR: Repository not found.\nfatal: Could not read from remote repository.\n",
         "ERROR: Repository not found."),
        ("ssh: connect to host h port 22: Connection refused\nfatal: Could not read\n",
         "ssh: connect to host h port 22: Connection refused"),
        ("something else\n\n", "something else"),
        ("fatal: unable to access 'https://me:pass@h/x': no\n",
         "fatal: unable to access 'https://***@h/x': no"),
    ],
)  # fmt: skip
def test_the_line_that_says_what_is_wrong_is_found(err: str, words: str) -> None:
    assert first_error(Result(128, b"", err)) == words


def test_two_copies_of_one_template_do_not_share_theirs(
    templates: repos.Templates, tmp_path: Path
) -> None:
    one = repos.copy_alone(templates, tmp_path / "one")
    opened(one)
    two = repos.copy_alone(templates, tmp_path / "two")
    commit(two, {"file": "x"})
    assert opened(one).path != opened(two).path
    assert opened(one).clone != opened(two).clone


def test_over_http_the_servers_own_lines_say_why() -> None:
    fatal = "fatal: unable to access 'https://h/acme/x/': The requested URL returned error: 403"
    page = "https://github.com/enterprises/acme/sso?"
    lines = [
        "remote: The `acme' organization has enabled or enforced SAML SSO.",
        f"remote: To access this repository, visit {page}authorization_request=AB3",
        fatal,
    ]
    assert first_error(Result(128, b"", "\n".join(lines))) == (
        "The `acme' organization has enabled or enforced SAML SSO. To access this repository, "
        f"visit {page}*** ({fatal})"
    )
    archived = ["remote: This repository was archived so it is read-only.", fatal]
    assert first_error(Result(128, b"", "\n".join(archived))) == (
        f"This repository was archived so it is read-only. ({fatal})"
    )
    assert first_error(Result(128, b"", fatal)) == fatal
