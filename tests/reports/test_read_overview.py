"""What the overview shows besides presence, read from a real repository."""

import json
from pathlib import Path

import pytest

from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.reports.overview import Need, NeedKind, overview
from ghp_agents.reports.read_overview import Team
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.git import commit
from tests.support.repos import Restored
from tests.support.road import Road, with_pull

AS = {"GHP_AGENT": "worker-1"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def ghp(words: str, repo: Path, clock: ManualClock) -> str:
    done = invoke(words, repo, AS, clock=clock)
    assert done.code == 0, done.err
    return done.out


def look(repo: Path, clock: ManualClock) -> Team:
    app = App(repo, {}, clock=clock)
    snapshot = app.store.snapshot()
    return Team(app.offline, snapshot, presence.list_agents(app, snapshot))


def test_an_agent_that_reports_nothing_but_its_presence_has_no_facts(
    repo: Path, clock: ManualClock
) -> None:
    ghp("agent-status --set testing", repo, clock)
    facts = look(repo, clock).facts()
    assert (facts.needs, facts.titles, facts.leases, facts.pulls) == ({}, {}, {}, frozenset())
    assert (facts.clones, facts.news_age) == (1, None)


def test_a_claimed_issue_has_its_title_and_a_lease_is_counted(
    repo: Path, clock: ManualClock
) -> None:
    ghp("agent-issue new Parse", repo, clock)
    ghp("agent-claim 1", repo, clock)
    ghp("agent-lease src/", repo, clock)
    facts = look(repo, clock).facts()
    assert (facts.titles, dict(facts.leases)) == ({1: "Parse"}, {"worker-1": 1})
    assert look(repo, clock).facts(leases=False).leases == {}


@pytest.mark.slow
def test_a_blocked_agent_is_unblocked_once_all_that_blocked_its_issue_is_closed(
    repo: Path, clock: ManualClock
) -> None:
    for words in ("Parse", "Print", "'Write it all' --blocked-by 1 --blocked-by 2"):
        ghp(f"agent-issue new {words}", repo, clock)
    ghp("agent-claim 3", repo, clock)
    assert shown(repo, clock) == ("blocked", "")
    ghp("agent-issue close 1 --reason Done", repo, clock)
    assert shown(repo, clock) == ("blocked", "")
    ghp("agent-issue close 2 --reason Done", repo, clock)
    assert shown(repo, clock) == ("unblocked", "#1, #2 are closed")
    assert invoke("agent-status --plain", repo, clock=clock).out.split("\n")[1].split()[:3] == [
        "worker-1", "active", "unblocked",
    ]  # fmt: skip
    listed = json.loads(invoke("agent-status --json", repo, clock=clock).out)
    fields = listed["agents"]["worker-1"]
    assert (fields["status"], fields["unblockedBy"]) == ("blocked", [1, 2])
    page = invoke("agent-status worker-1", repo, clock=clock).out
    assert "\n  unblocked: #1, #2 are closed\n" in page
    ghp("agent-issue reopen 2", repo, clock)
    assert shown(repo, clock) == ("blocked", "")


def test_one_whose_issue_nothing_blocked_stays_blocked(repo: Path, clock: ManualClock) -> None:
    ghp("agent-issue new Parse", repo, clock)
    ghp("agent-claim 1", repo, clock)
    ghp("agent-heartbeat --status blocked", repo, clock)
    assert shown(repo, clock) == ("blocked", "")


def shown(repo: Path, clock: ManualClock) -> tuple[str, str]:
    """The status that is shown of worker-1, and why."""
    team = look(repo, clock)
    (found,) = overview(team.views, team.facts()).agents
    return found.shown_status, found.unblocked_words


def test_an_open_question_is_a_need_until_somebody_answers_it(
    repo: Path, clock: ManualClock
) -> None:
    ghp("agent-status --set testing", repo, clock)
    name = ghp("agent-escalate Which? --urgency high", repo, clock).strip()
    clock.wait(720)
    need = Need(NeedKind.QUESTION, "Which?", "high", 720.0, name, name[:6])
    assert look(repo, clock).facts().needs == {"worker-1": [need]}
    invoke(["agent-answer", name, "That one"], repo, clock=clock)
    assert look(repo, clock).facts().needs == {}


@pytest.mark.slow
def test_a_pull_request_that_was_sent_back_is_a_need_and_the_last_error(
    repo: Path, clock: ManualClock
) -> None:
    (repo / ".ghp").mkdir()
    commit(
        repo,
        {".ghp/config.json": '{"agents": {"checks": ["test ! -e broken || test ! -e a.txt"]}}'},
    )
    invoke("agent-trust --yes", repo, clock=clock)
    ghp("agent-issue new Parse", repo, clock)
    ghp("agent-start 1", repo, clock)
    place = Path(ghp("agent-where 1", repo, clock).strip())
    commit(place, {"a.txt": "one\n"})
    finished = invoke("agent-finish", place, AS, clock=clock)
    assert finished.code == 0, finished.err
    assert look(repo, clock).facts().pulls == {2}
    commit(repo, {"broken": ""})
    merged = invoke("agent-merge --queue", repo, clock=clock)
    assert merged.code == 1, merged
    facts = look(repo, clock).facts()
    ((need,),) = facts.needs.values()
    assert (need.kind, need.id) == (NeedKind.CHECKS, "#2")
    assert "broken" in facts.errors["worker-1"]


@pytest.mark.slow
def test_requested_changes_are_a_need_until_new_commits_come(
    restored: Restored, clock: ManualClock
) -> None:
    road = Road(restored(with_pull).repo, clock)
    invoke("agent-review 2 --request-changes 'Add a test' --as worker-2", road.folder, clock=clock)
    (need,) = look(road.folder, clock).facts().needs["worker-1"]
    assert need == Need(NeedKind.CHANGES, "worker-2: Add a test", id="#2", short="#2")
    place = road.start("worker-1").path
    commit(place, {"b.txt": "two\n"})
    road.finish("worker-1", place)
    assert "worker-1" not in look(road.folder, clock).facts().needs


@pytest.mark.slow
def test_a_dead_agent_with_unsaved_work_is_a_need(repo: Path, clock: ManualClock) -> None:
    ghp("agent-issue new Parse", repo, clock)
    ghp("agent-start 1", repo, clock)
    place = Path(ghp("agent-where 1", repo, clock).strip())
    ghp("agent-heartbeat", place, clock)
    (place / "new.txt").write_text("unsaved\n")
    team = look(repo, clock)
    team.views = [view._replace(liveness=Liveness.DEAD) for view in team.views]
    assert team.worktrees == {"worker-1": str(place)}
    assert team.facts().needs == {}
    (need,) = team.facts(deep=True).needs["worker-1"]
    assert (need.kind, need.text) == (NeedKind.DEAD, "1 unsaved file")


def test_in_the_past_there_are_the_questions_and_leases_of_then(
    repo: Path, clock: ManualClock
) -> None:
    ghp("agent-issue new Parse", repo, clock)
    ghp("agent-claim 1", repo, clock)
    ghp("agent-lease src/", repo, clock)
    name = ghp("agent-escalate Which?", repo, clock).strip()
    clock.wait(60)
    then = clock.now()
    clock.wait(60)
    invoke(["agent-answer", name, "That one"], repo, clock=clock)
    ghp("agent-release src/", repo, clock)
    app = App(repo, {}, clock=clock)
    snapshot = app.store.snapshot(then)
    team = Team(app.past(then), snapshot, presence.look_back(app.ws, snapshot, then), then)
    facts = team.facts()
    assert [need.age for need in facts.needs["worker-1"]] == [60.0]
    assert (facts.titles, dict(facts.leases)) == ({1: "Parse"}, {"worker-1": 1})
    assert look(repo, clock).facts(leases=False).leases == {}
    assert (team.waits, facts.news_age) == ((), None)
