"""Starts an agent's client in its worktree: in this terminal, or in a window of tmux."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.cli import output
from ghp_agents.core import process
from ghp_agents.core.errors import GhpError, NotSetUpError
from ghp_agents.presence import client_process
from ghp_agents.presence.start_command import CLIENTS
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import slots

PROMPT = "GHP_PROMPT"  # the variable that gives the prompt to any other command
TMUX_LIMIT = 4_000  # characters of a prompt: tmux takes 16 kB, and a character has up to 4 bytes
TIMEOUT_S = 10.0  # seconds for tmux
_UNFIT = re.compile(r"[^\w-]+")  # in a name of a session, `.` and `:` separate


class Launch(NamedTuple):
    """A client to start."""

    command: tuple[str, ...]
    path: Path
    agent: str
    prompt: str
    mark: str  # random

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The client's environment: the caller's, the agent's name, and the mark."""
        own = {"GHP_AGENT": self.agent, client_process.MARK: self.mark}
        own |= {} if self.kind else {PROMPT: self.prompt}
        return {**environ, **own, **slots.variables(self.path)}

    @property
    def kind(self) -> str:
        """The client, if its command line takes a prompt; else empty."""
        return next((kind for kind, words in CLIENTS.items() if words == self.command), "")

    @property
    def words(self) -> list[str]:
        """The whole command line."""
        return [*self.command, self.prompt] if self.kind else [*self.command]


def find(client: str | None, command: Sequence[str], *, tmux: bool) -> tuple[str, ...]:
    """The command of `--run CLIENT` or `-- CMD…`. Raises NotSetUpError if a program is missing."""
    words = CLIENTS[client] if client else tuple(command)
    or_another = ", name another command after `--`" if client else ""
    for program in (words[0], *(["tmux"] if tmux else [])):
        if shutil.which(program) is None:
            raise NotSetUpError(
                f"`{program}` is not installed, or not on PATH; nothing was started.",
                hint=f"Install it{or_another}, or start your agent by hand: `ghp agent-start` "
                "prints where.",
            )
    return words


def here(ws: Workspace, launch: Launch, environ: Mapping[str, str]) -> None:
    """Replace this process by the client. Raises GhpError."""
    output.flush()
    with client_process.alone(ws, launch.agent):
        _note(ws, launch, os.getpid())
    try:
        os.chdir(launch.path)
        os.execvpe(launch.words[0], launch.words, launch.environment(environ))
    except OSError as error:
        client_process.forget(ws, launch.agent)
        client_process.tie(ws, launch.agent, None)
        raise GhpError(
            f"Cannot start `{launch.words[0]}` in {launch.path}: {error.strerror}.",
            hint=f"Start it by hand: `{by_hand(launch.path, launch.words[0])}`.",
        ) from None


def in_tmux(ws: Workspace, launch: Launch, environ: Mapping[str, str]) -> None:
    """Start the client in a new window of the tmux session that is called after the repository.
    Raises GhpError."""
    session = _UNFIT.sub("-", ws.root.name).strip("-") or "agents"
    env = launch.environment(environ)
    own = [
        word
        for name in ("GHP_AGENT", client_process.MARK, PROMPT, *slots.NAMES)
        if name in env
        for word in ("-e", f"{name}={env[name]}")
    ]
    exists = _tmux(launch, environ, "has-session", "-t", f"={session}").code == 0
    begin = ["new-window", "-t", f"={session}:"] if exists else ["new-session", "-d", "-s", session]
    place = ["-P", "-F", "#{pane_pid}", "-n", launch.agent, "-c", str(launch.path)]
    with client_process.alone(ws, launch.agent):
        done = _tmux(launch, environ, *begin, *place, *own, "--", *launch.words)
        if done.code == 0 and done.out.strip().isdigit():
            _note(ws, launch, int(done.out))
    if done.code != 0:
        raise GhpError(
            f"tmux did not start `{launch.words[0]}`: {done.err.strip()[:200]}.",
            hint=f"Start it by hand: `{by_hand(launch.path, launch.words[0])}`.",
        )
    output.done(
        f"Started {launch.words[0]} in window {launch.agent} of the tmux session {session}. "
        f"To see it: tmux attach -t {session}"
    )


def _note(ws: Workspace, launch: Launch, pid: int) -> None:
    """Note the client's process. Any other command may return while its agent works."""
    client_process.note(ws, launch.agent, pid, launch.mark)
    if launch.kind:
        client_process.tie(ws, launch.agent, pid, launch.kind)


def _tmux(launch: Launch, environ: Mapping[str, str], *args: str) -> process.Ended:
    return process.run(["tmux", *args], cwd=launch.path, env=environ, timeout=TIMEOUT_S)


def by_hand(path: Path, program: str) -> str:
    """The line that a person types."""
    return f"cd {shlex.quote(str(path))} && {shlex.quote(program)}"
