"""Child processes. This module and `git/process.py` start all programs, except those that the hot
path starts without `subprocess`."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ghp_agents.core import moment, progress, trace
from ghp_agents.core.errors import GhpError

END_GRACE_S = 5.0  # seconds that a command has to end after SIGTERM
END_LOOK_S = 0.02  # seconds between two looks whether it has


class Ended(NamedTuple):
    """A program's exit code and output."""

    code: int
    out: str
    err: str


class Child:
    """A program that runs in its own session."""

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._popen.poll()

    def kill(self) -> None:
        """Kill it at once, as a crash would; it cannot react."""
        self._popen.kill()
        self._popen.wait()


@moment.ends
def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float) -> Ended:
    """Run a program to its end. Raises GhpError after `timeout` seconds."""
    trace.command(command)
    try:
        done = subprocess.run(
            command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise GhpError(
            f"`{' '.join(command)}` did not finish within {timeout:.0f} s.",
            hint="Try again when the machine is less busy.",
        ) from None
    return Ended(done.returncode, done.stdout, done.stderr)


@moment.ends
def foreground(command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> int:
    """Run a program on this terminal to its end; returns its exit code. Raises OSError."""
    return subprocess.run(command, cwd=cwd, env=dict(env), check=False).returncode


@moment.ends
def watched(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float,
    tick: Callable[[], None],
) -> int | None:  # fmt: skip
    """Run a program in our own process group, with our output, to its end; returns its exit code,
    or None if it is killed after `timeout` seconds. `tick` is called once a second. Raises
    OSError."""
    with subprocess.Popen(command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL) as process:
        for _ in range(max(1, round(timeout))):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(1.0)
            tick()
        process.kill()
    return None


@moment.ends
def start(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path, append: bool = False,
    first: Callable[[], None] | None = None,
) -> Child:  # fmt: skip
    """Start a program; its output goes to the file `log`, or to its end. `first` is called in the
    new process. Raises OSError."""
    with log.open("ab" if append else "wb") as sink:
        popen = subprocess.Popen(
            command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL,
            stdout=sink, stderr=sink, start_new_session=True, preexec_fn=first,
        )  # fmt: skip
    return Child(popen)


@contextlib.contextmanager
def reader(command: str, env: Mapping[str, str]) -> Iterator[IO[bytes]]:
    """The standard input of a shell's command that reads to the end, such as a pager.

    It is waited for, also if the person interrupts us: the terminal belongs to it.
    """
    trace.command([command])
    process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, env=dict(env))
    assert process.stdin is not None
    try:
        yield process.stdin
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        while process.returncode is None:
            with contextlib.suppress(KeyboardInterrupt):
                process.wait()


@moment.ends
def pipe(
    command: Sequence[str], given: bytes, *, cwd: Path, env: Mapping[str, str], timeout: float,
    most: int,
) -> bytes:  # fmt: skip
    """What a program prints until it ends, is killed after `timeout` seconds, or has printed `most`
    bytes. It reads `given`; its errors are not shown."""
    from threading import Timer

    with subprocess.Popen(
        command, cwd=cwd, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(timeout, process.kill)
        alarm.start()
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin as sink:
                sink.write(given)
            return process.stdout.read(most)
        finally:
            alarm.cancel()
            process.kill()


@moment.ends
def feed(
    command: str, given: bytes, *, cwd: Path, env: Mapping[str, str], timeout: float
) -> int | None:
    """Run a shell's command that reads `given`, to its end; it prints where we print. Returns its
    exit code; None if it took more than `timeout` seconds. Then, or if we are interrupted, it is
    ended with its children."""
    trace.command([command])
    held: list[int] = []
    with _holding_signals(held):  # one that came before we know the process would leave it behind
        process = subprocess.Popen(
            ["/bin/sh", "-c", command], cwd=cwd, env=dict(env), stdin=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
    with process:
        try:
            for number in held:
                signal.raise_signal(number)
            process.communicate(given, timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                _end_group(process)
    return process.returncode


@contextlib.contextmanager
def _holding_signals(held: list[int]) -> Iterator[None]:
    """In this block, signals that would end us are only noted. For the main thread."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    own = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in own:
        signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for number, handler in own.items():
            signal.signal(number, handler)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process and its children: they have a few seconds, then they are killed."""
    from ghp_agents.core.clock import SystemClock

    group, clock = process.pid, SystemClock()
    with contextlib.suppress(ProcessLookupError):  # all have ended
        os.killpg(group, signal.SIGTERM)
        end = clock.interval()[1] + END_GRACE_S
        while clock.interval()[1] < end:
            process.poll()
            os.killpg(group, 0)
            clock.wait(END_LOOK_S)
        os.killpg(group, signal.SIGKILL)
    process.wait()


class Ran(NamedTuple):
    """A shell command's exit code, and its output on both streams without the middle."""

    code: int
    output: str
    timed_out: bool = False


SHOWN_FIRST = 4_000  # bytes of the beginning that are always kept
_KILLED = -9


@moment.ends
def shell(
    command: str, *, cwd: Path, env: Mapping[str, str], timeout: float, keep: int = 64_000
) -> Ran:
    """Run a shell command for at most `timeout` seconds, then kill it and its children. Background
    processes that it leaves delay nobody."""
    from threading import Thread

    kept = _Kept(keep)
    with subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        reader = Thread(target=kept.read, args=(pipe,), daemon=True)
        reader.start()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            return Ran(_KILLED, kept.text, timed_out=True)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            reader.join(1.0)
    return Ran(process.returncode, kept.text)


class _Kept:
    """The first and the last bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._first = b""
        self._last = b""
        self._left_out = 0

    def read(self, descriptor: int) -> None:
        """Read to the end of the stream."""
        with contextlib.suppress(OSError):
            while some := os.read(descriptor, 65_536):
                progress.note_output(some)
                room = SHOWN_FIRST - len(self._first)
                self._first += some[:room]
                self._last += some[room:] if room < len(some) else b""
                over = max(0, len(self._last) - (self._limit - SHOWN_FIRST))
                self._last, self._left_out = self._last[over:], self._left_out + over

    @property
    def text(self) -> str:
        """The kept bytes as text, with a note about the omitted ones."""
        gap = f"\n… ({self._left_out} bytes are left out)\n" if self._left_out else ""
        whole = self._first + gap.encode() + self._last
        return whole.decode("utf-8", "replace")
