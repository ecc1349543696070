"""What a session hears while it works, in the words that each real client accepts."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, edit, look, run, set_up, shell, start
from tests.support.clients import Bench, end, ghp
from tests.support.consent import anyone_steals
from tests.support.fake_models import Call, Request, Turn

pytestmark = pytest.mark.slow

CLIENTS = ("claude", "codex")
ANSWER = "A tab is eight columns."


def answering(repo: Path, then: Turn) -> Callable[[Request], Turn]:
    """A line before which a person answers the question that the session has asked."""

    def line(request: Request) -> Turn:
        found = re.search(r"E-[0-9a-f]{4,}", request.said)
        assert found, request.said
        run("agent-answer", found[0], ANSWER, "--as", "@me", cwd=repo)
        return then

    return line


@pytest.mark.parametrize("client", CLIENTS)
def test_an_answer_that_comes_at_the_end_of_a_turn_makes_the_session_go_on(
    bench: Bench, repo: Path, client: str
) -> None:
    set_up(bench, repo, client)
    question = shell(client, ghp("agent-escalate", "'How wide is a tab?'", "--as", "worker-1"))
    bench.models.script(
        "one", Turn(calls=[question]), answering(repo, Turn("I stop.")), Turn("I go on.")
    )
    ended = end(start(bench, client, repo, "one"))
    assert ended.code == 0, ended.err
    assert len(bench.models.requests("one")) == 3
    assert bench.models.requests("one")[1].said.count(ANSWER) == 0
    assert bench.models.requests("one")[2].said.count(ANSWER) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_an_answer_between_two_sessions_is_news_once_and_then_a_decision(
    bench: Bench, repo: Path, client: str
) -> None:
    set_up(bench, repo, client)
    name = run("agent-escalate", "How wide is a tab?", "--as", "worker-1", cwd=repo).strip()
    run("agent-answer", name, ANSWER, "--as", "@me", cwd=repo)
    for session in ("one", "two"):
        bench.models.script(session, Turn("I know."))
        assert end(start(bench, client, repo, session)).code == 0
    assert bench.models.requests("one")[0].said.count(ANSWER) == 1
    later = bench.models.said("two")
    assert "Answer to your question" not in later
    assert ("## Decisions" in later, later.count(ANSWER)) == (True, 1)


@pytest.mark.parametrize("client", CLIENTS)
def test_who_was_replaced_is_told_and_may_edit_nothing_more_for_that_issue(
    bench: Bench, repo: Path, client: str
) -> None:
    set_up(bench, repo, client)
    anyone_steals()
    run("agent-issue", "new", "Parse tabs", cwd=repo)
    run("agent-claim", "1", "--as", "worker-1", cwd=repo)

    def stolen(request: Request) -> Turn:
        run("agent-claim", "1", "--steal", "--reason", "it is urgent", cwd=repo, env=OTHER)
        return Turn(calls=[look(client, repo)])

    bench.models.script(
        "one",
        Turn(calls=[edit(client, repo / "one.py")]),
        stolen,
        Turn(calls=[edit(client, repo / "two.py")]),
    )
    assert end(start(bench, client, repo, "one")).code == 0
    assert (repo / "one.py").exists()
    assert not (repo / "two.py").exists()
    before, told, refused = (request.said for request in bench.models.requests("one")[1:])
    assert "it is urgent" not in before
    assert re.search(r"#1 .*worker-2.*it is urgent", told), told
    assert re.search(r"PreToolUse[^\n]*hook[^\n]*: .*#1.*worker-2", refused), refused


def test_what_a_waiting_command_prints_in_the_background_does_not_count_as_read(
    bench: Bench, repo: Path
) -> None:
    set_up(bench, repo, "claude")
    asks = ghp("agent-escalate", "'How wide is a tab?'")
    given = {
        "command": f"{asks} --wait | tee printed.txt; touch ended",
        "description": "Wait",
        "run_in_background": True,
    }
    until_ended = shell("claude", "until [ -e ended ]; do sleep 0.1; done")
    bench.models.script(
        "one",
        Turn(calls=[shell("claude", asks)]),
        Turn(calls=[Call("Bash", given)]),
        answering(repo, Turn(calls=[until_ended])),
        Turn("I know."),
    )
    ended = end(bench.claude(repo, "one"))
    assert ended.code == 0, ended.err
    assert (repo / "printed.txt").read_text() == f"{ANSWER}\n"
    before, after = bench.models.requests("one")[2:4]
    assert (before.said.count(ANSWER), after.said.count(ANSWER)) == (0, 1)
    assert "Answer to your question" in after.said
