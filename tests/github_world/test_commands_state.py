"""The one comment on an issue that shows how it goes with it."""

import re

import pytest

from ghp_agents.github import marker as github_marker
from ghp_agents.github import status_comment_sync as state_comment
from ghp_agents.github.status_comment import MARKER
from ghp_agents.github.wording import PROGRAM
from tests.support.commands import Field
from tests.support.github import ADMIN, OUTSIDER, WORKER_2, GitHub

pytestmark = pytest.mark.slow
_TIME = re.compile(r"\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d UTC")
FORGED = github_marker.signed("worker-9 has it.", github_marker.mark("3f9a12c4", PROGRAM, MARKER))


@pytest.fixture
def field(github: GitHub) -> Field:
    return Field(github)


def states(field: Field, number: int = 1) -> list[str]:
    """The comments about the state, with times taken out."""
    once = github_marker.once(MARKER)
    texts = []
    for comment in field.raw(number):
        _, mark = github_marker.split_marker(comment["body"])
        if mark and mark.once == once:
            texts.append(_TIME.sub("then", github_marker.split_marker(comment["body"])[0]))
    return texts


def writes(field: Field, mark: int) -> list[str]:
    return [str(exchange) for exchange in field.github.proxy.since(mark) if exchange.asked.writes]


def at_work(field: Field) -> None:
    field.github.issue("Blink")
    field.ghp("agent-claim 1", agent="worker-1")
    field.ghp("agent-heartbeat --status implementing", agent="worker-1")
    field.sync()


def table(*rows: str) -> str:
    return "\n".join(["| | |", "|---|---|", *rows])


def test_it_follows_the_state_and_stays_one_comment(field: Field) -> None:
    at_work(field)
    rows = ["| **since** | then |", "| **branch** | `main` |"]
    assert states(field) == [f"**worker-1** holds this issue: implementing.\n\n{table(*rows)}"]
    name = field.ghp(["agent-escalate", "Stop @ada | `now`?"], agent="worker-1").out.strip()
    field.ghp("agent-handoff --issue 1 --note Half", agent="worker-1")
    field.sync()
    (state,) = states(field)
    assert "| **open questions** | 1 |" in state
    assert "now" not in state
    assert re.search(r"\| \*\*last handoff\*\* \| H-[0-9a-f]+, by worker-1, then \|", state)
    field.ghp(["agent-answer", name, "Now"])
    field.ghp("agent-release 1", agent="worker-1")
    field.sync()
    (state,) = states(field)
    assert state.startswith("No agent holds this issue.")
    field.github.act(ADMIN, "PATCH", "issues/1", {"state": "closed"})
    field.sync()
    (state,) = states(field)
    assert state.startswith("This issue is closed.")


def test_what_is_as_it_was_is_not_written(field: Field) -> None:
    at_work(field)
    field.sync()
    mark = len(field.github.proxy.exchanges)
    for _ in range(3):
        field.ghp("agent-heartbeat --action 'Something else'", agent="worker-1")
        field.sync()
        field.sync("two", WORKER_2)
    assert writes(field, mark) == []


def test_how_far_the_work_is_is_written_no_more_than_every_ten_minutes(field: Field) -> None:
    at_work(field)
    mark = len(field.github.proxy.exchanges)
    for status in ("testing", "implementing", "testing"):
        field.ghp(f"agent-heartbeat --status {status}", agent="worker-1")
        field.sync()
    assert writes(field, mark) == []
    field.clock.wait(600)
    field.sync()
    assert len(writes(field, mark)) == 1
    assert states(field)[0].startswith("**worker-1** holds this issue: testing.")


def test_another_clone_goes_on_with_the_same_comment(field: Field) -> None:
    at_work(field)
    field.ghp("agent-release 1", agent="worker-1")
    field.sync()
    field.ghp("agent-claim 1", "two", "worker-2", WORKER_2)
    field.sync("two", WORKER_2)
    field.sync()
    field.sync()
    (state,) = states(field)
    assert state.startswith("**worker-2** holds this issue")


def test_a_comment_that_somebody_deleted_is_made_again(field: Field) -> None:
    at_work(field)
    (comment,) = [raw["id"] for raw in field.raw(1)]
    field.github.act(ADMIN, "DELETE", f"issues/comments/{comment}")
    field.ghp("agent-escalate Why?", agent="worker-1")
    field.sync()
    assert len(states(field)) == 1


def test_what_a_stranger_forged_is_neither_changed_nor_taken_for_it(field: Field) -> None:
    field.github.issue("Blink")
    forged = field.say(1, FORGED, OUTSIDER)
    field.ghp("agent-claim 1", agent="worker-1")
    field.sync()
    assert len(states(field)) == 2
    (kept,) = [raw["body"] for raw in field.raw(1) if raw["id"] == forged]
    assert kept == FORGED


def test_of_two_that_were_made_at_once_the_younger_is_taken_back(field: Field) -> None:
    field.github.issue("Blink")
    field.ghp("agent-claim 1", agent="worker-1")
    house = field.house()
    assert house.hub
    posted = house.hub.write

    def late(verb: str, path: str, body: object = None, **how: object) -> object:
        if verb == "POST" and path == "issues/1/comments":
            field.say(1, FORGED, WORKER_2)  # the other clone is faster, after we looked
        return posted(verb, path, body, **how)  # type: ignore[arg-type]

    house.hub.write = late  # type: ignore[method-assign]
    issues = house.tracker.list()
    snapshot = house.store.snapshot()
    state_comment.refresh(house, house.hub, snapshot, issues, [], {1})
    assert len(field.raw(1)) == 1
    assert states(field)[0].startswith("**worker-1** holds this issue")


def test_the_sweeper_shows_that_a_dead_agent_has_it_no_more(field: Field) -> None:
    at_work(field)
    field.sync("sweeper", ADMIN)
    field.clock.wait(1_900)
    field.ghp("agent-sweep", "sweeper", login=ADMIN)
    (state,) = states(field)
    assert state.startswith("No agent holds this issue.")
    mark = len(field.github.proxy.exchanges)
    field.ghp("agent-sweep", "sweeper", login=ADMIN)
    field.ghp("agent-sweep", "sweeper", login=ADMIN)
    assert writes(field, mark) == []


def test_agents_are_not_shown_it_among_what_was_said(field: Field) -> None:
    at_work(field)
    assert field.house().tracker.get(1).comments == ()
