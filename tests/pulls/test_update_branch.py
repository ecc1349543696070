"""Bringing a branch up to the trunk, and pushing it: conflicts, rewrites, others' commits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError
from tests.support.git import commit, git
from tests.support.hosts import behind_ssh, hook
from tests.support.repos import Restored
from tests.support.road import Road, everything, with_shared_issue, with_shared_work

Clones = Callable[[int], list[Path]]
BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture
def road(restored: Restored, request: pytest.FixtureRequest) -> Road:
    is_begun = "place" in request.fixturenames
    return Road(restored(with_shared_work if is_begun else with_shared_issue).clones[0])


@pytest.fixture
def place(road: Road) -> Path:
    return road.work


def history(folder: Path) -> list[str]:
    """The subjects of the commits, the newest first, merges with what they merged."""
    return git(folder, "log", "--format=%s", "--topo-order").splitlines()


@pytest.mark.slow
def test_the_trunk_is_merged_into_a_branch_that_is_behind(road: Road, place: Path) -> None:
    head = git(place, "rev-parse", "HEAD")
    trunk = road.put({"news.txt": "new\n"})
    assert road.finish("worker-1", place).updated
    assert git(place, "rev-parse", "HEAD^1", "HEAD^2").split() == [head, trunk]
    assert git(place, "log", "-1", "--format=%s") == f"Merge main into {BRANCH}"
    assert (place / "news.txt").exists()
    assert git(place, "status", "--porcelain") == ""


@pytest.mark.slow
def test_or_it_is_rebased_where_the_configuration_says_so(road: Road, place: Path) -> None:
    road.configure({"updateMethod": "rebase"})
    road.put({"news.txt": "new\n"}, "News")
    done = road.finish("worker-1", place)
    assert history(place) == ["Parse one file", "News", "Configure", "Begin"]
    assert (place / "news.txt").exists()
    assert git(place, "status", "--porcelain") == ""
    assert done.pull.head == git(place, "rev-parse", "HEAD")


@pytest.mark.slow
def test_what_was_pushed_before_is_replaced_after_a_rebase(road: Road, place: Path) -> None:
    road.configure({"updateMethod": "rebase"})
    first = road.finish("worker-1", place)
    road.put({"news.txt": "new\n"}, "News")
    second = road.finish("worker-1", place)
    assert second.pull.number == first.pull.number
    assert second.pull.head != first.pull.head
    assert git(road.folder, "ls-remote", "origin", f"refs/heads/{BRANCH}")[:40] == second.pull.head


@pytest.mark.slow
@pytest.mark.parametrize("method", ["merge", "rebase"])
def test_a_conflict_names_the_files_and_changes_nothing(
    road: Road, place: Path, method: str
) -> None:
    road.configure({"updateMethod": method})
    commit(place, {"b.txt": "ours\n"})
    road.put({"a.txt": "theirs\n", "b.txt": "theirs\n"})
    before = everything(place)
    with pytest.raises(RefusedError) as refused:
        road.finish("worker-1", place)
    assert str(refused.value).startswith(f"{BRANCH} conflicts with main in a.txt")
    assert str(refused.value).endswith("Nothing was changed.")
    assert f"`git {method} origin/main`" in refused.value.hint
    assert everything(place) == before
    assert git(place, "status", "--porcelain") == ""
    assert len(git(road.folder, "worktree", "list").splitlines()) == 2


@pytest.mark.slow
def test_commits_of_others_on_the_branch_are_not_thrown_away(road: Road, place: Path) -> None:
    road.finish("worker-1", place)
    other = road.folder.with_name("clone-2")
    git(other, "fetch", "--quiet")
    git(other, "switch", "--quiet", BRANCH)
    theirs = commit(other, {"c.txt": "theirs\n"})
    git(other, "push", "--quiet")
    commit(place, {"d.txt": "ours\n"})
    with pytest.raises(
        RefusedError, match="on origin has commits that this clone lacks"
    ) as refused:
        road.finish("worker-1", place)
    assert f"`git pull --rebase origin {BRANCH}`" in refused.value.hint
    assert git(other, "ls-remote", "origin", f"refs/heads/{BRANCH}")[:40] == theirs
    git(place, "pull", "--quiet", "--rebase", "origin", BRANCH)
    assert set(road.files(road.finish("worker-1", place).pull.head)) >= {"c.txt", "d.txt"}


@pytest.mark.slow
def test_what_the_remote_has_more_of_the_branch_is_taken_in(road: Road, place: Path) -> None:
    road.finish("worker-1", place)
    other = road.folder.with_name("clone-2")
    git(other, "fetch", "--quiet")
    git(other, "switch", "--quiet", BRANCH)
    theirs = commit(other, {"c.txt": "theirs\n"})
    git(other, "push", "--quiet")
    assert road.finish("worker-1", place).pull.head == theirs
    assert (place / "c.txt").read_text() == "theirs\n"


@pytest.mark.slow
def test_what_moves_between_the_look_and_the_push_is_not_overwritten(
    road: Road, place: Path
) -> None:
    theirs = git(road.folder, "rev-parse", "main")
    remote = road.remote
    once = remote.parent / "once"
    moves = f"git -C {remote} update-ref refs/heads/{BRANCH} {theirs}"
    road.sync()  # what this clone has to say is not pushed meanwhile
    behind_ssh(road.folder, remote, f"mkdir {once} 2>/dev/null && {moves}")
    with pytest.raises(RefusedError, match="moved on the remote meanwhile"):
        road.finish("worker-1", place)
    assert git(remote, "rev-parse", BRANCH) == theirs
    done = road.finish("worker-1", place)
    assert git(remote, "rev-parse", BRANCH) == done.pull.head


@pytest.mark.slow
def test_a_push_that_happened_though_the_connection_broke_is_found_out(
    road: Road, place: Path
) -> None:
    hook(road.remote, "post-receive", "kill -9 $PPID\n")
    head = git(place, "rev-parse", "HEAD")
    assert road.finish("worker-1", place).pull.head == head


@pytest.mark.slow
def test_a_remote_that_cannot_be_reached_is_unknown_and_nothing_is_changed(
    road: Road, place: Path
) -> None:
    before = everything(place)
    road.remote.rename(road.remote.with_suffix(".away"))
    with pytest.raises(UnknownError):
        road.finish("worker-1", place)
    assert everything(place) == before


def test_the_remotes_refusal_is_said_in_its_words(road: Road, place: Path) -> None:
    hook(road.remote, "update", 'case "$1" in refs/heads/agent/*) echo "not here"; exit 1;; esac\n')
    with pytest.raises(RefusedError, match=r"The remote refused .*: .*not here"):
        road.finish("worker-1", place)


@pytest.mark.slow
def test_without_a_remote_nothing_is_pushed(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    path = road.start("worker-1").path
    commit(path, {"a.txt": "one\n"})
    road.put({"news.txt": "new\n"})
    done = road.finish("worker-1", path)
    assert done.updated
    assert done.pull.head == git(repo, "rev-parse", BRANCH)
