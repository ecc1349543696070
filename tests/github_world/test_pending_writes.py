"""What GitHub refuses for a moment is not lost: the effect stands, and the rest is made up for."""

from collections.abc import Callable

import pytest

from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.issues import service as issue
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.wiring import App
from tests.support.commands import Field
from tests.support.faults import Asked, Said
from tests.support.github import ADMIN, GitHub

WORKER = Actor("worker-1")
MESSAGES = {401: "Bad credentials", 403: "Forbidden", 404: "Not Found", 429: "Too many requests"}


@pytest.fixture
def field(odd: GitHub) -> Field:
    return Field(odd)


def refuse(
    github: GitHub, status: int, where: Callable[[Asked], bool], times: int = 10_000
) -> Callable[[], None]:
    """From now on such requests are refused; the answer ends that."""
    behind, left = github.proxy.behind, [times]

    def answer(request: Asked) -> Said:
        if request.apart or not where(request) or left[0] == 0:
            return behind(request)
        left[0] -= 1
        return Said(status, {"message": MESSAGES[status]})

    github.proxy.behind = answer

    def end() -> None:
        left[0] = 0

    return end


def writes_to(*ends: str) -> Callable[[Asked], bool]:
    return lambda request: request.writes and request.path.endswith(ends)


# ------------------------------------------------------------------- relations of a new issue

RELATIONS = ("/dependencies/blocked_by", "/sub_issues")


def new(app: App) -> Issue:
    wanted = IssueChange(title="New", body="Text")
    return issue.new(app, wanted, blocked_by=["1"], parent="2").issue


def related(field: Field) -> tuple[tuple[int, ...], int | None]:
    issue = field.house("other").tracker.get(3)
    return issue.blocked_by, issue.parent


def begun(field: Field) -> None:
    field.github.issue("Blocker")
    field.github.issue("Parent")
    field.sync()


@pytest.mark.slow
@pytest.mark.parametrize("end", RELATIONS)
@pytest.mark.parametrize("status", [401, 403, 404, 429])
@pytest.mark.parametrize("is_repeated", [False, True])
@pytest.mark.sample(4)
def test_the_relations_of_a_new_issue_are_set_by_a_repetition_and_by_the_next_sync(
    field: Field, end: str, status: int, is_repeated: bool
) -> None:
    begun(field)
    stop = refuse(field.github, status, writes_to(end))
    with pytest.raises((RefusedError, UnknownError)) as caught:
        new(field.house(agent="worker-1"))
    assert str(caught.value).startswith("#3 was created, but its relations are not set yet: ")
    stop()
    field.clock.wait(4_000)
    if is_repeated:
        assert new(field.house(agent="worker-1")).number == 3
    else:
        field.sync()
    assert related(field) == ((1,), 2)
    field.sync()
    hub = field.house().hub
    assert hub
    assert (hub.status().queued, hub.status().refused) == (0, 0)
    assert len(field.github.act(ADMIN, "GET", "issues", state="all")) == 3


@pytest.mark.slow
@pytest.mark.parametrize("is_made", [False, True])
def test_who_is_killed_when_an_issue_is_created_leaves_its_relations_to_the_next_sync(
    field: Field, is_made: bool
) -> None:
    begun(field)
    app = field.house(agent="worker-1")
    assert app.hub
    write = app.hub.write

    def killed(verb: str, path: str, *rest: object, **named: object) -> object:
        if is_made:
            write(verb, path, *rest, **named)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    app.hub.write = killed  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        new(app)
    field.clock.wait(120)
    field.sync()
    hub = field.house().hub
    assert hub
    assert hub.status().queued == 0
    if is_made:
        assert related(field) == ((1,), 2)
    else:
        assert len(field.github.act(ADMIN, "GET", "issues", state="all")) == 2


@pytest.mark.slow
def test_a_parent_that_is_full_is_said_and_the_issue_stands(field: Field) -> None:
    begun(field)
    behind = field.github.proxy.behind
    full = "Parent cannot have more than 100 sub-issues"

    def answer(request: Asked) -> Said:
        is_relation = request.writes and request.path.endswith("/sub_issues")
        return Said(422, {"message": full}) if is_relation else behind(request)

    field.github.proxy.behind = answer
    with pytest.raises(RefusedError) as caught:
        new(field.house(agent="worker-1"))
    assert str(caught.value).startswith("#3 was created, but GitHub refused a relation: ")
    assert full in str(caught.value)
    with pytest.raises(GhpError) as again:
        new(field.house(agent="worker-1"))
    assert full in str(again.value)
    assert related(field) == ((1,), None)
    hub = field.house().hub
    assert hub
    assert (hub.status().queued, hub.status().refused) == (0, 0)


# ------------------------------------------------------------------------------- commands


@pytest.mark.slow
def test_a_command_on_an_issue_that_github_does_not_find_for_a_moment_is_tried_again(
    field: Field,
) -> None:
    number = field.github.issue("Blink")
    comment = field.say(number, "/agent assign worker-1")
    field.house().tracker.list()
    refuse(field.github, 404, lambda request: request.path.endswith(f"/issues/{number}"), times=2)
    field.sync()
    assert field.labels(number) == ["agent:worker-1"]
    assert field.reactions(comment) == ["+1"]


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403, 404, 429])
@pytest.mark.parametrize(("text", "reaction"), [("status", "+1"), ("fly", "confused")])
def test_a_command_is_acknowledged_later_where_it_cannot_be_now(
    field: Field, status: int, text: str, reaction: str
) -> None:
    number = field.github.issue("Blink")
    comment = field.say(number, f"/agent {text}")
    stop = refuse(field.github, status, writes_to("/reactions", f"/{number}/comments"))
    field.sync()
    field.sync()
    assert (field.reactions(comment), len(field.comments(number))) == ([], 1)
    stop()
    field.clock.wait(4_000)
    field.sync()
    field.clock.wait(4_000)
    field.sync()
    assert field.reactions(comment) == [reaction]
    shown = [comment[:8] for comment in field.comments(number)[1:]]
    assert "Not exec" in shown or text == "status"
    assert len(shown) == 1 + (text == "fly")  # and the status comment
    assert len(field.obeyed()) == 1


# ----------------------------------------------------------------------------------- claims


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_a_claim_is_shown_later_where_it_is_refused_now(field: Field, status: int) -> None:
    number = field.github.issue("Blink")
    field.sync()
    stop = refuse(field.github, status, writes_to("/labels"))
    field.ghp(f"agent-claim {number}", agent="worker-1")
    assert field.labels(number) == []
    stop()
    field.clock.wait(4_000)
    field.sync()
    assert field.labels(number) == ["agent:worker-1"]


def test_a_queued_write_is_not_tried_for_longer_than_a_week(field: Field) -> None:
    number = field.github.issue("Blink")
    field.sync()
    refuse(field.github, 403, writes_to("/labels"))
    app = field.house(agent="worker-1")
    app.tracker.set_holder(number, WORKER, add=("worker-1",))
    assert app.hub
    assert app.hub.status().queued == 1
    field.clock.wait(8 * 86_400)
    assert field.house().tracker.send() == [f"the holder of #{number}"]
    assert (app.hub.status().queued, app.hub.status().refused) == (0, 0)


# ------------------------------------------------------------- comments, labels, people, sweeps


def called(field: Field) -> list[str]:
    return field.people(1)


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_who_was_called_is_unassigned_though_nobody_heard_that_they_were_assigned(
    field: Field, status: int
) -> None:
    field.github.issue("Blink")
    field.clone(escalateTo=[ADMIN])
    field.sync()
    behind, broken = field.github.proxy.behind, [True]

    def lost(request: Asked) -> Said:
        """They are assigned, and the answer says otherwise."""
        response = behind(request)
        is_it = request.writes and request.path.endswith("/assignees") and broken[0]
        return Said(status, {"message": MESSAGES[status]}) if is_it else response

    field.github.proxy.behind = lost
    name = field.ghp(["agent-escalate", "Red?", "--issue", "1"], agent="worker-1").out.strip()
    field.sync()
    broken[0] = False
    assert called(field) == [ADMIN]
    field.ghp(["agent-answer", name, "Yes"])
    for _ in range(3):
        field.clock.wait(4_000)
        field.sync()
    assert (called(field), field.labels(1)) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_who_could_not_be_called_is_called_later(field: Field, status: int) -> None:
    field.github.issue("Blink")
    field.clone(escalateTo=[ADMIN])
    field.sync()
    stop = refuse(field.github, status, writes_to("/assignees"))
    field.ghp(["agent-escalate", "Red?", "--issue", "1"], agent="worker-1")
    field.sync()
    assert called(field) == []
    stop()
    field.clock.wait(4_000)
    field.sync()
    assert (called(field), field.labels(1)) == ([ADMIN], ["agent:needs-human"])


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_a_status_comment_that_was_refused_for_a_moment_is_written_later(
    field: Field, status: int
) -> None:
    number = field.github.issue("Blink")
    field.sync()
    field.say(number, "/agent status")
    stop = refuse(field.github, status, writes_to(f"/{number}/comments"))
    field.sync()
    assert len(field.comments(number)) == 1
    stop()
    field.clock.wait(700)
    field.sync()
    assert field.comments(number)[1].startswith("No agent holds this issue.")


@pytest.mark.slow
@pytest.mark.parametrize(("status", "code"), [(401, 1), (403, 1), (404, 1), (429, 4)])
def test_a_sweep_whose_acts_failed_exits_with_1_or_4_and_the_next_one_acts(
    field: Field, status: int, code: int
) -> None:
    number = field.github.issue("Blink")
    field.ghp(f"agent-claim {number}", agent="worker-1")
    field.sync()
    field.sync("two")
    field.clock.wait(1_000)
    stop = refuse(field.github, status, writes_to("/comments"))
    failed = field.ghp("agent-sweep --json", "two", code=code)
    assert '"failed": true' in failed.out
    assert "1 action failed: see the lines marked" in failed.err
    stop()
    field.clock.wait(100)
    field.ghp("agent-sweep", "two")
    assert "agent:stale" in field.labels(number)


# -------------------------------------------------------------------------------- all at once


@pytest.mark.slow
def test_twenty_claims_at_once_wait_three_seconds_at_most_and_are_all_shown_later(
    field: Field,
) -> None:
    numbers = [field.github.issue(f"Issue {number}") for number in range(20)]
    field.sync()
    apps = [field.house(agent=f"worker-{number}") for number in numbers]
    began = field.clock.now()
    waited: list[float] = []
    for number, app in zip(numbers, apps, strict=True):
        assert app.hub
        queue, hub, within = field.clock.now() - began, app.hub, app.hub.within
        # It began with the others, and has waited for their writes.
        hub.within = lambda seconds, within=within, queue=queue: within(  # type: ignore[method-assign,misc]
            max(0.0, seconds - queue)
        )
        start = field.clock.now()
        shown = app.tracker.set_holder(number, WORKER, add=(f"worker-{number}",))
        assert shown.assignees == (f"worker-{number}",)
        waited.append(min(queue, 3.0) + field.clock.now() - start)
    assert max(waited) <= 3.0
    field.clock.wait(60)
    for _ in range(4):
        field.sync()
        field.clock.wait(60)
    assert [field.labels(number) for number in numbers] == [
        [f"agent:worker-{number}"] for number in numbers
    ]


@pytest.mark.slow
def test_one_command_waits_thirty_seconds_at_most_whatever_github_asks_for(field: Field) -> None:
    """Every request is answered with a limit of 20 s, and all go through in the end."""
    number = field.github.issue("Blink")
    field.sync()
    behind, asked_at = field.github.proxy.behind, [0.0]

    def limited(request: Asked) -> Said:
        now = field.clock.now()
        if request.apart or now - asked_at[0] < 1:
            return behind(request)
        asked_at[0] = now + 20
        return Said(429, {"message": "Too many requests"}, {"Retry-After": "20"})

    field.github.proxy.behind = limited
    field.say(number, "/agent assign worker-1")
    began = field.clock.now()
    field.ghp("agent-sync")
    assert field.clock.now() - began <= 10 + 30 + 15  # before it, its limit, the pace of writes


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        'agent-escalate "Which port?"',
        "agent-answer {question} 80",
        "agent-handoff --note Done",
        "agent-handoff --to worker-2 --note Yours",
        "agent-release 1",
    ],
)
def test_an_agent_waits_three_seconds_at_most_to_show_what_it_did(
    field: Field, command: str
) -> None:
    """GitHub answers each change with a limit of 20 s."""
    number = field.github.issue("Blink")
    field.sync()
    field.ghp(f"agent-claim {number}", agent="worker-1")
    question = field.ghp('agent-escalate "How?"', agent="worker-1").out.strip()
    behind = field.github.proxy.behind

    def limited(request: Asked) -> Said:
        if request.apart or not request.writes:
            return behind(request)
        return Said(429, {"message": "Too many requests"}, {"Retry-After": "20"})

    field.github.proxy.behind = limited
    words = command.format(question=question)
    answers = command.startswith("agent-answer")
    began = field.clock.now()
    done = field.ghp(words, agent="" if answers else "worker-1")
    assert field.clock.now() - began <= 10 + 3, done.err  # 10 before it
    field.github.proxy.behind = behind
    for _ in range(3):
        field.clock.wait(60)
        field.sync()
    comments = "\n".join(field.comments(number))
    assert ("Which port?" in comments, "> 80" in comments) == ("Which" in command, answers)
