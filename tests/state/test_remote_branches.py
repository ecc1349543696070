"""The user's branches on the remote: what is there, and pushes that overwrite nothing."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core import trace
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.default_branch import trunk
from ghp_agents.state.remote import PushOutcome
from tests.git.test_large_files import OIDS, pointer
from tests.support.git import commit, git, refs
from tests.support.hosts import hook, workspace

Clones = Callable[[int], list[Path]]


def test_tips_are_those_of_the_remote_now_and_fetched(clones: Clones) -> None:
    one, two = clones(2)
    oid = commit(two, {"a.txt": "one\n"})
    git(two, "push", "--quiet", "origin", "main", "main:refs/heads/agent/one")
    ws = workspace(one)
    assert branches.tips(ws, "main", "agent/one", "nothing") == {"main": oid, "agent/one": oid}
    assert git(one, "cat-file", "-t", oid) == "commit"
    assert branches.known_tip(ws, "agent/one") == oid
    assert branches.known_tip(ws, "nothing") == ""
    assert not (one / ".git/FETCH_HEAD").exists()


def renamed(remote: Path, name: str) -> None:
    """The host's default branch has another name."""
    git(remote, "branch", "--move", "main", name)
    git(remote, "symbolic-ref", "HEAD", f"refs/heads/{name}")


def test_a_default_branch_that_the_host_renamed_is_followed_and_said(
    clone: Path, remote: Path
) -> None:
    renamed(remote, "release/next")
    head = git(clone, "rev-parse", "HEAD")
    assert branches.main_and_tips(workspace(clone)) == ("release/next", {"release/next": head})
    (said,) = trace.take_notes()
    assert said.startswith("The default branch of origin is release/next, not main: ")
    assert branches.main_and_tips(workspace(clone))[0] == "release/next"
    assert trace.take_notes() == [], "it is said once"


def test_git_can_be_told_to_leave_the_default_branch_as_it_is(clone: Path, remote: Path) -> None:
    git(clone, "config", "remote.origin.followRemoteHEAD", "never")
    git(remote, "branch", "trunk")
    git(remote, "symbolic-ref", "HEAD", "refs/heads/trunk")
    assert branches.main_and_tips(workspace(clone))[0] == "main"
    assert trace.take_notes() == []


@pytest.mark.parametrize("broken", ["absent", "dangling", "detached"])
def test_the_remote_is_asked_where_this_clone_cannot_tell(
    clone: Path, remote: Path, broken: str
) -> None:
    git(clone, "push", "--quiet", "origin", "HEAD:other")
    renamed(remote, "trunk")
    git(clone, "branch", "--move", "main", "mine")
    git(clone, "update-ref", "-d", "refs/remotes/origin/main")
    ref = "refs/remotes/origin/HEAD"
    if broken == "absent":
        git(clone, "symbolic-ref", "--delete", ref)
    elif broken == "detached":
        git(clone, "update-ref", "--no-deref", ref, "HEAD")
    assert trunk(workspace(clone)) in (None, "other"), "the only one it knows"
    assert branches.main_and_tips(workspace(clone))[0] == "trunk"
    assert trunk(workspace(clone)) == "trunk"
    trace.take_notes()


def test_a_head_that_names_no_branch_says_nothing(clone: Path, remote: Path) -> None:
    git(clone, "push", "--quiet", "origin", "HEAD:trunk")
    for head in ("unborn", "detached"):
        if head == "detached":
            git(remote, "update-ref", "--no-deref", "HEAD", git(clone, "rev-parse", "HEAD"))
        else:
            git(remote, "symbolic-ref", "HEAD", "refs/heads/nowhere")
        assert branches.main_and_tips(workspace(clone))[0] == "main"
    assert trace.take_notes() == []


def test_where_the_remotes_head_names_no_branch_each_clone_takes_the_same(
    clone: Path, remote: Path, tmp_path: Path
) -> None:
    git(clone, "branch", "mine")
    git(clone, "push", "--quiet", "origin", "HEAD:develop", "HEAD:stable")
    renamed(remote, "release")
    assert branches.main_and_tips(workspace(clone))[0] == "release"
    trace.take_notes()

    def in_each() -> list[str | None]:
        new = tmp_path / f"new-{len([*tmp_path.iterdir()])}"
        git(tmp_path, "clone", "--quiet", str(remote), str(new))
        return [branches.main_and_tips(workspace(x))[0] for x in (clone, new)]

    git(remote, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    git(clone, "fetch", "--quiet", "--prune")
    assert in_each() == [None, None], "of three branches, a person chooses"
    (said,) = trace.take_notes()
    assert said.startswith("HEAD of origin names a branch that is not there, and release is not ")
    for left in ("release", "stable"):
        git(remote, "branch", "-D", left)
    git(clone, "fetch", "--quiet", "--prune")
    assert in_each() == ["develop", "develop"], "main is only here"
    git(clone, "push", "--quiet", "origin", "HEAD:master")
    assert in_each() == ["master", "master"]


def test_without_a_remote_they_are_those_of_the_clone(repo: Path) -> None:
    ws = workspace(repo)
    head = git(repo, "rev-parse", "HEAD")
    assert branches.tips(ws, "main", "nothing") == {"main": head}
    assert branches.matching(ws, ["*"]) == {}
    assert branches.address(ws) is None


def test_kept_at_home_nothing_is_asked_or_pushed(clone: Path, remote: Path) -> None:
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text('{"agents": {"push": false}}')
    ws = workspace(clone)
    before = refs(remote)
    oid = commit(clone, {"a.txt": "one\n"})
    assert branches.tips(ws, "main") == {"main": oid}
    assert branches.push(ws, oid, "agent/one", expected="").answer is PushOutcome.DONE
    assert refs(remote) == before
    assert refs(clone, "refs/heads/agent") == {"refs/heads/agent/one": oid}


def test_branches_are_found_by_a_pattern(clone: Path) -> None:
    head = git(clone, "rev-parse", "HEAD")
    for name in ("agent/a/12-x", "agent/b/12-y", "agent/a/13-z", "other/12-x"):
        git(clone, "push", "--quiet", "origin", f"main:refs/heads/{name}")
    branches_found = branches.matching(workspace(clone), ["agent/*/12-*"])
    assert branches_found == {"agent/a/12-x": head, "agent/b/12-y": head}


@pytest.mark.slow
def test_a_push_compares_with_what_was_seen(clone: Path, remote: Path) -> None:
    ws = workspace(clone)
    first = git(clone, "rev-parse", "HEAD")
    second = commit(clone, {"a.txt": "one\n"})
    assert branches.push(ws, first, "b", expected="").answer is PushOutcome.DONE
    assert branches.push(ws, second, "b", expected="").answer is PushOutcome.MOVED
    assert branches.push(ws, second, "b", expected=first).answer is PushOutcome.DONE
    assert branches.push(ws, first, "b", expected=first).answer is PushOutcome.MOVED
    assert branches.push(ws, first, "b", expected=second).answer is PushOutcome.DONE  # rewritten
    assert branches.push(ws, second, "b", expected=None).answer is PushOutcome.DONE
    assert (
        branches.push(ws, first, "b", expected=None).answer is PushOutcome.MOVED
    )  # never backwards
    assert refs(remote)["refs/heads/b"] == second
    assert branches.delete(ws, "b", expected=first).answer is PushOutcome.MOVED
    assert branches.delete(ws, "b", expected=second).answer is PushOutcome.DONE
    assert "refs/heads/b" not in refs(remote)


def test_without_a_remote_the_branch_of_the_clone_is_compared(repo: Path) -> None:
    ws = workspace(repo)
    first = git(repo, "rev-parse", "HEAD")
    second = commit(repo, {"a.txt": "one\n"})
    assert branches.push(ws, first, "b", expected="").answer is PushOutcome.DONE
    assert branches.push(ws, second, "b", expected=second).answer is PushOutcome.MOVED
    assert branches.push(ws, second, "b", expected=first).answer is PushOutcome.DONE
    assert refs(repo)["refs/heads/b"] == second


def test_a_remote_that_is_gone_is_unknown(clone: Path, remote: Path) -> None:
    remote.rename(remote.with_suffix(".away"))
    ws = workspace(clone)
    with pytest.raises(UnknownError):
        branches.tips(ws, "main")
    head = git(clone, "rev-parse", "HEAD")
    assert branches.push(ws, head, "b", expected="").answer is PushOutcome.UNKNOWN


def test_a_refusal_comes_with_the_words_of_the_remote(clone: Path, remote: Path) -> None:
    hook(remote, "update", 'echo "no more branches"; exit 1\n')
    head = git(clone, "rev-parse", "HEAD")
    refused = branches.push(workspace(clone), head, "b", expected="")
    assert refused.answer is PushOutcome.REFUSED
    assert "no more branches" in refused.words


def test_a_persons_settings_for_their_own_pushes_are_not_ours(clone: Path, remote: Path) -> None:
    for key, value in (
        ("remote.origin.mirror", "true"), ("push.followTags", "true"), ("remote.origin.prune", "1"),
        ("push.gpgSign", "false"), ("remote.origin.tagOpt", "--tags"),
    ):  # fmt: skip
        git(clone, "config", key, value)
    git(clone, "tag", "--annotate", "--message", "x", "v1")
    head = git(clone, "rev-parse", "HEAD")
    branches.push(workspace(clone), head, "b", expected="")
    assert set(refs(remote)) == {"refs/heads/b", "refs/heads/main"}


def test_who_git_does_not_know_commits_under_the_agents_name(
    repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert branches.identity(workspace(repo), "worker-1") == {}
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    assert branches.identity(workspace(repo), "worker-1") == {
        "GIT_AUTHOR_NAME": "worker-1", "GIT_AUTHOR_EMAIL": "ghp-agents@invalid",
        "GIT_COMMITTER_NAME": "worker-1", "GIT_COMMITTER_EMAIL": "ghp-agents@invalid",
    }  # fmt: skip


LFS = """#!/bin/sh
[ "$1" = version ] && exit 0
echo "$@" >> "{log}"
[ ! -f "{log}.fails" ] || {{ echo "batch response: no such server" >&2; exit 2; }}
"""


@pytest.fixture
def lfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for Git LFS writes how it was called."""
    log, program = tmp_path / "lfs.log", tmp_path / "bin/git-lfs"
    program.parent.mkdir()
    program.write_text(LFS.format(log=log))
    program.chmod(0o755)
    log.write_text("")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return log


def with_large_file(clone: Path) -> str:
    """A commit that points to a large file."""
    return commit(clone, {".gitattributes": "*.bin filter=lfs\n", "a.bin": pointer(OIDS[0])})


def test_large_files_are_sent_before_the_commits_that_point_to_them(
    clone: Path, remote: Path, lfs: Path
) -> None:
    ws, oid = workspace(clone), with_large_file(clone)
    assert branches.push(ws, oid, "b", expected="").answer is PushOutcome.DONE
    assert branches.push(ws, oid, "c", expected="").answer is PushOutcome.DONE
    sent = f"push --object-id origin {OIDS[0]}\n"
    assert lfs.read_text() == sent, "the remote has them with the first branch"
    assert branches.push(ws, oid, "main", expected=None).answer is PushOutcome.DONE
    assert lfs.read_text() == sent * 2, "a merge makes sure of it"


def test_nothing_is_pushed_if_large_files_cannot_be_sent(
    clone: Path, remote: Path, lfs: Path
) -> None:
    ws, oid, before = workspace(clone), with_large_file(clone), refs(remote)
    lfs.with_suffix(".log.fails").touch()
    with pytest.raises(RefusedError, match="did not send 1 large file of b, so nothing was pushed"):
        branches.push(ws, oid, "b", expected="")
    assert refs(remote) == before


@pytest.mark.skipif(shutil.which("git-lfs") is not None, reason="Git LFS is installed here")
def test_without_git_lfs_pointers_are_pushed_by_nobody(clone: Path, remote: Path) -> None:
    ws, oid, before = workspace(clone), with_large_file(clone), refs(remote)
    with pytest.raises(RefusedError, match="`git lfs` is not installed here"):
        branches.push(ws, oid, "b", expected="")
    assert refs(remote) == before
    git(clone, "push", "--quiet", "--no-verify", "origin", "HEAD:b")  # by hand
    assert branches.push(ws, oid, "b", expected=oid).answer is PushOutcome.DONE


@pytest.mark.slow
def test_a_shallow_clone_fetches_what_a_merge_needs(
    clone: Path, remote: Path, tmp_path: Path
) -> None:
    git(clone, "push", "--quiet", "origin", "HEAD:b")
    for number in range(3):
        commit(clone, {"a.txt": f"{number}\n"})
    git(clone, "push", "--quiet", "origin", "main")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{remote}", "shallow")
    ws = workspace(tmp_path / "shallow")
    current = branches.tips(ws, "main", "b")
    branches.connect(ws, "main", current)
    assert git(ws.folder, "merge-base", current["main"], current["b"]) == current["b"]
    assert trace.take_notes() == [
        "This clone is shallow and had no common commit of main and b, so all commits of each "
        "were fetched."
    ]
    branches.connect(ws, "main", current)
    assert trace.take_notes() == []


@pytest.mark.slow
def test_a_history_of_its_own_is_looked_for_to_the_end_and_stays_apart(
    clone: Path, remote: Path, tmp_path: Path
) -> None:
    git(clone, "switch", "--quiet", "--orphan", "other")
    commit(clone, {"b.txt": "1\n"})
    git(clone, "push", "--quiet", "origin", "other")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{remote}", "shallow")
    ws = workspace(tmp_path / "shallow")
    branches.connect(ws, "main", branches.tips(ws, "main", "other"))
    (text,) = trace.take_notes()
    assert text.endswith(
        "had no common commit of main and other, so all commits of each were fetched."
    )


def test_a_deleted_branch_is_not_in_the_way_of_one_below_its_name(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = clones(2)
    git(two, "push", "--quiet", "origin", "main:agent")
    git(one, "fetch", "--quiet")
    git(two, "push", "--quiet", "origin", ":agent", "main:agent/w1/1-a")
    head = git(one, "rev-parse", "HEAD")
    assert branches.tips(workspace(one), "agent/w1/1-a") == {"agent/w1/1-a": head}
