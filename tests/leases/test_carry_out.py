"""What a person decides about leases and files is done once, and both sides hear it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation, Question
from ghp_agents.issues.issue import IssueChange
from ghp_agents.leases.carry_out import carry_out
from ghp_agents.state.cause import CIRCLE, OVERLAP
from ghp_agents.sync import notifications
from ghp_agents.wiring import App
from tests.support.consent import mine
from tests.support.ghp import invoke, run_ghp, succeed
from tests.support.git import git, run_git
from tests.support.hooks import call, write
from tests.support.leases import Yard, furnish, two_yards
from tests.support.repos import Restored, Site

Clones = Callable[[int], list[Path]]
Pair = tuple[Path, Path]
Yards = tuple[Yard, Yard]
DANA = "«Test Person» (a person)"


# --------------------------------------------------------- two clones, by commands and hooks


@pytest.fixture
def pair(restored: Restored) -> Pair:
    """w-a works in the first clone, w-b in the second."""
    return restored(two_agents).clones


@pytest.fixture
def wanted(restored: Restored) -> tuple[Path, Path, str]:
    """w-a wants src/a.py, which w-b has leased: both clones, and the name of the question."""
    one, other = restored(file_wanted).clones
    return one, other, str(question(one)["id"])


def two_agents(site: Site) -> None:
    one, other = map(furnish, site.make_clones())
    for clone, agent in ((one, "w-a"), (other, "w-b")):
        succeed(clone, "agent-init", f"agent-heartbeat --status implementing --as {agent}")
    git(one, "push", "-q", "origin", "HEAD:main")  # else the files are what both change
    git(other, "fetch", "-q")
    sync(one, other)


def file_wanted(site: Site) -> None:
    two_agents(site)
    one, other = site.clones
    succeed(other, "agent-lease src/ --as w-b")
    sync(one, other)
    assert not may(one, "w-a", "src/a.py")
    succeed(one, "agent-escalate --file src/a.py --as w-a")
    sync(one, other)


def sync(*clones: Path) -> None:
    """Each hears the others."""
    for clone in (*clones, *clones[:-1]):
        succeed(clone, "agent-sync")


def may(clone: Path, agent: str, path: str) -> bool:
    """Whether the agent may edit a file: the hook and the command agree."""
    hooked = call("claude", write(clone / path, clone), clone, {"GHP_AGENT": agent})
    checked = invoke(f"agent-check {path} --as {agent}", clone)
    is_denied = b'"permissionDecision": "deny"' in hooked.out
    assert is_denied == (checked.code != 0), (hooked, checked)
    return checked.code == 0


def news(clone: Path, agent: str) -> list[str]:
    """What the agent hears now and not again."""
    app, name = App(clone, os.environ, name=agent), AgentName(agent)
    notices = notifications.gather(app, name)
    notifications.deliver(app, name, notices.ids)
    assert notifications.gather(app, name).text == ""
    return notices.text.splitlines()


def question(clone: Path) -> dict[str, object]:
    """The last question."""
    questions = json.loads(invoke("agent-escalations --json", clone).out)
    return max(questions, key=lambda x: str(x["askedAt"]))


@pytest.mark.slow
def test_an_overlap_that_a_person_decides_is_decided_on_all_roads(pair: Pair) -> None:
    one, other = pair
    succeed(one, "agent-lease src/a.py --as w-a")
    succeed(other, "agent-lease src/ --as w-b")
    sync(one, other)
    news(one, "w-a")
    news(other, "w-b")
    name = question(one)["id"]
    succeed(one, f"agent-answer {name} w-a")
    sync(one, other)
    for clone in pair:
        assert may(clone, "w-a", "src/a.py")
        assert not may(clone, "w-a", "src/b.py")
        assert not may(clone, "w-b", "src/a.py")
        assert may(clone, "w-b", "src/b.py")
    outcome = question(other)["outcome"]
    assert isinstance(outcome, dict)
    assert outcome["done"] is True
    for clone, agent in ((one, "w-a"), (other, "w-b")):  # also the one that asked: once
        assert news(clone, agent) == [f"{DANA} decided {name}: «{outcome['text']}»"]


@pytest.mark.slow
def test_a_yes_about_a_file_lets_the_asker_change_and_commit_it(
    wanted: tuple[Path, Path, str],
) -> None:
    one, other, name = wanted
    assert question(one)["question"] == "May I change src/a.py, leased by w-b?"
    news(other, "w-b")
    answered = invoke(f"agent-answer {name} yes", other)
    assert answered.err.startswith(
        f"✓ Answered {name}. w-a sees it after the next sync of its clone"
    )
    assert f"{name}: w-a may change src/a.py. The lease L-" in answered.err
    sync(one, other)
    for clone in (one, other):
        assert may(clone, "w-a", "src/a.py")
        assert not may(clone, "w-a", "src/b.py")
        assert not may(clone, "w-b", "src/a.py")
        assert may(clone, "w-b", "src/b.py")
    (heard,) = news(other, "w-b")
    assert heard.startswith(f"{DANA} decided {name}: «w-a may change src/a.py. The lease L-")
    assert heard.endswith("of w-b for src/ now leaves out src/a.py.»")
    assert news(one, "w-a") == [heard]
    for clone, agent, code in ((one, "w-a", 0), (other, "w-b", 1)):
        succeed(clone, "agent-init --hooks git")
        (clone / "src/a.py").write_text("changed\n")
        git(clone, "add", "src/a.py")
        done = run_git(clone, "commit", "-m", "Change", env={"GHP_AGENT": agent})
        assert done.returncode == code, done


@pytest.mark.slow
def test_a_no_about_a_file_changes_nothing(wanted: tuple[Path, Path, str]) -> None:
    one, other, name = wanted
    news(other, "w-b")
    succeed(other, f"agent-answer {name} no")
    sync(one, other)
    assert not may(one, "w-a", "src/a.py")
    assert may(other, "w-b", "src/a.py")
    assert "no" in news(one, "w-a")
    assert news(other, "w-b") == []
    assert question(one)["outcome"]["text"] == "Nothing was changed."  # type: ignore[index]


@pytest.mark.slow
def test_an_agents_yes_is_advice_and_an_orchestrators_counts(
    wanted: tuple[Path, Path, str],
) -> None:
    one, other, name = wanted
    succeed(other, f"agent-answer {name} yes --as w-b")
    sync(one, other)
    assert not may(one, "w-a", "src/a.py")
    assert question(one)["outcome"] is None
    mine({"agents": {"orchestrators": ["lead"]}})
    succeed(one, f"agent-answer {name} 1 --as lead")
    sync(one, other)
    assert may(one, "w-a", "src/a.py")
    assert not may(other, "w-b", "src/a.py")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["maybe", "YES, and src/b.py, too", "3", "E-0000 yes", "```\nyes"])
def test_an_answer_that_picks_no_option_is_refused_and_changes_nothing(
    wanted: tuple[Path, Path, str], text: str
) -> None:
    one, other, name = wanted
    refused = invoke(["agent-answer", name, text], one)
    assert refused.code == 2
    assert refused.err.startswith("Error: Nothing was changed: ")
    assert "is not one of the options" in refused.err
    sync(one, other)
    assert not may(one, "w-a", "src/a.py")
    succeed(other, f"agent-answer {name} yes")
    sync(one, other)
    assert may(one, "w-a", "src/a.py")


@pytest.mark.slow
def test_a_session_that_starts_after_the_decision_reads_what_was_done(pair: Pair) -> None:
    one, other = pair
    succeed(other, "agent-lease src/ --as w-b")
    sync(one, other)
    name = invoke("agent-escalate --file src/a.py --as w-new", one).out.strip()
    succeed(other, "agent-sync", f"agent-answer {name} yes")
    sync(one, other)
    heard = news(one, "w-new")
    assert heard[0].startswith(f"Answer to your question {name}, by person «Test Person», ")
    assert heard[-1].startswith("Result: «w-new may change src/a.py. The lease L-")


@pytest.mark.slow
def test_what_ended_meanwhile_is_said_on_the_question(wanted: tuple[Path, Path, str]) -> None:
    one, other, name = wanted
    succeed(other, "agent-release src/ --reason 'merged by #3' --as w-b")
    sync(one, other)
    answered = invoke(f"agent-answer {name} yes", one)
    assert "of w-b has ended since («merged by #3»); src/a.py may be free now." in answered.err
    outcome = question(one)["outcome"]
    assert isinstance(outcome, dict)
    assert outcome["done"] is False
    assert any(x.startswith("Result: ") and "has ended since" in x for x in news(one, "w-a"))
    assert may(one, "w-a", "src/a.py")


@pytest.mark.slow
def test_a_file_that_another_has_leased_since_stays_with_it(wanted: tuple[Path, Path, str]) -> None:
    one, other, name = wanted
    succeed(other, "agent-release src/ --as w-b", "agent-lease src/a.py --as w-c")
    sync(one, other)
    answered = invoke(f"agent-answer {name} yes", one)
    assert "Nothing was changed: w-c has leased src/a.py since (L-" in answered.err
    assert not may(one, "w-a", "src/a.py")


@pytest.mark.slow
def test_a_file_in_the_scope_of_anothers_issue_can_be_given(pair: Pair) -> None:
    one, other = pair
    body = "## Scope\n- src/"
    assert invoke(["agent-issue", "new", "Parse", "--body", body], one).code == 0
    sync(one, other)
    succeed(other, "agent-claim 1 --as w-b")
    sync(one, other)
    result = invoke("agent-escalate 'It is one line.' --file src/a.py --as w-a", one)
    assert question(one)["question"] == (
        "May I change src/a.py, in the scope of w-b?\n\nIt is one line."
    )
    succeed(one, f"agent-answer {result.out.strip()} yes")
    sync(one, other)
    assert may(one, "w-a", "src/a.py")
    assert not may(one, "w-a", "src/b.py")
    assert not may(other, "w-b", "src/a.py")
    (heard,) = news(other, "w-b")
    assert heard.endswith("«w-a may change src/a.py.»")


@pytest.mark.slow
def test_a_file_that_another_edits_here_can_be_given(pair: Pair) -> None:
    one, _ = pair
    succeed(one, "agent-heartbeat --status implementing --as w-c")
    assert may(one, "w-c", "src/a.py")
    assert not may(one, "w-a", "src/a.py")
    result = invoke("agent-escalate --file src/a.py --as w-a", one)
    assert question(one)["question"] == "May I change src/a.py, which w-c is editing?"
    succeed(one, f"agent-answer {result.out.strip()} yes")
    assert may(one, "w-a", "src/a.py")
    assert not may(one, "w-c", "src/a.py")


@pytest.mark.slow
def test_shared_files_that_a_person_approves_are_leased_at_once(pair: Pair) -> None:
    one, other = pair
    mine({"agents": {"shared": ["README.md"]}})
    refused = invoke("agent-lease README.md --as w-a", one)
    assert refused.code == 3
    sync(one, other)
    name = question(other)["id"]
    succeed(other, f"agent-answer {name} yes")  # the question begins with "May"
    sync(one, other)
    assert may(one, "w-a", "README.md")
    assert not may(other, "w-b", "README.md")
    assert f"{DANA} decided {name}: «w-a has a lease of README.md.»" in news(one, "w-a")
    assert invoke("agent-lease README.md --as w-a", one).code == 0
    succeed(other, f"agent-answer {name} refuse")
    sync(one, other)
    assert not may(one, "w-a", "README.md")


@pytest.mark.slow
def test_two_processes_of_two_clones_leave_one_decision(wanted: tuple[Path, Path, str]) -> None:
    one, other, name = wanted
    news(one, "w-a")
    news(other, "w-b")
    for clone in (one, other):  # each answers before it hears the other
        assert run_ghp(f"agent-answer {name} yes", clone, {"GHP_BACKGROUND": "1"}).code == 0
    sync(one, other)
    assert len(news(other, "w-b")) == 1
    assert [line for line in news(one, "w-a") if "decided" in line] != []
    leases = [invoke("agent-leases --json", clone).out for clone in (one, other)]
    assert leases[0] == leases[1]
    assert leases[0].count('"id"') == 2


# --------------------------------------------------------------------- in memory, in detail


@pytest.fixture
def yards(clones: Clones) -> Yards:
    one, other = two_yards(*clones(2))
    return one, other


def exchange(*yards: Yard) -> None:
    for yard in (*yards, *yards, *yards):
        yard.sync()


def asked(yard: Yard) -> list[Escalation]:
    return escalation.questions(yard.parts(None).world)


def decide(yard: Yard, text: str, number: int = 0) -> None:
    """A person answers a question, and nobody has carried it out yet."""
    escalation.answer(yard.parts(None), asked(yard)[number].id, text)


def overlapping(yards: Yards, **more: object) -> None:
    one, other = yards
    one.take("w-a", "src/", **more)
    other.take("w-b", "src/a.py")
    exchange(one, other)
    assert [question.question.kind for question in asked(one)] == [OVERLAP]


@pytest.mark.slow
def test_two_clones_that_carry_out_one_answer_write_the_same_records(yards: Yards) -> None:
    one, other = yards
    overlapping(yards)
    decide(one, "w-b")
    one.store.sync()
    other.store.sync()
    (here,), (second,) = carry_out(one.parts(None)), carry_out(other.parts(None))
    assert here == second
    exchange(one, other)
    for yard in yards:
        assert yard.held() == [("w-a", "src/ !/src/a.py"), ("w-b", "/src/a.py")]
        assert len(asked(yard)[0].outcomes) == 1
        assert carry_out(yard.parts(None)) == []
    entries = {(entry.event, entry.id) for entry in one.store.ledger() if entry.event == "decide"}
    assert len(entries) == 1


@pytest.mark.slow
def test_the_next_sync_of_any_clone_carries_it_out(yards: Yards) -> None:
    one, other = yards
    overlapping(yards)
    decide(one, "w-a")
    one.store.sync()
    other.sync()
    assert other.held() == [("w-a", "src/")]


@pytest.mark.slow
def test_a_strict_lease_gives_its_lock_back_and_the_rest_is_ordinary(yards: Yards) -> None:
    one, other = yards
    overlapping(yards, strict=True)
    one.locks._board.reachable = False
    decide(one, "w-b")
    (note,) = carry_out(one.parts(None))
    assert "is not carried out yet: " in note
    assert one.held()[0] == ("w-a", "src/")
    one.locks._board.reachable = True
    exchange(one, other)
    assert other.held() == [("w-a", "src/ !/src/a.py"), ("w-b", "/src/a.py")]
    assert [lock.holder for lock in other.locks.list()] == [None]
    outcome = asked(one)[0].outcome
    assert outcome is not None
    assert outcome.text.endswith("now leaves out src/a.py, and is no longer strict.")


@pytest.mark.slow
def test_a_lease_with_an_end_keeps_it(yards: Yards) -> None:
    one, other = yards
    overlapping(yards, ttl=600.0)
    until = one.listing().held[0].until
    one.clock.wait(60)
    decide(other, "w-b")
    exchange(one, other)
    assert [hold.until for hold in one.listing().held] == [until, None]
    one.clock.wait(600)
    exchange(one, other)
    assert other.held() == [("w-b", "/src/a.py")]


@pytest.mark.slow
def test_a_later_answer_replaces_the_earlier_one_as_far_as_that_can_be(yards: Yards) -> None:
    one, other = yards
    overlapping(yards)
    decide(one, "w-a")
    exchange(one, other)
    decide(one, "w-b")
    exchange(one, other)
    outcome = asked(one)[0].outcome
    assert outcome is not None
    assert (outcome.is_done, other.held()) == (False, [("w-a", "src/")])


def test_in_a_circle_of_issues_the_first_waits_no_longer(yards: Yards) -> None:
    one, _ = yards
    for title in ("Storage", "Table"):
        one.tracker.create(IssueChange(title=title), Actor("Ada", True))
    one.tracker.change(2, IssueChange(add_blockers=(1,)), Actor("Ada", True))  # type: ignore[arg-type]
    for number, agent in ((1, "w-a"), (2, "w-b")):
        one.locks.acquire(f"issue/{number}", agent, expected=None, epoch=1)
    options = ("w-a goes first: without #2", "w-b goes first: without #1")
    about = ("issue/2@1 w-a", "issue/1@1 w-b")
    escalation.ask_once(one.parts("w-a"), Question("w-a", "Who?", None, options, CIRCLE, about))
    decide(one, "2")
    assert carry_out(one.parts(None)) == [
        f"{asked(one)[0].name}: w-b goes first: its issue no longer waits for #1."
    ]
    assert one.tracker.get(2).blocked_by == ()
    decide(one, "1")
    (note,) = carry_out(one.parts(None))
    assert "Nothing was changed: no issue of w-a waits for #2 itself." in note


def test_in_a_circle_of_leases_the_one_that_is_waited_for_ends(yards: Yards) -> None:
    one, _ = yards
    first, second = one.take("w-a", "src/").hold, one.take("w-b", "docs/").hold
    options = ("w-a goes first: w-b releases docs/", "w-b goes first: w-a gives back src/")
    about = (f"L-{second.id} w-a", f"L-{first.id} w-b")
    escalation.ask_once(one.parts("w-a"), Question("w-a", "Who?", None, options, CIRCLE, about))
    decide(one, "w-a goes first: w-b releases docs/")
    (note,) = carry_out(one.parts(None))
    assert note.endswith(f"w-a goes first: the lease {second.short} of w-b for docs/ has ended.")
    assert one.held() == [("w-a", "src/")]
    one.take("w-a", "docs/")


def test_a_question_in_free_text_is_never_carried_out(yards: Yards) -> None:
    one, _ = yards
    one.take("w-b", "src/")
    escalation.escalate(one.parts("w-a"), "May I change src/a.py?", options=("yes", "no"))
    decide(one, "yes")
    assert carry_out(one.parts(None)) == []
    assert one.held() == [("w-b", "src/")]
