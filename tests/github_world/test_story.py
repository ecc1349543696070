"""The whole story of an issue on GitHub: two clones, two accounts and a real remote."""

import time

import pytest

from tests.support.faults import Asked, Fault, at_random
from tests.support.git import commit, git
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, WORKER_2, GitHub
from tests.support.story import Actor, Story
from tests.support.thorough import IS_THOROUGH, some

FORM = """\
### Goal

The widget blinks.

### Acceptance

- [ ] It blinks.

### Scope

src/**

### Blocked by

_No response_

### Capabilities

_No response_

### Priority

high
"""
ODDS, FAULTS = (0.65, 340) if IS_THOROUGH else (0.45, 120)  # of a request; faults in a run
DEAD = 31 * 60.0  # seconds after which an agent may be taken for dead


@pytest.fixture
def story(github: GitHub) -> Story:
    return Story(github, time.time())


def work(who: Actor, name: str) -> None:
    commit(who.folder, {f"src/{name}.py": f"{name.upper()} = True\n"}, f"Add {name}")


def to_the_end(story: Story, who: Actor, number: int) -> None:
    """Finished, merged, closed."""
    story.ghp(who, "agent-finish")
    story.ghp(who, f"agent-merge {number} --unchecked")
    assert story.github.act(ADMIN, "GET", f"issues/{number}")["state"] == "closed"


def from_a_form_to_the_trunk(story: Story, one: Actor, two: Actor, person: Actor) -> int:
    """Made, assigned, started, beats, blocked, escalated, answered, finished, merged, closed."""
    number = story.github.issue("Blink", body=FORM)
    story.github.act(ADMIN, "POST", f"issues/{number}/labels", {"labels": ["agent:worker-1"]})
    (issue,) = story.json(one, "agent-issues")
    assert (issue["number"], issue["priority"]) == (number, "high")
    assert issue["assignees"] == ["worker-1"]
    here = story.start(one, number)
    story.ghp(two, f"agent-start {number}", code=3)  # it is another's
    story.ghp(here, "agent-heartbeat --status implementing --progress")
    escalated = story.ghp(
        here, ["agent-escalate", "How fast?", "--option", "1 Hz", "--option", "2 Hz"]
    )
    question = escalated.out.strip()
    story.ghp(here, "agent-heartbeat --status blocked")
    story.settle(one, person)
    assert len([comment for comment in story.comments(number) if "How fast?\n" in comment]) == 1
    body = {"body": f"/agent answer {question} 9 Hz\n\n/agent stop"}
    story.github.act(OUTSIDER, "POST", f"issues/{number}/comments", body)
    body = {"body": f"/agent answer {question} 2 Hz"}
    comment = story.github.act(ADMIN, "POST", f"issues/{number}/comments", body)["id"]
    story.settle(one, two, person)
    questions = story.json(one, "agent-escalations")
    assert [answer["text"] for question_row in questions for answer in question_row["answers"]] == [
        "2 Hz"
    ]
    reactions = story.github.act(ADMIN, "GET", f"issues/comments/{comment}/reactions")
    assert [reaction["content"] for reaction in reactions] == ["+1"]
    work(here, "blink")
    to_the_end(story, here, number)
    return number


def killed_swept_and_finished_by_the_other(
    story: Story, one: Actor, two: Actor, sweeper: Actor
) -> int:
    """An agent starts and is heard no more; its issue is another's, who brings it to its end."""
    number = story.github.issue("Shine", body=FORM.replace("blinks", "shines"))
    dead = story.start(two, number)
    work(dead, "half")
    git(dead.folder, "push", "--quiet", "origin", "HEAD")
    story.settle(two)
    story.ghp(sweeper, "agent-sweep")
    story.ghp(one, f"agent-start {number}", code=3)
    for _ in range(2):
        story.clock.pass_by(DEAD)
        story.ghp(one, "agent-heartbeat --status idle")
        story.settle(one)
        story.ghp(sweeper, "agent-sweep --policy reassign")
    story.settle(sweeper, one)
    here = story.start(one, number)
    work(here, "shine")
    to_the_end(story, here, number)
    return number


def tell(story: Story) -> None:
    """All of it, and what must hold in the end."""
    one = story.actor(WORKER_1, "one", "worker-1")
    two = story.actor(WORKER_2, "two", "worker-2")
    person, sweeper = story.actor(ADMIN, "person"), story.actor(ADMIN, "sweeper")
    from_a_form_to_the_trunk(story, one, two, person)
    killed_swept_and_finished_by_the_other(story, one, two, sweeper)
    story.settle(one, two, person)
    story.ghp(sweeper, "agent-sweep")
    assert story.twice() == []
    assert story.impatient() == []
    first = [
        comment for comment in story.comments(1) if comment.startswith("This issue is closed.")
    ]
    assert len(first) == 1  # one comment tells how it stands, and tells the last of it
    assert sorted({*story.trunk()} & {"Add blink", "Add half", "Add shine"}) == [
        "Add blink", "Add half", "Add shine"
    ]  # fmt: skip


@pytest.mark.slow
def test_two_issues_come_to_their_end_by_two_agents_and_a_sweeper(story: Story) -> None:
    tell(story)
    assert story.faults == {}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", some(range(12), every=12))
def test_whatever_goes_wrong_nothing_is_there_twice_and_nothing_is_lost(
    story: Story, seed: int
) -> None:
    dice = at_random(seed, ODDS)
    story.github.proxy.delay = 0.02  # a slow answer; one that comes too late is as good as cut off

    def fault(request: Asked) -> Fault | None:
        """A server that says 304 where something has changed lies, and whoever believes it is
        wrong once: so it lies about lists of issues alone."""
        thrown = dice(request)
        lies = thrown is Fault.STALE and not request.path.endswith("/issues")
        return Fault.BAD_GATEWAY_AFTER if lies else thrown

    story.github.proxy.faults = fault
    tell(story)
    assert sum(story.faults.values()) >= FAULTS  # so four thousand at night
