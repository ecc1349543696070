"""Workflows in two clones, from their start to their end."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.wiring import App
from ghp_agents.workflows import service
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.repos import Prepared

TWO_STEPS = """---
description: Look, and a person decides.
---
## Look

- Role: starter
- Gate: approval
- Output: what you saw

Look at {subject}.

## Tell

- Role: @all

{look}
"""


class Team:
    """worker-1 in one clone, worker-2 and worker-3 in another."""

    def __init__(self, one: Path, two: Path) -> None:
        self.one, self.two = one, two
        self.clock = ManualClock()

    @classmethod
    def meet(cls, one: Path, two: Path) -> None:
        """All have been seen in both clones."""
        team = cls(one, two)
        for name in ("worker-1", "worker-2", "worker-3"):
            team("agent-heartbeat", name)
        team.exchange()

    def folder(self, by: str) -> Path:
        return self.one if by in ("worker-1", "@me") else self.two

    def __call__(self, line: str, by: str) -> str:
        """Run a command that must succeed; returns what it printed."""
        done = invoke(f"{line} --as {by}", self.folder(by), clock=self.clock)
        assert done.code == 0, done
        return done.out.strip()

    def sync(self, folder: Path) -> str:
        done = invoke("agent-sync", folder, clock=self.clock)
        assert done.code == 0, done
        return done.err

    def exchange(self) -> None:
        for folder in (self.one, self.two, self.one):
            self.sync(folder)

    def inbox(self, by: str) -> list[dict[str, Any]]:
        """What is asked of an agent and not done."""
        letters = json.loads(self("agent-inbox --json", by))
        return [x for x in letters if x["kind"] != "note" and x["state"] in ("new", "claimed")]

    def do(self, by: str, *words: str) -> None:
        """Do the one thing that is asked of an agent."""
        (letter,) = self.inbox(by)
        self(" ".join(["agent-inbox done", letter["id"], *words]), by)
        self.exchange()

    def runs(self) -> list[dict[str, Any]]:
        listed = [json.loads(invoke("agent-workflows --json", folder, clock=self.clock).out)["runs"]
                 for folder in (self.one, self.two)]  # fmt: skip
        assert listed[0] == listed[1], "all clones see the same"
        return list(listed[0])

    def states(self) -> list[str]:
        """The state of the only workflow, and of each of its steps."""
        (run,) = self.runs()
        return [run["state"], *(x["outcome"] or x["status"] for x in run["steps"])]


@pytest.fixture
def team(prepared: Prepared) -> Team:
    return Team(*prepared(Team.meet))


@pytest.mark.slow
def test_a_question_is_asked_and_answered_in_another_clone(team: Team) -> None:
    name = team("agent-run question 'How wide is a tab?' --body 'For the lexer.'", "worker-1")
    team.exchange()
    assert team.states() == ["running", "active"]
    (question,) = team.inbox("worker-2")
    assert (question["about"], question["subject"], question["kind"]) == (
        name, "Answer: How wide is a tab?", "question",
    )  # fmt: skip
    shown = team(f"agent-inbox read {question['id']}", "worker-2")
    assert "worker-1 asks: «How wide is a tab?»" in shown
    assert "> For the lexer." in shown
    team.do("worker-2", "--result 'Eight columns'")
    assert team.states() == ["completed", "done"]
    assert "Eight columns" in team("agent-status", "worker-1")
    listed = invoke("agent-workflows", team.one, clock=team.clock)
    assert "RUN" not in listed.out
    assert "1 workflow completed; `--all` lists them." in listed.err


@pytest.mark.slow
def test_a_named_agent_does_the_first_step(team: Team) -> None:
    team("agent-run question 'How wide?' --to worker-3", "worker-1")
    team.exchange()
    assert [team.inbox("worker-2"), len(team.inbox("worker-3"))] == [[], 1]
    team("agent-run question 'How wide?' --to worker-3", "worker-1")
    assert len(team.runs()) == 1, "repeated, it is the same"


@pytest.mark.slow
def test_the_findings_of_a_review_go_to_the_author(team: Team) -> None:
    name = team("agent-run review 'The parser' --to worker-2", "worker-1")
    team.exchange()
    team.do("worker-2", "--verdict changes --result 'Add a test'")
    (answer,) = team.inbox("worker-1")
    assert (answer["subject"], answer["about"]) == ("Answer the findings: The parser", name)
    assert "agent worker-2: request-changes\n> > Add a test" in team(
        f"agent-inbox read {answer['id']}", "worker-1"
    )
    team.do("worker-1", "--result 'Added in 2907e5b'")
    assert team.states() == ["completed", "changes", "done"]


@pytest.mark.slow
def test_two_clones_that_continue_at_once_and_before_they_meet_send_one_message(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    team("agent-run review 'The parser' --to worker-2", "worker-1")
    team.exchange()
    with monkeypatch.context() as patch:
        patch.setattr(service, "advance", lambda *_: [])  # as if each had been killed
        team.do("worker-2", "--verdict changes --result 'Add a test'")
    assert team.inbox("worker-1") == []
    for folder in (team.one, team.two):
        (note,) = service.advance(App(folder, os.environ, clock=team.clock))
        assert note.endswith("«Answer the findings» to worker-1.")
        assert service.advance(App(folder, os.environ, clock=team.clock)) == []
        team.clock.wait(5)  # so what they write differs
    team.exchange()
    (answer,) = team.inbox("worker-1")
    team.do("worker-1", "--result 'Added'")
    assert team.states() == ["completed", "changes", "done"]
    assert team.runs()[0]["steps"][1]["message"] == answer["id"]


@pytest.mark.slow
def test_a_step_that_nobody_can_do_says_so_when_it_is_sent(team: Team) -> None:
    done = invoke("agent-run review 'The parser' --as worker-1", team.one, clock=team.clock)
    assert done.err.splitlines()[2:] == [
        "No other agent listens to @capability:review now.",
        "An agent that can do it declares it: `ghp agent-whoami --capability review`.",
    ]
    team("agent-whoami --capability review", "worker-2")
    team.exchange()
    assert len(team.inbox("worker-2")) == 1


@pytest.mark.slow
def test_a_review_that_approves_needs_no_answer(team: Team) -> None:
    team("agent-run review 'The parser' --to worker-2", "worker-1")
    team.exchange()
    team.do("worker-2", "--verdict approve")
    assert team.states() == ["completed", "approved", "not needed"]


@pytest.mark.slow
def test_a_step_that_fails_ends_the_workflow_and_says_where(team: Team) -> None:
    team("agent-run question 'How wide?' --to worker-2", "worker-1")
    team.exchange()
    (question,) = team.inbox("worker-2")
    team(f"agent-inbox fail {question['id']} --reason 'I do not know'", "worker-2")
    team.exchange()
    assert team.states() == ["failed", "failed"]
    assert "failed at Answer: failed" in invoke("agent-workflows", team.one, clock=team.clock).out


def own(team: Team, text: str) -> None:
    (team.one / ".ghp/workflows").mkdir(parents=True)
    (team.one / ".ghp/workflows/look.md").write_text(text)
    git(team.one, "add", "-A")
    git(team.one, "commit", "-qm", "Workflows")
    git(team.one, "push", "-q", "origin", "HEAD:main")
    git(team.two, "fetch", "-q")


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "end"), [("approve", "done"), ("refuse", "refused")])
def test_a_person_who_starts_it_does_its_step_and_decides(
    team: Team, answer: str, end: str
) -> None:
    own(team, TWO_STEPS)
    name = team("agent-run look 'The parser'", "@me")
    team.exchange()
    (question,) = json.loads(invoke("agent-escalations --json", team.one, clock=team.clock).out)
    assert question["question"].startswith(
        "Look: The parser\n\nLook at «The parser».\n\nHand back:"
    )
    team(f"agent-answer {question['id']} 'It is fine'", "@me")
    team.exchange()
    assert team.states() == ["running", "gated", "waiting"]
    questions = json.loads(invoke("agent-escalations --json", team.one, clock=team.clock).out)
    (gate,) = [x for x in questions if x["options"]]
    assert gate["question"].startswith("May the workflow look go on after «Look»?")
    team(f"agent-answer {gate['id']} {answer}", "@me")
    team.exchange()
    if end == "refused":
        assert team.states() == ["failed", "refused", "not reached"]
        return
    (note,) = team.inbox("worker-2")
    assert note["about"] == name
    team.do("worker-2")
    assert team.states() == ["completed", "done", "done"]


@pytest.mark.slow
@pytest.mark.parametrize(("word", "state"), [("true", "done"), ("ask", "gated")])
def test_an_agent_whose_card_lets_it_goes_on_where_a_person_would_approve(
    team: Team, word: str, state: str
) -> None:
    (team.one / ".ghp/agents").mkdir(parents=True)
    (team.one / ".ghp/agents/worker-1.md").write_text(f"---\nautonomous: {word}\n---\n\nLook.\n")
    own(team, TWO_STEPS)
    team("agent-run look 'The parser'", "worker-1")
    team.exchange()
    team.do("worker-1", "--result 'It is fine'")
    assert team.states()[:2] == ["running", state]
    questions = json.loads(invoke("agent-escalations --json", team.one, clock=team.clock).out)
    assert len(questions) == (1 if state == "gated" else 0)


@pytest.mark.slow
def test_a_vote_and_then_a_person_decide_on_an_architecture(team: Team) -> None:
    for name in ("worker-2", "worker-3"):
        can = "review" if name == "worker-2" else "implementation"
        team(f"agent-whoami --capability {can} --capability architecture", name)
    team.exchange()
    team("agent-run architecture 'Use one parser' --body 'Two are too many.'", "worker-1")
    team.exchange()
    assert team.states() == ["running", "active", "active", "waiting", "waiting", "waiting"]
    team.do("worker-3", "--result 'A day'")
    team.do("worker-2", "--result 'Keep the older one'")
    assert team.states()[3:] == ["gated", "waiting", "waiting"]
    (proposal,) = team.inbox("worker-3")
    assert proposal["kind"] == "proposal"
    team(f"agent-vote {proposal['id']} --for", "worker-3")
    team.clock.wait(90_000)
    team.exchange()
    assert team.states()[3:] == ["done", "gated", "waiting"]
    (gate,) = json.loads(invoke("agent-escalations --json", team.one, clock=team.clock).out)
    assert "> A day" in gate["question"]
    team(f"agent-answer {gate['id']} approve", "@me")
    team.exchange()
    team.do("worker-1", "--result docs/parser.md")
    assert team.states() == ["completed", "done", "done", "done", "done", "done"]


@pytest.mark.slow
def test_the_manager_of_an_epic_plans_and_checks_when_its_parts_are_closed(team: Team) -> None:
    team("agent-whoami --capability planning", "worker-2")
    epic = team("agent-issue new 'A language'", "@me").lstrip("#")
    team.exchange()
    team(f"agent-run epic --issue {epic}", "@me")
    team.exchange()
    part = team(f"agent-issue new 'A lexer' --parent {epic}", "worker-2").lstrip("#")
    team.do("worker-2", f"--result 'Only #{part}'")
    (gate,) = json.loads(invoke("agent-escalations --json", team.one, clock=team.clock).out)
    team(f"agent-answer {gate['id']} approve", "@me")
    team.exchange()
    assert team.states() == ["running", "done", "gated", "waiting"]
    assert team.runs()[0]["steps"][1]["waitsFor"] == "the issue's parts"
    team(f"agent-issue close {part} --reason Done", "@me")
    team.exchange()
    assert team.states() == ["running", "done", "done", "active"]
    team.do("worker-2", "--result 'All holds'")
    assert team.states() == ["completed", "done", "done", "done"]


@pytest.mark.slow
def test_a_workflow_whose_file_is_gone_waits_and_says_so(team: Team) -> None:
    own(team, TWO_STEPS)
    team("agent-run look 'The parser'", "worker-1")
    git(team.one, "rm", "-q", ".ghp/workflows/look.md")
    git(team.one, "commit", "-qm", "Remove it")
    git(team.one, "push", "-q", "origin", "HEAD:main")
    git(team.two, "fetch", "-q")
    team.exchange()
    assert team.states() == ["failed"]
    assert "failed: its file is gone" in invoke("agent-workflows", team.one, clock=team.clock).out


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("agent-run nothing 'Hi'", "There is no workflow 'nothing'."),
        ("agent-run question", "The workflow needs a subject."),
        ("agent-run question --issue 99", "There is no issue 99."),
    ],
)
def test_what_cannot_be_started_says_why(team: Team, line: str, error: str) -> None:
    done = invoke(f"{line} --as worker-1", team.one, clock=team.clock)
    assert done.code != 0
    assert done.err.splitlines()[0] == f"Error: {error}"
    assert team.runs() == []


WITH_A_JOB = """---
description: An issue, and its checks.
---
## Build

- Kind: job
- Role: rust

Build {subject}, as {starter} says:

{text}

## Merge

- Gate: checks
"""


@pytest.mark.slow
def test_a_step_that_is_a_job_is_an_issue_which_is_created_once_where_the_workflow_began(
    team: Team,
) -> None:
    own(team, WITH_A_JOB)
    name = team("agent-run look 'The parser' --body 'In Rust.'", "worker-1")
    team.exchange()
    (job,) = json.loads(team("agent-issues --json", "worker-2"))
    assert job["title"] == "Build: The parser"
    assert job["body"] == (
        "Build «The parser», as worker-1 says:\n\n> In Rust.\n\n"
        f"## Capabilities\n\n- rust\n\n## Workflow\n\n{name} build"
    )
    assert team.states() == ["running", "active", "waiting"]
    assert team.runs()[0]["steps"][0]["waitsFor"] == "its issue"
    team(f"agent-issue close {job['number']} --reason Done", "@me")
    team.exchange()
    assert team.states() == ["running", "done", "gated"]
    assert team.runs()[0]["steps"][1]["waitsFor"] == "checks"
