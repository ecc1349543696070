"""A limit or a login of the account is not the issue's fault: its runs wait, no try is used up, and
people are told once."""

import json

import pytest

from ghp_agents.core.clock import for_people, to_text
from ghp_agents.messages import mailbox
from ghp_agents.runs.policy import RunLimits
from ghp_agents.runs.supervisor import Supervisor
from ghp_agents.sync.desktop import TOPIC
from tests.support.ghp import invoke, succeed
from tests.support.runs import STEPS, Shift, states, without_ids

LIMITED = """echo '{"type":"result","is_error":true,"api_error_status":429,
"result":"You have hit your limit, try again in 2 hours"}' | tr -d '\\n'; echo; exit 1"""


def turn(shift: Shift, supervisor: Supervisor) -> None:
    """Runs begin, and all of them end."""
    supervisor.step()
    for run in shift.runs():
        if run.state != "ended":
            shift.ended(run)
    shift.clock.wait(2)
    supervisor.step()
    shift.clock.wait(60)


def outcomes(shift: Shift) -> list[tuple[str, int, str]]:
    """Agent, issue and outcome of each run; of those that began together, by issue."""
    return states(sorted(shift.runs(), key=lambda run: (run.at, run.issue)))


def notices(shift: Shift) -> list[str]:
    """What people were told."""
    app = shift.app()
    messages = mailbox.read(app.ws, app.store.snapshot())
    return [message.subject for message in messages if TOPIC in message.to]


def questions(shift: Shift) -> int:
    return len(json.loads(invoke("agent-escalations --json", shift.repo, clock=shift.clock).out))


@pytest.mark.slow
def test_a_limit_uses_up_no_try_and_all_its_agents_wait_until_it_ends(shift: Shift) -> None:
    limits = RunLimits(first_wait=0, tries=1)
    supervisor = shift.supervisor(LIMITED, "a", "b", limits=limits)
    turn(shift, supervisor)
    for _ in range(5):
        shift.clock.wait(1_000)
        supervisor.step()
    assert outcomes(shift) == [("a", 1, "waits"), ("b", 2, "waits")]
    assert {(run.tries, run.failures) for run in shift.runs()} == {(0, 0)}
    assert len(notices(shift)) == 1
    assert questions(shift) == 0
    until = for_people(to_text(1_750_000_000 + 7_205))
    words = f"Waits for the account of sh until {until}: its usage limit is reached"
    status = json.loads(invoke("agent-status --json", shift.repo, clock=shift.clock).out)
    assert {row["lastAction"] for row in status["agents"].values()} == {words}
    assert f"2 agents: {words}." in invoke("agent-status", shift.repo, clock=shift.clock).err
    # Another supervisor waits, too, and then one run tries it.
    second = shift.supervisor(STEPS + '; echo \'{"session_id":"s"}\'; sleep 1000', "a", "b")
    second.step()
    shift.clock.wait(2_140)
    second.step()
    assert len(shift.runs()) == 2
    shift.clock.wait(5)
    second.step()
    assert outcomes(shift)[2:] == [("a", 1, "running")]
    second.step()
    shift.spoke()
    second.step()
    second.step()
    assert outcomes(shift)[2:] == [("a", 1, "running"), ("b", 2, "running")]
    assert "The account of sh works again." in shift.lines


@pytest.mark.slow
def test_a_try_that_fails_makes_it_wait_longer_and_tells_nobody_again(shift: Shift) -> None:
    script = "echo 'Error: Invalid API key. Please run /login' >&2; exit 1"
    supervisor = shift.supervisor(script, "a", "b", limits=RunLimits(first_wait=0, tries=1))
    turn(shift, supervisor)
    for seconds in (0, 60, 180):
        shift.clock.wait(seconds)
        turn(shift, supervisor)
    assert outcomes(shift) == [
        ("a", 1, "waits"), ("b", 2, "waits"), ("a", 1, "waits"), ("b", 2, "waits"),
        ("a", 1, "waits"),
    ]  # fmt: skip
    assert (len(notices(shift)), questions(shift)) == (1, 0)
    assert "Log in with sh" in "\n".join(shift.lines)


@pytest.mark.slow
def test_two_issues_whose_runs_end_at_once_are_not_at_fault(shift: Shift) -> None:
    supervisor = shift.supervisor("echo what; exit 7", limits=RunLimits(first_wait=0))
    for _ in range(3):
        turn(shift, supervisor)
    assert outcomes(shift) == [
        ("worker-1", 1, "failed"), ("worker-1", 1, "waits"), ("worker-1", 2, "waits"),
    ]  # fmt: skip
    assert (len(notices(shift)), questions(shift)) == (1, 0)
    assert without_ids(shift.lines)[-1] == (
        "worker-1 ended R- #2: waits: the account of sh has to wait: "
        "runs of different issues ended at once."
    )


@pytest.mark.slow
def test_one_issue_whose_runs_end_at_once_is_at_fault_if_another_one_works(shift: Shift) -> None:
    script = f'case $PWD in *2-two) {STEPS}; echo \'{{"session_id":"s"}}\';; esac; exit 7'
    supervisor = shift.supervisor(script, limits=RunLimits(first_wait=0))
    for _ in range(3):
        turn(shift, supervisor)
    supervisor.step()
    assert outcomes(shift) == [
        ("worker-1", 1, "failed"), ("worker-1", 1, "escalated"), ("worker-1", 2, "failed"),
    ]  # fmt: skip
    assert questions(shift) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    ["echo half > notes.txt; exit 1", "git commit -q --allow-empty -m half; exit 1", "kill -9 $$"],
    ids=["change", "commit", "killed"],
)
def test_an_account_whose_runs_left_work_or_were_killed_is_not_at_fault(
    shift: Shift, script: str
) -> None:
    supervisor = shift.supervisor(script, "a", "b", limits=RunLimits(first_wait=9_999))
    turn(shift, supervisor)
    assert outcomes(shift) == [("a", 1, "failed"), ("b", 2, "failed")]
    assert notices(shift) == []


@pytest.mark.slow
def test_an_issue_that_is_too_long_for_the_model_is_at_fault(shift: Shift) -> None:
    script = "echo 'Prompt is too long'; exit 1"
    supervisor = shift.supervisor(script, "a", "b", limits=RunLimits(first_wait=9_999))
    turn(shift, supervisor)
    assert outcomes(shift) == [("a", 1, "failed"), ("b", 2, "failed")]
    assert notices(shift) == []


@pytest.mark.slow
def test_an_agent_that_is_stopped_while_it_waits_does_not_continue(shift: Shift) -> None:
    supervisor = shift.supervisor(LIMITED)
    turn(shift, supervisor)
    before = shift.app().ws.presence("worker-1")
    succeed(shift.repo, "agent-stop worker-1 --as @me", clock=shift.clock)
    for _ in range(2):
        shift.clock.wait(8_000)  # the pause is over
        supervisor.step()
    assert shift.app().ws.presence("worker-1") == before
    assert len(shift.runs()) == 1


@pytest.mark.slow
def test_a_person_who_knows_better_does_not_wait(shift: Shift) -> None:
    supervisor = shift.supervisor(LIMITED)
    turn(shift, supervisor)
    assert supervisor.gate.pause
    supervisor.gate.open()
    supervisor.step()
    assert outcomes(shift) == [("worker-1", 1, "waits"), ("worker-1", 1, "running")]
    shift.ended(shift.last())
