"""Files that survive, names that cannot escape, a lock that lives as long as its last writer."""

import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core import files
from ghp_agents.core.errors import ExitCode, UsageError
from ghp_agents.core.files import LockTimeoutError

WRITERS = [files.write_durably, files.write_atomically]
each_writer = pytest.mark.parametrize("write", WRITERS, ids=["durably", "atomically"])

# ------------------------------------------------------------------------------ writing


@each_writer
def test_a_file_is_replaced_whole_and_nothing_else_stays(write: object, tmp_path: Path) -> None:
    assert callable(write)
    for content in (b"old", b"", b"new\0\xff"):
        write(tmp_path / "x", content)
        assert (tmp_path / "x").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@each_writer
def test_a_write_that_fails_leaves_the_old_content_and_no_other_file(
    write: object, tmp_path: Path
) -> None:
    assert callable(write)
    (tmp_path / "x").mkdir()
    (tmp_path / "x/old").touch()
    with pytest.raises(OSError, match="x"):
        write(tmp_path / "x", b"new")
    assert [path.name for path in tmp_path.rglob("*")] == ["x", "old"]


@each_writer
def test_a_reader_that_opened_the_old_file_reads_all_of_it(write: object, tmp_path: Path) -> None:
    assert callable(write)
    write(tmp_path / "x", b"old")
    with (tmp_path / "x").open("rb") as reader:
        write(tmp_path / "x", b"new")
        assert reader.read() == b"old"


def test_a_cache_makes_its_folder(tmp_path: Path) -> None:
    files.write_atomically(tmp_path / "a/b/x", b"1")
    assert (tmp_path / "a/b/x").read_bytes() == b"1"


# ------------------------------------------------------------------------------ names


@pytest.mark.parametrize("name", ["a", "a/b.c", ".ghp/x", "a b/ö", "~a/b"[1:], "a/~", "...", "a."])
def test_a_relative_name_is_a_path_below_the_root(name: str, tmp_path: Path) -> None:
    assert files.below(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize(
    "name",
    [
        "", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "./a", "a/./b", "a//b", "a/",
        "~/x", "~root", "a\\b", "..\\x", "a\0", "a\nb", "a\x1b", ".git", "a/.git/hooks/x", ".GIT/x",
    ],
)  # fmt: skip
def test_a_name_that_could_leave_the_root_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a path inside") as caught:
        files.below(tmp_path, name)
    assert caught.value.exit_code is ExitCode.USAGE


@given(st.text(st.sampled_from("a./\\~\0\n é"), max_size=8))
def test_no_name_leads_outside(name: str) -> None:
    root = Path("/root/of/it")
    try:
        path = files.below(root, name)
    except UsageError:
        return
    assert os.path.normpath(path) == str(path)
    assert path.is_relative_to(root)
    assert path != root


# ------------------------------------------------------------------------------ the lock


def test_who_comes_second_waits_and_then_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with (
        files.locked(path),
        pytest.raises(LockTimeoutError) as caught,
        files.locked(path, patience=0.05),
    ):
        raise AssertionError("two hold one lock")
    assert str(caught.value) == (
        f"Another process has held x.lock for more than 0.05 s (process {os.getpid()})."
    )
    assert caught.value.exit_code is ExitCode.ERROR
    with files.locked(path, patience=0.05):
        assert files.lock_holder(path) == os.getpid()
    assert files.lock_holder(path) is None


def test_all_who_wait_for_the_lock_have_it_one_after_another(tmp_path: Path) -> None:
    path, inside, came = tmp_path / "x.lock", 0, 0

    def wait_and_look() -> int:
        nonlocal inside, came
        came += 1
        with files.locked(path, patience=30):
            inside += 1
            before = inside
            with contextlib.suppress(LockTimeoutError), files.locked(path, patience=0.001):
                before = 99  # a rival came in while it was held
            inside -= 1
        return before

    with ThreadPoolExecutor(8) as pool:
        with files.locked(path):
            waiting = [pool.submit(wait_and_look) for _ in range(8)]
            while came < 8:
                os.sched_yield()
        assert [future.result(timeout=60) for future in waiting] == [1] * 8


def test_the_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), files.locked(tmp_path / "x.lock"):
        raise KeyError
    with files.locked(tmp_path / "x.lock", patience=0.05):
        pass


HOLD = """
import subprocess, sys
from pathlib import Path
from ghp_agents.core import files
with files.locked(Path(sys.argv[1])) as held:
    child = subprocess.Popen(["cat"], pass_fds=[held], stdin=0)
    print(child.pid, flush=True)
    child.wait()
"""


def test_a_killed_holders_child_keeps_the_lock_until_it_ends(tmp_path: Path) -> None:
    # Else a git that goes on writing would meet the next one.
    path = tmp_path / "x.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdin
    holder.stdout.readline()
    holder.kill()
    holder.wait()
    with pytest.raises(LockTimeoutError), files.locked(path, patience=0.05):
        pass
    holder.stdin.close()  # now the child ends
    holder.stdout.close()
    with files.locked(path, patience=10):
        pass


def test_where_no_lock_can_be_made_that_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "x.lock").mkdir()
    with pytest.raises(OSError, match=r"x\.lock"), files.locked(tmp_path / "x.lock", patience=5):
        pass


def test_a_lock_that_nobody_made_has_no_holder(tmp_path: Path) -> None:
    assert files.lock_holder(tmp_path / "x.lock") is None


def test_a_folder_is_usable_if_files_can_be_made_in_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert files.usable(tmp_path / "a/b")
    assert files.usable(tmp_path / "a/b")
    assert not files.usable(tmp_path / "file")
    assert not files.usable(tmp_path / "file/x")


# ------------------------------------------------------------------------ who holds a lock


def test_a_lock_is_held_as_long_as_somebody_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert files.is_locked(path) is False
    with files.locked(path):
        assert files.is_locked(path) is True
    assert files.is_locked(path) is False
    path.touch()
    assert files.is_locked(path) is False


def test_who_only_asks_is_not_taken_for_the_holder(tmp_path: Path) -> None:
    import fcntl

    path = tmp_path / "lock"
    with path.open("w+b") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert files.is_locked(path) is False


def test_where_nobody_can_tell_whether_it_is_locked_the_answer_is_neither(tmp_path: Path) -> None:
    assert files.is_locked(tmp_path) is None


def test_a_lock_for_long_tasks_and_a_quick_one_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "deep/x.lock"
    with files.locked_for_long(path), pytest.raises(LockTimeoutError):
        files.locked(path, patience=0).__enter__()
    with files.locked(path), pytest.raises(LockTimeoutError, match=r"held x\.lock"):
        files.locked_for_long(path, timeout=0).__enter__()
    with files.locked_for_long(path, timeout=0):
        assert path.stat().st_mode & 0o777 == 0o600
