"""What an explanation is read from, on real git."""

import pytest

from ghp_agents.claims.decision import ClaimRule
from ghp_agents.cli.views import explanation as view
from ghp_agents.core.errors import NotFoundError
from ghp_agents.jobs import explain
from tests.support.claimants import Claimant, Team

RELEASE = ["ghp agent-release 1"]


def test_an_issue_that_somebody_works_on_names_the_holder(one: Claimant) -> None:
    one.claim(1)
    explanation = explain.of_issue(one.parts, "1")
    assert (explanation.state.value, explanation.holder) == ("in_progress", "worker-1")
    assert [turn.agent.candidate.name for turn in explanation.turns] == ["worker-1"]


@pytest.mark.slow
def test_only_who_may_not_go_on_or_asks_itself_is_offered_for_release(one: Claimant) -> None:
    def offers(name: str) -> list[str]:
        asks = Claimant(one.ws.root, name, one.clock)
        steps = explain.of_issue(asks.parts, "1").steps
        return [step.change for step in steps if step.rule is ClaimRule.TAKEN]

    one.claim(1)
    assert (offers("worker-1"), offers("worker-2"), offers("@me")) == (RELEASE, [""], [""])
    one.clock.wait(one.ws.settings.stale_after + 1)
    assert (offers("worker-2"), offers("@me")) == (RELEASE, RELEASE)
    one.release(1)
    Claimant(one.ws.root, "@me", one.clock).claim(1)
    assert (offers("worker-2"), offers("@me")) == ([""], RELEASE)


def test_a_closed_issue_has_no_rules(one: Claimant) -> None:
    one.close(1)
    explanation = explain.of_issue(one.parts, "1")
    assert (explanation.state.value, explanation.steps, explanation.turns) == ("completed", [], [])


@pytest.mark.slow
def test_a_dead_agent_is_not_asked_and_its_issue_is_workable(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(2_000.0, two)
    explanation = explain.of_issue(two.parts, "1")
    assert (explanation.state.value, explanation.holder) == ("assigned", "")
    assert [turn.agent.candidate.name for turn in explanation.turns] == ["worker-2"]
    assert all(step.is_met for step in explanation.steps)
    assert [step.words for step in explanation.steps if step.rule is ClaimRule.TAKEN] == [
        "worker-1 has claimed it, but is no longer at work; others may take it over."
    ]
    lines = [text for _, text in view.issue_lines(explanation)]
    assert lines[1] == "Nobody works on it. It is the next issue for worker-2."
    agent = explain.of_agent(two.parts, "worker-1").agent
    assert (agent.liveness, agent.is_alive) == ("dead", False)


@pytest.mark.slow
def test_an_agent_is_told_what_is_next_and_what_is_kept_from_it(one: Claimant) -> None:
    one.beat()
    one.new("Waits", blocked_by=(1,))
    one.new("For another", add_assignees=("worker-2",))
    one.new("Begun", blocked_by=(1,))
    one.claim(4)
    explanation = explain.of_agent(one.parts, "worker-1")
    assert explanation.next is not None
    assert (explanation.next.number, explanation.workable) == (1, 1)
    assert [(x.rule.value, x.issues) for x in explanation.kept_back] == [
        ("blocked", ("#2",)),
        ("assigned", ("#3",)),
    ]


def test_an_agent_that_nobody_knows_is_an_error(one: Claimant) -> None:
    with pytest.raises(NotFoundError) as caught:
        explain.of_agent(one.parts, "worker-9")
    assert str(caught.value) == "No agent is called worker-9."


def test_what_an_agent_has_is_not_what_it_can_claim_next(one: Claimant) -> None:
    one.new("Second")
    one.claim(1)
    explanation = explain.of_agent(one.parts, "worker-1")
    assert explanation.agent.holds == ("#1",)
    assert explanation.next is not None
    assert (explanation.next.number, explanation.workable) == (2, 1)
