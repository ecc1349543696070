"""How the process ends: what was begun is put away, and nothing that others do is cut off."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT

AT_EXIT = "import atexit; atexit.register(print, 'put away')"
IN_A_THREAD = """
import threading, time
def wait():
    threading.main_thread().join()
    print('ended by itself')
threading.Thread(target=wait).start()
"""
CLOSED = "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); print('lost', end='')"


def end(before: str, args: list[str], folder: Path) -> tuple[int, str, str]:
    program = f"import sys; sys.argv = {['ghp', *args]!r}\n{before}\n"
    program += "from ghp_agents.cli.main import main\nmain()\n"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder, env={"PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "last"), [(AT_EXIT, "put away"), (IN_A_THREAD, "ended by itself")]
)
def test_the_process_ends_after_all_that_was_begun(before: str, last: str, tmp_path: Path) -> None:
    code, out, err = end(before, ["agent-where", "--help"], tmp_path)
    assert (code, out.splitlines()[-1], err) == (0, last, "")


def test_the_exit_code_is_that_of_the_command(tmp_path: Path) -> None:
    code, out, err = end("", ["agent-where", "1"], tmp_path)
    assert (code, out) == (5, "")
    assert "is not inside a git repository" in err


@pytest.mark.slow
def test_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    code, out, _ = end(CLOSED, ["agent-where", "--help"], tmp_path)
    assert (code != 0, out) == (True, "")
