"""What starts a workflow besides the command: a message to a topic, and a label of an issue."""

import json

import pytest

from ghp_agents.workflows import starts
from ghp_agents.workspace import open_workspace
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.repos import Prepared
from tests.workflows.test_service import Team

ON_A_TOPIC = """---
topic: code.completed
when: requestReview
---
## Look

- Role: @all

{text}
"""
ITSELF = "---\ntopic: agent.question\n---\n## Answer\n\n- Kind: question\n- Role: @all\n\n{text}\n"
VOTED = """---
topic: arch.proposal_ready
---
## Vote

- Gate: vote @all

## Tell

- Role: @all
"""
LABELLED = "---\nlabel: needs-look\n---\n## Look\n\n- Role: @all\n\nLook at {issue}, {subject}.\n"


@pytest.fixture
def team(prepared: Prepared) -> Team:
    return Team(*prepared(Team.meet))


def add(team: Team, **texts: str) -> None:
    """Workflows on main, in both clones."""
    folder = team.one / ".ghp/workflows"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    git(team.one, "add", "-A")
    git(team.one, "commit", "-qm", "Workflows")
    git(team.one, "push", "-q", "origin", "HEAD:main")
    git(team.two, "fetch", "-q")


def completed(review: bool) -> str:
    payload = {"files": ["a.py"], "summary": "It parses", "requestReview": review}
    return f"agent-send @code.completed 'The parser' --payload '{json.dumps(payload)}'"


@pytest.mark.slow
def test_a_message_to_a_topic_starts_a_workflow_if_a_field_of_it_says_so(team: Team) -> None:
    add(team, look=ON_A_TOPIC)
    team(completed(review=False), "worker-1")
    assert team.runs() == []
    done = invoke(f"{completed(review=True)} --as worker-1", team.one, clock=team.clock)
    assert "It starts the workflow look." in done.err
    team.exchange()
    assert team.states() == ["running", "active"]
    (step,) = team.inbox("worker-2")
    assert (step["subject"], step["about"]) == ("Look: The parser", done.out.strip())
    assert "It parses" in team(f"agent-inbox read {step['id']}", "worker-2")


@pytest.mark.slow
def test_a_workflow_that_comes_with_the_program_starts_by_the_command_alone(team: Team) -> None:
    assert "starts the workflow" not in team(completed(review=True), "worker-1")
    assert team.runs() == []


@pytest.mark.slow
def test_a_question_to_a_topic_is_the_first_step_itself(team: Team) -> None:
    add(team, ask=ITSELF)
    line = (
        "agent-send @agent.question 'How wide?' --payload '{\"question\": \"How wide is a tab?\"}'"
    )
    team("agent-subscribe 'agent.question'", "worker-2")
    name = team(line, "worker-1")
    team.exchange()
    (question,) = team.inbox("worker-2")
    assert question["id"] == name, "nobody is asked twice"
    assert team.states() == ["running", "active"]
    team.do("worker-2", "--result Eight")
    assert team.states() == ["completed", "done"]


@pytest.mark.slow
def test_a_proposal_to_a_topic_is_the_vote_itself(team: Team) -> None:
    add(team, decide=VOTED)
    payload = '{"title": "Tabs", "description": "Eight", "recommendation": "Do it"}'
    team("agent-subscribe arch.proposal_ready", "worker-2")
    name = team(f"agent-send @arch.proposal_ready Tabs --payload '{payload}'", "worker-1")
    team.exchange()
    assert team.states() == ["running", "gated", "waiting"]
    team(f"agent-vote {name} --for", "worker-2")
    team.clock.wait(90_000)
    team.exchange()
    assert team.states() == ["running", "done", "active"]


@pytest.mark.slow
def test_a_label_starts_a_workflow_once_for_an_issue(team: Team) -> None:
    add(team, look=LABELLED)
    number = team("agent-issue new 'A parser' --label needs-look", "worker-1").lstrip("#")
    team.exchange()
    team.exchange()
    (run,) = team.runs()
    assert (run["workflow"], run["issue"], run["startedBy"]) == ("look", int(number), "worker-1")
    (step,) = team.inbox("worker-2")
    assert f"Look at #{number}, «A parser»." in team(f"agent-inbox read {step['id']}", "worker-2")


def test_a_payload_that_is_no_object_starts_nothing(team: Team) -> None:
    add(team, look=ON_A_TOPIC)
    ws = open_workspace(team.one, {})
    for payload in ("", "[]", "{", '{"requestReview": "true"}'):
        assert starts.of_message(ws, ["@code.completed"], payload) == ""
    assert (
        starts.of_message(ws, ["worker-2", "@code.completed"], '{"requestReview": true}') == "look"
    )
    assert starts.of_message(ws, ["worker-2"], '{"requestReview": true}') == ""
