"""The program in a process of its own, without the start of Python and its imports.

A server with the package imported forks a process for each call: its own environment, folder,
standard streams, and end. Where a test changes what Python itself reads at its start, it is
started, as users do.
"""

import atexit
import contextlib
import gc
import io
import json
import os
import pkgutil
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
PROGRAM = "ghp_agents.cli.main"
# What Python or its loader reads when it starts.
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "DYLD_", "MALLOC_")
LONGEST_INPUT = 60_000  # bytes; what a pipe takes at once
# Large libraries of few commands.
NOT_READY = ("demo", "mcp", "search", "syntax", "watch")
Closable = socket.socket | selectors.BaseSelector
Bytes = subprocess.CompletedProcess[bytes]


def run(
    args: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = 60,
) -> Bytes:
    """`python -P -m ghp_agents ARGS` in a process of its own; `env` is put over the environment."""
    command = [sys.executable, "-P", "-m", "ghp_agents", *args]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), **(env or {})}
    address, at_start = _server()
    if _read_at_start(env) != at_start or len(stdin) > LONGEST_INPUT or not cwd.is_dir():
        return subprocess.run(
            command, cwd=cwd, env=env, input=stdin, capture_output=True, timeout=timeout
        )
    request = {"argv": [str(arg) for arg in args], "cwd": str(cwd), "env": env}
    pipes = [os.pipe() for _ in range(3)]
    (take, give), (out, put), (err, warn) = pipes
    os.write(give, stdin)
    os.close(give)
    with _asked(address, request, take, put, warn) as to:
        try:
            code, shown, errors = _answer(to, out, err, command, timeout)
        finally:
            os.close(out)
            os.close(err)
    return Bytes(command, code, shown, errors)


class Forked:
    """A process with text pipes; it has those parts of `subprocess.Popen` that tests use."""

    def __init__(self, to: socket.socket, stdin: int, stdout: int) -> None:
        self._to = to
        self.pid = int.from_bytes(_exactly(to, 4), "big")
        self.stdin, self.stdout = open(stdin, "w"), open(stdout)  # noqa: SIM115
        self.returncode: int | None = None

    def communicate(self, text: str = "", timeout: float = 60) -> tuple[str, None]:
        """Write, read until the end, and wait."""
        timer = threading.Timer(timeout, self.kill)
        timer.start()
        with contextlib.suppress(BrokenPipeError):
            self.stdin.write(text)
            self.stdin.close()
        shown = self.stdout.read()
        self.stdout.close()
        timer.cancel()
        self.wait(timeout)
        return shown, None

    def poll(self) -> int | None:
        """How it ended; None if it still runs."""
        if self.returncode is None and select.select([self._to], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float = 60) -> int:
        """How it ended. Raises TimeoutError."""
        if self.returncode is None:
            self._to.settimeout(timeout)
            self.returncode = int.from_bytes(_exactly(self._to, 4), "big", signed=True)
            self._to.close()
        return self.returncode

    def kill(self) -> None:
        """End it as a crash does."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> "Forked":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        self.wait()
        self.stdout.close()


def start(module: str, args: Sequence[str], env: Mapping[str, str] | None = None) -> Forked:
    """`python -m MODULE ARGS` in the checkout, in a process that is forked from a server of this
    module, so that what it and its `warm_up` import is imported once."""
    address, _ = _server(module)
    request = {"argv": [*args], "cwd": str(CHECKOUT), "env": {**os.environ, **(env or {})}}
    (take, give), (out, put), warn = os.pipe(), os.pipe(), os.dup(2)
    return Forked(_asked(address, request, take, put, warn), give, out)


def _asked(address: str, request: dict[str, Any], *streams: int) -> socket.socket:
    """A connection to a server that forks a process with these streams, which are closed here."""
    to = socket.socket(socket.AF_UNIX)
    to.connect(address)
    text = json.dumps(request, ensure_ascii=True).encode()
    socket.send_fds(to, [len(text).to_bytes(4, "big")], [*streams])
    to.sendall(text)
    for number in streams:
        os.close(number)
    return to


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


def _answer(
    to: socket.socket, out: int, err: int, command: list[str], timeout: float
) -> tuple[int, bytes, bytes]:
    """The exit code, and what was written to the two streams, until both are closed."""
    pid = int.from_bytes(_exactly(to, 4), "big")
    read = {out: b"", err: b""}
    end = time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for number in read:
            selector.register(number, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, end - time.monotonic()))
            if not ready:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout, *read.values())
            for key, _ in ready:
                chunk = os.read(key.fd, 1_048_576)
                read[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
    to.settimeout(max(0.001, end - time.monotonic()))
    code = int.from_bytes(_exactly(to, 4), "big", signed=True)
    return code, read[out], read[err]


def _exactly(of: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = of.recv(count - len(data))
        if not chunk:
            raise ConnectionError("The fork server ended.")
        data += chunk
    return data


@cache
def _server(module: str = PROGRAM) -> tuple[str, dict[str, str]]:
    """The socket of a server of a module, which ends with this process, and what Python read when
    that was started."""
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "LC_ALL": "C.UTF-8"}
    folder = Path(tempfile.mkdtemp(prefix="ghp-fork-"))
    address = f"{folder}/socket"
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.support.fork_server", address, module],
        cwd="/",
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    atexit.register(_end, server, folder)
    return address, _read_at_start(env)


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.communicate()  # it ends when its standard input is closed
    shutil.rmtree(folder)


# ------------------------------------------------------------------------------- in the server


def serve(address: str, module: str) -> None:
    """Fork for each connection, until standard input is closed."""
    started = import_module(module)
    if module == PROGRAM:
        import_all()
    elif warm_up := getattr(started, "warm_up", None):
        warm_up()
    # A collection in a forked process would copy all pages with objects: 50 ms.
    gc.collect()
    gc.freeze()
    running: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listener, _ends_of_children() as ends:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"ready\n")
        with selectors.DefaultSelector() as selector:
            for source in (listener, ends, 0):
                selector.register(source, selectors.EVENT_READ)
            while 0 not in (ready := [key.fileobj for key, _ in selector.select()]):
                if listener in ready:
                    connection, _ = listener.accept()
                    servers: list[Closable] = [listener, selector, ends, *running.values()]
                    running[_fork(connection, servers, started.main)] = connection
                _report_ends(ends, running)


@contextlib.contextmanager
def _ends_of_children() -> Iterator[socket.socket]:
    """A socket that can be read when a child has ended."""
    ends, signals = socket.socketpair()
    with ends, signals:
        for end in (ends, signals):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(signals.fileno(), warn_on_full_buffer=False)
        yield ends


def _report_ends(ends: socket.socket, running: dict[int, socket.socket]) -> None:
    """Tell those who wait how their processes ended."""
    with contextlib.suppress(BlockingIOError):
        ends.recv(4096)
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(ended[1])
            with running.pop(ended[0]) as connection, contextlib.suppress(OSError):
                connection.sendall(code.to_bytes(4, "big", signed=True))


def import_all() -> None:
    """Import what commands import when they run."""
    import ghp_agents

    for module in pkgutil.walk_packages(ghp_agents.__path__, "ghp_agents."):
        parts = module.name.split(".")
        if "__main__" not in parts and not {*NOT_READY} & {*parts}:
            with contextlib.suppress(ImportError):
                import_module(module.name)


def _fork(
    connection: socket.socket, servers: Iterable[Closable], main: Callable[[], object]
) -> int:
    """Run one command in a process without what is the server's; answers its id."""
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    request = json.loads(_exactly(connection, int.from_bytes(head, "big")))
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (connection, *servers):
            end.close()
        _become(request, streams, main)
    for number in streams:
        os.close(number)
    with contextlib.suppress(OSError):  # who asked may have ended
        connection.sendall(pid.to_bytes(4, "big"))
    return pid


def _become(request: dict[str, Any], streams: Sequence[int], main: Callable[[], object]) -> None:
    """Be a process that Python has just started."""
    code = 1
    try:
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        sys.argv = [str(CHECKOUT / "ghp_agents/__main__.py"), *request["argv"]]
        _open_streams()
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001 - Python itself would print it
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _open_streams() -> None:
    """As Python does where the locale is C.UTF-8."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115
        errors = "backslashreplace" if number == 2 else "surrogateescape"
        stream = io.TextIOWrapper(raw, "utf-8", errors, line_buffering=number == 2)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    serve(*sys.argv[1:])
