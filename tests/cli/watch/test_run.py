"""The watch on a real terminal: how it begins and how it ends."""

import contextlib
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from ghp_agents.core.extras import how_to_install
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import CHECKOUT, invoke, succeed
from tests.support.watching import EXTRA

TIMEOUT_S = 30.0
LEFT_ALTERNATE_SCREEN = b"\x1b[?1049l"


class Shown:
    """A watch on a terminal of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", leader: int, follower: int) -> None:
        self.process, self.leader, self.follower = process, leader, follower
        self.output = b""

    def read_until(self, text: bytes) -> None:
        """Read until this was shown."""
        while text not in self.output:
            assert select.select([self.leader], [], [], TIMEOUT_S)[0], self.output[-2000:]
            self.output += os.read(self.leader, 65536)

    def end(self) -> int:
        """Its exit code, once all that it wrote is read."""
        with contextlib.suppress(OSError):
            while self.process.poll() is None or select.select([self.leader], [], [], 0)[0]:
                if select.select([self.leader], [], [], 0.05)[0]:
                    self.output += os.read(self.leader, 65536)
        return self.process.wait(TIMEOUT_S)


@contextlib.contextmanager
def watching(cwd: Path, *, controls: bool = True) -> Iterator[Shown]:
    """`controls`: the terminal sends its signals, as a person's does."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", "agent-status", "--watch"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
        preexec_fn=(lambda: ioctl(0, termios.TIOCSCTTY, 0)) if controls else None,
    )
    shown = Shown(process, leader, follower)
    try:
        shown.read_until(b"worker-1")
        yield shown
    finally:
        process.kill()
        process.wait()
        for descriptor in (leader, follower):
            with contextlib.suppress(OSError):
                os.close(descriptor)


@pytest.fixture
def team(repo: Path) -> Path:
    pytest.importorskip("textual", reason=EXTRA)
    succeed(repo, "agent-heartbeat --as worker-1 --status testing")
    return repo


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code"),
    [
        (b"q", 0),
        (b"\x03", 0),
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
        (signal.SIGHUP, 129),
    ],
)
def test_it_ends_at_once_and_leaves_the_terminal_as_it_was(
    team: Path, how: "bytes | signal.Signals", code: int
) -> None:
    with watching(team) as shown:
        if isinstance(how, bytes):
            os.write(shown.leader, how)
        else:
            shown.process.send_signal(how)
        assert shown.end() == code
        assert LEFT_ALTERNATE_SCREEN in shown.output
        assert b"Traceback" not in shown.output
        flags = termios.tcgetattr(shown.follower)[3]
        assert flags & termios.ECHO
        assert flags & termios.ICANON


@pytest.mark.slow
@pytest.mark.parametrize("controls", [True, False])
def test_it_ends_when_its_terminal_is_closed(team: Path, controls: bool) -> None:
    with watching(team, controls=controls) as shown:
        os.close(shown.follower)
        os.close(shown.leader)
        assert shown.process.wait(TIMEOUT_S) == 129


@pytest.mark.slow
def test_the_question_of_an_agent_that_is_gone_is_shown_and_answered(repo: Path) -> None:
    pytest.importorskip("textual", reason=EXTRA)
    from ghp_agents.cli.watch.clone_look import CloneLook
    from ghp_agents.reports.overview import Overview

    clock = ManualClock()  # in June 2025
    app = App(repo, os.environ, name="worker-1", clock=clock)
    presence.heartbeat(app.ws, app.store, app.ws.agent(), {"status": "testing"})
    name = invoke('agent-escalate "Tabs?" --as worker-1', repo, clock=clock).out.strip()
    invoke("agent-heartbeat --as worker-2", repo, clock=clock)
    app.store.fold()
    for path in repo.glob(".git/ghp/agents/*.json"):
        path.unlink()
    assert "worker-2" not in invoke("agent-status", repo).out, "it is gone, and asks nothing"
    with watching(repo) as shown:
        shown.read_until(name[:6].encode())
        os.write(shown.leader, b"q")
        assert shown.end() == 0
        assert b"worker-2" not in shown.output
    look = CloneLook(App(repo, os.environ), Overview)
    assert look.question(name).agent == "worker-1"
    assert look.answer(name, "eight").code == 0
    assert invoke("agent-status", repo).out == "", "nobody is left who needs a person"


def test_without_the_extra_one_line_says_what_to_install(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ghp_agents.cli.watch import run
    from ghp_agents.reports.overview import Overview

    monkeypatch.setattr(run, "find_spec", lambda name: None)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    lines: list[str] = []
    monkeypatch.setattr("ghp_agents.cli.output.say", lines.append)
    assert run.run(App(repo, os.environ), Overview) is False
    assert lines == [
        f"Keys, details and answers need the extra `tui`. To install it: {how_to_install('tui')}"
    ]


def test_where_nobody_can_type_it_is_the_table_that_refreshes(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ghp_agents.cli.watch import run
    from ghp_agents.reports.overview import Overview

    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert run.run(App(repo, os.environ), Overview) is False


def test_without_a_terminal_it_says_what_to_use_instead(repo: Path) -> None:
    done = invoke("agent-status --watch", repo)
    assert (done.code, done.err) == (
        2,
        "Error: --watch needs a terminal.\n"
        "Hint: For a script, use `ghp agent-log --follow --json`.\n",
    )
