"""Child processes that read something, and what is left of them when we are interrupted."""

import os
from pathlib import Path

import pytest

from ghp_agents.core import process


def test_a_command_reads_what_it_is_given_and_its_exit_code_counts(tmp_path: Path) -> None:
    given = b"many\n" * 100_000
    code = process.feed('cat > "$TO"; exit 3', given, cwd=tmp_path, env={"TO": "out"}, timeout=60)
    assert (code, (tmp_path / "out").read_bytes()) == (3, given)


def test_a_command_that_reads_nothing_is_no_error(tmp_path: Path) -> None:
    assert process.feed("exec <&-", b"x" * 1_000_000, cwd=tmp_path, env={}, timeout=60) == 0


def test_an_interrupted_command_ends_with_its_children(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "open")
    reader = os.open(tmp_path / "open", os.O_RDONLY | os.O_NONBLOCK)
    script = f'exec 5> open; sh -c "echo begun >&5; kill -INT {os.getpid()}; sleep 600"; true'
    with pytest.raises(KeyboardInterrupt):
        process.feed(script, b"", cwd=tmp_path, env=os.environ, timeout=60)
    assert os.read(reader, 100) == b"begun\n"
    os.set_blocking(reader, True)
    assert os.read(reader, 100) == b""  # nobody has it open any more
    os.close(reader)


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_a_command_that_takes_too_long_ends_with_its_children(tmp_path: Path, trap: str) -> None:
    os.mkfifo(tmp_path / "open")
    reader = os.open(tmp_path / "open", os.O_RDONLY | os.O_NONBLOCK)
    script = f'exec 5> open; sh -c "{trap}echo begun >&5; sleep 600; sleep 600"; true'
    assert process.feed(script, b"", cwd=tmp_path, env=os.environ, timeout=1.0) is None
    assert os.read(reader, 100) == b"begun\n"
    os.set_blocking(reader, True)
    assert os.read(reader, 100) == b""  # nobody has it open any more
    os.close(reader)
