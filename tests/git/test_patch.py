"""A patch restores uncommitted work exactly, and taking it leaves no trace."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ghp_agents.core.errors import GhpError
from ghp_agents.git import apply_patch, patch
from ghp_agents.git.apply_patch import PatchFailedError
from ghp_agents.git.index_copy import LeftOut
from ghp_agents.git.patch import Patch, PatchedFile
from ghp_agents.git.patch_text import UnsafePatchError
from ghp_agents.hotpath.locate import Location, locate
from tests.support.git import commit, git, run_git

LIMIT = 5_000_000
Listing = dict[str, tuple[str, bytes]]


def place_of(folder: Path) -> Location:
    place = locate(str(folder), {})
    assert place is not None
    return place


def take(
    folder: Path, limit: int = LIMIT, screen: patch.Screen = lambda change, added: None
) -> Patch:
    return patch.take_patch(place_of(folder), limit, screen)


def listing(folder: Path) -> Listing:
    """Every file of a worktree as git sees it: its kind and content."""
    entries: Listing = {}
    for top, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if Path(top, name).is_symlink()]
        for path in (Path(top, name) for name in [*files, *links] if name != ".git"):
            name = os.path.relpath(path, folder)
            if path.is_symlink():
                entries[name] = ("link", os.fsencode(path.readlink()))
            else:
                mode = "program" if path.stat().st_mode & stat.S_IXUSR else "file"
                entries[name] = (mode, path.read_bytes())
    return entries


def traces(folder: Path) -> dict[str, bytes | float]:
    """All that git keeps for a repository, with the index's time."""
    git_dir = Path(place_of(folder).common_dir)
    kept: dict[str, bytes | float] = {
        str(path.relative_to(git_dir)): path.read_bytes()
        for path in sorted(git_dir.rglob("*"))
        if path.is_file()
    }
    index = Path(place_of(folder).git_dir, "index")
    return kept | {"time of the index": index.stat().st_mtime_ns if index.exists() else 0.0}


def status(folder: Path) -> str:
    """What git says differs; asked so that git itself writes nothing either."""
    args = ("status", "--porcelain", "--ignored", "--untracked-files=all")
    return git(folder, *args, env={"GIT_OPTIONAL_LOCKS": "0"})


def fresh(folder: Path, base: str = "HEAD") -> Path:
    """A new worktree at the commit that a patch belongs to."""
    path = folder.parent / f"{folder.name}-fresh"
    git(folder, "worktree", "add", "--quiet", "--detach", str(path), base)
    return path


def restored(folder: Path, patch: Patch) -> Listing:
    """What a fresh worktree holds once the patch is put back."""
    path = fresh(folder, patch.base)
    if patch.content:
        assert apply_patch.apply(path, patch.content, three_way=False) == []
    return listing(path)


def change_all_kinds(repo: Path) -> None:
    """Work of every kind on top of a commit."""
    commit(
        repo,
        {
            "kept.txt": "kept\n", "changed.txt": "one\ntwo\nthree\n", "gone.txt": "gone\n",
            "moved.txt": "moved\n" * 20, "tool": "#!/bin/sh\n", "picture.png": bytes(range(256)),
            "file-to-link": "file\n", "file-to-folder": "file\n", "folder/to-file/a": "a\n",
            ".gitignore": "*.log\n",
        },
    )  # fmt: skip
    (repo / "changed.txt").write_text("one\n2\nthree\nno newline at the end")
    (repo / "gone.txt").unlink()
    (repo / "moved.txt").rename(repo / "new place.txt")
    (repo / "tool").chmod(0o755)
    (repo / "picture.png").write_bytes(bytes(reversed(range(256))))
    (repo / "new.bin").write_bytes(b"\0\1\2" * 1000)
    (repo / "empty").touch()
    (repo / "link").symlink_to("nowhere/at all")
    (repo / "file-to-link").unlink()
    (repo / "file-to-link").symlink_to("kept.txt")
    (repo / "file-to-folder").unlink()
    (repo / "file-to-folder").mkdir()
    (repo / "file-to-folder" / "b").write_text("b\n")
    shutil.rmtree(repo / "folder/to-file")
    (repo / "folder/to-file").write_text("now a file\n")
    (repo / "ignored.log").write_text("noise\n")
    for name in ("späß.txt", 'quo"te', "new\nline", "tab\there", " blanks ", "-option", ":(top)x"):
        (repo / name).write_text("odd\n")
    Path(os.fsdecode(os.fsencode(repo) + b"/not-utf8-\xff")).write_text("odd\n")


# ------------------------------------------------------------------------------ whole


def test_work_of_every_kind_comes_back_as_it_was(repo: Path) -> None:
    change_all_kinds(repo)
    before = (traces(repo), status(repo))

    patch = take(repo)

    assert (patch.left_out, patch.converted) == ((), ())
    assert (traces(repo), status(repo)) == before
    expected = listing(repo)
    del expected["ignored.log"]
    assert restored(repo, patch) == expected


def test_the_changes_are_counted(repo: Path) -> None:
    commit(repo, {"a": "1\n2\n", "b": "x\n", "c": b"\0", "d": "same\n" * 9})
    (repo / "a").write_text("1\n3\n4\n")
    (repo / "b").unlink()
    (repo / "c").write_bytes(b"\0\1")
    (repo / "d").rename(repo / "e")
    (repo / "f").write_text("1\n")
    assert take(repo).changes == (
        PatchedFile("M", "a", 2, 1),
        PatchedFile("D", "b", 0, 1),
        PatchedFile("M", "c", None, None),
        PatchedFile("R", "e", 0, 0, "d"),
        PatchedFile("A", "f", 1, 0),
    )


def test_a_clean_worktree_has_nothing_to_keep(repo: Path) -> None:
    assert take(repo) == Patch(git(repo, "rev-parse", "HEAD"), b"")


def test_staged_work_is_kept_with_the_rest(repo: Path) -> None:
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    (repo / "staged.txt").write_text("staged\nand changed again\n")
    git(repo, "rm", "--quiet", "README.md")
    before = traces(repo)
    patch = take(repo)
    assert traces(repo) == before
    assert restored(repo, patch) == {"staged.txt": ("file", b"staged\nand changed again\n")}


def test_a_change_within_the_same_moment_and_of_the_same_size_is_seen(repo: Path) -> None:
    """Git tells a file that was changed right after the index by the index's own time."""
    commit(repo, {"a": "one\n"})
    (repo / "a").write_text("two\n")
    stamp = (repo / ".git/index").stat().st_mtime_ns
    os.utime(repo / "a", ns=(stamp, stamp))
    assert restored(repo, take(repo))["a"] == ("file", b"two\n")


def test_work_before_the_first_commit_is_kept(tmp_path: Path) -> None:
    for name in ("old", "new"):
        git(tmp_path, "init", "--quiet", name)
    (tmp_path / "old/a").write_text("a\n")
    patch = take(tmp_path / "old")
    assert patch.base == ""
    assert apply_patch.apply(tmp_path / "new", patch.content, three_way=False) == []
    assert listing(tmp_path / "new") == {"a": ("file", b"a\n")}


@pytest.mark.parametrize("first", [True, False], ids=["before the first commit", "after it"])
def test_a_sha256_repository_is_no_exception(tmp_path: Path, first: bool) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "repo")
    repo = tmp_path / "repo"
    if not first:
        commit(repo, {"a": "a\n", "b": b"\0"})
        (repo / "b").write_bytes(b"\0\0")
    (repo / "c").write_text("c\n")
    patch = take(repo)
    assert patch.converted == ()
    if first:
        assert patch.changes == (PatchedFile("A", "c", 1, 0),)
    else:
        assert restored(repo, patch) == listing(repo)


def test_a_linked_worktree_keeps_its_own_work(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(repo, "worktree", "add", "--quiet", "-b", "b", str(other))
    (repo / "in-main").write_text("x\n")
    (other / "in-other").write_text("y\n")
    assert [change.path for change in take(repo).changes] == ["in-main"]
    assert [change.path for change in take(other).changes] == ["in-other"]


def test_a_worktree_inside_the_main_one_is_not_part_of_it(repo: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "-b", "b", str(repo / ".worktrees/b"))
    (repo / ".worktrees/b/new").write_text("x\n")
    assert take(repo) == Patch(git(repo, "rev-parse", "HEAD"), b"")


def test_a_submodule_is_a_worktree_like_any_other(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "library")
    commit(tmp_path / "library", {"x": "1\n"})
    allow = ("-c", "protocol.file.allow=always")
    git(repo, *allow, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    (repo / "lib/x").write_text("2\n")
    before = traces(repo / "lib")
    assert take(repo / "lib").changes == (PatchedFile("M", "x", 1, 1),)
    assert traces(repo / "lib") == before


def test_objects_borrowed_from_another_clone_are_found(repo: Path, tmp_path: Path) -> None:
    commit(repo, {"a": "1\n"})
    git(tmp_path, "clone", "--quiet", "--shared", str(repo), "borrower")
    git(tmp_path, "clone", "--quiet", "--shared", "borrower", "second")
    (tmp_path / "second/a").write_text("2\n")
    (tmp_path / "second/new").write_text("x\n")
    assert [change.path for change in take(tmp_path / "second").changes] == ["a", "new"]


def test_in_a_sparse_checkout_what_is_not_there_is_not_taken_for_deleted(repo: Path) -> None:
    commit(repo, {"in/a": "1\n", "out/b": "1\n"})
    git(repo, "sparse-checkout", "set", "in")
    (repo / "in/a").write_text("2\n")
    (repo / "in/new").write_text("x\n")
    (repo / "out").mkdir(exist_ok=True)
    (repo / "out/new").write_text("x\n")
    patch = take(repo)
    assert patch.left_out == ()
    assert [change.path for change in patch.changes] == ["in/a", "in/new", "out/new"]


def test_a_file_that_was_only_announced_to_git_is_kept(repo: Path) -> None:
    (repo / "new").write_text("x\n")
    git(repo, "add", "--intent-to-add", "new")
    assert restored(repo, take(repo)) == listing(repo)


def test_what_the_user_told_git_to_overlook_is_overlooked(repo: Path) -> None:
    commit(repo, {"settings": "shared\n"})
    git(repo, "update-index", "--assume-unchanged", "settings")
    (repo / "settings").write_text("mine alone\n")
    assert take(repo).changes == ()


def test_folders_with_odd_names_are_no_obstacle(tmp_path: Path) -> None:
    repo = tmp_path / 'a:b "c" \\d\n e'
    git(tmp_path, "init", "--quiet", str(repo))
    commit(repo, {"a": "1\n"})
    (repo / "a").write_text("2\n")
    assert take(repo).changes == (PatchedFile("M", "a", 1, 1),)


# ------------------------------------------------------------------- the user's settings


SETTINGS = [
    "diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.submodule=log", "diff.renames=copies",
    "color.ui=always", "diff.external=false", "core.splitIndex=true", "core.untrackedCache=true",
    "core.quotePath=false", "diff.suppressBlankEmpty=true", "core.safecrlf=true",
    "apply.whitespace=fix", "apply.ignoreWhitespace=change", "diff.context=0",
    "diff.algorithm=histogram", "diff.orderFile=order", "core.fsync=all", "index.version=4",
    "add.ignoreErrors=false", "diff.ignoreSubmodules=all", "core.hooksPath=hooks",
]  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("setting", SETTINGS)
def test_no_setting_of_the_user_changes_a_patch(repo: Path, setting: str) -> None:
    git(repo, "config", *setting.split("=", 1))
    commit(repo, {"a b": "one \n\n two\n" * 10, "order": "z\na\n"})
    (repo / "a b").write_text("one \n\n two\n" * 5 + "trailing  \n\n" + "one \n\n two\n" * 5)
    (repo / "z").write_text("z\n")
    before = traces(repo)
    patch = take(repo)
    assert traces(repo) == before
    assert restored(repo, patch) == listing(repo)


def test_an_environment_from_a_hook_does_not_lead_elsewhere(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet", "other")
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(tmp_path / "other/.git"))
    (repo / "new").write_text("x\n")
    assert take(repo).changes == (PatchedFile("A", "new", 1, 0),)


def test_no_hook_runs(repo: Path, tmp_path: Path) -> None:
    hooks = repo / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
        (hooks / name).chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(hooks / "fsmonitor-watchman"))
    (repo / "new").write_text("x\n")
    patch = take(repo)
    (repo / "new").unlink()
    apply_patch.apply(repo, patch.content, three_way=False)
    assert (repo / "new").exists()
    assert not (tmp_path / "ran").exists()


def test_line_endings_that_git_converts_are_named_and_come_back(repo: Path) -> None:
    commit(repo, {".gitattributes": "*.bat text eol=crlf\n*.txt text\n"})
    (repo / "run.bat").write_bytes(b"one\r\ntwo\r\n")
    (repo / "mixed.txt").write_bytes(b"one\r\ntwo\n")
    (repo / "plain.txt").write_bytes(b"one\n")
    patch = take(repo)
    assert patch.converted == ("mixed.txt", "run.bat")
    came_back = restored(repo, patch)
    assert came_back["run.bat"] == ("file", b"one\r\ntwo\r\n")
    assert came_back["mixed.txt"] == ("file", b"one\ntwo\n")


# ------------------------------------------------------------------------------ left out


def test_the_largest_files_are_left_out_first_and_said(repo: Path) -> None:
    commit(repo, {"tracked": "x\n"})
    (repo / "tracked").write_bytes(os.urandom(30_000))
    (repo / "small").write_text("s\n")
    (repo / "new-large").write_bytes(b"l" * 20_001)
    (repo / "new-medium").write_bytes(b"m" * 5_000)
    patch = take(repo, limit=20_000)
    assert patch.left_out == (
        LeftOut("new-large", 20_001, "too large"),
        LeftOut("tracked", 30_000, "too large"),
    )
    assert [change.path for change in patch.changes] == ["new-medium", "small"]
    assert len(patch.content) <= 20_000
    assert set(restored(repo, patch)) == {"README.md", "tracked", "small", "new-medium"}


def test_a_forgotten_folder_of_data_is_not_even_read(repo: Path) -> None:
    (repo / "data").mkdir()
    for number in range(3):
        with (repo / f"data/{number}").open("wb") as file:
            file.truncate(200_000_000_000)  # 600 GB, if anybody read them
    (repo / "small").write_text("s\n")
    patch = take(repo)
    assert [change.path for change in patch.changes] == ["small"]
    assert patch.left_out == tuple(
        LeftOut(f"data/{number}", 200_000_000_000, "too large") for number in range(3)
    )


def test_what_a_deletion_makes_room_for_is_left_out_with_it(repo: Path) -> None:
    commit(repo, {"a": "line\n" * 5000, "d/x": "line\n" * 5000})
    (repo / "a").unlink()
    (repo / "a").mkdir()
    (repo / "a/b").write_text("b\n")
    shutil.rmtree(repo / "d")
    (repo / "d").write_text("d\n")
    (repo / "e").write_text("e\n")
    patch = take(repo, limit=2_000)
    assert [(left_out.path, left_out.reason) for left_out in patch.left_out] == [
        ("a", "too large (deleted here)"),
        ("a/b", "takes the place of a file that was left out"),
        ("d", "takes the place of a file that was left out"),
        ("d/x", "too large (deleted here)"),
    ]
    assert set(restored(repo, patch)) == {"README.md", "a", "d/x", "e"}


def test_what_the_screen_refuses_is_left_out_with_its_reason(repo: Path) -> None:
    (repo / "key").write_text("++ top\nsecret\n")
    (repo / "open").write_text("x\n")
    screened: list[tuple[str, bytes]] = []

    def screen(change: PatchedFile, added: bytes) -> str | None:
        screened.append((change.path, added))
        return "holds a secret" if b"secret" in added else None

    patch = take(repo, screen=screen)
    assert patch.left_out == (LeftOut("key", 14, "holds a secret"),)
    assert [change.path for change in patch.changes] == ["open"]
    assert sorted(screened) == [("key", b"++ top\nsecret"), ("open", b"x")]


def test_a_repository_inside_is_left_out_and_said(repo: Path) -> None:
    git(repo, "init", "--quiet", "vendor/empty")
    git(repo, "init", "--quiet", "vendor/full")
    commit(repo / "vendor/full", {"x": "x\n"})
    (repo / "new").write_text("x\n")
    patch = take(repo)
    assert patch.left_out == (
        LeftOut("vendor/empty/", None, "a repository of its own"),
        LeftOut("vendor/full/", None, "a repository of its own"),
    )
    assert [change.path for change in patch.changes] == ["new"]


def test_a_submodule_that_moved_on_is_left_out_and_said(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "library")
    commit(tmp_path / "library", {"x": "1\n"})
    allow = ("-c", "protocol.file.allow=always")
    git(repo, *allow, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    git(repo, "commit", "--quiet", "-m", "Add a library")
    commit(repo / "lib", {"x": "2\n"})
    (repo / "new").write_text("x\n")
    before = traces(repo)
    patch = take(repo)
    assert traces(repo) == before
    assert patch.left_out == (LeftOut("lib", None, "a submodule"),)
    assert [change.path for change in patch.changes] == ["new"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_cannot_be_read_is_said_and_hides_no_other(repo: Path) -> None:
    commit(repo, {"tracked": "x\n"})
    (repo / "tracked").write_text("changed\n")
    (repo / "new").write_text("x\n")
    (repo / "open").write_text("x\n")
    for name in ("tracked", "new"):
        (repo / name).chmod(0)
    patch = take(repo)
    assert patch.left_out == (
        LeftOut("new", 2, "cannot be read"),
        LeftOut("tracked", 8, "cannot be read"),
    )
    assert [change.path for change in patch.changes] == ["open"]


def test_a_file_that_its_filter_refuses_is_said_and_hides_no_other(repo: Path) -> None:
    git(repo, "config", "filter.vault.clean", "false")
    git(repo, "config", "filter.vault.required", "true")
    (repo / ".gitattributes").write_text("*.key filter=vault\n")
    (repo / "a.key").write_text("key\n")
    patch = take(repo)
    assert patch.left_out == (LeftOut("a.key", 4, "cannot be read"),)
    assert [change.path for change in patch.changes] == [".gitattributes"]


def test_a_pipe_in_the_place_of_a_file_is_said(repo: Path) -> None:
    (repo / "README.md").unlink()
    os.mkfifo(repo / "README.md")
    (repo / "new").write_text("x\n")
    patch = take(repo)
    assert patch.left_out == (LeftOut("README.md", 0, "cannot be read"),)
    assert [change.path for change in patch.changes] == ["new"]


def test_during_a_merge_the_files_are_kept_with_their_markers(repo: Path) -> None:
    base = commit(repo, {"a": "base\n"})
    commit(repo, {"a": "ours\n"})
    git(repo, "checkout", "--quiet", "-b", "other", base)
    commit(repo, {"a": "theirs\n"})
    assert run_git(repo, "merge", "main").returncode == 1
    before = traces(repo)
    patch = take(repo)
    assert traces(repo) == before
    assert restored(repo, patch) == listing(repo)
    assert b"<<<<<<<" in listing(repo)["a"][1]


# ------------------------------------------------------------------------------ back


def test_putting_back_leaves_the_index_alone(repo: Path) -> None:
    (repo / "new").write_text("x\n")
    (repo / "README.md").write_text("changed\n")
    patch = take(repo)
    path = fresh(repo)
    index = Path(place_of(path).git_dir, "index").read_bytes()
    apply_patch.apply(path, patch.content, three_way=False)
    assert Path(place_of(path).git_dir, "index").read_bytes() == index
    assert git(path, "status", "--porcelain").splitlines() == [" M README.md", "?? new"]


def test_a_patch_that_is_there_already_is_known(repo: Path) -> None:
    change_all_kinds(repo)
    patch = take(repo)
    assert apply_patch.is_applied(repo, patch.content)
    path = fresh(repo)
    assert not apply_patch.is_applied(path, patch.content)
    apply_patch.apply(path, patch.content, three_way=False)
    assert apply_patch.is_applied(path, patch.content)
    git(path, "add", "-A")
    git(path, "commit", "--quiet", "-m", "Keep it")
    assert apply_patch.is_applied(path, patch.content)


@pytest.mark.parametrize("kind", ["mode", "rename", "empty", "link", "deleted"])
def test_a_patch_without_lines_is_not_taken_for_applied(repo: Path, kind: str) -> None:
    commit(repo, {"a": "a\n"})
    match kind:
        case "mode":
            (repo / "a").chmod(0o755)
        case "rename":
            (repo / "a").rename(repo / "b")
        case "empty":
            (repo / "b").touch()
        case "link":
            (repo / "a").unlink()
            (repo / "a").symlink_to("README.md")
        case "deleted":
            (repo / "a").unlink()
    patch = take(repo)
    path = fresh(repo)
    assert not apply_patch.is_applied(path, patch.content)
    apply_patch.apply(path, patch.content, three_way=False)
    assert apply_patch.is_applied(path, patch.content)
    assert listing(path) == listing(repo)


def test_on_another_commit_it_is_merged_and_staged(repo: Path) -> None:
    commit(repo, {"a": "1\n2\n3\n4\n5\n6\n7\n8\n"})
    (repo / "a").write_text("1\n2\n3\n4\n5\n6\n7\neight\n")
    (repo / "new").write_text("x\n")
    patch = take(repo)
    path = fresh(repo)
    commit(path, {"a": "one\n2\n3\n4\n5\n6\n7\n8\n"})
    (path / "a").touch()
    assert apply_patch.apply(path, patch.content, three_way=True) == []
    assert (path / "a").read_text() == "one\n2\n3\n4\n5\n6\n7\neight\n"
    assert git(path, "status", "--porcelain").splitlines() == ["M  a", "A  new"]


def test_where_two_changes_meet_both_are_left_with_markers(repo: Path) -> None:
    commit(repo, {"a": "1\n", "b": b"\0", "c": "c\n"})
    (repo / "a").write_text("mine\n")
    (repo / "b").write_bytes(b"\0mine")
    (repo / "c").write_text("cc\n")
    patch = take(repo)
    path = fresh(repo)
    commit(path, {"a": "theirs\n", "b": b"\0theirs"})
    assert apply_patch.apply(path, patch.content, three_way=True) == ["a", "b"]
    assert (path / "a").read_text() == "<<<<<<< ours\ntheirs\n=======\nmine\n>>>>>>> theirs\n"
    assert git(path, "status", "--porcelain").splitlines() == ["UU a", "UU b", "M  c"]
    git(path, "checkout", "--theirs", "b")
    assert (path / "b").read_bytes() == b"\0mine"


def test_a_patch_that_does_not_fit_changes_nothing(repo: Path) -> None:
    commit(repo, {"a": "1\n"})
    (repo / "a").write_text("2\n")
    (repo / "new").write_text("x\n")
    patch = take(repo)
    path = fresh(repo)
    git(path, "rm", "--quiet", "a")
    git(path, "commit", "--quiet", "-m", "Remove it")
    before = (listing(path), git(path, "status", "--porcelain"))
    for three_way in (False, True):
        with pytest.raises(PatchFailedError, match="a"):
            apply_patch.apply(path, patch.content, three_way=three_way)
        assert (listing(path), git(path, "status", "--porcelain")) == before


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("../outside", UnsafePatchError),
        (".git/hooks/pre-commit", UnsafePatchError),
        ("door/outside", PatchFailedError),
    ],
)
def test_a_patch_cannot_leave_the_worktree(
    repo: Path, tmp_path: Path, target: str, error: type[GhpError]
) -> None:
    (repo / "door").symlink_to(tmp_path)
    content = (
        f"diff --git a/{target} b/{target}\nnew file mode 100755\nindex 0000000..ce01362\n"
        f"--- /dev/null\n+++ b/{target}\n@@ -0,0 +1 @@\n+hello\n"
    ).encode()
    for three_way in (False, True):
        with pytest.raises(error):
            apply_patch.apply(repo, content, three_way=three_way)
    assert not (tmp_path / "outside").exists()
    assert not (repo / ".git/hooks/pre-commit").exists()


# ------------------------------------------------------------------------------ a law


NAMES = ("a", "b", "d", "d/x", "d/y/z", "e e", "é")
CONTENTS = (b"", b"1\n", b"1\n2\n3\n", b"1\n2", b"\0\1", b"\r\n", b"a" * 200, b"-- \n+++ b\n")


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, str, bytes]]:
    kinds = ("write", "write", "program", "link", "remove", "move", "stage", "ignore")
    step = st.tuples(st.sampled_from(kinds), st.sampled_from(NAMES), st.sampled_from(CONTENTS))
    return draw(st.lists(step, min_size=1, max_size=8))


def act(repo: Path, step: tuple[str, str, bytes]) -> None:
    """One thing that may happen to a worktree."""
    kind, name, content = step
    path = repo / name
    if kind == "stage":
        git(repo, "add", "-A")
        return
    if kind == "ignore":
        (repo / ".gitignore").write_text(f"{name}\n")
        return
    if kind == "move":
        sources = sorted(name for name in listing(repo) if not name.startswith(".git"))
        if not sources or repo / sources[0] == path:
            return
        content = listing(repo)[sources[0]][1]
        clear(repo / sources[0])
    clear(path)
    if kind == "remove":
        return
    for parent in path.relative_to(repo).parents:
        if (repo / parent).is_symlink() or (repo / parent).is_file():
            (repo / parent).unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(content.decode().replace("\0", "") or "nowhere")
        return
    path.write_bytes(content)
    if kind == "program":
        path.chmod(0o755)


def clear(path: Path) -> None:
    """Take away whatever is at a path."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


@pytest.fixture(scope="module")
def workshop() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ghp-law-") as folder:
        yield Path(folder)


@pytest.mark.slow
@given(before=steps(), after=steps())
@example(before=[("link", "d", b"")], after=[("link", "d/x", b"")])  # a link moves below itself,
@example(before=[("link", "d/x", b"")], after=[("link", "d", b"")])  # above itself,
@example(before=[("link", "d", b"")], after=[("move", "b", b""), ("write", "d/x", b"1\n")])  # away
def test_any_work_comes_back_exactly_and_leaves_no_trace(
    workshop: Path, before: list[tuple[str, str, bytes]], after: list[tuple[str, str, bytes]]
) -> None:
    folder = Path(tempfile.mkdtemp(dir=workshop))
    repo = folder / "repo"
    git(folder, "init", "--quiet", "--template=", "repo")
    for step in before:
        act(repo, step)
    git(repo, "add", "-A")
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "Base")
    for step in after:
        act(repo, step)
    kept = (traces(repo), status(repo))

    patch = take(repo)

    assert patch.left_out == ()
    assert (traces(repo), status(repo)) == kept
    git(repo, "add", "-A")  # what a commit would hold: all but what is ignored
    tree = git(repo, "write-tree")
    path = fresh(repo)
    if patch.content:
        apply_patch.apply(path, patch.content, three_way=False)
        assert apply_patch.is_applied(path, patch.content)
    # Forced, because the new worktree may have another `.gitignore` than the old one had.
    git(path, "add", "-A", "--force")
    assert git(path, "write-tree") == tree
    shutil.rmtree(folder)
