"""A test that hangs ends its process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEST = """
import threading
from tests.support import hangs

hangs.LIMIT = 0.2


def test_it_begins():
    pass


def test_it_hangs():
    threading.Event().wait()
"""


@pytest.mark.slow
def test_it_says_where_it_hangs_and_the_process_ends(tmp_path: Path) -> None:
    """The conftest of all tests is used; the limit counts from the first test."""
    (tmp_path / "test_it.py").write_text(TEST)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest",
         "--rootdir", str(tmp_path), "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "EVERY": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Timeout (0:00:00.200000)!" in done.stderr
    assert re.search(r'test_it\.py", line \d+ in test_it_hangs', done.stderr)
