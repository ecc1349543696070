"""Reads that are behind writes: GitHub answers a write at once and shows it a moment later."""

import os
from collections.abc import Callable

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor, IssueNumber
from ghp_agents.issues.issue import IssueChange
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.commands import Field
from tests.support.faults import Asked, Fault, Said, in_turn
from tests.support.git import git
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, GitHub
from tests.support.github_gaps import LONG_AGO
from tests.support.story import Story

WORKER = Actor("worker-1")
LAG = 4.0  # seconds


@pytest.fixture
def clock(github: GitHub) -> ManualClock:
    github.proxy.clock = clock = ManualClock()
    return clock


@pytest.fixture
def app(github: GitHub, clock: ManualClock) -> Callable[..., App]:
    def make(login: str = ADMIN, name: str = "clone") -> App:
        folder = github.folder / name
        if not folder.exists():
            github.clone(name)
            git(folder, "config", "user.name", login.title())
        return App(folder, os.environ | github.environment(login), clock=clock)

    return make


def lag(
    github: GitHub, clock: ManualClock, where: Callable[[Asked], bool], seconds: float = LAG
) -> None:
    """From now on, for some seconds after a write, these reads show what they showed before."""
    behind = github.proxy.behind
    shown: dict[str, Said] = {}
    written: list[float] = [0.0]

    def late(request: Asked) -> Said:
        response, key = behind(request), f"{request.path} {sorted(request.query.items())}"
        if request.verb != "GET":
            written.append(clock.now())
        if request.verb != "GET" or not where(request):
            return response
        if clock.now() - written[-1] >= seconds:
            shown[key] = response
        return shown.get(key, response)

    github.proxy.behind = late


def reads_of_issues(request: Asked) -> bool:
    return "/issues" in request.path


def test_a_write_is_believed_though_reads_do_not_show_it_yet(
    github: GitHub, clock: ManualClock, app: Callable[..., App]
) -> None:
    one, two = github.issue("One"), IssueNumber(github.issue("Two"))
    app().tracker.list()
    lag(github, clock, reads_of_issues)
    assert app().tracker.get(one).assignees == ()
    began = clock.now()
    change = IssueChange(
        title="New", priority="high", add_labels=("bug",), add_assignees=("worker-1", "@tess"),
        add_blockers=(two,), state="closed",
    )  # fmt: skip
    changed = app().tracker.change(one, change, WORKER)
    assert (changed.title, changed.state, changed.priority) == ("New", "closed", "high")
    assert (changed.labels, changed.assignees) == (("bug",), ("@tess", "worker-1"))
    assert changed.blocked_by == (two,)
    assert app().tracker.known(closed=True)[0] == changed._replace(comments=())
    assert clock.now() - began < 10  # the writes' own pace
    clock.wait(60)
    assert app().tracker.get(one) == changed._replace(updated_at=app().tracker.get(one).updated_at)


def test_a_new_issue_is_made_though_it_cannot_be_read_yet(odd: GitHub) -> None:
    field = Field(odd)
    odd.replicas.lag = lambda request: 13.0
    created = field.ghp(["agent-issue", "new", "One", "--label", "bug"], agent="worker-1")
    assert created.out == "1\n"
    assert field.clock.now() - 1_750_000_000 < 20
    field.ghp("agent-issue edit 1 --title Two", agent="worker-1")  # not found at first
    assert odd.act(ADMIN, "GET", "issues/1")["title"] == "Two"


def test_a_label_is_removed_though_reads_do_not_show_it_yet(
    github: GitHub, clock: ManualClock, app: Callable[..., App]
) -> None:
    number = github.issue("One")
    app().tracker.list()
    lag(github, clock, reads_of_issues)
    app().tracker.get(number)
    app().tracker.set_holder(number, WORKER, add=("worker-1",))
    assert app().tracker.get(number).assignees == ("worker-1",)
    assert app().tracker.set_holder(number, WORKER, remove=("worker-1",)).assignees == ()
    clock.wait(60)
    assert app().tracker.get(number).assignees == ()
    assert github.act(ADMIN, "GET", f"issues/{number}")["labels"] == []


def test_what_an_answer_lacks_is_looked_for_again_before_it_is_said_to_be_missing(
    github: GitHub, clock: ManualClock, app: Callable[..., App]
) -> None:
    number = github.issue("One")
    behind = github.proxy.behind

    def unlabelled(request: Asked) -> Said:
        response = behind(request)
        is_labelling = request.verb == "POST" and request.path.endswith(f"/{number}/labels")
        return response._replace(body=[]) if is_labelling else response

    github.proxy.behind = unlabelled
    app().tracker.list()
    lag(github, clock, reads_of_issues, 1.5)
    app().tracker.get(number)
    began = clock.now()
    changed = app().tracker.change(number, IssueChange(add_assignees=("worker-1",)), WORKER)
    assert changed.assignees == ("worker-1",)
    assert 1 <= clock.now() - began <= 6


def test_what_github_dropped_is_said_after_fourteen_seconds_and_a_claim_does_not_wait_for_it(
    github: GitHub, clock: ManualClock, app: Callable[..., App]
) -> None:
    number = github.issue("One", OUTSIDER)
    outside = app(OUTSIDER, "outside")
    outside.tracker.list()
    began = clock.now()
    with pytest.raises(RefusedError) as caught:
        outside.tracker.change(number, IssueChange(add_assignees=("@rita",)), WORKER)
    assert "GitHub did not set the assignee rita" in str(caught.value)
    assert clock.now() - began == 14
    assert outside.hub is not None
    began = clock.now()
    with outside.hub.within(3), pytest.raises(UnknownError):
        outside.tracker.change(number, IssueChange(add_assignees=("@rita",)), WORKER)
    assert clock.now() - began <= 3


def lists_of_events(request: Asked) -> bool:
    return request.path.endswith("/events")


@pytest.mark.slow
def test_a_label_counts_neither_for_good_nor_never_because_its_event_is_late(
    github: GitHub, clock: ManualClock, app: Callable[..., App]
) -> None:
    by_triager, by_writer = github.issue("One", ADMIN), github.issue("Two", OUTSIDER)
    github.proxy.behind = with_age(github.proxy.behind, by_triager, is_old=True)
    app().tracker.list()
    lag(github, clock, lists_of_events, 20)
    for number in (by_triager, by_writer):
        github.act(ADMIN, "GET", f"issues/{number}/events", per_page="100")
    clock.wait(1)
    label = {"labels": ["agent:worker-1"]}
    github.act("tess", "POST", f"issues/{by_triager}/labels", label)
    github.act(WORKER_1, "POST", f"issues/{by_writer}/labels", label)
    clock.wait(6)
    assert [(issue.assignees, issue.offered) for issue in app().tracker.list()] == [
        ((), True), ((), False),
    ]  # fmt: skip
    for _ in range(6):
        clock.wait(10)
        listed = app().tracker.list()
    assert [(issue.assignees, issue.offered) for issue in listed] == [
        ((), True), (("worker-1",), True),
    ]  # fmt: skip
    mark = len(github.proxy.exchanges)
    clock.wait(6)
    app().tracker.list()
    assert [exchange.asked.path.rpartition("/")[2] for exchange in github.proxy.since(mark)] == [
        "issues"
    ]


@pytest.mark.slow
def test_an_event_that_never_comes_is_asked_for_rarely_and_for_an_hour(
    github: GitHub, clock: ManualClock, app: Callable[..., App]
) -> None:
    number = github.issue("One", OUTSIDER)
    github.proxy.behind = without_events(github)
    app().tracker.list()
    github.act(WORKER_1, "POST", f"issues/{number}/labels", {"labels": ["agent:worker-1"]})
    for _ in range(270):
        clock.wait(30)
        (issue,) = app().tracker.list()
    assert (issue.assignees, issue.offered) == ((), False)
    exchanges = [exchange for exchange in github.proxy.exchanges if lists_of_events(exchange.asked)]
    assert 8 <= len(exchanges) <= 40
    assert exchanges[-1].at - exchanges[0].at < 7_300


def without_events(github: GitHub) -> Callable[[Asked], Said]:
    behind = github.proxy.behind

    def answer(request: Asked) -> Said:
        response = behind(request)
        return response._replace(body=[]) if lists_of_events(request) else response

    return answer


def test_what_an_issue_was_made_with_is_its_authors_word_until_an_event_says_otherwise(
    github: GitHub, clock: ManualClock, app: Callable[..., App]
) -> None:
    number = github.issue("One", ADMIN)
    github.act("tess", "POST", f"issues/{number}/labels", {"labels": ["agent:worker-1"]})
    behind = github.proxy.behind
    github.proxy.behind = with_age(without_events(github), number)
    assert [issue.assignees for issue in app().tracker.list()] == [("worker-1",)]
    github.proxy.behind = with_age(behind, number)
    clock.wait(30)
    assert [issue.assignees for issue in app().tracker.list()] == [()]


def with_age(
    behind: Callable[[Asked], Said], number: int, *, is_old: bool = False
) -> Callable[[Asked], Said]:
    """The issue was made long ago, or within the second of its last change."""

    def answer(request: Asked) -> Said:
        response = behind(request)
        for row in response.body if isinstance(response.body, list) else [response.body]:
            if isinstance(row, dict) and row.get("number") == number:
                row["created_at"] = LONG_AGO if is_old else row["updated_at"]
        return response

    return answer


# ------------------------------------------------------------------- comments that are listed late


@pytest.mark.slow
def test_a_command_is_heard_though_its_comment_is_listed_after_its_issue_changed(
    odd: GitHub,
) -> None:
    field = Field(odd)
    first, second = odd.issue("One"), odd.issue("Two")
    field.say(first, "Hello")
    field.sync()
    odd.replicas.lag = lambda request: 100.0 if request.path.endswith("/issues/comments") else 0.0
    comment = field.say(second, "/agent assign worker-3")
    field.clock.wait(5)
    field.say(first, "Later")
    field.sync()
    assert field.obeyed() == []
    field.clock.wait(120)
    field.sync()
    assert [record.comment for record in field.obeyed()] == [comment]
    assert field.reactions(comment) == ["+1"]
    for _ in range(2):  # what it wrote itself is listed late, too
        field.clock.wait(120)
        field.sync()
    mark = len(odd.proxy.exchanges)
    field.clock.wait(120)
    field.sync()
    assert [exchange.asked.path.rpartition("/")[2] for exchange in odd.proxy.since(mark)] == [
        "issues"
    ]


@pytest.mark.slow
def test_a_question_keeps_its_issue_if_the_comments_are_not_found_once(odd: GitHub) -> None:
    story = Story(odd, 1_780_000_000.0)
    one = story.actor(WORKER_1, "one", "worker-1")
    odd.issue("Blink")
    odd.act(ADMIN, "POST", "issues/1/comments", {"body": "Soon?"})
    story.ghp(one, "agent-claim 1")
    odd.proxy.faults = in_turn(
        Fault.MISSING, where=lambda request: request.path.endswith("/1/comments")
    )
    assert "does not exist" not in story.ghp(one, "agent-escalate Which?").err
    story.settle(one)
    bodies = [comment["body"] for comment in odd.act(ADMIN, "GET", "issues/1/comments")]
    assert sum("> Which?" in body for body in bodies) == 1
