"""A remote that did not answer is asked briefly, until it answers or a minute is over."""

from pathlib import Path

import pytest

from ghp_agents.git import silence
from ghp_agents.git.process import GitTimeoutError, Result
from ghp_agents.state import remote_branches
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.private_repo import open_repository
from ghp_agents.state.remote import Pushed, PushOutcome, asked
from ghp_agents.workspace import Workspace, open_workspace
from tests.support import hosts
from tests.support.clock import ManualClock
from tests.support.git import git

ANSWER = Result(0, b"", "")


class Asker:
    """Asks a remote, and keeps for how long."""

    def __init__(self, ws: Workspace, clock: ManualClock) -> None:
        remote = coordination_remote(ws)
        assert remote is not None
        self.ws, self.clock, self.remote = ws, clock, asked(ws, remote)
        self.limits: list[float] = []

    def ask(self, seconds: float, *, answers: bool) -> str:
        """The error, or nothing; a remote that does not answer takes the whole time."""

        def run(limit: float) -> Result:
            self.limits.append(limit)
            if answers:
                return ANSWER
            self.clock.wait(limit)
            raise GitTimeoutError(f"not within {limit:g} s", hint="")

        try:
            assert silence.ask(self.remote, seconds, run) == ANSWER
        except GitTimeoutError as error:
            return str(error)
        return ""


@pytest.fixture
def asker(clone: Path) -> Asker:
    clock = ManualClock()
    ws = open_workspace(clone, {}, clock)
    open_repository(ws)
    return Asker(ws, clock)


def test_a_silent_remote_is_waited_for_once(asker: Asker) -> None:
    assert asker.ask(30, answers=False) == "not within 30 s"
    assert asker.ask(30, answers=False) == "it was silent for 30 s"
    assert asker.limits == [30]
    asker.clock.wait(10)
    again = asker.ask(30, answers=False)
    assert again == "it was silent for 2 s, and 10 s ago for 30 s"
    assert asker.ask(300, answers=False) == "it was silent for 30 s"
    asker.clock.wait(silence.REMEMBERED_S)
    assert asker.ask(30, answers=False) == "not within 30 s"
    assert asker.limits == [30, 2, 30]


def test_a_remote_that_answers_again_has_its_whole_time(asker: Asker) -> None:
    asker.ask(5, answers=False)
    asker.clock.wait(10)
    assert asker.ask(30, answers=True) == ""
    assert asker.ask(30, answers=True) == ""
    assert asker.limits == [5, 2, 30]


@pytest.mark.parametrize("change", ["another address", "after a restart", "only slow"])
def test_a_silence_is_of_one_address_and_one_start_of_the_machine(
    asker: Asker, change: str
) -> None:
    asker.ask(0.5 if change == "only slow" else 30, answers=False)
    asker.clock.wait(10)
    if change == "another address":
        git(asker.ws.folder, "remote", "set-url", "origin", "git://elsewhere.example/x.git")
    if change == "after a restart":
        asker.clock.restart()
    ws = open_workspace(asker.ws.folder, {}, asker.clock)
    assert silence.last(Asker(ws, asker.clock).remote) is None


def test_branches_are_sent_only_once_the_remote_answers(asker: Asker, remote: Path) -> None:
    log = hosts.behind_ssh(asker.ws.folder, remote)
    asker = Asker(open_workspace(asker.ws.folder, {}, asker.clock), asker.clock)
    head = git(asker.ws.folder, "rev-parse", "HEAD")
    asker.ask(30, answers=False)
    asker.clock.wait(10)
    for name in ("one", "two"):
        assert remote_branches.push(asker.ws, head, name, expected="") == Pushed(PushOutcome.DONE)
    assert len(log.read_text().splitlines()) == 3, "it was asked before the first push alone"
