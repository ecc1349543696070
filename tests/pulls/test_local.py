"""Local pull requests do what every forge does, and what only merging without a host has to."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.pulls.pull import MergeConflictError, NewPull, Pull, PullMovedError
from tests.contracts.forge import ANN, WORKER, ForgeContract, Site
from tests.pulls.sites import GitSite
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.git import git, refs
from tests.support.hosts import behind_ssh, hook


class TestLocalForge(ForgeContract):
    @pytest.fixture
    def site(self, clock: ManualClock, repo: Path) -> Site:
        return GitSite(repo, clock, remote=False)


@pytest.mark.slow
@pytest.mark.cases(10)
class TestLocalForgeWithARemote(ForgeContract):
    @pytest.fixture
    def site(self, clock: ManualClock, clone: Path) -> Site:
        return GitSite(clone, clock, remote=True)


@pytest.fixture
def alone(repo: Path) -> GitSite:
    return GitSite(repo, ManualClock(), remote=False)


@pytest.fixture
def shared(clone: Path) -> GitSite:
    return GitSite(clone, ManualClock(), remote=True)


def opened(site: GitSite, files: dict[str, str], branch: str = "agent/one") -> Pull:
    head = site.put(branch, files)
    return site.forge.open(NewPull(branch, "main", head, "Parse files"), WORKER)


def merged(site: GitSite, pull: Pull) -> Pull:
    return site.forge.merge(pull.number, ANN, head=pull.head)


def everything(folder: Path) -> dict[str, str]:
    """All that a person has in a worktree: files, index, HEAD."""
    files = {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts and ".ghp" not in path.parts
    }
    return files | {
        "(index)": git(folder, "ls-files", "--stage"),
        "(head)": git(folder, "rev-parse", "HEAD"),
    }


# ----------------------------------------------------------------------------- worktrees


def test_the_worktree_that_has_the_trunk_comes_forward(alone: GitSite) -> None:
    pull = opened(alone, {"a.txt": "new\n"})
    merged(alone, pull)
    assert (alone.folder / "a.txt").read_text() == "new\n"
    assert git(alone.folder, "status", "--porcelain") == ""


def test_what_differs_there_and_is_not_in_the_way_stays_as_it_is(alone: GitSite) -> None:
    pull = opened(alone, {"a.txt": "new\n"})
    (alone.folder / "README.md").write_text("half-way\n")
    merged(alone, pull)
    assert (alone.folder / "a.txt").read_text() == "new\n"
    assert (alone.folder / "README.md").read_text() == "half-way\n"
    assert git(alone.folder, "status", "--porcelain") == " M README.md"


def test_what_is_in_the_way_there_is_said_and_nothing_happens(alone: GitSite) -> None:
    pull = opened(alone, {"README.md": "theirs\n"})
    (alone.folder / "README.md").write_text("half-way\n")
    before = everything(alone.folder)
    with pytest.raises(RefusedError) as refused:
        merged(alone, pull)
    assert str(refused.value) == (
        f"Cannot merge #1: main is checked out in {alone.folder}, where these differ: README.md."
    )
    assert everything(alone.folder) == before
    assert alone.forge.get(1).state == "open"


@pytest.mark.slow
def test_no_worktree_is_touched_where_the_trunk_is_on_a_remote(shared: GitSite) -> None:
    (shared.folder / "README.md").write_text("half-way\n")
    pull = opened(shared, {"README.md": "theirs\n"})
    before, branches = everything(shared.folder), refs(shared.folder, "refs/heads")
    merged(shared, pull)
    assert everything(shared.folder) == before
    assert refs(shared.folder, "refs/heads") == branches
    assert git(shared.folder, "show", "origin/main:README.md") == "theirs"


def test_a_trunk_that_nobody_has_checked_out_moves_alone(alone: GitSite) -> None:
    git(alone.folder, "switch", "--quiet", "-c", "other")
    pull = opened(alone, {"a.txt": "new\n"})
    before = everything(alone.folder)
    done = merged(alone, pull)
    assert everything(alone.folder) == before
    assert alone.tip("main") == done.merged_as


def test_nobodys_hooks_run(alone: GitSite) -> None:
    ran = alone.folder.parent / "ran"
    for name in ("post-merge", "pre-merge-commit", "commit-msg", "post-checkout", "pre-push"):
        hook(alone.folder / ".git", name, f"echo {name} >> {ran}\n")
    git(alone.folder, "config", "core.hooksPath", str(alone.folder / ".git/hooks"))
    head = alone.put("agent/one", {"a.txt": "new\n"})
    ran.unlink(missing_ok=True)  # what our own commits in the test set off
    pull = alone.forge.open(NewPull("agent/one", "main", head, "Parse files"), WORKER)
    merged(alone, pull)
    assert not ran.exists()


# ------------------------------------------------------------------------------- methods


def config(site: GitSite, method: str) -> None:
    (site.folder / ".ghp").mkdir(exist_ok=True)
    (site.folder / ".ghp/config.json").write_text(f'{{"agents": {{"mergeMethod": "{method}"}}}}')
    (site.folder / ".git/info").mkdir(exist_ok=True)
    (site.folder / ".git/info/exclude").write_text(".ghp/\n")


def shape(site: GitSite) -> list[tuple[str, int]]:
    """The commits of the trunk with the number of their parents, the newest first."""
    lines = git(site.folder, "log", "--format=%s%x00%p", site.trunk).splitlines()
    return [(line.split("\0")[0], len(line.split("\0")[1].split())) for line in lines]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("method", "commits"),
    [
        (
            "merge",
            [("Merge #1 from agent/one", 2), ("Ours", 1), ("Two", 1), ("One", 1), ("Begin", 0)],
        ),
        ("squash", [("Merge #1 from agent/one", 1), ("Ours", 1), ("Begin", 0)]),
        ("rebase", [("Two", 1), ("One", 1), ("Ours", 1), ("Begin", 0)]),
    ],
)
def test_the_configuration_says_how_work_gets_into_the_trunk(
    alone: GitSite, method: str, commits: list[tuple[str, int]]
) -> None:
    config(alone, method)
    alone.put("agent/one", {"a.txt": "one\n"}, "One")
    head = alone.put("agent/one", {"b.txt": "two\n"}, "Two")
    alone.put("main", {"c.txt": "ours\n"}, "Ours")
    pull = alone.forge.open(NewPull("agent/one", "main", head, "Parse files"), WORKER)
    merged(alone, pull)
    assert sorted(shape(alone)) == sorted(commits)
    assert shape(alone)[0] == commits[0]
    assert alone.tip("agent/one") == head
    assert len(git(alone.folder, "worktree", "list").splitlines()) == 2


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_killed_before_it_could_say_so_it_is_found_on_the_trunk(
    alone: GitSite, method: str
) -> None:
    config(alone, method)
    pull = opened(alone, {"a.txt": "one\n"})
    alone.put("main", {"c.txt": "ours\n"})
    state = refs(alone.folder / ".git/ghp/state.git", "refs/ghp/clone")
    done = merged(alone, pull)
    trunk = alone.trunk
    for ref, was in state.items():  # the trunk has moved, and nothing was said of it
        git(alone.folder / ".git/ghp/state.git", "update-ref", ref, was)
    assert alone.forge.get(pull.number).state == "open"
    assert merged(alone, pull)._replace(updated_at=done.updated_at) == done
    assert alone.trunk == trunk


def test_a_branch_that_a_person_merged_is_merged(alone: GitSite) -> None:
    pull = opened(alone, {"a.txt": "one\n"})
    git(alone.folder, "merge", "--quiet", "--ff-only", "agent/one")
    done = merged(alone, pull)
    assert (done.state, done.merged_as) == ("merged", pull.head)


@pytest.mark.slow
def test_a_conflict_names_the_files_and_leaves_nothing(alone: GitSite) -> None:
    for method in ("merge", "rebase"):
        config(alone, method)
        pull = opened(alone, {"README.md": f"{method}\n", "b.txt": "new\n"}, f"agent/{method}")
        alone.put("main", {"README.md": f"not {method}\n"})
        before = everything(alone.folder)
        with pytest.raises(MergeConflictError) as conflict:
            merged(alone, pull)
        assert str(conflict.value) == f"agent/{method} conflicts with main in README.md."
        assert everything(alone.folder) == before
    assert len(git(alone.folder, "worktree", "list").splitlines()) == 2


# ---------------------------------------------------------------------------- two clones


@pytest.mark.slow
def test_a_trunk_that_moves_between_the_look_and_the_push_is_looked_at_again(
    shared: GitSite, remote: Path
) -> None:
    one, two = (opened(shared, {f"{x}.txt": "new\n"}, f"agent/{x}") for x in ("one", "two"))
    first = remote.parent / "first"
    merges = f"git -C {remote} update-ref refs/heads/main {one.head}"
    behind_ssh(
        shared.folder, remote, f'case "$last" in *) mkdir {first} 2>/dev/null && {merges};; esac'
    )
    with pytest.raises(PullMovedError, match="main has moved"):
        merged(shared, two)
    assert shared.tip("main") == one.head
    assert shared.forge.get(two.number).state == "open"
    merged(shared, two)
    assert git(shared.folder, "ls-tree", "--name-only", shared.trunk).split() == [
        "README.md", "one.txt", "two.txt",
    ]  # fmt: skip


@pytest.mark.slow
def test_two_clones_that_merge_at_one_moment_both_get_there(
    clones: Callable[[int], list[Path]],
) -> None:
    sites = [GitSite(folder, ManualClock(), remote=True) for folder in clones(2)]
    pulls = [opened(s, {f"{n}.txt": "x\n"}, f"agent/{n}") for n, s in enumerate(sites)]
    start = Barrier(2)

    def merge(site: GitSite, pull: Pull) -> int:
        start.wait()
        for attempt in range(1, 20):
            try:
                merged(site, pull)
            except PullMovedError:
                continue
            return attempt
        return 0

    with ThreadPoolExecutor(2) as pool:
        attempts = list(pool.map(merge, sites, pulls))
    assert min(attempts) == 1
    assert git(sites[0].folder, "ls-tree", "--name-only", sites[0].trunk).split() == [
        "0.txt", "1.txt", "README.md",
    ]  # fmt: skip


@pytest.mark.slow
def test_opened_in_two_clones_at_once_it_is_one_under_both_numbers(
    clones: Callable[[int], list[Path]],
) -> None:
    first, second = (GitSite(folder, ManualClock(), remote=True) for folder in clones(2))
    head = first.put("agent/one", {"a.txt": "one\n"})
    new = NewPull("agent/one", "main", head, "Parse files")
    one, two = first.forge.open(new, WORKER), second.forge.open(new, WORKER)
    assert {one.number, two.number} == {1, 2}
    for site in (first, second, first):
        assert invoke("agent-sync", site.folder, {"GHP_BACKGROUND": "0"}).code == 0
    pulls = {site.forge.get(number) for site in (first, second) for number in (1, 2)}
    assert len(pulls) == 1
    assert len(first.forge.list()) == len(second.forge.list()) == 1


@pytest.mark.slow
def test_the_remotes_refusal_is_said_in_its_words(shared: GitSite, remote: Path) -> None:
    pull = opened(shared, {"a.txt": "one\n"})
    hook(
        remote, "update", 'case "$1" in refs/heads/main) echo "main is protected"; exit 1;; esac\n'
    )
    with pytest.raises(RefusedError, match="main is protected"):
        merged(shared, pull)
    assert shared.forge.get(pull.number).state == "open"
