"""The processes of a run: a client in a process group of its own, which outlives its supervisor.

A small shell is the leader of the group. It writes the client's exit code to a file, so that any
supervisor can read it later. It stays until the supervisor has read it: if it ended first, the
agent would be dead, and another one could take its issue. For the same reason the client's commands
report the shell as the agent's process, and not the client.

What the client starts stays a descendant of the shell, whatever it leaves: its group, its session
or its parent. So all of it is ended with the run. All processes of a run also have its id in the
variable GHP_RUN, by which they are found if the shell was killed.
"""

import contextlib
import os
import select
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from ghp_agents.cards import container
from ghp_agents.core import process, running
from ghp_agents.core.child_env import for_commands
from ghp_agents.core.process import Child
from ghp_agents.hotpath.background import RUN
from ghp_agents.runs.record import RunRecord
from ghp_agents.worktrees import slots

# The client's words are its positional parameters: the shell reads none of them. With a trap, it
# waits for the client after a signal to the group.
LEADER = """supervisor=$1 ends=
shift
export GHP_AGENT_PID=$$
trap ends=1 TERM INT HUP
"$@"
code=$?
trap '' TERM INT HUP
echo "$code" >"$0.new" && mv -f "$0.new" "$0"
trap - TERM INT HUP
while [ -z "$ends" ] && kill -0 "$supervisor" 2>/dev/null; do sleep 1; done
"""
PROMPT_FILE = "GHP_PROMPT_FILE"
GONE_MS = 5_000  # until a killed process is gone


def environment(
    environ: Mapping[str, str], run: RunRecord, prompt_file: Path, keep: Collection[str]
) -> dict[str, str]:
    """The client's environment: without secrets but those in `keep`, and with the agent's name."""
    own = {"GHP_AGENT": run.agent, RUN: run.id, PROMPT_FILE: str(prompt_file)}
    own |= slots.variables(Path(run.path))
    return {**for_commands(environ, keep), **own, "PWD": run.path}


def start(command: Sequence[str], run: RunRecord, place: Path, environ: Mapping[str, str]) -> Child:
    """Start a client in its worktree; its output is appended to the run's log. Raises OSError."""
    words = ["/bin/sh", "-c", LEADER, str(place / "exit"), str(os.getpid()), *command]
    os.close(os.open(place / "log", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    return process.start(
        words, cwd=Path(run.path), env=environ, log=place / "log", append=True,
        first=running.orphan_keeper(),
    )  # fmt: skip


def lives(run: RunRecord) -> bool:
    """Whether the run's process still runs, also if another supervisor started it."""
    return run.pid > 1 and bool(run.started) and running.identity(run.pid) == run.started


def end(run: RunRecord, wait: Callable[[float], None]) -> None:
    """End all processes of a run: SIGTERM, then SIGKILL to what is left, and its container. Raises
    GhpError."""
    if lives(run):
        with _halted(run.pid):  # a leader that ends leaves its descendants to others
            _end_below(run.pid, wait)
            with contextlib.suppress(OSError):
                os.kill(run.pid, signal.SIGTERM)  # before it sees that its client has ended
        running.end(run.pid, run.started, wait)
    end_container(run)
    end_rest(run.id)


def end_container(run: RunRecord) -> None:
    """Remove a run's container, if it has one. Raises GhpError."""
    if run.container in container.PROGRAMS[container.CONTAINER]:
        container.remove(run.container, run.id, os.environ)


@contextlib.contextmanager
def _halted(pid: int) -> Iterator[None]:
    """Inside, the process does nothing."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGCONT)


def _end_below(pid: int, wait: Callable[[float], None]) -> None:
    """End the descendants of a process: they have some seconds after SIGTERM."""
    for child in running.descendants(pid):
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGTERM)
            os.kill(child, signal.SIGCONT)
    for _ in range(int(running.GRACE_S / running.LOOK_EVERY)):
        if not running.descendants(pid):
            return
        wait(running.LOOK_EVERY)
    kill_below(pid)


def kill_below(pid: int) -> None:
    """Kill the descendants of a process, and wait until they are gone."""
    _kill_all(lambda: running.descendants(pid))


def end_rest(run: str) -> None:
    """Kill the processes that a run has left behind, and wait until they are gone."""
    _kill_all(lambda: marked(run))


def _kill_all(find: Callable[[], list[int]]) -> None:
    for _ in range(20):  # one that is killed may just have started another
        left = find()
        for pid in left:
            with contextlib.suppress(OSError):
                _kill(pid)
        if not left:
            return


def _kill(pid: int) -> None:
    """Kill a process and wait until it is gone: on a busy machine that takes a while. Raises
    OSError."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # Linux before 5.3, or another system
        os.kill(pid, signal.SIGKILL)
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        gone = select.poll()
        gone.register(handle, select.POLLIN)
        gone.poll(GONE_MS)
    finally:
        os.close(handle)


def marked(run: str) -> list[int]:
    """The processes of this user with the run's id in their environment. Only Linux tells."""
    word = f"{RUN}={run}".encode()
    return [pid for pid, variables in running.environments() if word in variables]


def is_run(environ: Mapping[str, str]) -> bool:
    """Whether this process belongs to a run."""
    return bool(environ.get(RUN))
