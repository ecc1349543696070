"""Two agents that answer each other without an end: refused, and one question to a person."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.escalations import service as escalation
from ghp_agents.messages import endless
from tests.support.messages import Post, message

ONE, TWO = Actor("worker-1"), Actor("worker-2")
FIRST = message("aa01", by=ONE, to=("worker-2",), subject="Which name?", clock=1)
SECOND = message("aa02", by=TWO, to=("worker-1",), about="aa01", clock=2)


@pytest.fixture
def one(repo: Path) -> Post:
    """worker-1."""
    return Post(repo, "worker-1")


@pytest.fixture
def two(one: Post) -> Post:
    """worker-2 at the same place."""
    return one.by("worker-2")


def test_an_agent_is_refused_that_has_written_often_enough() -> None:
    endless.refuse([FIRST, SECOND], SECOND, message("aa03", by=ONE, about="aa02"), 2)
    with pytest.raises(endless.EndlessError, match="has written 1 times") as refused:
        endless.refuse([FIRST, SECOND], SECOND, message("aa03", by=ONE, about="aa02"), 1)
    assert (refused.value.agent, refused.value.conversation) == ("worker-1", [FIRST, SECOND])


def test_the_question_is_the_same_from_both_sides_and_names_the_way_on() -> None:
    question = endless.question("worker-1", [FIRST, SECOND])
    assert question.text == endless.question("worker-2", [FIRST, SECOND]).text
    assert question.text == (
        "worker-1 and worker-2 do not end their conversation M-aa01. What shall they do?"
        "\n\nIt is about «Which name?»: `ghp agent-thread M-aa01`. They can continue after a "
        "person's message: `ghp agent-send worker-1 worker-2 SUBJECT --reply-to M-aa01`."
    )


def test_two_agents_that_answer_each_other_without_an_end_ask_a_person(
    one: Post, two: Post
) -> None:
    (one.repo / ".ghp").mkdir(exist_ok=True)
    (one.repo / ".ghp/config.json").write_text('{"agents": {"maxRounds": 2}}')
    posts = [one.by("worker-1"), one.by("worker-2")]
    first = last = ""
    for turn in range(4):
        last = (
            posts[turn % 2]
            .send(f"worker-{2 - turn % 2}", subject=f"Turn {turn}", reply_to=last)
            .message.name
        )
        first = first or last
    with pytest.raises(RefusedError, match="has written 2 times in this conversation") as refused:
        posts[0].send("worker-2", subject="Turn 4", reply_to=last)
    (question,) = escalation.questions(one.parts.world)
    does = "do not end their conversation"
    assert question.title == f"worker-1 and worker-2 {does} {first}. What shall they do?"
    assert refused.value.hint == (
        f"A person is asked as {question.name}. Do other work, or begin another conversation."
    )
    with pytest.raises(RefusedError, match=f"{question.name}|written 2 times"):
        posts[1].send("worker-1", subject="Turn 5", reply_to=last)
    assert len(escalation.questions(one.parts.world)) == 1
    one.by("@me").send("worker-1", "worker-2", subject="Two more", reply_to=first)
    assert posts[0].send("worker-2", subject="Turn 6", reply_to=last).is_new
    assert posts[0].send("worker-2", subject="Something else").is_new
