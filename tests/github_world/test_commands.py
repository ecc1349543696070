"""Comments on GitHub command agents: obeyed from who may, once, and seen by all."""

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.github.api.errors import ForbiddenError, HubError, MissingError
from ghp_agents.sync import notifications as news
from ghp_agents.sync import service as sync
from ghp_agents.wiring import App
from tests.support.commands import Field
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, WORKER_2, GitHub

DEAD = 1_900.0
pytestmark = pytest.mark.slow  # each is a few seconds of commands


@pytest.fixture
def field(github: GitHub) -> Field:
    return Field(github)


def at_work(field: Field, name: str = "one", agent: str = "worker-1", title: str = "Blink") -> int:
    """An issue that an agent holds and works on."""
    number = field.github.issue(title)
    field.ghp(f"agent-claim {number}", name, agent)
    field.ghp("agent-heartbeat --status implementing", name, agent)
    field.sync(name)
    return number


def heard(field: Field, agent: str = "worker-1", name: str = "one") -> str:
    """What an agent is told next, once."""
    house, who = field.house(name, agent), AgentName(agent)
    gathered = news.gather(house, who)
    news.mark(house.ws, who, gathered.ids)
    return gathered.text


# ------------------------------------------------------------------------------- assigning


def test_assigning_gives_the_issue_to_the_agent_which_is_told_once(field: Field) -> None:
    number = field.github.issue("Blink")
    field.ghp("agent-heartbeat --status idle", agent="worker-1")
    comment = field.say(number, "Please.\n\n/agent assign worker-1\n")
    assert "@ada on #1: /agent assign worker-1: worker-1 is assigned" in field.sync()
    assert field.labels(number) == ["agent:worker-1"]
    assert field.reactions(comment) == ["+1"]
    assert field.acts() == [("/agent assign worker-1", "done", "worker-1 is assigned")]
    assert heard(field) == (
        "Somebody with write access assigned issue #1 to you. Show it with `ghp "
        "agent-issue show 1`; start with `ghp agent-start 1 --as worker-1`."
    )
    assert heard(field) == ""
    assert field.house(agent="worker-1").tracker.get(number).assignees == ("worker-1",)


def test_a_label_is_an_assignment_if_somebody_who_may_write_set_it(field: Field) -> None:
    field.ghp("agent-heartbeat --status idle", agent="worker-1")
    numbers = [field.github.issue(title) for title in ("One", "Two")]
    for number, login in zip(numbers, (ADMIN, "tess"), strict=True):
        field.github.act(login, "POST", f"issues/{number}/labels", {"labels": ["agent:worker-1"]})
    field.sync()
    assert heard(field).startswith("Somebody with write access assigned issue #1")
    assert heard(field) == ""


def test_an_account_of_an_agent_that_is_assigned_is_an_assignment(field: Field) -> None:
    field.clone("one", accounts={"worker-1": WORKER_1})
    field.ghp("agent-heartbeat --status idle", agent="worker-1")
    number = field.github.issue("Blink")
    field.github.act(ADMIN, "POST", f"issues/{number}/assignees", {"assignees": [WORKER_1]})
    field.sync()
    assert heard(field).startswith("Somebody with write access assigned issue #1")


def test_a_person_takes_an_issue_from_a_living_agent_which_is_told_by_whom(field: Field) -> None:
    number = at_work(field)
    field.ghp("agent-heartbeat --status idle", "two", "worker-2", WORKER_2)
    field.sync("two", WORKER_2)
    field.sync()
    comment = field.say(number, "/agent assign worker-2")
    field.sync()
    reason = f"stolen: @ada by /agent assign, comment {comment}"
    assert field.held(number) == ("worker-2", 2, reason)
    assert field.labels(number) == ["agent:worker-2"]
    assert "Your claim of #1 was taken: worker-2 has held it" in heard(field)
    assert "stolen: @ada by /agent assign" in field.ghp("agent-status", agent="worker-1").out
    field.sync("two", WORKER_2)
    assert heard(field, "worker-2", "two").startswith(
        "Somebody with write access assigned issue #1"
    )


def test_to_an_agent_that_nobody_has_heard_of_the_claim_is_not_given(field: Field) -> None:
    number = at_work(field)
    field.say(number, "/agent assign worker-9")
    field.sync()
    assert field.held(number)[0] is None
    assert field.labels(number) == ["agent:worker-9"]


def test_two_clones_that_hear_a_command_at_once_obey_it_once(field: Field) -> None:
    number = at_work(field)
    field.ghp("agent-heartbeat --status idle", "two", "worker-2", WORKER_2)
    field.sync("two", WORKER_2)
    field.say(number, "/agent assign worker-2")
    for name, login in (("one", WORKER_1), ("two", WORKER_2), ("three", ADMIN), ("one", WORKER_1)):
        field.sync(name, login)
    assert len(field.house().locks.history(f"issue/{number}")) == 2
    assert len(field.obeyed("three")) == 1
    events = [entry for entry in field.house("three").store.ledger() if entry.event == "command"]
    assert [(entry.actor, entry.is_person, entry.issue) for entry in events] == [("@ada", True, 1)]


def test_a_clone_that_comes_late_does_not_undo_what_was_commanded_since(field: Field) -> None:
    number = field.github.issue("Blink")
    field.sync("two", WORKER_2)
    field.say(number, "/agent assign worker-1")
    field.sync()
    field.say(number, "/agent assign worker-2")
    field.sync()
    field.sync("two", WORKER_2)
    assert field.labels(number) == ["agent:worker-2"]


def test_while_another_obeys_nothing_is_obeyed_until_it_is_stuck(field: Field) -> None:
    number = field.github.issue("Blink")
    field.house("two").locks.acquire("commands", "Bob", expected=None)
    field.say(number, "/agent assign worker-1")
    assert "Another clone is executing commands from GitHub." in field.sync()
    assert field.labels(number) == []
    field.clock.wait(60)
    field.sync()
    assert field.labels(number) == []
    field.clock.wait(120)
    field.sync()
    assert field.labels(number) == ["agent:worker-1"]


# ------------------------------------------------------------------------ stopping, retrying


def test_who_is_to_stop_is_told_and_gives_it_back_itself(field: Field) -> None:
    number = at_work(field)
    comment = field.say(number, "/agent stop")
    assert "worker-1 was told to stop" in field.sync()
    order = (
        "Person «@ada» told you on GitHub to stop working on #1. Stop now: save your work with "
        "`ghp agent-handoff --issue 1`, then run `ghp agent-release 1`."
    )
    assert field.reactions(comment) == ["+1"]
    assert order in field.ghp("agent-status", agent="worker-1").out
    assert heard(field) == order
    assert heard(field) == ""
    assert order in field.ghp("agent-resume", agent="worker-1").out
    field.ghp("agent-handoff --issue 1", agent="worker-1")
    field.ghp("agent-release 1", agent="worker-1")
    assert order not in field.ghp("agent-status", agent="worker-1").out
    field.ghp("agent-claim --next", agent="worker-1", code=3)
    field.say(number, "/agent retry")
    field.sync()
    field.ghp("agent-claim --next", agent="worker-1")


def test_of_a_dead_agent_the_claim_is_given_back_with_a_handoff(field: Field) -> None:
    number = at_work(field)
    field.sync("two", WORKER_2)
    field.clock.wait(DEAD)
    field.ghp("agent-heartbeat --status idle", "two", "worker-2", WORKER_2)
    field.sync("two", WORKER_2)
    field.say(number, "/agent stop")
    assert "worker-1 is dead; its claim was released" in field.sync("two", WORKER_2)
    assert field.held(number, "two")[0] is None
    assert field.labels(number) == []
    (state,) = [
        comment for comment in field.comments(number) if comment.startswith("A person stopped")
    ]
    assert "| **last handoff** | H-" in state


def test_retrying_counts_attempts_anew_and_ends_the_question_who_goes_on(field: Field) -> None:
    field.clone("sweeper", maxAttempts=1)
    number = at_work(field)
    field.sync("sweeper", ADMIN)
    field.clock.wait(DEAD)
    field.ghp("agent-sweep", "sweeper", login=ADMIN)
    field.sync("sweeper", ADMIN)
    assert field.labels(number) == ["agent:needs-human"]
    field.say(number, "/agent retry")
    field.sync("sweeper", ADMIN)
    assert field.labels(number) == []
    field.ghp("agent-claim --next", "two", "worker-2", WORKER_2, code=0)


# ---------------------------------------------------------------------------- who may, once


@pytest.mark.parametrize("login", [OUTSIDER, "rita", "tess"])
def test_who_may_not_write_commands_nobody(field: Field, login: str) -> None:
    number = at_work(field)
    comment = field.say(number, "/agent stop\n/agent assign worker-9\n/agent fly", login)
    before = field.comments(number)
    field.sync()
    assert field.acts() == []
    assert (field.comments(number), field.reactions(comment)) == (before, [])
    assert field.labels(number) == ["agent:worker-1"]


def test_an_agent_with_an_account_of_its_own_commands_nobody(field: Field) -> None:
    field.clone("one", accounts={"worker-2": WORKER_2})
    number = field.github.issue("Blink")
    field.say(number, "/agent assign worker-1", WORKER_2)
    field.sync()
    assert (field.acts(), field.labels(number)) == ([], [])


def test_what_agents_say_through_this_program_is_no_command(field: Field) -> None:
    number = field.github.issue("Blink")
    words = ["agent-issue", "comment", str(number), "/agent assign worker-1"]
    field.ghp(words, agent="worker-2")
    field.sync()
    assert field.acts() == []
    field.ghp(words)  # and what people say so is
    field.sync()
    assert field.labels(number) == ["agent:worker-1"]
    assert field.obeyed()[0].by.name == "Ann Example"


def test_a_comment_is_obeyed_once_however_it_is_edited(field: Field) -> None:
    number = field.github.issue("Blink")
    comment = field.say(number, "/agent assign worker-1")
    field.sync()
    field.edit(comment, "/agent assign worker-2")
    field.say(number, "So be it.")
    field.sync()
    field.sync("two", WORKER_2)
    assert field.labels(number) == ["agent:worker-1"]
    assert len(field.acts("two")) == 1


def test_what_is_wrong_is_answered_once_with_help(field: Field) -> None:
    number = field.github.issue("Blink")
    comment = field.say(number, "/agent fly\n/agent answer E-9999 Yes")
    for name, login in (("one", WORKER_1), ("two", WORKER_2), ("one", WORKER_1)):
        field.sync(name, login)
    helped = [comment for comment in field.comments(number) if comment.startswith("Not executed:")]
    assert len(helped) == 1
    assert helped[0].startswith(
        "Not executed:\n"
        "\n"
        "- `/agent fly`: 'fly' is not a command\n"
        "- `/agent answer E-9999`: There is no question E-9999.\n"
        "\n"
        "<details><summary>What people"
    )
    assert field.reactions(comment) == ["confused"]


def test_of_many_mistakes_on_an_issue_one_comment_explains_the_last(field: Field) -> None:
    number = field.github.issue("Blink")
    for name in ("fly", "swim", "assign @bob", "assign @nobody-here", "assign ada"):
        comment = field.say(number, f"/agent {name}")
        field.sync()
        assert field.reactions(comment) == ["confused"]
    (helped,) = [
        comment for comment in field.comments(number) if comment.startswith("Not executed:")
    ]
    assert helped.startswith(
        "Not executed:\n"
        "\n"
        "- `/agent assign ada`: ada is no agent that is known here. To assign a GitHub user, set "
        "the issue's assignees.\n"
    )
    assert field.labels(number) == []


def test_an_agent_is_named_with_or_without_a_sign_and_by_its_account(field: Field) -> None:
    field.clone("one", accounts={"worker-2": WORKER_2})
    number = field.github.issue("Blink")
    field.ghp("agent-heartbeat --status idle", agent="worker-1")
    for name, label in (
        ("@worker-1", "agent:worker-1"),
        (f"@{WORKER_2}", "agent:worker-2"),
        ("agent:worker-1", "agent:worker-1"),
    ):
        field.say(number, f"/agent assign {name}")
        field.sync()
        assert field.labels(number) == [label]


def test_without_reactions_the_comment_about_the_state_acknowledges(field: Field) -> None:
    field.github.features.discard("reactions")
    number = field.github.issue("Blink")
    field.say(number, "/agent assign worker-1")
    field.sync()
    comment = field.comments(number)[-1]
    assert "| **last command** | @\u200bada, " in comment
    assert "`/agent assign worker-1`: worker-1 is assigned" in comment
    field.say(number, "/agent status")
    before = len(field.github.proxy.exchanges)
    field.sync()
    paths = [exchange.asked.path for exchange in field.github.proxy.exchanges[before:]]
    assert not [path for path in paths if path.endswith("/reactions")]


def test_a_sync_in_which_nothing_changed_asks_once(field: Field) -> None:
    number = at_work(field)
    field.say(number, "/agent status")
    for _ in range(3):
        field.sync()
    mark = len(field.github.proxy.exchanges)
    field.sync()
    exchanges = field.github.proxy.since(mark)
    assert [exchange.not_modified for exchange in exchanges] == [True]


def test_where_github_cannot_be_reached_a_command_is_obeyed_later(field: Field) -> None:
    number = field.github.issue("Blink")
    field.sync()
    field.say(number, "/agent assign worker-1")
    api = field.github.environment()["GHP_GITHUB_API"]
    house = field.house()
    lost = {**house.environ, "GHP_GITHUB_API": api.rsplit(":", 1)[0] + ":9"}
    away = App(house.cwd, lost, clock=field.clock)
    field.clock.wait(10)
    report = sync.sync(away, hub=away.hub)
    assert field.acts() == []
    assert not report.trouble
    field.clock.wait(3_600)
    field.sync()
    assert field.labels(number) == ["agent:worker-1"]


@pytest.mark.parametrize(
    ("door", "error"),
    [
        ("change", ForbiddenError("This token may not.", hint="")),
        ("get", MissingError("It is gone.", hint="")),
    ],
)
def test_a_command_that_github_does_not_let_us_obey_does_not_hold_up_the_others(
    field: Field, door: str, error: HubError
) -> None:
    number, other = field.github.issue("Blink"), field.github.issue("Shine")
    field.say(number, "/agent assign worker-1")
    field.say(other, "/agent assign worker-2")
    house = field.house()
    open_door = getattr(house.tracker, door)

    def locked(issue: str | int, *rest: object) -> object:
        if issue == number:
            raise error
        return open_door(issue, *rest)

    setattr(house.tracker, door, locked)
    report = sync.sync(house, hub=house.hub)
    assert field.labels(other) == ["agent:worker-2"]
    assert f"A command by @{ADMIN} on #{number} is not executed yet: {error}" in report.notes
    field.sync()
    assert field.labels(number) == ["agent:worker-1"]


def test_where_nobody_may_comment_a_mistake_does_not_keep_others_from_being_obeyed(
    field: Field,
) -> None:
    number, other = field.github.issue("Blink"), field.github.issue("Shine")
    field.say(number, "/agent fly")
    field.say(other, "/agent assign worker-1")
    field.github.features.discard("reactions")
    house = field.house()
    assert house.hub
    write = house.hub.write

    def locked(verb: str, path: str, *rest: object, **how: object) -> object:
        if path == f"issues/{number}/comments":
            raise ForbiddenError("Unable to create comment because issue is locked.", hint="")
        return write(verb, path, *rest, **how)  # type: ignore[arg-type]

    house.hub.write = locked  # type: ignore[method-assign]
    sync.sync(house, hub=house.hub)
    assert field.labels(other) == ["agent:worker-1"]
    assert len(field.acts()) == 2


# ------------------------------------------------------------------------ what was closed there


def test_an_issue_closed_on_github_unblocks_an_agent_and_is_told_to_the_manager_of_its_epic(
    field: Field,
) -> None:
    epic, blocker = field.github.issue("Parser"), field.github.issue("Lexer")
    mine = at_work(field, title="Grammar")
    field.ghp(f"agent-issue edit {blocker} --parent {epic}", agent="worker-1")
    field.ghp(f"agent-issue block {mine} --by {blocker}", agent="worker-1")
    field.ghp(f"agent-claim {epic}", agent="lead")
    field.ghp("agent-heartbeat --status blocked", agent="worker-1")
    field.sync()
    heard(field)
    heard(field, "lead")
    field.github.act(ADMIN, "PATCH", f"issues/{blocker}", {"state": "closed"})
    field.sync()
    assert heard(field) == (
        f"#{blocker}, which blocked your #{mine}, was closed on GitHub. Nothing else blocks it: "
        "continue."
    )
    assert heard(field) == ""
    assert heard(field, "lead") == (
        f"#{blocker} «Lexer», a part of your #{epic}, was closed on GitHub.\n"
        f"The only part of #{epic} «Parser» is closed. If it is done: `ghp agent-issue close "
        f"{epic} --reason 'All parts are closed.'`."
    )
    assert heard(field, "lead") == ""
