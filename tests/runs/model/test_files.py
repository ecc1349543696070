"""The files that a model may read and change."""

import os
from pathlib import Path

import pytest

from ghp_agents.runs.model.files import ToolError, inside, read_text, replaced, write_text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "a.txt").write_text("one\n")
    (tmp_path / "secret").write_text("key\n")
    return root


@pytest.mark.parametrize("name", [".", "a.txt", "src/../a.txt", "new/deep/file", "./src"])
def test_paths_of_the_worktree_are_real_paths(root: Path, name: str) -> None:
    assert inside(root, name) == Path(os.path.realpath(root / name))
    assert inside(root, str(root / name)) == Path(os.path.realpath(root / name))


@pytest.mark.parametrize(
    "name",
    ["..", "../secret", "/etc/passwd", "src/../../secret", "out", "out/secret", "file", "dangling",
     ".git", ".git/config", "sub/.GIT/hooks/x", "src/../.git", "a\0b", "", None, 7, "x" * 5_000],
)  # fmt: skip
def test_other_paths_are_refused(root: Path, name: object) -> None:
    (root / "out").symlink_to(root.parent)
    (root / "file").symlink_to(root.parent / "secret")
    (root / "dangling").symlink_to(root.parent / "not-yet")
    with pytest.raises(ToolError):
        inside(root, name)


def test_a_worktree_behind_a_link_is_inside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert read_text(inside(tmp_path / "link", "a.txt")) == "one\n"


def test_what_is_no_text_file_is_not_read(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "bytes").write_bytes(b"\xff\xfe\0")
    for name in ("pipe", "bytes", "src", "missing"):
        with pytest.raises(ToolError):
            read_text(inside(root, name))
    for name in ("pipe", "src", "a.txt/x"):
        with pytest.raises(ToolError):
            write_text(inside(root, name), "x")


def test_a_file_is_written_whole_and_keeps_its_mode(root: Path) -> None:
    (root / "a.txt").chmod(0o755)
    write_text(root / "a.txt", "é\r\n")
    assert (root / "a.txt").read_bytes() == b"\xc3\xa9\r\n"
    assert (root / "a.txt").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("text", "old", "new", "everywhere", "after"),
    [
        ("a b c", "b", "x", False, "a x c"),
        ("b b", "b", "x", True, "x x"),
        ("a\r\nb\r\n", "a\nb", "x\ny", False, "x\r\ny\r\n"),
        ("a\r\n", "a\r\n", "b\n", False, "b\r\n"),
    ],
)
def test_text_is_replaced(text: str, old: str, new: str, everywhere: bool, after: str) -> None:
    assert replaced(text, old, new, everywhere=everywhere) == after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [("", "x", "is empty"), ("z", "x", "is not in"), ("b", "x", "2 times"), ("b", "b", "the same")],
)
def test_an_edit_that_is_not_clear_is_refused(old: str, new: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        replaced("b b", old, new, everywhere=False)
