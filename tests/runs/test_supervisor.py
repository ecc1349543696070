"""Supervisors with scripted clients: start, retry, hand over, stop, adopt; and nothing is left."""

import os
import signal
import sys
from typing import NoReturn

import pytest

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.hotpath import alive
from ghp_agents.issues import comment_commands
from ghp_agents.issues.comment_commands import Act, Obeyed
from ghp_agents.presence import service as presence
from ghp_agents.presence import stopping
from ghp_agents.runs import folder, launch, processes
from ghp_agents.runs.policy import RunLimits
from ghp_agents.runs.record import RUNNING, STARTING
from ghp_agents.runs.supervisor import Supervisor
from ghp_agents.state.transact import transact
from tests.support.ghp import succeed
from tests.support.runs import RUN, SPEAKS, STAYS, STEPS, WORKS, Shift, states, without_ids


def run_once(shift: Shift, supervisor: Supervisor) -> None:
    """A run begins and ends."""
    supervisor.step()
    shift.ended()
    supervisor.step()


@pytest.mark.slow
def test_an_agent_takes_the_best_issue_and_works_in_its_worktree(shift: Shift) -> None:
    supervisor = shift.supervisor(f"pwd; {STAYS}")
    assert not supervisor.step()
    run = shift.last()
    assert (run.agent, run.issue, run.state) == ("worker-1", 1, RUNNING)
    assert processes.lives(run)
    supervisor.end()
    supervisor.step()
    assert supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "interrupted")]
    assert without_ids(shift.lines) == [
        "worker-1 began R- #1 «One».",
        "worker-1 ended R- #1: interrupted: its supervisor ended.",
    ]


@pytest.mark.slow
def test_the_session_of_its_next_run_is_the_same_agent(shift: Shift) -> None:
    supervisor = shift.supervisor(f"export GHP_SESSION=$GHP_RUN\n{WORKS}")
    for _ in range(2):
        run_once(shift, supervisor)
        shift.clock.wait(100)
    assert states(shift.runs()) == [
        ("worker-1", 1, "finished"),
        ("worker-1", 2, "finished"),
    ]


@pytest.mark.slow
def test_an_agent_whose_client_has_ended_lives_until_its_supervisor_has_seen_that(
    shift: Shift,
) -> None:
    beats = f"{sys.executable} -m ghp_agents agent-heartbeat --status testing --action 'I test'"
    supervisor = shift.supervisor(f"CLAUDE_PID=$$ {beats}")
    supervisor.step()
    shift.ended()
    presence_ = shift.app().ws.presence("worker-1") or {}
    assert (presence_["lastAction"], alive.process_lives(presence_)) == ("I test", True)


@pytest.mark.slow
def test_a_run_that_was_killed_is_settled_before_another_agent_looks_for_work(
    shift: Shift,
) -> None:
    succeed(shift.repo, "agent-issue close 2 --reason Done --as @me")
    shift.supervisor(STAYS, "b").step()
    os.killpg(shift.last().pid, signal.SIGKILL)
    shift.supervisors[0].forget_children()
    shift.supervisor(STAYS, "a", "b").step()
    assert states(shift.runs()) == [("b", 1, "failed")]


@pytest.mark.slow
def test_two_agents_work_on_two_issues(shift: Shift) -> None:
    supervisor = shift.supervisor(STAYS, "a", "b", "c")
    supervisor.step()
    supervisor.step()
    assert sorted(states(shift.runs())) == [("a", 1, "running"), ("b", 2, "running")]
    assert shift.lines[-1].startswith("c: No issue is ready: ")
    shift.end_all()


@pytest.mark.slow
def test_a_failed_run_is_repeated_after_a_pause_then_a_person_is_asked(shift: Shift) -> None:
    supervisor = shift.supervisor(f"{SPEAKS}; {STEPS}; echo no luck; exit 3")
    run_once(shift, supervisor)
    supervisor.step()
    assert len(shift.runs()) == 1
    assert shift.last().why == "it exited with code 3: no luck"
    shift.clock.wait(30)
    run_once(shift, supervisor)
    supervisor.step()
    last = shift.last()
    assert (last.outcome, last.tries, last.session) == ("escalated", 1, "s-1")
    assert supervisor.given_up == 1
    shift.clock.wait(60)
    supervisor.step()
    assert shift.last().issue == 2
    shift.ended()


@pytest.mark.slow
def test_another_agent_gets_an_issue_that_one_gave_up(shift: Shift) -> None:
    succeed(shift.repo, "agent-issue close 2 --reason Obsolete --as @me")
    supervisor = shift.supervisor("exit 1", "a", "b", limits=RunLimits(first_wait=0))
    for _ in range(12):
        supervisor.step()
        if shift.last().state == RUNNING:
            shift.ended()
        shift.clock.wait(60)
    assert states(shift.runs()) == [
        ("a", 1, "failed"), ("a", 1, "handed over"), ("b", 1, "failed"), ("b", 1, "escalated"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_run_that_prints_nothing_is_ended(shift: Shift) -> None:
    supervisor = shift.supervisor(f"echo on; {STAYS}")
    supervisor.step()
    shift.spoke()
    shift.clock.wait(599)
    supervisor.step()
    shift.clock.wait(599)
    supervisor.step()
    assert shift.last().state == RUNNING
    shift.clock.wait(1)
    supervisor.step()
    assert shift.last().why == "it printed nothing for 10 min"
    assert processes.marked(shift.last().id) == []


@pytest.mark.slow
def test_a_run_ends_at_its_next_step_when_its_agent_is_stopped(shift: Shift) -> None:
    supervisor = shift.supervisor(f"{SPEAKS}; read go < go; {SPEAKS}; {STAYS}")
    supervisor.step()
    shift.spoke()
    supervisor.step()
    succeed(shift.repo, "agent-stop worker-1 --reason Enough --as @me")
    shift.clock.wait(2)
    supervisor.step()
    assert shift.last().state == RUNNING  # in the middle of a step
    shift.clock.wait(58)
    supervisor.step()
    shift.clock.wait(2)
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "stopped")]
    shift.clock.wait(60)
    supervisor.step()
    assert len(shift.runs()) == 1  # it rests


@pytest.mark.slow
def test_an_urgent_issue_ends_no_run_and_is_the_next_one(shift: Shift) -> None:
    go = shift.repo.parent / "go"
    os.mkfifo(go)
    supervisor = shift.supervisor(f"{SPEAKS}; read word < {go}; {WORKS}")
    supervisor.step()
    shift.spoke()
    supervisor.step()
    begun = shift.last()
    succeed(shift.repo, "agent-issue new Urgent --priority critical --as @me")
    for _ in range(3):
        shift.clock.wait(61)  # it reads the records, and would look for work
        assert not supervisor.step()
    assert shift.runs() == [begun]
    assert processes.lives(begun)
    go.write_text("\n")  # the step ends
    shift.ended()
    supervisor.step()
    shift.clock.wait(61)
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "finished"), ("worker-1", 3, "running")]


@pytest.mark.slow
def test_an_interrupted_run_goes_on_when_its_agent_may(shift: Shift) -> None:
    supervisor = shift.supervisor(STAYS)
    supervisor.step()
    succeed(shift.repo, "agent-stop worker-1 --keep --now --as @me")
    shift.clock.wait(2)
    supervisor.step()
    shift.clock.wait(60)
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "stopped")]
    succeed(shift.repo, "agent-stop worker-1 --undo --as @me")
    shift.clock.wait(2)
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "stopped"), ("worker-1", 1, "running")]
    shift.end_all()


@pytest.mark.slow
def test_a_comment_that_stops_the_issue_ends_the_run_and_frees_it(shift: Shift) -> None:
    supervisor = shift.supervisor(STAYS)
    supervisor.step()
    ctx = shift.app("@me")
    lock = next(x for x in ctx.locks.known() if x.holder == "worker-1")
    act = Act(
        "stop", "/agent stop", "done", "worker-1 was told to stop", "worker-1", lock.generation
    )
    by = Actor("Ann", is_person=True)
    clone = ctx.store.snapshot().clone
    order = Obeyed(7, 1, by, (act,), Timestamp("2026-01-01T00:00:00Z"), 99, clone)
    transact(ctx.store, lambda _: (None, [comment_commands.encode(order)]))
    shift.clock.wait(2)
    supervisor.step()
    assert shift.last().state == RUNNING  # in the middle of a step
    shift.clock.wait(60)
    supervisor.step()
    shift.clock.wait(2)
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "stopped")]
    assert shift.lines[-1].startswith("worker-1 freed #1: a comment stopped it. Its work is in H-")
    assert next(x for x in ctx.locks.known() if x.name == lock.name).holder is None


@pytest.mark.slow
def test_a_run_that_is_stopped_at_once_is_not_repeated(shift: Shift) -> None:
    supervisor = shift.supervisor(STAYS)
    supervisor.step()
    succeed(shift.repo, "agent-stop worker-1 --now --as @me")
    shift.clock.wait(2)
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "stopped")]


@pytest.mark.slow
def test_an_agent_with_an_open_question_takes_the_next_issue_until_the_answer(
    shift: Shift,
) -> None:
    supervisor = shift.supervisor(STAYS)
    supervisor.step()
    succeed(shift.repo, "agent-escalate 'Which?' --issue 1 --as worker-1")
    shift.end_all()
    supervisor.step()
    shift.clock.wait(60)
    supervisor.step()
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "asks"), ("worker-1", 2, "running")]
    shift.end_all()


@pytest.mark.slow
def test_the_next_supervisor_goes_on_with_a_living_run(shift: Shift) -> None:
    first = shift.supervisor(f"{SPEAKS}; {STAYS}")
    first.step()
    shift.spoke()  # and the supervisor is killed
    shift.lines.clear()
    second = shift.supervisor("exit 1")
    second.step()
    assert without_ids(shift.lines) == ["worker-1 continues R- #1."]
    assert (len(shift.runs()), shift.last().session) == (1, "s-1")
    second.end()
    second.step()
    assert states(shift.runs()) == [("worker-1", 1, "interrupted")]
    first.step()  # reaps its child


@pytest.mark.slow
def test_the_next_supervisor_repeats_a_run_that_was_interrupted(shift: Shift) -> None:
    first = shift.supervisor(STAYS)
    first.step()
    first.end()
    first.step()
    shift.clock.wait(1)
    second = shift.supervisor(STAYS)
    second.step()
    second.step()
    assert states(shift.runs()) == [("worker-1", 1, "interrupted"), ("worker-1", 1, "running")]
    assert shift.last().tries == 0
    shift.end_all()


def test_a_run_that_did_not_begin_is_fenced(shift: Shift) -> None:
    ws = shift.app().ws
    folder.write(ws, RUN._replace(state=STARTING))
    shift.supervisor(STAYS)
    assert (shift.last().outcome, shift.last().why) == ("interrupted", "it did not begin")


@pytest.mark.slow
def test_a_run_of_an_agent_without_a_supervisor_is_ended(shift: Shift) -> None:
    shift.supervisor(STAYS, "old").step()
    shift.supervisor(STAYS, "new")
    assert states(shift.runs()) == [("old", 1, "interrupted")]
    assert processes.marked(shift.last().id) == []


@pytest.mark.slow
def test_a_run_that_another_supervisor_has_goes_on(shift: Shift) -> None:
    shift.supervisor(STAYS, "old").step()
    with folder.alone(shift.app().ws, "old"):
        shift.supervisor(STAYS, "new")
    assert processes.lives(shift.last())
    shift.end_all()


@pytest.mark.slow
def test_other_clones_hear_that_a_silent_client_runs(shift: Shift) -> None:
    supervisor = shift.supervisor(STAYS, limits=RunLimits(silence=0))
    supervisor.step()
    file = shift.repo / ".git/ghp/agents/worker-1.json"
    os.utime(file, (shift.clock.now(), shift.clock.now()))
    shift.clock.wait(shift.app().ws.settings.stale_after)
    supervisor.step()
    presence = shift.app().ws.presence("worker-1") or {}
    assert presence["processRunsFor"] == shift.app().ws.settings.dead_after
    shift.end_all()


@pytest.mark.slow
def test_an_agent_that_stopped_with_its_supervisor_works_again(shift: Shift) -> None:
    ws = shift.app("worker-1").ws
    presence.register(ws, shift.app().store, ws.agent())
    stopping.mark(ws, "worker-1", ws.presence("worker-1") or {})
    assert (ws.presence("worker-1") or {})["status"] == "stopped"
    shift.supervisor(STAYS).step()
    assert (shift.app().ws.presence("worker-1") or {})["status"] == "planning"
    shift.end_all()


def test_an_error_is_reported_once_a_minute(shift: Shift, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(launch, "launch", refuse)
    supervisor = shift.supervisor(STAYS)
    for _ in range(3):
        supervisor.step()
        shift.clock.wait(25)
    assert shift.lines == ["worker-1: [Errno 28] No space left on device"]
    shift.clock.wait(25)
    supervisor.step()
    assert len(shift.lines) == 2


@pytest.mark.slow
def test_a_run_that_prints_keeps_its_agent_alive(shift: Shift) -> None:
    supervisor = shift.supervisor(f"echo on; {STAYS}")
    supervisor.step()
    before = (shift.app().ws.presence("worker-1") or {})["lastProgress"]
    shift.clock.wait(30)
    shift.spoke()
    supervisor.step()
    supervisor.step()
    presence = shift.app().ws.presence("worker-1") or {}
    assert presence["lastProgress"] > before
    assert alive.process_lives(presence) is True
    shift.end_all()


@pytest.mark.slow
def test_a_run_whose_issue_was_taken_from_its_agent_is_ended(shift: Shift) -> None:
    supervisor = shift.supervisor(STAYS)
    supervisor.step()
    succeed(shift.repo, "agent-claim 1 --steal --reason Mine --as @me")
    shift.clock.wait(2)
    supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "lost")]
    assert processes.marked(shift.last().id) == []
    shift.end_all()


@pytest.mark.slow
def test_a_client_that_cannot_start_ends_the_supervisor_and_uses_up_no_try(shift: Shift) -> None:
    supervisor = shift.supervisor("exec no-such-client", "worker-1", "worker-2")
    supervisor.step()
    for run in shift.runs():
        shift.ended(run)
    supervisor.step()
    assert "no-such-client: not found" in supervisor.unusable
    assert [x for x in states(shift.runs()) if x[2] not in ("interrupted", "")] == []
    assert all(run.failures == 0 for run in shift.runs())
    assert shift.app("worker-1").world.claims == {}
    for _ in range(2):
        supervisor.step()
    assert supervisor.step()
    assert not any("Its work is in" in line for line in shift.lines)
