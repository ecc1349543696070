"""A resting session is called once for what it has not heard, and the call has no content."""

import os
import sys
from pathlib import Path

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.hotpath import background
from ghp_agents.presence import service as presence
from ghp_agents.presence import way_in
from ghp_agents.sync import notifications, wake
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.messages import Post
from tests.support.road import Road, sent_back

RESTING = AgentName("worker-2")


class Team:
    """worker-1 sends; worker-2 is a session of Codex that rests. `calls` are what reaches it."""

    def __init__(self, repo: Path, bin: Path) -> None:
        self._log, self._codex = bin / "log", bin / "codex"
        (bin / "codex").write_text(f'#!/bin/sh\necho "$@" >> {self._log}\n')
        (bin / "codex").chmod(0o755)
        self.one = Post(repo, "worker-1")
        environ = {
            **os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "CLAUDE_CODE_SESSION_ID": "s-1",
            "CLAUDE_PID": str(os.getpid()),
        }  # fmt: skip
        self.app = App(repo, environ, name=RESTING, clock=self.one.clock)
        presence.register(self.app.ws, self.app.store, RESTING)
        self.rest()
        way_in.keep(self.app.ws.home_folder, RESTING, "codex", "s-1", {})

    def rest(self, status: str = "waiting") -> None:
        presence.heartbeat(self.app.ws, self.app.store, RESTING, {"status": status})

    def fails(self, session: str = "s-1") -> None:
        """From now on its client refuses all calls."""
        self._codex.write_text(f'#!/bin/sh\necho "$@" >> {self._log}\nexit 1\n')
        environ = {**self.app.environ, "CLAUDE_CODE_SESSION_ID": session}
        self.app = App(self.app.cwd, environ, name=RESTING, clock=self.one.clock)
        self.rest()
        way_in.keep(self.app.ws.home_folder, RESTING, "codex", session, {})

    def sync(self) -> int:
        """Notify all agents; how often worker-2 has been called."""
        notifications.notify_agents(self.app, self.app.store.snapshot())
        return len(self.calls)

    @property
    def calls(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture
def team(repo: Path, tmp_path: Path) -> Team:
    return Team(repo, tmp_path)


def test_a_request_wakes_once_and_is_told_by_the_hook(team: Team) -> None:
    assert team.sync() == 0
    team.one.send("worker-2", subject="Rm -rf", kind="request")
    assert [team.sync(), team.sync()] == [1, 1]
    at = to_text(team.one.clock.now())
    assert team.calls == [f"queue --thread=s-1 --message={wake.CALL.format(at)}"]
    assert "Rm -rf" in notifications.gather(team.app, RESTING).text


@pytest.mark.slow
def test_a_returned_pull_request_wakes_its_agent(team: Team) -> None:
    repo, clock = team.app.ws.folder, team.app.ws.clock
    road = Road(repo, clock if isinstance(clock, ManualClock) else None)
    road.issue()
    road.done(RESTING, 1, {"a.txt": "mine\n"})
    road.put({"a.txt": "theirs\n"})
    team.rest()
    assert team.sync() == 0
    sent_back(road.merge(1))
    assert [team.sync(), team.sync()] == [1, 1]


def test_no_call_is_identical_to_the_one_before(team: Team) -> None:
    for subject in ("First", "Second"):
        team.one.send("worker-2", subject=subject, kind="request")
        team.sync()
        team.one.clock.wait(wake.PAUSE)
    assert len(set(team.calls)) == 2


def test_a_note_waits_and_a_reply_does_not(team: Team) -> None:
    name = team.one.by("worker-2").send("worker-1", kind="request").message.name
    team.rest()
    team.one.send("worker-2", subject="FYI")
    team.one.claim(name)
    assert team.sync() == 0
    team.one.done(name, "All good.")
    assert team.sync() == 1


def test_an_answer_of_a_person_wakes(team: Team) -> None:
    question = escalation.escalate(team.app, "Which port?").escalation
    team.rest()
    escalation.answer(team.one.by("@me").parts, question.name, "8080")
    assert team.sync() == 1


def test_many_messages_are_one_call_a_minute(team: Team) -> None:
    for subject in ("First", "Second", "Third"):
        team.one.send("worker-2", subject=subject, kind="request")
        assert team.sync() == 1
    team.one.clock.wait(wake.PAUSE)
    assert [team.sync(), team.sync()] == [2, 2]


@pytest.mark.parametrize("first", ["background", "call"])
def test_calls_are_as_few_where_the_background_runs(
    team: Team, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    folders, environ = team.app.ws.folders, {**team.app.environ, "GHP_BACKGROUND": "1"}
    started: list[bool] = []

    def start() -> None:
        now = team.one.clock.now() + 10.0 * len(started)
        started.append(background.start_sync(folders, environ, now, {}, urgent=True))

    for number in range(5):
        if first == "background":
            start()
        team.one.send("worker-2", subject=f"Request {number}", kind="request")
        team.sync()
        if first == "call":
            start()
    assert (len(team.calls), started) == (1, [True] * 5)


def test_a_call_that_fails_is_made_again(team: Team) -> None:
    team.one.send("worker-2", kind="request")
    team.rest("implementing")
    assert team.sync() == 0
    team.rest()
    assert team.sync() == 1


def test_a_setting_turns_it_off(team: Team) -> None:
    (team.one.repo / ".ghp").mkdir(exist_ok=True)
    (team.one.repo / ".ghp/config.json").write_text('{"agents": {"wake": false}}')
    team.one.send("worker-2", kind="request")
    off = App(team.app.cwd, team.app.environ, name=RESTING, clock=team.one.clock)
    wake.wake(off, RESTING, ["message/3f9a"])
    assert (team.calls, wake.wakes_any(off), wake.wakes_any(team.app)) == ([], False, True)


@pytest.mark.parametrize(
    ("kept", "due"),
    [
        ({}, True),
        ({"keys": ["a", "b"], "at": 0.0}, False),
        ({"keys": ["a"], "at": 0.0}, True),
        ({"keys": ["a"], "at": 950.0}, False),
        ({"keys": ["a"], "at": 2_000.0}, True),  # the clock went back
        ({"keys": "odd", "at": "odd", "refused": "odd", "session": 7}, True),
        ({"at": 901.0, "refused": 1, "session": "other"}, True),
        ({"at": 901.0, "refused": 2, "session": "s-1"}, False),
        ({"at": 700.0, "refused": 2, "session": "s-1"}, True),
        ({"at": 0.0, "refused": 4, "session": "s-1"}, False),
    ],
)
def test_it_is_due_for_what_is_new(kept: dict[str, object], due: bool) -> None:
    assert wake.is_due(kept, "s-1", ["a", "b"], 1_000.0) is due


@pytest.mark.slow
def test_a_client_that_refuses_is_asked_again_after_growing_pauses(team: Team) -> None:
    team.fails()
    team.one.send("worker-2", kind="request")
    at: list[int] = []
    for minute in range(60):
        if team.sync() > len(at):
            at.append(minute)
        team.one.clock.wait(60.0)
    assert at == [0, 1, 6, 36]
    team.fails(session="s-2")
    assert [team.sync(), team.sync()] == [5, 5]
