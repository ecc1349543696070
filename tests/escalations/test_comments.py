"""Comments on the issue: each is made, and made once, whatever fails and is repeated."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.escalations.comments import owed
from ghp_agents.escalations.service import post_owed
from tests.support.escalations import Killed, Place, make_place


@pytest.fixture
def here(repo: Path) -> Place:
    """Where worker-1 works."""
    return make_place(repo)


@pytest.fixture
def person(here: Place) -> Place:
    """The person at the same repository."""
    return here.by(None)


def test_killed_between_record_and_comment_the_same_command_posts_it_once(
    here: Place, person: Place
) -> None:
    here.tracker.kills = 1
    with pytest.raises(Killed):
        here.ask(issue=1)
    (escalation,) = here.known()
    assert here.tracker.said() == []
    here.ask(issue=1)
    here.ask(issue=1)
    question = ("worker-1", f"<!-- ghp:escalation {escalation.name} -->")
    assert here.tracker.said() == [question]
    here.tracker.kills = 1
    with pytest.raises(Killed):
        person.reply(escalation.id)
    answered = person.reply(escalation.id)
    assert not answered.is_new
    assert here.tracker.said() == [
        question,
        ("Test Person", f"<!-- ghp:answer {answered.answer.id} -->"),
    ]


def test_a_tracker_out_of_reach_loses_no_question_and_the_comment_is_made_later(
    here: Place, person: Place
) -> None:
    here.tracker.reachable = False
    result = here.ask(issue="#1")
    note = (
        "Cannot comment on #1: The tracker cannot be reached. Nothing is lost: the next "
        "question or answer here retries, and so does this command."
    )
    assert (result.is_new, result.notes) == (True, (note,))
    assert owed(here.ws) == {result.escalation.id}
    assert post_owed(here.parts) == [note]
    answered = person.reply(result.escalation.id)
    assert (answered.is_new, answered.notes) == (True, (note,))
    here.tracker.reachable = True
    assert here.ask("Another one?").notes == ()
    assert [author for author, _ in here.tracker.said()] == ["worker-1", "Test Person"]
    assert owed(here.ws) == set()
    assert post_owed(here.parts) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask 1", "ask 2", "answer", "answer more", "agent answers"]),
        st.sampled_from(["well", "well", "offline", "killed"]),
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_whatever_fails_and_is_repeated_each_thing_is_said_once(
    repo: Path, steps: list[tuple[str, str]]
) -> None:
    here = make_place(repo)

    def do(what: str) -> None:
        if what.startswith("ask"):
            here.ask(f"Question {what[-1]}?", issue=1)
        elif escalations := here.known():
            here.by("worker-2" if what.startswith("agent") else None).reply(
                escalations[-1].id, what
            )

    for what, how in steps:
        here.tracker.reachable, here.tracker.kills = how != "offline", int(how == "killed")
        try:
            do(what)
        except Killed:
            here.tracker.kills = 0
            do(what)
        here.tracker.reachable, here.tracker.kills = True, 0
    post_owed(here.parts)
    escalations = here.known()
    wanted = [f"<!-- ghp:escalation {x.name} -->" for x in escalations]
    wanted += [
        f"<!-- ghp:answer {reply.id} -->" for x in escalations for reply in (*x.answers, *x.advice)
    ]
    assert sorted(mark for _, mark in here.tracker.said()) == sorted(wanted)
    assert len(here.store.ledger()) == len(wanted)
