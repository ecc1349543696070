"""Stopping an agent saves its work first, and finishes what a killed command began."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import NotFoundError, RefusedError
from ghp_agents.handoffs import stop_agent
from ghp_agents.handoffs.record import folder_of, read_handoffs
from ghp_agents.handoffs.stop_agent import Stopped
from ghp_agents.locks.lock import Lock
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import succeed


@pytest.fixture
def app(repo: Path) -> App:
    """A person; worker-1 works on #1."""
    succeed(repo, "agent-issue new Parse --as @me", "agent-claim 1 --as worker-1")
    return App(repo, {}, clock=ManualClock())


def holder(app: App) -> tuple[str | None, str]:
    lock: Lock | None = app.locks.read("issue/1")
    assert lock
    return lock.holder, lock.reason


def test_its_work_is_saved_and_its_issue_is_free(app: App) -> None:
    stopped = stop_agent.stop(app, "worker-1", "Wrong approach")
    (handoff,) = read_handoffs(app.store.snapshot().files(folder_of(1)))[0]
    assert stopped == Stopped("worker-1", True, False, (1,), (handoff.name,))
    assert holder(app) == (None, "worker-1 was stopped: Wrong approach")


def test_a_second_command_finishes_what_a_killed_one_began(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """The process ends here."""

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(app.locks, "release", killed)
        with pytest.raises(Killed):
            stop_agent.stop(app, "worker-1")
    assert holder(app)[0] == "worker-1"
    assert stop_agent.stop(app, "worker-1").issues == (1,)
    assert holder(app)[0] is None
    assert len(read_handoffs(app.store.snapshot().files(folder_of(1)))[0]) == 1


def test_a_secret_in_the_reason_is_not_recorded(app: App) -> None:
    secret = "ghp_" + "a1B2" * 9
    stop_agent.stop(app, "worker-1", f"It printed {secret}")
    records = app.store.snapshot().files(".ghp/stops/worker-1/")
    assert [secret.encode() in content for content in records.values()] == [False]


def test_who_may_not_stop_it_changes_nothing(repo: Path, app: App) -> None:
    other = App(repo, {}, name="worker-2", clock=ManualClock())
    with pytest.raises(RefusedError):
        stop_agent.stop(other, "worker-1")
    with pytest.raises(RefusedError):
        stop_agent.lift(App(repo, {}, name="worker-1", clock=ManualClock()), "worker-1")
    with pytest.raises(NotFoundError):
        stop_agent.stop(app, "worker-9")
    assert holder(app)[0] == "worker-1"
