"""No bytes of others crash a reader or hold it up."""

import subprocess
import sys
import time

import pytest

from tests.support.house import CHECKOUT
from tests.support.thorough import count
from tools import fuzz


def _busy(_data: bytes) -> None:
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass


def _fails(_data: bytes) -> None:
    raise KeyError("a")


def _refuses(_data: bytes) -> None:
    raise ValueError("no")


@pytest.mark.slow
def test_a_reader_that_crashes_or_is_slow_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    readers = {"odd": _fails, "slow": _busy, "good": _refuses}
    monkeypatch.setattr(fuzz, "SLOW_S", 0.01)
    monkeypatch.setattr(fuzz, "READERS", readers)
    assert fuzz.fuzz("odd", 0, 5).startswith("odd: KeyError: 'a'")
    assert fuzz.fuzz("slow", 0, 2).startswith("slow: SlowError: took ")
    monkeypatch.setattr(fuzz, "MOST_KB", 10**9)
    assert fuzz.fuzz("good", 0, 5) == ""


@pytest.mark.slow
def test_no_bytes_crash_a_reader_or_hold_it_up() -> None:
    command = [sys.executable, "-m", "tools.fuzz", str(count(600, 60))]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
