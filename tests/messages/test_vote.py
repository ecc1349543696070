"""Votes: one for each agent, counted up to the end, with a result that a person can change."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.messages import vote
from ghp_agents.messages.message import Letter, Message, letters
from ghp_agents.messages.vote import ballot, quorum_of, sentence, unheard
from ghp_agents.state.codec import seconds
from tests.support.messages import AT, message

START = seconds(AT)
PROPOSAL = message(
    kind="proposal", subject="Eight columns", to=("w-1", "w-2", "w-3"), done_within=3600
)
OPEN_END = PROPOSAL._replace(to=("@all",))


def cast(name: str, choice: str, after: int = 60, **more: Any) -> Message:
    """A vote, some seconds after the proposal."""
    fields: dict[str, Any] = {
        "by": Actor(name), "kind": "vote", "about": PROPOSAL.id, "verdict": choice,
        "at": Timestamp(to_text(START + after)), "clock": after, "to": ("worker-1",), **more,
    }  # fmt: skip
    return message(f"{name}{after}".encode().hex(), **fields)


def result(*votes: Message, of: Message = PROPOSAL, after: int = 4000) -> str:
    (letter,) = letters([of, *votes])
    return ballot(letter, START + after).outcome


@pytest.mark.parametrize(
    ("to", "given_quorum", "quorum"),
    [(("a",), 0, 1), (("a", "b"), 0, 2), (("a", "b", "c", "d"), 0, 3), (("@all",), 7, 7)],
)
def test_most_of_those_who_are_named_are_a_quorum(
    to: tuple[str, ...], given_quorum: int, quorum: int
) -> None:
    assert quorum_of(PROPOSAL._replace(to=to, quorum=given_quorum)) == quorum


def test_more_for_than_against_accepts_and_a_tie_rejects() -> None:
    yes, no = cast("w-1", "for"), cast("w-2", "against")
    assert result(yes, cast("w-2", "for")) == "accepted"
    assert result(yes, no) == "rejected"
    assert result(yes, cast("w-2", "abstain")) == "accepted"
    assert result(yes) == "without a quorum"


def test_a_vote_is_open_until_its_end_or_until_all_who_are_named_have_voted() -> None:
    two = [cast("w-1", "for"), cast("w-2", "for")]
    assert result(*two, after=3600) == "open"
    assert result(*two, after=3601) == "accepted"
    assert result(*two, cast("w-3", "against"), after=100) == "accepted"
    assert result(*two, of=OPEN_END, after=100) == "open"


def test_the_last_vote_of_an_agent_up_to_the_end_counts() -> None:
    first, second = cast("w-1", "for"), cast("w-1", "against", after=90)
    late = cast("w-1", "for", after=3700)
    other = cast("w-2", "abstain")
    assert result(first, second, late, other) == "rejected"


def test_a_person_decides_before_and_after_the_end_and_the_last_person_counts() -> None:
    ann: dict[str, Any] = {"by": Actor("Ann", is_person=True)}
    no = cast("Ann", "against", **ann)
    assert result(cast("w-1", "for"), no, after=100) == "rejected"
    assert result(no, cast("Ann", "for", after=9000, **ann), after=9000) == "accepted"
    assert result(cast("Ann", "abstain", **ann), after=100) == "open"


def test_who_was_not_asked_and_a_reply_of_another_kind_do_not_count() -> None:
    strange = cast("w-9", "for")
    done = cast("w-1", "for", kind="done")
    assert result(strange, done, cast("w-2", "maybe")) == "without a quorum"
    assert result(strange, of=OPEN_END) == "accepted"


VOTES = st.lists(
    st.builds(
        cast,
        st.sampled_from(["w-1", "w-2", "w-3"]),
        st.sampled_from(vote.CHOICES),
        st.integers(1, 5000),
    ),
    max_size=4,
    unique_by=lambda each: each.id,
)


@given(VOTES)
def test_in_whatever_order_votes_arrive_the_result_is_the_same(votes: list[Message]) -> None:
    assert len({result(*order) for order in permutations(votes)}) == 1


def heard(
    letter: Letter, agent: str, delivered: tuple[str, ...] = (), since: str = ""
) -> list[str]:
    now = START + 4000
    return [sentence(x, now) for x, _ in unheard([letter], agent, delivered, since, now)]


def test_all_read_the_result_once_with_who_is_against_it() -> None:
    no = cast("w-2", "against", body="Tabs are wider\nthan that")
    (letter,) = letters([PROPOSAL, cast("w-1", "for"), cast("w-3", "for"), no])
    text = (
        "Proposal M-3f9a «Eight columns» by worker-1 was accepted: 2 for, 1 against; quorum 2.\n"
        "Against it: w-2: «Tabs are wider than that»."
    )
    for agent in ("worker-1", "w-1", "w-2"):
        assert heard(letter, agent, since="2027") == [text]
    assert heard(letter, "w-9", since="2027") == []
    ((_, key),) = unheard([letter], "w-1", (), "", START + 4000)
    assert heard(letter, "w-1", delivered=(key,)) == []


def test_a_result_that_a_person_changed_is_told_again() -> None:
    (letter,) = letters([PROPOSAL, cast("w-1", "for"), cast("w-3", "for")])
    ((_, key),) = unheard([letter], "w-1", (), "", START + 4000)
    ann = cast("Ann", "against", after=3900, by=Actor("Ann", is_person=True))
    (after,) = letters([PROPOSAL, cast("w-1", "for"), cast("w-3", "for"), ann])
    assert heard(after, "w-1", delivered=(key,)) == [
        "Proposal M-3f9a «Eight columns» by worker-1 was rejected by «Ann» (a person): 2 for, "
        "0 against; quorum 2."
    ]


def test_only_some_reasons_are_shown() -> None:
    against = [cast(f"w-{n}", "against", clone=CloneId("c2")) for n in range(7)]
    (letter,) = letters([OPEN_END, *against])
    (text,) = heard(letter, "worker-1")
    assert text.count("Against it:") == 5
    assert text.endswith("And 2 others: `ghp agent-thread M-3f9a`.")
