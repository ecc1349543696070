"""Output goes wherever our caller wants it, and nowhere without harm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, Result, invoke


def shell(repo: Path, line: str) -> Result:
    """A line for a shell; `ghp` in it is ours."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'ghp() {{ "{sys.executable}" -m ghp_agents "$@"; }}\n{line}'],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def made(repo: Path) -> Path:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    return repo


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("words", ["agent-issues --json", "agent-issue new T", "agent-log"])
def test_a_place_that_is_full_is_an_error_of_the_place(made: Path, words: str) -> None:
    code, _, err = shell(made, f"ghp {words} >/dev/full")
    assert (code, err.splitlines()[-2:]) == (
        1,
        [
            "Error: The output cannot be written: No space left on device.",
            "Hint: Give it another place. What was acknowledged is kept.",
        ],
    )


def test_a_reader_that_leaves_is_no_error(made: Path) -> None:
    assert shell(made, "ghp agent-issues | true") == (0, "", "")


def test_a_stream_that_is_closed_leads_nowhere(made: Path) -> None:
    assert shell(made, "ghp agent-issue new Second >&-").code == 0
    assert shell(made, "ghp agent-issue new Third 2>&-") == (0, "3\n", "")
    assert shell(made, "ghp agent-issue comment 1 Words <&- >&- 2>&-") == (0, "", "")
    code, _, err = shell(made, "ghp agent-issue comment 1 - <&-")
    assert (code, err.splitlines()[0]) == (2, "Error: The comment is empty.")
    listed = json.loads(invoke("agent-issues --json", made).out)
    assert [issue["title"] for issue in listed] == ["Parse the input", "Second", "Third"]
    assert [comment["body"] for comment in listed[0]["comments"]] == ["Words"]
