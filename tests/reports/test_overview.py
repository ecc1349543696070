"""Who is doing what, and who needs a person first."""

from typing import Any

from ghp_agents.core.ids import CloneId
from ghp_agents.hotpath.heartbeat import WAITS
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.reports.overview import (
    AgentFacts,
    AgentGroup,
    AgentRow,
    Need,
    NeedKind,
    Totals,
    overview,
    row,
)

ASKED = Need(NeedKind.QUESTION, "JSON or TOML?", "normal", 720.0, "E-3f9a")


def view(
    name: str = "worker-1",
    liveness: Liveness = Liveness.ACTIVE,
    *,
    silent: float = 6.0,
    heard: float | None = None,
    **presence: Any,
) -> AgentView:
    fields = {"status": "implementing", "lastAction": "Edited a.py", **presence}
    here, clone = heard is None, CloneId("c1")
    return AgentView(name, fields, liveness, silent, here, heard, clone, silent)


def test_a_row_has_what_the_agent_reports_and_what_is_known_besides() -> None:
    facts = AgentFacts(
        titles={3: "Parse the input"},
        leases={"worker-1": 2},
        errors={"worker-1": "pytest failed"},
        worktrees={"worker-1": "/trees/3-parse"},
    )
    agent_view = view(issue=3, generation=1, branch="agent/3", worktree="3-parse", pull=32)
    assert row(agent_view, facts) == AgentRow(
        name="worker-1", liveness=Liveness.ACTIVE, status="implementing", issue=3,
        title="Parse the input", last_seen=6.0, clone="c1", worktree="/trees/3-parse",
        branch="agent/3", pull=32, leases=2, error="pytest failed", action="Edited a.py",
    )  # fmt: skip


def test_an_issue_is_shown_only_if_it_is_claimed() -> None:
    facts = AgentFacts(titles={3: "Parse the input"})
    assert (row(view(issue=3), facts).issue, row(view(issue=3), facts).title) == (None, "")


def test_an_agent_of_another_clone_was_seen_when_its_news_arrived() -> None:
    assert row(view(silent=50.0, heard=4.0), AgentFacts()).last_seen == 4.0


def test_fields_of_another_type_in_a_foreign_record_are_empty() -> None:
    odd = row(view(status=7, branch=["x"], lastAction={}, issue="3", generation=1), AgentFacts())
    assert (odd.status, odd.branch, odd.action, odd.issue) == ("idle", "", "", None)


def test_who_needs_a_person_comes_first_then_who_works_then_who_rests() -> None:
    views = [
        view("a-rests", status="idle"),
        view("b-works"),
        view("c-asked"),
        view("d-died", Liveness.DEAD, issue=7, generation=1, silent=2460.0),
        view("e-asks-loudly"),
        view("f-stale", Liveness.STALE),
    ]
    loud = ASKED._replace(urgency="high", age=1.0)
    facts = AgentFacts(needs={"c-asked": [ASKED], "e-asks-loudly": [loud]}, clones=6, news_age=4.0)
    shown = overview(views, facts)
    assert [(agent.name, agent.group) for agent in shown.agents] == [
        ("e-asks-loudly", AgentGroup.NEEDS_YOU),
        ("c-asked", AgentGroup.NEEDS_YOU),
        ("d-died", AgentGroup.NEEDS_YOU),
        ("b-works", AgentGroup.WORKING),
        ("f-stale", AgentGroup.WORKING),
        ("a-rests", AgentGroup.IDLE),
    ]
    assert shown.totals == Totals(
        agents=6, working=2, needs_you=3, idle=1, stale=1, dead=1, questions=2, clones=6,
        news_age=4.0,
    )  # fmt: skip


def test_of_two_equal_questions_the_older_one_is_first() -> None:
    facts = AgentFacts(needs={"a": [ASKED._replace(age=5.0)], "b": [ASKED]})
    assert [agent.name for agent in overview([view("a"), view("b")], facts).agents] == ["b", "a"]


def test_an_agent_with_several_needs_shows_the_most_important_one_first() -> None:
    needs = [Need(NeedKind.CHECKS, "pytest", id="#32"), ASKED]
    shown = row(view(), AgentFacts(needs={"worker-1": needs}))
    assert [need.kind for need in shown.needs] == [NeedKind.QUESTION, NeedKind.CHECKS]
    assert shown.question == "E-3f9a"


def test_a_session_that_waits_for_a_permission_needs_its_person() -> None:
    waits = view(status="waiting", lastAction=f"{WAITS}: a permission", silent=30.0)
    assert row(waits, AgentFacts()).needs == (Need(NeedKind.PERMISSION, "a permission", age=30.0),)


def test_a_turn_that_ended_needs_its_person_only_while_the_agent_has_a_claim() -> None:
    ended: dict[str, Any] = {"status": "waiting", "lastAction": WAITS}
    with_claim = row(view(issue=3, generation=1, **ended), AgentFacts())
    assert [need.kind for need in with_claim.needs] == [NeedKind.INPUT]
    without = row(view(**ended), AgentFacts())
    assert (without.needs, without.group) == ((), AgentGroup.IDLE)


def test_an_agent_that_waits_for_another_agent_works() -> None:
    waits = view(status="waiting", lastAction="Waiting for a.py")
    assert row(waits, AgentFacts()).group is AgentGroup.WORKING


def test_a_pull_request_waits_for_a_person_unless_it_was_sent_back() -> None:
    facts = AgentFacts(pulls=frozenset({32}))
    assert row(view(pull=32), facts).needs == (Need(NeedKind.PULL, id="#32", short="#32"),)
    assert row(view(pull=33), facts).needs == ()
    for kind in (NeedKind.CONFLICT, NeedKind.CHECKS, NeedKind.CHANGES):
        back = Need(kind, "a.py", id="#32")
        assert row(view(pull=32), facts._replace(needs={"worker-1": [back]})).needs == (back,)


def test_what_was_sent_back_to_an_agent_that_ended_waits_for_who_continues_it() -> None:
    for kind in (NeedKind.CONFLICT, NeedKind.CHECKS, NeedKind.CHANGES):
        facts = AgentFacts(pulls=frozenset({32}), needs={"worker-1": [Need(kind, id="#32")]})
        over = view(pull=32, issue=3, generation=1, kind="qwen")
        over = over._replace(liveness=Liveness.STOPPED)
        command = "ghp agent-start 3 --as worker-1 --run qwen"
        assert row(over, facts).needs == (Need(kind, id="#32", command=command),)


def test_a_dead_agent_needs_a_person_only_if_it_left_something() -> None:
    dead = view(liveness=Liveness.DEAD, silent=60.0)
    assert (row(dead, AgentFacts()).needs, row(dead, AgentFacts()).group) == ((), AgentGroup.IDLE)
    unsaved = Need(NeedKind.DEAD, "2 files", age=60.0)
    assert row(dead, AgentFacts(needs={"worker-1": [unsaved]})).needs == (unsaved,)


def test_an_agent_whose_client_has_ended_does_not_work() -> None:
    facts = AgentFacts()
    left = row(view(issue=3, generation=1)._replace(has_no_client=True), facts)
    command = "ghp agent-start 3 --as worker-1"
    need = Need(NeedKind.ENDED, age=6.0, command=command)
    assert (left.needs, left.group) == ((need,), AgentGroup.NEEDS_YOU)
    assert left.state == "client ended"
    without_claim = row(view()._replace(has_no_client=True), facts)
    assert (without_claim.needs, without_claim.group) == ((), AgentGroup.IDLE)
    opened = facts._replace(pulls=frozenset({32}))
    finished = row(view(issue=3, generation=1, pull=32)._replace(has_no_client=True), opened)
    assert [need.kind for need in finished.needs] == [NeedKind.PULL]


def test_an_agent_that_ended_after_a_failed_finish_comes_first_with_what_continues_it() -> None:
    facts = AgentFacts({"worker-1": [Need(NeedKind.QUESTION, "Which?", "high", 9.0, "E-1", "E-1")]})
    fields: dict[str, Any] = {
        "issue": 3, "generation": 1, "kind": "claude", "unfinished": "`make` failed"
    }  # fmt: skip
    over = view("worker-2", **fields)._replace(liveness=Liveness.STOPPED)
    listed = overview([view("worker-1"), over], facts).agents
    assert [agent.name for agent in listed] == ["worker-2", "worker-1"]
    command = "ghp agent-start 3 --as worker-2 --run claude"
    need = Need(NeedKind.UNFINISHED, "`make` failed", age=6.0, command=command)
    assert listed[0].needs == (need,)
    assert row(view("worker-2", **fields), facts).needs == (), "it may go on"
    stopped = over._replace(presence={**over.presence, "unfinished": ""})
    assert row(stopped, facts).needs == (Need(NeedKind.ENDED, age=6.0, command=command),)


def test_an_agent_that_was_told_to_stop_rests_once_it_has_no_issue() -> None:
    assert row(view(status="stopping"), AgentFacts()).group is AgentGroup.IDLE
    works = view(status="stopping", issue=3, generation=1)
    assert row(works, AgentFacts()).group is AgentGroup.WORKING


def test_an_issue_that_no_tracker_knows_is_shown_as_such() -> None:
    facts = AgentFacts(unknown=frozenset({147}))
    assert row(view(issue=147), facts).issue_words == "#147?"
    assert row(view(issue=147, generation=1), facts).issue_words == "#147?"
    assert row(view(issue=147), AgentFacts()).issue_words == "", "it is not claimed"
    assert row(view(issue=147, generation=1), AgentFacts()).issue_words == "#147"
