"""Who conflicts with whom in a clone: real worktrees, judged by git's own merges."""

import os
import subprocess
from pathlib import Path

import pytest

from ghp_agents.conflicts import service
from ghp_agents.core.errors import NotFoundError, UnknownError
from tests.support.git import commit, git, refs
from tests.support.rivals import TEXT, agent, base, described, edited, survey, write
from tests.support.road import everything


@pytest.mark.slow
def test_only_work_that_git_cannot_merge_conflicts(repo: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": edited(3, 4)})
    agent(repo, "worker-2", 2, {"a.txt": edited(4, 5, by="otherwise")})
    agent(repo, "worker-3", 3, {"a.txt": edited(12)})
    report = survey(repo)
    assert described(report) == ["worker-1 (#1) worker-2 (#2): a.txt lines 3-4/4-5"]
    assert [work.name for work in report.works] == [
        "worker-1 (#1)", "worker-2 (#2)", "worker-3 (#3)",
    ]  # fmt: skip
    assert report.order == ((0, 2), (1,))
    assert not report.is_clean


def test_uncommitted_changes_and_new_files_count(repo: Path) -> None:
    base(repo, {"a.txt": TEXT, ".gitignore": "*.log\n"})
    files = {"a.txt": edited(3), "new.txt": "one\n", "x.log": "1\n"}
    agent(repo, "worker-1", 1, changed=files)
    agent(repo, "worker-2", 2, changed={**files, "new.txt": "two\n", "a.txt": edited(3, by="x")})
    report = survey(repo)
    assert described(report) == [
        "worker-1 (#1) worker-2 (#2): a.txt lines 3-3/3-3",
        "worker-1 (#1) worker-2 (#2): new.txt added 1-1/1-1",
    ]
    assert all(work.commit != work.head for work in report.works)
    (place,) = report.pairs[0].files[0].places
    assert (place.our_text, place.their_text) == ("line 3 edited", "line 3 x")


@pytest.mark.slow
def test_nothing_in_the_clone_is_touched(repo: Path) -> None:
    base(repo)
    folders = [agent(repo, f"worker-{n}", n, {"a.txt": edited(n)}, {"b.txt": edited(3, by=str(n)),
                     "new.txt": f"{n}\n"}) for n in (1, 2)]  # fmt: skip
    commit(repo, {"b.txt": edited(10)})
    before = [everything(folder) for folder in (repo, *folders)]
    refs_before = refs(repo)
    assert not survey(repo).is_clean
    assert [everything(folder) for folder in (repo, *folders)] == before
    assert refs(repo) == refs_before


def test_lines_are_those_of_each_agents_own_file(repo: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": edited(10)})
    commit(repo, {"a.txt": f"new on main\n{TEXT}"})
    agent(repo, "worker-2", 2, {"a.txt": "new on main\n" + edited(10, by="otherwise")})
    assert described(survey(repo)) == ["worker-1 (#1) worker-2 (#2): a.txt lines 10-10/11-11"]


def test_a_conflict_with_the_main_branch_is_not_one_with_an_agent_that_has_it(repo: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": edited(10)})
    commit(repo, {"a.txt": edited(10, by="on main")})
    agent(repo, "worker-2", 2, {"a.txt": edited(10, by="on main").replace("line 20", "last")})
    report = survey(repo)
    assert described(report) == ["main worker-1 (#1): a.txt lines 10-10/10-10"]
    assert report.order == ((1,), (0,))


def test_what_is_on_the_main_branch_already_is_no_work(repo: Path) -> None:
    base(repo)
    folder = agent(repo, "worker-1", 1, {"a.txt": edited(3)})
    git(repo, "merge", "--quiet", "--squash", "agent/worker-1/1-part")
    git(repo, "commit", "--quiet", "--message", "Squashed")
    agent(repo, "worker-2", 2)
    assert survey(repo).works == ()
    write(folder, {"a.txt": edited(3, 5)})
    assert [work.name for work in survey(repo).works] == ["worker-1 (#1)"]


@pytest.mark.slow
def test_a_branch_on_top_of_another_does_not_conflict_with_it(repo: Path) -> None:
    base(repo)
    folder = agent(repo, "worker-1", 1, {"a.txt": edited(3)})
    git(repo, "branch", "--quiet", "stacked", "agent/worker-1/1-part")
    other = repo.parent / "stacked"
    git(repo, "worktree", "add", "--quiet", str(other), "stacked")
    (Path(git(other, "rev-parse", "--absolute-git-dir")) / "ghp-agent").write_text("worker-2\n")
    commit(other, {"a.txt": edited(3, by="again")})
    commit(repo, {"b.txt": edited(1)})
    report = survey(repo)
    assert (len(report.works), described(report)) == (2, [])
    write(folder, {"a.txt": edited(3, by="changed since")})
    assert described(survey(repo)) == ["worker-1 (#1) worker-2: a.txt lines 3-3/3-3"]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ({"a.txt": None}, {"a.txt": edited(3)}, ["a.txt deleted"]),
        ({"a.txt": None, "moved.txt": TEXT}, {"a.txt": edited(3)}, []),
        ({"a.txt": None, "moved.txt": edited(3)}, {"a.txt": edited(3, by="x")},
         ["moved.txt lines 3-3/3-3"]),
        ({"a.txt": None, "x.txt": TEXT}, {"a.txt": None, "y.txt": TEXT}, ["a.txt renamed"]),
        ({"d/1.txt": None, "e/1.txt": "1\n" * 9}, {"d/new.txt": "new\n"}, ["e/new.txt renamed"]),
        ({"bin": b"\0one"}, {"bin": b"\0two"}, ["bin binary"]),
        ({"n": "file\n"}, {"n/file": "in a folder\n"}, ["n folder"]),
        ({"union.txt": "1\n"}, {"union.txt": "2\n"}, []),
        ({"crlf.txt": edited(3).replace("\n", "\r\n")}, {"crlf.txt": edited(3)},
         ["crlf.txt lines 1-20/3-3"]),
        ({"cut": "one\ntwo"}, {"cut": "one\nthree"}, ["cut lines 2-2/2-2"]),
    ],
    ids=["deleted", "moved", "moved and edited", "moved twice", "folder moved", "binary", "folder",
         "union", "line ends", "no last line end"],
)  # fmt: skip
def test_each_kind_of_conflict(
    repo: Path, ours: dict[str, str], theirs: dict[str, str], expected: list[str]
) -> None:
    base(repo, {
        "a.txt": TEXT, "d/1.txt": "1\n" * 9, "bin": b"\0",
        ".gitattributes": "union.txt merge=union",
        "union.txt": "0\n", "crlf.txt": TEXT, "cut": "one\nlast",
    })  # fmt: skip
    agent(repo, "worker-1", 1, ours)
    agent(repo, "worker-2", 2, changed=theirs)
    lines = [f"worker-1 (#1) worker-2 (#2): {line}" for line in expected]
    assert described(survey(repo)) == lines


def test_links_and_submodules_are_told_in_words(repo: Path) -> None:
    commit(repo, {"x": "1\n"})
    tip = git(repo, "rev-parse", "HEAD")
    for number, name in ((1, "worker-1"), (2, "worker-2")):
        folder = agent(repo, name, number)
        (folder / "link").symlink_to(name)
        (folder / "sub").mkdir()
        other = f"{tip[:-1]}{number}"
        git(folder, "update-index", "--add", "--cacheinfo", f"160000,{other},sub")
    assert described(survey(repo)) == [
        "worker-1 (#1) worker-2 (#2): link link",
        "worker-1 (#1) worker-2 (#2): sub submodule",
    ]


@pytest.mark.slow
def test_drivers_and_filters_of_the_configuration_never_run(repo: Path) -> None:
    base(repo, {"a.txt": TEXT, "b.txt": TEXT, ".gitattributes": "a.txt merge=mine\nb.txt filter=f"})
    folders = [
        agent(repo, f"worker-{number}", number, {"a.txt": edited(3, by=str(number))})
        for number in (1, 2)
    ]
    proof = repo.parent / "proof"
    for key in ("merge.mine.driver", "filter.f.clean", "filter.f.smudge", "filter.f.process",
                "diff.d.textconv", "merge.x=y.driver"):  # fmt: skip
        git(repo, "config", key, f"touch '{proof}'; cat")
    git(repo, "config", "filter.f.required", "true")
    write(folders[0], {"b.txt": edited(1)})
    write(folders[1], {"b.txt": edited(1, by="x")})
    report = survey(repo)
    assert described(report) == ["worker-1 (#1) worker-2 (#2): a.txt lines 3-3/3-3"]
    assert report.pairs[0].files[0].driver == "mine"
    assert report.works[0].notes == (
        "b.txt of worker-1 (#1) is compared as committed: the filter f does not run",
    )
    assert not proof.exists()


def test_work_that_cannot_be_compared_is_named_with_the_reason(repo: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": edited(3)})
    unborn = agent(repo, "worker-2", 2)
    git(unborn, "switch", "--quiet", "--orphan", "empty")
    other = agent(repo, "worker-3", 3)
    git(other, "switch", "--quiet", "--orphan", "unrelated")
    commit(other, {"a.txt": edited(3, by="x")})
    report = survey(repo)
    assert [work.name for work in report.works] == ["worker-1 (#1)"]
    assert report.unread == (
        ("worker-2", "it has no commit yet"),
        ("worker-3", "it has no commit in common with the main branch here"),
    )


def test_during_a_merge_the_last_commit_counts(repo: Path) -> None:
    base(repo)
    folder = agent(repo, "worker-1", 1, {"a.txt": edited(3)})
    commit(repo, {"a.txt": edited(3, by="on main")})
    assert subprocess.run(["git", "merge", "main"], cwd=folder, capture_output=True).returncode == 1
    report = survey(repo)
    assert described(report) == ["main worker-1 (#1): a.txt lines 3-3/3-3"]
    assert report.works[0].notes == (
        "worker-1 (#1) is resolving a merge (1 unmerged file): its last commit is compared",
    )


def test_a_sparse_worktree_has_the_whole_branch(repo: Path) -> None:
    base(repo, {"in/a.txt": TEXT, "out/b.txt": TEXT})
    folder = agent(repo, "worker-1", 1, {"out/b.txt": edited(3)})
    git(folder, "sparse-checkout", "set", "in")
    write(folder, {"in/a.txt": edited(7)})
    agent(repo, "worker-2", 2, {"out/b.txt": edited(3, by="x"), "in/a.txt": edited(7, by="x")})
    assert described(survey(repo)) == [
        "worker-1 (#1) worker-2 (#2): in/a.txt lines 7-7/7-7",
        "worker-1 (#1) worker-2 (#2): out/b.txt lines 3-3/3-3",
    ]


@pytest.mark.slow
def test_one_agent_and_the_main_branch_alone_are_compared_with_less(repo: Path) -> None:
    base(repo)
    for number in (1, 2, 3):
        agent(repo, f"worker-{number}", number, {"a.txt": edited(3, by=str(number))})
    commit(repo, {"a.txt": edited(3, by="main")})
    assert described(survey(repo, "worker-2")) == [
        "worker-1 (#1) worker-2 (#2): a.txt lines 3-3/3-3",
        "worker-2 (#2) worker-3 (#3): a.txt lines 3-3/3-3",
        "main worker-2 (#2): a.txt lines 3-3/3-3",
    ]
    assert len(described(survey(repo, trunk_only=True))) == 3
    assert described(survey(repo, "worker-2", trunk_only=True)) == [
        "main worker-2 (#2): a.txt lines 3-3/3-3"
    ]


def test_agents_of_one_worktree_are_one_and_conflict_with_nobody_inside(repo: Path) -> None:
    base(repo)
    folder = agent(repo, "worker-1", 1, {"a.txt": edited(3)})
    from tests.support.ghp import invoke

    assert invoke("agent-heartbeat", folder, env={"GHP_AGENT": "worker-9"}).code == 0
    (work,) = survey(repo).works
    assert work.agents == ("worker-1", "worker-9")


def test_an_unknown_agent_and_one_without_work_here_are_refused(repo: Path) -> None:
    base(repo)
    with pytest.raises(NotFoundError, match="There is no agent worker-7"):
        survey(repo, "worker-7")
    folder = agent(repo, "worker-1", 1)
    git(repo, "worktree", "remove", str(folder))
    git(repo, "branch", "--quiet", "-D", "agent/worker-1/1-part")
    with pytest.raises(NotFoundError, match="worker-1 has no worktree and no branch here"):
        survey(repo, "worker-1")


def test_without_a_main_branch_nothing_can_be_compared(repo: Path) -> None:
    git(repo, "branch", "--quiet", "-m", "main", "other")
    git(repo, "branch", "--quiet", "third")
    with pytest.raises(NotFoundError, match="There is no main branch to compare with"):
        survey(repo)


def test_an_old_git_cannot_tell() -> None:
    with pytest.raises(UnknownError, match=r"Cannot tell who conflicts: git 2\.37\.1 has no trial"):
        service._check_version((2, 37, 1))


def test_names_of_files_are_any_bytes(repo: Path) -> None:
    name = os.fsdecode(b'odd \xff\n"name\t')
    base(repo, {name: TEXT})
    agent(repo, "worker-1", 1, {name: edited(3)})
    agent(repo, "worker-2", 2, changed={name: edited(3, by="x")})
    (pair,) = survey(repo).pairs
    assert [one.path for one in pair.files] == [name]
    assert pair.files[0].places[0].ours == (3, 3)


@pytest.mark.slow
def test_a_bare_repository_with_worktrees_is_compared_too(repo: Path) -> None:
    base(repo)
    bare = repo.parent / "bare.git"
    git(repo.parent, "clone", "--quiet", "--bare", str(repo), str(bare))
    folder = agent(bare, "worker-1", 1, {"a.txt": edited(3)})
    agent(bare, "worker-2", 2, {"a.txt": edited(3, by="x")})
    assert described(survey(folder)) == ["worker-1 (#1) worker-2 (#2): a.txt lines 3-3/3-3"]


def test_a_clone_is_the_same_through_a_link(repo: Path) -> None:
    agent(base(repo), "worker-1", 1, {"a.txt": edited(3)})
    (repo.parent / "link").symlink_to(repo)
    assert [work.name for work in survey(repo.parent / "link").works] == ["worker-1 (#1)"]


@pytest.mark.slow
def test_a_repository_with_sha256_is_compared_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "long")
    repo = base(tmp_path / "long")
    agent(repo, "worker-1", 1, changed={"a.txt": edited(3)})
    agent(repo, "worker-2", 2, {"a.txt": edited(3, by="x")})
    commit(repo, {"b.txt": edited(3)})
    assert described(survey(repo)) == ["worker-1 (#1) worker-2 (#2): a.txt lines 3-3/3-3"]
    assert len(survey(repo).works[0].commit) == 64


@pytest.mark.slow
def test_a_clone_without_the_history_says_so(repo: Path) -> None:
    base(repo)
    shallow = repo.parent / "shallow"
    commit(repo, {"b.txt": edited(1)})
    git(repo.parent, "clone", "--quiet", "--depth=1", f"file://{repo}", str(shallow))
    agent(shallow, "worker-1", 1, changed={"a.txt": edited(3)})
    assert [work.name for work in survey(shallow).works] == ["worker-1 (#1)"]
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "More")
    git(shallow, "fetch", "--quiet", "--depth=1", "origin", "main")
    assert survey(shallow).unread == (
        ("worker-1 (#1)", "it has no commit in common with the main branch here"),
    )
