"""What became of a request: computed from its replies, the same on every machine."""

from typing import Any

import pytest

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.messages.address import Roles
from ghp_agents.messages.message import (
    Letter,
    Message,
    by_need,
    find,
    identity,
    inbox,
    letters,
    outbox,
    thread,
)
from tests.support.messages import AT, message


def reply(kind: str, by: str = "worker-2", clock: int = 2, **more: Any) -> Message:
    return message(f"{kind}{by}{clock}", by=Actor(by), to=("worker-1",), kind=kind, about="3f9a",
                   clock=clock, **more)  # fmt: skip


def letter_of(*replies: Message, **fields: Any) -> Letter:
    (letter,) = letters([message(**fields), *replies])
    return letter


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        ([], "new"),
        (["ack"], "claimed"),
        (["ack", "done"], "resolved"),
        (["done"], "resolved"),
        (["ack", "failed"], "failed"),
        (["done", "failed"], "resolved"),
    ],
)
def test_the_state_of_a_request_is_that_of_its_replies(kinds: list[str], state: str) -> None:
    replies = [reply(kind, clock=clock) for clock, kind in enumerate(kinds, 2)]
    assert letter_of(*replies).state == state
    assert letter_of(*replies).state_of("worker-2") == state


def test_of_several_agents_the_one_that_is_least_far_counts() -> None:
    letter = letter_of(reply("done"), to=("worker-2", "worker-3"))
    assert letter.state == "new"
    assert (letter.state_of("worker-2"), letter.state_of("worker-3")) == ("resolved", "new")


def test_a_reply_of_somebody_who_was_not_asked_changes_nothing() -> None:
    assert letter_of(reply("done", by="worker-9")).state == "new"


def test_a_note_asks_for_nothing() -> None:
    assert letter_of(kind="note").state == "resolved"


def test_of_a_group_the_newest_claim_counts() -> None:
    first = reply("ack", by="worker-2", claim=1)
    late = reply("done", by="worker-2", clock=9, claim=1)
    second = reply("ack", by="worker-3", clock=3, claim=2)
    letter = letter_of(first, second, late, to=("@all",))
    assert (letter.state, letter.holder) == ("claimed", "worker-3")
    assert letter.state_of("worker-2") == "new"


def test_of_a_group_a_reply_without_a_claim_changes_nothing() -> None:
    assert letter_of(reply("done"), to=("@all",)).state == "new"


def test_only_people_and_orchestrators_command() -> None:
    by_agent, by_boss = message(kind="command"), message("aa", kind="command", by=Actor("boss"))
    by_person = message("bb", kind="command", by=Actor("Ada", True))
    listed = letters([by_agent, by_boss, by_person], ["boss"])
    assert [letter.message for letter in listed] == [by_boss, by_person]


@pytest.mark.parametrize(
    ("replies", "age", "late"),
    [([], 10, ""), ([], 61, "ack"), (["ack"], 61, ""), (["ack"], 601, "done"), (["done"], 601, "")],
)
def test_a_request_is_overdue_by_its_own_times(replies: list[str], age: int, late: str) -> None:
    letter = letter_of(*map(reply, replies), ack_within=60, done_within=600)
    assert letter.is_late(to_seconds(AT) + age) == late


def test_a_message_is_over_when_it_expires() -> None:
    letter = letter_of(expires=60)
    assert [letter.is_over(to_seconds(AT) + age) for age in (60, 61)] == [False, True]
    assert not letter_of().is_over(to_seconds(AT) + 10**9)


def test_an_inbox_has_what_is_sent_to_an_agent_and_not_its_own_words_to_its_group() -> None:
    named, to_all = message(), message("aa", to=("@all",))
    listed = letters([named, to_all])
    assert [x.message for x in inbox(listed, Roles("worker-2"))] == [named, to_all]
    assert inbox(listed, Roles("worker-1")) == []
    assert [x.message for x in outbox(listed, Actor("worker-1"))] == [named, to_all]
    assert outbox(listed, Actor("worker-1", True)) == []


def test_a_thread_is_the_whole_conversation_from_any_of_its_messages() -> None:
    first, answer = message("aa"), message("bb", about="aa", clock=2)
    done, other = message("cc", about="bb", clock=3, kind="done"), message("dd", clock=4)
    messages = [other, done, answer, first]
    for start in (first, answer, done):
        assert thread(messages, start) == [first, answer, done]
    assert thread(messages, other) == [other]


def test_a_thread_that_leads_in_a_circle_ends() -> None:
    one, two = message("aa", about="bb"), message("bb", about="aa", clock=2)
    assert thread([one, two], one) == [one, two]


def test_a_message_is_found_by_the_start_of_its_id() -> None:
    messages = [message("3f9a"), message("3f10")]
    assert find(messages, "M-3F9") == messages[0]
    with pytest.raises(UsageError, match="matches 2 messages"):
        find(messages, "3f")
    with pytest.raises(NotFoundError):
        find(messages, "m-")


def test_an_id_depends_on_all_that_is_said() -> None:
    different = [
        message(), message(to=("worker-3",)), message(subject="x"), message(body="x"),
        message(kind="note"), message(about="aa"), message(issue=1), message(claim=1),
        message(by=Actor("worker-1", True)), message(artifacts=("x",)), message(urgency="low"),
        message(ack_within=1), message(done_within=1), message(expires=1),
        message(clone=CloneId("c2")),
    ]  # fmt: skip
    assert len({identity(x, 0) for x in different}) == len(different)
    assert identity(message(), 0) != identity(message(), 1)


def test_what_is_to_be_done_comes_first_the_most_urgent_at_the_top() -> None:
    done, low, high = message("aa"), message("bb", urgency="low"), message("cc", urgency="high")
    listed = letters([done, low, high, reply("done")._replace(about="aa")])
    assert [x.message for x in by_need(listed, "worker-2")] == [high, low, done]
