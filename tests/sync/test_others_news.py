"""What others do reaches the agent that it concerns, once, and names who did it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath import news_flag
from ghp_agents.presence import service as presence
from ghp_agents.state.events import ADDRESSEE, KINDS, STEP
from ghp_agents.sync import notifications, others_news
from ghp_agents.wiring import App
from tests.support.consent import mine
from tests.support.ghp import invoke, succeed
from tests.support.git import commit
from tests.support.leases import make_yard

PERSON = "«Test Person» (a person)"
SHOW = "`ghp agent-issue show {}` shows all."


def told(folder: Path, agent: str) -> list[str]:
    """What the agent hears now, delivered to it."""
    app, name = App(folder, os.environ, name=agent), AgentName(agent)
    gathered = notifications.gather(app, name)
    notifications.deliver(app, name, gathered.ids)
    return gathered.text.splitlines()


def is_flagged(folder: Path, agent: str) -> bool:
    return news_flag.is_set([str(folder / ".git/ghp")], agent)


@pytest.fixture
def here(repo: Path) -> Path:
    """Two agents and two issues; worker-1 holds #1."""
    commit(repo, {"src/a.py": "", "docs/b.md": ""})
    succeed(
        repo,
        "agent-init",
        *(f"agent-heartbeat --status idle --as worker-{number}" for number in (1, 2)),
        "agent-issue new Parse",
        "agent-issue new Write",
        "agent-claim 1 --as worker-1",
    )
    assert told(repo, "worker-1") == told(repo, "worker-2") == []
    return repo


CASES = {
    "assigned": (
        ["agent-issue assign 2 worker-1"],
        [f"{PERSON} assigned #2 «Write» to you. Run `ghp agent-start 2 --as worker-1`."],
    ),
    "assigned while another holds it": (
        ["agent-claim 2 --as worker-2", "agent-issue assign 2 worker-1"],
        [
            f"{PERSON} assigned #2 «Write» to you. worker-2 holds it: run "
            "`ghp agent-start 2 --as worker-1` when "
            "it is free."
        ],
    ),
    "assigned and unassigned": (
        ["agent-issue assign 2 worker-1", "agent-issue assign 2 worker-1 --remove"],
        [f"{PERSON} unassigned you from #2 «Write»."],
    ),
    "created for it": (
        ["agent-issue new Third --assign worker-1 --as worker-2"],
        ["worker-2 assigned #3 «Third» to you. Run `ghp agent-start 3 --as worker-1`."],
    ),
    "given": (
        [
            "agent-claim 2 --as worker-2",
            "agent-release 2 --to worker-1 --reason Tired --as worker-2",
        ],
        ["worker-2 gave #2 to you. Reason given: «Tired». Run `ghp agent-start 2 --as worker-1`."],
    ),
    "given by a person": (
        ["agent-claim 2 --as worker-2", "agent-release 2 --to worker-1"],
        [f"{PERSON} gave #2 to you. Run `ghp agent-start 2 --as worker-1`."],
    ),
    "given by a person with a reason": (
        ["agent-claim 2 --as worker-2", "agent-release 2 --to worker-1 --reason 'Tired; sorry'"],
        [
            f"{PERSON} gave #2 to you. Reason given: «Tired; sorry». Run "
            "`ghp agent-start 2 --as worker-1`."
        ],
    ),
    "handed over": (
        [
            "agent-claim 2 --as worker-2",
            "agent-handoff --issue 2 --to worker-1 --note x --as worker-2",
        ],
        [
            "worker-2 handed #2 over to you: «x». Read `ghp agent-resume --issue 2`, then run "
            "`ghp agent-start 2 --as worker-1`."
        ],
    ),
    "commented": (
        ["agent-issue comment 1 'Dark mode only?'", "agent-issue comment 1 Yes --as worker-2"],
        [
            f"{PERSON} commented on #1: «Dark mode only?». {SHOW.format(1)}",
            f"worker-2 commented on #1: «Yes». {SHOW.format(1)}",
        ],
    ),
    "edited": (
        ["agent-issue edit 1 --title Read --priority high"],
        [f"{PERSON} changed #1: «title: Read, priority: high». {SHOW.format(1)}"],
    ),
    "blocked and unblocked": (
        ["agent-issue block 1 --by 2", "agent-issue close 2"],
        [
            f"{PERSON} changed #1: «blocked by #2». {SHOW.format(1)}",
            f"{PERSON} closed #2, which blocked your #1. Nothing else blocks it: continue.",
        ],
    ),
    "one blocker of two": (
        ["agent-issue new Third", "agent-issue block 1 --by 2 --by 3", "agent-issue close 2"],
        [
            f"{PERSON} changed #1: «blocked by #2, blocked by #3». {SHOW.format(1)}",
            f"{PERSON} closed #2, which blocked your #1. It still waits for #3.",
        ],
    ),
    "an assigned issue closed": (
        ["agent-issue assign 2 worker-1", "agent-issue close 2"],
        [
            f"{PERSON} assigned #2 «Write» to you. Run `ghp agent-start 2 --as worker-1`.",
            f"{PERSON} closed #2, which is assigned to you.",
        ],
    ),
}


@pytest.mark.parametrize(("lines", "heard"), CASES.values(), ids=CASES)
@pytest.mark.slow
def test_what_others_do_is_heard_once(here: Path, lines: Sequence[str], heard: list[str]) -> None:
    succeed(here, *lines)
    assert is_flagged(here, "worker-1")
    assert told(here, "worker-1") == heard
    assert told(here, "worker-1") == []


@pytest.mark.slow
def test_an_agent_that_is_told_to_stop_hears_nothing_else_of_its_issues(here: Path) -> None:
    succeed(here, "agent-claim 2 --as worker-1", "agent-stop worker-1 --reason Enough --as @me")
    (line,) = told(here, "worker-1")
    assert line.startswith(f"{PERSON} told you to stop. Reason given: «Enough».")


@pytest.mark.slow
def test_who_has_begun_what_it_was_given_hears_no_more_of_the_gift(here: Path) -> None:
    succeed(here, "agent-claim 2 --as worker-2", "agent-release 2 --to worker-1 --as worker-2")
    succeed(here, "agent-claim 2 --as worker-1")
    assert told(here, "worker-1") == []


@pytest.mark.slow
def test_of_what_it_did_itself_an_agent_hears_nothing(here: Path) -> None:
    succeed(
        here,
        "agent-issue comment 1 Working --as worker-1",
        "agent-issue assign 2 worker-1 --as worker-1",
        "agent-release 1 --as worker-1",
        "agent-claim 2 --as worker-1",
        "agent-issue close 2 --reason Merged --as worker-1",
    )
    assert told(here, "worker-1") == []


@pytest.mark.slow
def test_a_lost_claim_is_one_piece_of_news_and_its_issue_no_longer_concerns_it(here: Path) -> None:
    succeed(here, "agent-release 1 --to worker-2 --reason Tired", "agent-issue comment 1 Hm")
    (line,) = told(here, "worker-1")
    assert line.startswith("Your claim of #1 was taken: worker-2 has held it since ")
    assert " Reason given: «given by Test Person: Tired». Stop working on #1. " in line


@pytest.mark.slow
def test_of_issues_of_others_it_hears_nothing(here: Path) -> None:
    succeed(
        here, "agent-issue comment 2 Hm", "agent-issue assign 2 worker-2", "agent-issue close 2"
    )
    assert told(here, "worker-1") == []


@pytest.mark.slow
def test_what_was_before_its_claim_is_in_the_issue_and_no_news(here: Path) -> None:
    succeed(here, "agent-issue comment 2 Hm", "agent-claim 2 --as worker-2")
    assert told(here, "worker-2") == []


def test_whoever_waits_for_its_file_is_named(repo: Path) -> None:
    yard = make_yard(repo)
    for agent in ("worker-1", "worker-2"):
        presence.register(yard.ws(agent), yard.store, AgentName(agent))
    yard.take("worker-1", "docs/a.md")
    heard: list[str] = []

    def hear() -> None:
        parts = yard.parts("worker-1")
        gathered = others_news.gather(parts, yard.store.snapshot(), AgentName("worker-1"))
        heard.extend(text for text, _ in gathered)

    yard.clock.at(2, hear)
    yard.clock.at(3, lambda: yard.give("worker-1", "docs/a.md"))
    yard.wait("worker-2", "docs/a.md")
    (line,) = heard
    assert line.startswith("worker-2 waits for your lease of docs/a.md. When you no longer need")


@pytest.mark.slow
def test_a_lease_that_another_ends_is_named(here: Path) -> None:
    succeed(here, "agent-lease docs/b.md --as worker-1", "agent-release docs/b.md --reason Mine")
    assert told(here, "worker-1") == [
        f"{PERSON} ended your lease of docs/b.md. Reason given: «Mine»."
    ]


@pytest.mark.slow
def test_an_orchestrator_hears_of_questions(here: Path) -> None:
    succeed(here, "agent-escalate 'Which port?' --as worker-1")
    assert told(here, "worker-2") == []
    mine({"agents": {"orchestrators": ["worker-2"]}})
    succeed(here, "agent-escalate 'Which host?' --as worker-1")
    (line,) = told(here, "worker-2")
    assert line.startswith("worker-1 asks: «Which host?» Decide with `ghp agent-answer E-")


@pytest.mark.slow
def test_the_next_holder_hears_the_answer_to_the_question_of_the_one_before(here: Path) -> None:
    succeed(
        here,
        "agent-escalate 'Which port?' --issue 1 --as worker-1",
        "agent-release 1 --to worker-2 --as worker-1",
    )
    assert len(told(here, "worker-2")) == 1
    ledger = App(here, os.environ).store.ledger()
    name = next(entry.object for entry in ledger if entry.event == "escalate")
    succeed(here, f"agent-answer {name} 8080")
    assert told(here, "worker-2") == [
        f"{PERSON} answered {name}, worker-1's question about #1: `ghp agent-escalations {name}`."
    ]


@pytest.mark.slow
def test_what_has_no_room_is_counted(here: Path) -> None:
    succeed(here, *(f"agent-issue comment 1 '{number} {'x' * 100}'" for number in range(12)))
    lines = told(here, "worker-1")
    assert len("\n".join(lines[:-1])) <= others_news.LIMIT
    assert lines[-1] == f"{13 - len(lines)} more of this kind: run `ghp agent-log`."
    assert told(here, "worker-1") == []


@pytest.mark.slow
def test_another_clone_tells_it_after_the_next_sync(clones: Callable[[int], list[Path]]) -> None:
    one, other = clones(2)
    succeed(one, "agent-init", "agent-issue new Parse", "agent-sync")
    succeed(other, "agent-init", "agent-heartbeat --status idle --as worker-1", "agent-sync")
    told(other, "worker-1")
    news_flag.clear([str(other / ".git/ghp")], "worker-1")
    succeed(one, "agent-sync", "agent-issue assign 1 worker-1", "agent-sync")
    assert not is_flagged(other, "worker-1")
    succeed(other, "agent-sync")
    assert is_flagged(other, "worker-1")
    assert told(other, "worker-1") == [
        f"{PERSON} assigned #1 «Parse» to you. Run `ghp agent-start 1 --as worker-1`."
    ]


@pytest.mark.slow
def test_a_sync_with_news_for_nobody_wakes_nobody(clones: Callable[[int], list[Path]]) -> None:
    one, other = clones(2)
    succeed(other, "agent-init", "agent-heartbeat --status idle --as worker-1", "agent-sync")
    succeed(one, "agent-init", "agent-issue new Parse", "agent-issue comment 1 Hm", "agent-sync")
    succeed(other, "agent-sync")
    assert not is_flagged(other, "worker-1")


@pytest.mark.slow
def test_the_status_of_an_agent_without_hooks_tells_it(here: Path) -> None:
    succeed(here, "agent-issue comment 1 Hm")
    line = f"{PERSON} commented on #1: «Hm». {SHOW.format(1)}\n"
    assert line in invoke("agent-status --as worker-1", here).out
    assert line not in invoke("agent-status --as worker-1", here).out


def test_all_that_is_said_at_once_has_a_sentence() -> None:
    heard = {
        relation for kind in KINDS.values() if STEP in kind.reach for relation in kind.concerns
    }
    assert set(others_news.TEXTS) >= heard - {ADDRESSEE}


@pytest.mark.slow
@pytest.mark.parametrize("is_heard_first", [False, True])
def test_a_merge_is_heard_once_also_if_the_next_issue_was_started_before(
    here: Path, is_heard_first: bool
) -> None:
    succeed(here, "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", here).out.strip())
    commit(place, {"c.txt": "1\n"})
    assert invoke("agent-finish --as worker-1", place).code == 0
    told(here, "worker-1")
    assert invoke("agent-merge --queue --unchecked --as @me", here).out == "3\n"
    heard = told(here, "worker-1") if is_heard_first else []
    succeed(here, "agent-start 2 --as worker-1")
    heard += told(here, "worker-1")
    assert len([line for line in heard if "merged" in line]) == 1, heard
    if not is_heard_first:
        assert heard == [f"{PERSON} merged your pull request #3 of #1 «Parse»."]
    assert told(here, "worker-1") == []
