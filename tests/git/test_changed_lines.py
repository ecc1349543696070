"""The files that a worktree changed since a commit, and the lines, on real git."""

from pathlib import Path

from ghp_agents.git.changed_lines import FileChange, in_worktree
from ghp_agents.hotpath.locate import Location, walk_up
from tests.support.git import commit, git, run_git

LINES = "".join(f"{number}\n" for number in range(1, 31))


def place_of(repo: Path) -> Location:
    place = walk_up(str(repo))
    assert place is not None
    return place


def blob(repo: Path, commit: str, path: str) -> str:
    return git(repo, "rev-parse", f"{commit}:{path}")


def test_committed_and_uncommitted_changes_count_in_the_lines_of_the_base(repo: Path) -> None:
    base = commit(repo, {"a.txt": LINES, "kept": "", "gone": "1\n", "old name": LINES + "x\n"})
    commit(repo, {"a.txt": LINES.replace("5\n6\n", "five\n", 1), "added": "new\n"})
    (repo / "a.txt").write_text((repo / "a.txt").read_text().replace("20\n", "20\n20b\n"))
    (repo / "gone").unlink()
    (repo / "old name").rename(repo / "näme")
    (repo / "näme").write_text(LINES + "y\n")
    (repo / "untracked").write_text("also\n")
    changes = in_worktree(place_of(repo), base, base)
    assert changes == [
        FileChange("a.txt", blob(repo, base, "a.txt"), ((4, 6), (20, 20))),
        FileChange("added"),
        FileChange("gone", blob(repo, base, "gone"), None, is_deleted=True),
        FileChange("old name", blob(repo, base, "old name"), ((30, 31),)),
        FileChange("untracked"),
    ]
    assert git(repo, "status", "--porcelain") == (
        ' M a.txt\n D gone\n D "old name"\n?? "n\\303\\244me"\n?? untracked'
    )


def test_what_merges_as_it_is_does_not_count(repo: Path) -> None:
    base = commit(repo, {"run": LINES, "moved": LINES + "m\n"})
    (repo / "run").chmod(0o755)
    (repo / "moved").rename(repo / "here")
    assert in_worktree(place_of(repo), base, base) == []


def test_a_file_that_is_as_on_main_is_merged(repo: Path) -> None:
    base = commit(repo, {"a": LINES, "b": LINES})
    main = commit(repo, {"a": LINES + "end\n"})
    git(repo, "checkout", "--quiet", "-b", "work", base)
    commit(repo, {"a": LINES + "end\n", "b": LINES + "end\n"})
    changed = FileChange("b", blob(repo, base, "b"), ((30, 30),))
    assert in_worktree(place_of(repo), base, main) == [changed]


def test_of_binary_files_and_links_the_lines_are_unknown(repo: Path) -> None:
    base = commit(repo, {"picture": b"a\0b", "file": "1\n"})
    (repo / "picture").write_bytes(b"a\0c")
    (repo / "file").unlink()
    (repo / "file").symlink_to("picture")
    assert in_worktree(place_of(repo), base, base) == [
        FileChange("file", blob(repo, base, "file")),
        FileChange("picture", blob(repo, base, "picture")),
    ]


def test_the_users_settings_of_diffs_change_nothing(repo: Path) -> None:
    base = commit(repo, {".gitattributes": "*.x diff=odd\n", "a.x": LINES, "sub/b": LINES})
    for key, value in {
        "diff.external": "/bin/false", "diff.odd.textconv": "/bin/false", "color.diff": "always",
        "diff.noprefix": "true", "diff.context": "9", "diff.interHunkContext": "9",
        "diff.algorithm": "patience", "diff.renames": "copies", "diff.relative": "true",
        "core.quotePath": "false",
    }.items():  # fmt: skip
        git(repo, "config", key, value)
    (repo / "a.x").write_text(LINES.replace("9\n", "nine\n", 1).replace("12\n", "twelve\n"))
    (repo / "sub/b").write_text("0\n" + LINES)
    assert in_worktree(place_of(repo), base, base) == [
        FileChange("a.x", blob(repo, base, "a.x"), ((8, 9), (11, 12))),
        FileChange("sub/b", blob(repo, base, "sub/b"), ((0, 0),)),
    ]


def test_a_merge_in_progress_does_not_hide_the_other_files(repo: Path) -> None:
    base = commit(repo, {"a": LINES, "b": LINES})
    git(repo, "checkout", "--quiet", "-b", "work")
    commit(repo, {"a": "mine\n" + LINES, "b": "mine\n" + LINES})
    git(repo, "checkout", "--quiet", "main")
    main = commit(repo, {"a": "theirs\n" + LINES})
    git(repo, "checkout", "--quiet", "work")
    assert run_git(repo, "merge", "main").returncode == 1
    changes = in_worktree(place_of(repo), base, main)
    assert FileChange("b", blob(repo, base, "b"), ((0, 0),)) in changes
