"""No bytes of others crash a reader, hold it up, or take much memory."""

import subprocess
import sys

import pytest

from tests.support.house import CHECKOUT
from tests.support.thorough import count
from tools import fuzz
from tools.fuzz_reader import Read, Reader, SlowError


def _fails(data: bytes) -> object:
    return {b"a": 1}[data]


def _refuses(_: bytes) -> object:
    raise ValueError("no")


def _is_slow(data: bytes) -> object:
    return [x for x in range(len(data) * 10**9) if x < 0]


@pytest.mark.parametrize(("read", "error"), [(_fails, KeyError), (_is_slow, SlowError)])
def test_a_reader_that_crashes_or_is_slow_is_found(
    read: Read, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "HANGS_S", 0.05)
    with pytest.raises(error) as info:
        fuzz.fuzz({"odd": Reader(read, [b"a"])}, 20, 1)
    (note,) = [note for note in info.value.__notes__ if "Reader" in note]
    assert note.startswith("Reader: odd. Play it again with --only 'odd' --seed 1.")


@pytest.mark.slow
def test_a_refusal_is_an_answer() -> None:
    assert fuzz.one_turn("good", Reader(_refuses, [b"a"]), 1) > 5


@pytest.mark.slow
def test_no_bytes_crash_a_reader_or_hold_it_up() -> None:
    command = [sys.executable, "-m", "tools.fuzz", "--seconds", str(count(600, 20)), "--seed", "1"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-3_000:]
