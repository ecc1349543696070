"""Writers to be killed: they say, beat, fold and sync until somebody ends them.

Run as `python -m tests.state.victims`, this is a nursery: each line `FOLDER NAME SEED LOG` on its
standard input forks one writer, which costs a millisecond and not the start of Python; its number
is the answer. A writer appends to LOG what was acknowledged to it, and what went wrong.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ghp_agents.core.clock import SystemClock
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.workspace import Workspace, open_workspace
from tests.state.worker import CHECKOUT, say


class Nursery:
    """Where writers come from: a module whose program is `main` of this one."""

    def __init__(self, module: str = "tests.state.victims") -> None:
        self.module = module

    def __enter__(self) -> "Nursery":
        self._process = subprocess.Popen(
            [sys.executable, "-m", self.module],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=20)

    def start(self, folder: Path, name: str, seed: int, log: Path) -> int:
        """One more writer; its process number."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder}\t{name}\t{seed}\t{log}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def children(pid: int) -> list[int]:
    """The processes that a process has started itself: its git, in a session of its own."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def kill(pid: int, *, git_too: bool) -> None:
    """End a writer, and its git as well, as a machine that goes down does."""
    os.kill(pid, signal.SIGSTOP)  # so that it starts nothing while we look
    doomed = [pid, *children(pid)] if git_too else [pid]
    for process in doomed:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def work(ws: Workspace, name: str, chance: random.Random, log: int) -> None:
    """Act for ever, and write down what is acknowledged."""
    store = GitRefsStore(ws)
    epoch = (presencefile.newest(ws.folders, name) or {"epoch": 0})["epoch"] + 1
    pulse.beat(ws.folders, name, {}, ws.clock.now(), epoch=epoch)
    number = 0
    while True:
        number += 1
        verb = chance.choice(("say", "say", "beat", "beat", "beat", "fold", "sync"))
        if verb == "say":
            record = f"{name}-{epoch}-{number}"
            say(ws, store, record)
            acknowledge(log, f"said {record}")
        elif verb == "beat":
            pulse.beat(ws.folders, name, {"lastAction": f"{epoch}-{number}"}, ws.clock.now())
            fields = presencefile.newest(ws.folders, name) or {}
            acknowledge(log, f"beat {name} {fields.get('epoch')} {fields.get('seq')}")
        elif verb == "fold":
            store.fold()
            acknowledge(log, "folded")
        else:
            report = store.sync()
            acknowledge(log, f"trouble {report.trouble}" if report.trouble else "synced")


Work = Callable[[Workspace, str, random.Random, int], None]


def warm_up(folder: str) -> None:
    """Import all that a writer needs, which takes longer than a writer lives."""
    ws = open_workspace(Path(folder), dict(os.environ), SystemClock())
    store = GitRefsStore(ws)
    say(ws, store, f"warm-up-in-{ws.folder.name}")
    store.fold()
    store.sync()


def acknowledge(log: int, line: str) -> None:
    """One line, at once, so that it is there when we are not any more."""
    os.write(log, f"{line}\n".encode())


def main(work: Work = work) -> None:
    """Fork writers until there are no more lines."""
    warm: set[str] = set()
    for line in sys.stdin:
        folder, name, seed, path = line.rstrip("\n").split("\t")
        if folder not in warm:
            warm_up(folder)
            warm.add(folder)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        pid = os.fork()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if pid:
            sys.stdout.write(f"{pid}\n")
            sys.stdout.flush()
            continue
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            ws = open_workspace(Path(folder), dict(os.environ), SystemClock())
            work(ws, name, random.Random(seed), log)
        except BaseException as error:  # noqa: BLE001 - the test reads it
            acknowledge(log, f"error {type(error).__name__}: {error}")
        os._exit(1)


if __name__ == "__main__":
    main()
