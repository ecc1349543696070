"""A clone with a token sends what others asked for: once, attributed, and no more than they may."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.github.tokenless import request, send
from ghp_agents.github.tokenless.request import Outgoing
from ghp_agents.issues.issue import IssueChange
from ghp_agents.sync import service as sync
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.faults import Fault, in_turn, never, writes
from tests.support.github import ADMIN, GitHub

ME, ANN = Actor("worker-1"), Actor("Ann Example", is_person=True)


@pytest.fixture
def clock(github: GitHub) -> ManualClock:
    github.proxy.clock = clock = ManualClock()
    return clock


@pytest.fixture
def sender(github: GitHub, clock: ManualClock) -> App:
    github.issue("Blink")
    new_app = make(github, clock, "sender")
    sync.sync(new_app, hub=new_app.hub)
    return new_app


@pytest.fixture
def asker(github: GitHub, clock: ManualClock, sender: App) -> App:
    return make(github, clock, "asker", token=False)


def make(github: GitHub, clock: ManualClock, name: str, *, token: bool = True) -> App:
    folder: Path = github.folder / name
    if not folder.exists():
        github.clone(name)
    environ = github.environment(ADMIN) if token else {}
    return App(folder, os.environ | environ, clock=clock)


def deliver(asker: App, sender: App) -> tuple[str, ...]:
    """The clones exchange their records, and one sends."""
    asker.store.sync()
    sender.store.sync()
    assert sender.hub
    notes = send.send_all(sender, sender.hub).notes
    asker.store.sync()
    return notes


def outgoing(app: App) -> Outgoing:
    return request.read_outgoing(app.store.snapshot().present(request.FOLDER))


def comments(github: GitHub, number: int = 1) -> list[str]:
    listed = github.act(ADMIN, "GET", f"issues/{number}/comments")
    return [comment["body"].partition("\n")[0] for comment in listed]


@pytest.mark.slow
def test_a_comment_is_sent_once_and_attributed(github: GitHub, asker: App, sender: App) -> None:
    asker.tracker.comment(1, "Hello", ME)
    assert deliver(asker, sender) == (
        "Sent to GitHub: a comment on #1 by worker-1, whose clone has no token.",
    )
    assert deliver(asker, sender) == ()
    assert comments(github) == ["Hello"]
    assert sender.tracker.get(1).comments[0].author == "worker-1"
    assert outgoing(asker).waiting == []


@pytest.mark.slow
def test_a_sender_that_was_killed_before_it_recorded_says_nothing_twice(
    github: GitHub, asker: App, sender: App
) -> None:
    asker.tracker.comment(1, "Hello", ME)
    asker.tracker.create(IssueChange(title="New"), ME)
    asker.store.sync()
    sender.store.sync()
    assert sender.hub
    for waiting in outgoing(sender).waiting:
        send._perform(sender, sender.hub, waiting)
    deliver(asker, sender)
    assert comments(github) == ["Hello"]
    listed = github.act(ADMIN, "GET", "issues", state="all")
    assert sorted(issue["title"] for issue in listed) == ["Blink", "New"]


@pytest.mark.slow
def test_what_github_cannot_answer_now_waits(github: GitHub, asker: App, sender: App) -> None:
    asker.tracker.comment(1, "Hello", ME)
    github.proxy.faults = in_turn(*[Fault.ERROR] * 9, where=writes())
    (note,) = deliver(asker, sender)
    assert note.startswith("Not sent for other clones yet: ")
    github.proxy.faults = never
    sender.ws.clock.wait(120.0)
    deliver(asker, sender)
    assert comments(github) == ["Hello"]


@pytest.mark.slow
def test_an_issue_is_made_with_the_id_by_which_its_clone_knows_it(
    github: GitHub, asker: App, sender: App
) -> None:
    created = asker.tracker.create(IssueChange(title="New", add_labels=("x",)), ME)
    deliver(asker, sender)
    issue = sender.tracker.get(2)
    assert (issue.title, issue.id, issue.author, issue.labels) == (
        "New",
        created.id,
        "worker-1",
        ("x",),
    )


@pytest.mark.slow
def test_an_agent_cannot_close_what_it_does_not_hold(
    github: GitHub, asker: App, sender: App
) -> None:
    asker.tracker.change(1, IssueChange(state="closed"), ME)
    assert deliver(asker, sender) == (
        "Not sent to GitHub: a change of #1 by worker-1, whose clone has no token: worker-1 does "
        "not have the claim, and is neither a person nor an orchestrator.",
    )
    assert github.act(ADMIN, "GET", "issues/1")["state"] == "open"
    assert asker.tracker.get(1).state == "open"
    assert [result.fate for _, result in outgoing(asker).refused] == ["refused"]


@pytest.mark.slow
def test_a_person_may(github: GitHub, asker: App, sender: App) -> None:
    asker.tracker.change(1, IssueChange(state="closed", add_labels=("done",)), ANN)
    deliver(asker, sender)
    issue = github.act(ADMIN, "GET", "issues/1")
    assert (issue["state"], [label["name"] for label in issue["labels"]]) == ("closed", ["done"])


@pytest.mark.slow
def test_a_command_in_a_comment_of_a_record_is_text(
    github: GitHub, asker: App, sender: App
) -> None:
    asker.tracker.comment(1, "/agent assign worker-9", ME)
    deliver(asker, sender)
    sender.ws.clock.wait(60.0)
    sync.sync(sender, hub=sender.hub)
    assert github.act(ADMIN, "GET", "issues/1")["labels"] == []


@pytest.mark.slow
def test_what_github_refuses_is_recorded_and_the_rest_goes_on(
    github: GitHub, asker: App, sender: App
) -> None:
    asker.tracker.change(1, IssueChange(add_assignees=("@nobody-here",)), ANN)
    asker.tracker.change(1, IssueChange(title="x" * 200), ANN)
    asker.tracker.comment(1, "Hello", ME)
    github.proxy.faults = in_turn(Fault.FORBIDDEN, where=writes())
    deliver(asker, sender)
    assert outgoing(asker).waiting == []
    assert comments(github) == ["Hello"]


@pytest.mark.slow
def test_what_this_token_may_not_do_is_left_to_another(
    github: GitHub, asker: App, sender: App
) -> None:
    asker.tracker.comment(1, "Hello", ME)
    asker.tracker.create(IssueChange(title="New"), ME)
    github.proxy.faults = in_turn(Fault.FORBIDDEN, where=writes())
    notes = deliver(asker, sender)
    assert notes[0].startswith("Not sent to GitHub yet: a comment on #1: ")
    assert [waiting.says for waiting in outgoing(asker).waiting] == ["a comment on #1"]
    deliver(asker, sender)
    assert outgoing(asker).waiting == []
    assert comments(github) == ["Hello"]
