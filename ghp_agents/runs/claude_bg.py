"""`python -m ghp_agents.runs.claude_bg`: a run in Claude Code's own agent view.

`claude --bg` hands the session to Claude Code's daemon, where a person watches it with
`claude agents` and enters it with `claude attach`. The daemon starts the session, so it has neither
our environment nor our process group. This program stands for it: it prints what the session
writes, ends when the session rests, and ends the session when it is ended (tried with 2.1.329).
"""

import argparse
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ghp_agents.core import process, stored_logins
from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.core.json_file import object_file
from ghp_agents.hotpath.background import RUN
from ghp_agents.hotpath.quoting import clean

PROGRAM = "claude"
TIMEOUT_S = 60.0  # of one command of Claude Code
LOOK_EVERY = 1.0  # seconds between two looks at the transcript, a file
ASK_EVERY = 10  # looks between two questions for the state, which cost 0.2 s of a processor each
ASK_SOON = 3  # looks, when it may be over
RESTS = 2  # answers in a row that say so; between two calls a session rests for a moment
OVER, GONE = ("done", "failed", "stopped"), "gone"
FILE = "claude-bg"  # in the run's folder: the id of the session
LINE_LIMIT = 4_000_000
_STARTED = re.compile(r"backgrounded · ([0-9a-f]{4,40})")


class SessionState(NamedTuple):
    """The state of a session as `claude agents` reports it; `over` is empty while it works."""

    session: str = ""
    over: str = ""
    waits_for: str = ""


class BackgroundClaude:
    """A session of Claude Code's daemon. `env` is what its commands run with."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder, self._env = folder, env

    def start(self, prompt: str, args: Sequence[str]) -> str:
        """Start a session; returns its id. Raises GhpError."""
        names = ("GHP_AGENT", "GHP_AGENT_PID", RUN, *stored_logins.names(self._env))
        own = {name: self._env[name] for name in names if name in self._env}
        # The worktree is the agent's own; Claude Code would make another one inside of it.
        settings = {"worktree": {"bgIsolation": "none"}, "env": own}
        ended = self._run(
            "--bg", prompt, "--permission-mode", "acceptEdits",
            "--allowedTools=Bash(git:*),Bash(ghp:*)", "--settings", json.dumps(settings),
            *(["--name", own["GHP_AGENT"]] if "GHP_AGENT" in own else []), *args,
        )  # fmt: skip
        match = _STARTED.search(ended.out)
        if not match:
            why = one_line(clean(ended.err or ended.out), 300) or f"exit code {ended.code}"
            raise GhpError(
                f"Claude Code started no background session: {why}",
                hint="Try `claude --bg Hello` in the worktree; or use `--runner claude`.",
            )
        return match[1]

    def state(self, id_: str) -> SessionState | None:
        """The state of a session; None if Claude Code does not report it. Raises GhpError."""
        try:
            listed = json.loads(self._run("agents", "--json", "--all").out)
        except (ValueError, RecursionError):
            return None
        sessions = [
            session for session in listed if isinstance(session, dict) and session.get("id") == id_
        ]
        return state_of(sessions[0]) if sessions else SessionState(over=GONE)

    def stop(self, id_: str) -> None:
        """End a session; its conversation stays in `claude agents`."""
        with contextlib.suppress(GhpError, OSError):
            self._run("stop", id_)

    def transcript(self, session: str) -> Path | None:
        """The file with a session's conversation, once it is there."""
        base = self._env.get("CLAUDE_CONFIG_DIR") or f"{self._env.get('HOME') or ''}/.claude"
        is_id = bool(re.fullmatch(r"[0-9a-f-]{8,64}", session))
        return next(Path(base).glob(f"projects/*/{session}.jsonl"), None) if is_id else None

    def _run(self, *words: str) -> process.Ended:
        return process.run(
            [PROGRAM, *words], cwd=self._folder, env=self._env, timeout=TIMEOUT_S
        )  # fmt: skip


def state_of(fields: Mapping[str, Any]) -> SessionState:
    """A session in the list of `claude agents --json`."""
    texts = {key: value for key, value in fields.items() if isinstance(value, str)}
    state, status = texts.get("state", ""), texts.get("status", "")
    over = state if state in OVER else "resting" if status == "idle" else ""
    return SessionState(texts.get("sessionId", ""), over, texts.get("waitingFor", ""))


class TranscriptReader:
    """The messages of a session as it writes them; each line is JSON as in `claude -p`."""

    def __init__(self) -> None:
        self._offset, self._rest = 0, b""

    def lines(self, path: Path | None) -> Iterator[str]:
        """The new lines with messages of the agent and of its tools."""
        if path is None:
            return
        try:
            with path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return
        self._offset += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            if message := _message(line):
                yield message


def _message(line: bytes) -> str:
    """The line as `claude -p` would print it; empty for others."""
    try:
        fields = json.loads(line) if len(line) < LINE_LIMIT else None
    except (ValueError, RecursionError):
        return ""
    if not isinstance(fields, dict) or fields.get("type") not in ("assistant", "user"):
        return ""
    parent = "sidechain" if fields.get("isSidechain") is True else None
    kept = {"type": fields["type"], "message": fields.get("message"), "parent_tool_use_id": parent}
    return json.dumps(kept)


def main(argv: Sequence[str]) -> int:
    """Run one session; returns the exit code."""
    parser = argparse.ArgumentParser(prog="claude-bg", allow_abbrev=False)
    parser.add_argument("--prompt-file", type=Path, required=True)
    given, args = parser.parse_known_args(argv)
    claude = BackgroundClaude(Path.cwd(), os.environ)
    note = given.prompt_file.absolute().parent / FILE
    try:
        _stop_orphans(claude, note.parent.parent)
        id_ = claude.start(given.prompt_file.read_text("utf-8"), args)
    except (GhpError, OSError) as error:
        _say(json.dumps({"type": "error", "message": str(error)}))
        return 1
    try:
        note.write_text(id_)
        _say(f"Claude Code has it in the background: `claude attach {id_}`.")
        over = watch(claude, id_)
    finally:
        _stop(claude, note)
    _say(json.dumps({"type": "result", "is_error": over == "failed", "result": over}))
    return int(over == "failed")


def watch(claude: BackgroundClaude, id_: str) -> str:
    """Print what a session writes until it is over; returns how. Raises GhpError."""
    clock, reader, last, rests = SystemClock(), TranscriptReader(), SessionState(), 0
    looks = 0  # until the next question for the state
    while True:
        new = [*reader.lines(claude.transcript(last.session))]
        for line in new:
            _say(line)
        looks = ASK_EVERY if new else looks - 1
        if looks <= 0:
            current = claude.state(id_) or last
            if current.session != last.session:
                _say(json.dumps({"type": "system", "session_id": current.session}))
            if current.waits_for not in ("", last.waits_for):
                _say(f"It waits for a person: {one_line(clean(current.waits_for), 200)}.")
            rests = rests + 1 if current.over else 0
            last, looks = current, ASK_SOON if rests or not current.session else ASK_EVERY
            if rests >= RESTS or last.over in (*OVER, GONE):
                break
        clock.wait(LOOK_EVERY)
    for line in reader.lines(claude.transcript(last.session)):
        _say(line)
    return last.over


def _stop_orphans(claude: BackgroundClaude, runs: Path) -> None:
    """End the sessions of earlier runs in this worktree whose program was killed."""
    for note in runs.glob(f"*/{FILE}"):
        if object_file(note.parent / "run.json").read().get("path") == str(Path.cwd()):
            _stop(claude, note)


def _stop(claude: BackgroundClaude, note: Path) -> None:
    with contextlib.suppress(OSError):
        claude.stop(note.read_text("utf-8", "replace").strip()[:40])
        note.unlink()


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode("utf-8", "replace"))


def _terminated(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(main(sys.argv[1:]))
