"""A text for a running session: on Claude Code's socket, or in Codex's queue."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.presence import service as presence
from ghp_agents.presence import wait, way_in
from ghp_agents.wiring import App
from tests.support.clock import ManualClock

AGENT = AgentName("worker-1")
SESSION = {"CLAUDE_CODE_SESSION_ID": "s-1", "CLAUDE_PID": str(os.getpid())}


@pytest.fixture
def app(repo: Path) -> App:
    """An agent whose session rests; its process is this one."""
    result = App(repo, {**os.environ, **SESSION}, name=AGENT, clock=ManualClock())
    presence.register(result.ws, result.store, AGENT)
    presence.heartbeat(result.ws, result.store, AGENT, {"status": "waiting"})
    return result


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket of a session."""
    monkeypatch.chdir(tmp_path)  # paths of sockets are short
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind("inbox")
        listening.listen()
        listening.settimeout(10)
        yield listening


def keep(app: App, client: str = "claude", session: str = "s-1", **environ: str) -> None:
    way_in.keep(app.ws.home_folder, AGENT, client, session, environ)


def test_claude_reads_one_line_for_its_session(app: App, inbox: socket.socket) -> None:
    keep(app, CLAUDE_CODE_MESSAGING_SOCKET="inbox")
    assert way_in.open_session(app.ws, AGENT)
    assert way_in.send(app.ws, AGENT, "News\nof two lines")
    stream, _ = inbox.accept()
    with stream, stream.makefile() as lines:
        (line,) = lines
    assert json.loads(line) == {
        "type": "user",
        "message": {"role": "user", "content": "News\nof two lines"},
        "from": "ghp-agents",
        "session_id": "s-1",
    }


def test_a_plugin_of_ours_reads_the_same_line(app: App, inbox: socket.socket) -> None:
    way_in.keep(
        app.ws.home_folder, AGENT, "pi", "s-1", {"CLAUDE_CODE_MESSAGING_SOCKET": "x"}, "inbox"
    )
    assert way_in.open_session(app.ws, AGENT) == "s-1"
    assert way_in.send(app.ws, AGENT, "News")
    stream, _ = inbox.accept()
    with stream, stream.makefile() as lines:
        assert json.loads(next(lines))["message"]["content"] == "News"


def test_codex_gets_it_in_the_queue_of_its_thread(app: App, tmp_path: Path) -> None:
    (tmp_path / "codex").write_text('#!/bin/sh\nprintf "%s|" "$CODEX_HOME" "$@" > "$0.log"\n')
    (tmp_path / "codex").chmod(0o755)
    keep(app, "codex", CODEX_HOME="/there")
    ws = App(app.cwd, {**app.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}).ws
    assert way_in.send(ws, AGENT, "--News; $(id)")
    assert (tmp_path / "codex.log").read_text() == (
        "/there|queue|--thread=s-1|--message=--News; $(id)|"
    )
    (tmp_path / "codex").write_text("#!/bin/sh\nexit 1\n")
    assert not way_in.send(ws, AGENT, "News")


def test_a_session_is_not_disturbed_in_its_turn_or_while_it_waits(app: App) -> None:
    keep(app, CLAUDE_CODE_MESSAGING_SOCKET="inbox")
    with wait.presence(app.ws, AGENT, "waiting", "Waiting for an answer:"):
        assert not way_in.open_session(app.ws, AGENT)
    assert way_in.open_session(app.ws, AGENT)
    presence.heartbeat(app.ws, app.store, AGENT, {"status": "implementing"})
    assert not way_in.open_session(app.ws, AGENT)


def test_there_is_no_way_into_another_session_or_client(app: App) -> None:
    assert not way_in.open_session(app.ws, AGENT)
    keep(app, "gemini", CLAUDE_CODE_MESSAGING_SOCKET="inbox")
    keep(app, "claude")
    assert not way_in.open_session(app.ws, AGENT)
    keep(app, session="s-2", CLAUDE_CODE_MESSAGING_SOCKET="inbox")
    assert not way_in.open_session(app.ws, AGENT)


def test_what_is_no_socket_of_this_user_is_left_alone(app: App, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "none", "x" * 200):
        keep(app, CLAUDE_CODE_MESSAGING_SOCKET=str(path))
        assert not way_in.send(app.ws, AGENT, "News")
    assert (tmp_path / "file").read_text() == ""
