"""Objects: every answer is whole, one process serves many readers, and none is left behind."""

import os
import signal
from pathlib import Path

import pytest

from ghp_agents.git.objects import (
    Object,
    ObjectReader,
    TreeEntry,
    end_idle,
    read_objects,
    tree_entries,
)
from ghp_agents.git.process import GitError
from tests.support.git import commit
from tests.support.git import git as run_git
from tools.processes import calls_in


@pytest.mark.slow
def test_many_objects_are_read_in_their_order(repo: Path) -> None:
    names = {f"{'ö' * 40}/{number:04d}": f"{number}\n" * number for number in range(1_500)}
    head = commit(repo, names)
    with read_objects(repo / ".git") as reader:
        objects = reader.read([f"{head}:{name}" for name in [*names, "not there"]])
    assert [item.content.decode() if item else None for item in objects] == [*names.values(), None]


def test_an_empty_name_is_nothing_and_is_not_asked_for(repo: Path) -> None:
    head = commit(repo, {"a": "x"})
    with read_objects(repo / ".git") as reader:
        first, head_object, last = reader.read(["", head, ""])
    assert (first, head_object and head_object.oid, last) == (None, head, None)


def test_a_name_longer_than_a_pipe_is_only_not_there(repo: Path) -> None:
    with read_objects(repo / ".git") as reader:
        assert reader.read([f"HEAD:{'x' * 200_000}"] * 3) == [None] * 3
        assert [item.kind for item in reader.read(["HEAD", "HEAD:"]) if item] == ["commit", "tree"]


@pytest.mark.parametrize(
    "name",
    ["", " ", "HEAD:a b", "HEAD:a b c", "HEAD:x blob 12", "a\nHEAD", "HEAD:\udcff", "0" * 40],
)
def test_a_name_that_nothing_has_never_shifts_the_answers(repo: Path, name: str) -> None:
    with read_objects(repo / ".git") as reader:
        objects = reader.read([name, "HEAD:README.md"])
    assert [item.content if item else None for item in objects] == [None, b"# A project\n"]


def test_a_file_with_a_space_in_its_name_is_found(repo: Path) -> None:
    head = commit(repo, {"a b": "x"})
    with read_objects(repo / ".git") as reader:
        (spaced,) = reader.read([f"{head}:a b"])
    assert spaced == Object(run_git(repo, "rev-parse", "HEAD:a b"), "blob", b"x")


def test_an_object_that_is_too_large_is_passed_over(repo: Path) -> None:
    commit(repo, {"small": b"x" * 9, "large": b"y" * 3_000_000, "none": b""})
    with read_objects(repo / ".git", largest=9) as reader:
        objects = reader.read([f"HEAD:{name}" for name in ("large", "small", "large", "none")])
    assert [(item.content, item.is_cut) for item in objects if item] == [
        (b"", True), (b"x" * 9, False), (b"", True), (b"", False)
    ]  # fmt: skip


def test_a_git_that_ends_before_it_answered_is_an_error_and_no_answer(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="ended early"), read_objects(tmp_path) as reader:
        reader.read(["HEAD"] * 100_000)


@pytest.mark.parametrize("answer", [b"", b"0abc blob", b"0abc blob 5\nab", b"0abc blob 2\nab"])
def test_half_an_answer_is_an_error_and_no_content(tmp_path: Path, answer: bytes) -> None:
    (tmp_path / "answer").write_bytes(answer)
    with (
        (tmp_path / "requests").open("wb") as requests,
        (tmp_path / "answer").open("rb") as answers,
        pytest.raises(GitError, match="ended early"),
    ):
        ObjectReader(requests, answers).read(["0abc"])


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_tree_is_read_as_git_shows_it(tmp_path: Path, kind: str) -> None:
    run_git(tmp_path, "init", "--quiet", f"--object-format={kind}", "repo")
    repo = tmp_path / "repo"
    (repo / "link").symlink_to("a")
    (repo / "run").write_text("#!/bin/sh\n")
    (repo / "run").chmod(0o755)
    head = commit(repo, {"a": "1", "b c/d": "2", "ö": "3", "link": "1", "run": "4"})
    with read_objects(repo / ".git") as reader:
        (tree,) = reader.read([f"{head}^{{tree}}"])
    assert tree is not None
    shown = [line.split() for line in run_git(repo, "ls-tree", "-z", head).split("\0") if line]
    assert tree_entries(tree.content, len(tree.oid)) == [
        TreeEntry(mode.lstrip("0"), " ".join(name), oid) for mode, _, oid, *name in shown
    ]


# ------------------------------------------------------------------------------ one process


def test_one_process_serves_readers_one_after_another_and_sees_what_is_written_meanwhile(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = traced(tmp_path, monkeypatch)
    for number in range(3):
        commit(repo, {"file": f"{number}"})
        if number == 1:
            run_git(repo, "gc", "--quiet")
            run_git(repo, "pack-refs", "--all")
        with read_objects(repo / ".git") as reader:
            assert [item.content if item else None for item in reader.read(["HEAD:file", "x"])] == [
                f"{number}".encode(), None
            ]  # fmt: skip
    end_idle()
    assert calls_in(trace).own["cat-file --batch"] == 1


def test_a_reader_that_failed_half_way_serves_nobody_else(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = traced(tmp_path, monkeypatch)
    with pytest.raises(ZeroDivisionError), read_objects(repo / ".git") as reader:
        assert 1 / (len(reader.read(["x"])) - 1)
    with read_objects(repo / ".git") as reader:
        assert reader.read(["x"]) == [None]
    end_idle()
    assert calls_in(trace).own["cat-file --batch"] == 2


def test_two_readers_at_once_have_a_process_each(repo: Path) -> None:
    with read_objects(repo / ".git") as one, read_objects(repo / ".git") as two:
        assert one.read(["HEAD:README.md"]) == two.read(["HEAD:README.md"])


def test_a_repository_that_comes_in_the_place_of_another_is_read_anew(repo: Path) -> None:
    with read_objects(repo / ".git") as reader:
        (head,) = reader.read(["HEAD"])
    (repo / ".git").rename(repo / "old")
    run_git(repo, "init", "--quiet")
    with read_objects(repo / ".git") as reader:
        assert head is not None
        assert reader.read([head.oid]) == [None]


def test_a_process_that_somebody_killed_is_replaced(repo: Path) -> None:
    end_idle()
    before = children()
    with read_objects(repo / ".git") as reader:
        reader.read(["HEAD"])
    for child in children() - before:
        os.kill(child, signal.SIGKILL)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    with read_objects(repo / ".git") as reader:
        assert reader.read(["x"]) == [None]
    end_idle()
    assert children() == before


def children() -> set[int]:
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return {int(word) for word in pids.split()}


def test_a_forked_process_has_a_reader_of_its_own(repo: Path) -> None:
    with read_objects(repo / ".git") as reader:
        reader.read(["HEAD"])
    child = os.fork()
    if not child:
        try:
            with read_objects(repo / ".git") as reader:
                os._exit(0 if reader.read(["x"]) == [None] else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    with read_objects(repo / ".git") as reader:
        assert reader.read(["x"]) == [None]


def traced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    trace = folder / "trace"
    trace.mkdir()
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
    return trace
