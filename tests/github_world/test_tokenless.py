"""Two clones of one repository on GitHub, and only one of them has a token."""

import re
import time

import pytest

from tests.support.git import commit, git
from tests.support.github import ADMIN, GitHub
from tests.support.story import Actor, Story


@pytest.fixture
def story(github: GitHub) -> Story:
    return Story(github, time.time())


@pytest.fixture
def person(story: Story) -> Actor:
    """The clone with a token."""
    return story.actor(ADMIN, "person")


@pytest.fixture
def one(story: Story) -> Actor:
    """An agent whose clone has none."""
    return story.actor("", "one", "worker-1")


def pass_on(story: Story, *actors: Actor) -> None:
    """Everybody syncs, twice, some time after the last."""
    for who in actors * 2:
        story.clock.pass_by(10.0)
        story.ghp(who, "agent-sync")


@pytest.mark.slow
def test_an_agent_without_a_token_claims_asks_hands_over_and_finishes(
    story: Story, person: Actor, one: Actor
) -> None:
    number = story.github.issue("Blink", body="It blinks.")
    story.github.issue("Shine")
    pass_on(story, person)
    pass_on(story, one)
    listed = story.json(one, "agent-issues")
    assert [(issue["number"], issue["title"]) for issue in listed] == [(1, "Blink"), (2, "Shine")]

    here = story.start(one, number)
    story.ghp(person, f"agent-claim {number}", code=3)
    escalated = story.ghp(here, ["agent-escalate", "How fast?"]).out.strip()
    story.ghp(here, f"agent-issue comment {number} 'I began.'")
    pass_on(story, here, person)
    assert story.labels(number) == ["agent:needs-human", "agent:worker-1"]
    comments = story.comments(number)
    assert len([comment for comment in comments if "How fast?\n" in comment]) == 1
    assert len([comment for comment in comments if comment.startswith("I began.")]) == 1
    body = {"body": f"/agent answer {escalated} 2 Hz"}
    story.github.act(ADMIN, "POST", f"issues/{number}/comments", body)
    pass_on(story, person, here)
    questions = story.json(here, "agent-escalations")
    assert [answer["text"] for question in questions for answer in question["answers"]] == ["2 Hz"]

    commit(here.folder, {"src/blink.py": "BLINK = True\n"}, "Add blink")
    two = story.actor("", "two", "worker-2")
    pass_on(story, two)
    story.ghp(two, "agent-heartbeat --status idle")
    pass_on(story, two, here)
    story.ghp(here, f"agent-handoff --issue {number} --to worker-2 --note 'Take it'")
    pass_on(story, here, person, two)
    assert "agent:worker-2" in story.labels(number)
    assert "agent:worker-1" not in story.labels(number)
    second = story.start(two, number)
    commit(second.folder, {"src/blink2.py": "BLINK = True\n"}, "Add more")
    finished = story.ghp(second, "agent-finish")
    assert "waits for a clone with a token" in finished.err
    pass_on(story, second, person, second)
    (pull,) = story.github.act(ADMIN, "GET", "pulls", state="all")
    assert f"Closes #{number}" in pull["body"]
    refused = story.ghp(second, f"agent-merge {number}", code=3)
    assert "it has no token" in refused.err
    story.ghp(person, f"agent-merge {number} --unchecked")
    assert story.github.act(ADMIN, "GET", f"issues/{number}")["state"] == "closed"
    pass_on(story, person, second, one)
    assert [issue["number"] for issue in story.json(one, "agent-issues")] == [2]
    assert story.twice() == []
    assert "Add more" in git(story.github.remote, "log", "--format=%s", "main")


@pytest.mark.slow
def test_a_new_issue_waits_and_gets_githubs_number(story: Story, person: Actor, one: Actor) -> None:
    story.github.issue("Blink")
    pass_on(story, person, one)
    created = story.ghp(one, "agent-issue new Shine --body 'It shines.'")
    assert re.fullmatch("I-[0-9a-f]{6}", created.out.strip())
    pass_on(story, one, person, one)
    pass_on(story, one, person, one)
    listed = story.json(one, "agent-issues")
    assert [(issue["number"], issue["title"]) for issue in listed] == [(1, "Blink"), (2, "Shine")]
    assert story.twice() == []
