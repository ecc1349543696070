"""Somebody continues in another clone after the client of an agent was killed, with the program
itself, the background and the processes that users have."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, Result, run_ghp

ON = {"GHP_BACKGROUND": "1", "PYTHONPATH": str(CHECKOUT)}
WRITES = "echo precious > precious.txt; echo ready; exec sleep 1000"


def ghp(folder: Path, line: str, code: int = 0) -> Result:
    """A command that ends with `code`."""
    done = run_ghp(line, folder, ON)
    assert done.code == code, (line, done)
    return done


@contextlib.contextmanager
def killed_client(folder: Path) -> Iterator[None]:
    """A client of worker-1 for issue 1 that has left a file, and was killed with its group."""
    words = ["agent-start", "1", "--as", "worker-1", "--", "sh", "-c", WRITES]
    with subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", *words], cwd=folder, env={**os.environ, **ON},
        start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as client:  # fmt: skip
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        os.killpg(client.pid, signal.SIGKILL)
    try:
        yield
    finally:  # what stays in the background ends with the folder
        (folder / ".git/ghp").rename(folder / ".git/gone")


@pytest.fixture
def two(clones: Callable[[int], list[Path]]) -> Iterator[tuple[Path, Path]]:
    """Two clones that know of issue 1; worker-1 was killed in the first."""
    one, other = clones(2)
    ghp(one, "agent-issue new Task --as @me")
    ghp(one, "agent-sync")
    ghp(other, "agent-sync")
    with killed_client(one):
        yield one, other


def restored(place: Path, name: str = "") -> str:
    """The precious file, after the handoff was restored in the worktree of worker-2."""
    handoff = f" --handoff {name}" if name else ""
    ghp(place, f"agent-resume --apply{handoff} --as worker-2")
    return (place / "precious.txt").read_text()


@pytest.mark.slow
def test_who_was_given_the_issue_is_told_of_the_work_and_gets_it_when_it_arrives(
    two: tuple[Path, Path],
) -> None:
    one, other = two
    refused = ghp(other, "agent-start 1 --as worker-2", 3).err
    assert re.search(r"in its clone \w+: `ghp agent-stop worker-1 --now`", refused)
    unsent = "Uncommitted work of worker-1, if there is any, is in clone "
    assert unsent in ghp(other, "agent-release 1 --to worker-2 --as @me").err
    assert unsent in ghp(other, "agent-start 1 --as worker-2").out
    place = Path(ghp(other, "agent-where 1").out.strip())
    ghp(one, "agent-sync")
    ghp(place, "agent-sync")
    told = ghp(place, "agent-status --as worker-2").out
    line = r"The work that a former holder of #1 left in another clone is here: .*(H-\w+)` shows"
    found = re.search(line, told)
    assert found
    assert unsent not in ghp(place, "agent-resume --as worker-2").out
    assert restored(place, found[1]) == "precious\n"


@pytest.mark.slow
def test_what_a_stop_frees_is_free_in_another_clone_at_once_and_with_its_work(
    two: tuple[Path, Path],
) -> None:
    one, other = two
    assert "#1 is free again.\n" in ghp(one, "agent-stop worker-1 --now --as @me").err
    started = ghp(other, "agent-start 1 --as worker-2")
    assert "No handoff yet" not in started.out
    assert "resume --issue 1 --apply` restores it" in started.out
    assert restored(Path(ghp(other, "agent-where 1").out.strip())) == "precious\n"


@pytest.mark.slow
@pytest.mark.parametrize("end", ["agent-release 1 --to worker-2", "agent-issue close 1"])
def test_a_stop_after_the_claim_was_gone_saves_the_work_too(
    two: tuple[Path, Path], end: str
) -> None:
    one, other = two
    ghp(other, f"{end} --as @me")
    ghp(one, "agent-stop worker-1 --now --as @me")  # or the background was faster
    known = ghp(one, "agent-resume --issue 1 --as @me").out
    assert "resume --issue 1 --apply` restores it" in known


@pytest.mark.slow
def test_the_first_command_of_a_fresh_clone_knows_the_handoff(
    two: tuple[Path, Path], clones: Callable[[int], list[Path]]
) -> None:
    one, _ = two
    ghp(one, "agent-stop worker-1 --now --as @me")
    (fresh,) = clones(1)
    for command in ("agent-resume --issue 1 --as @me", "agent-start 1 --as worker-2"):
        assert "resume --issue 1 --apply` restores it" in ghp(fresh, command).out
