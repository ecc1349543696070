"""The state of an epic's parts, as commands show it."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.pulls.epic_work import EpicWork, read_epic
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke, succeed
from tests.support.git import commit, refs
from tests.support.news import question


@pytest.fixture
def here(repo: Path) -> Path:
    """The epic #1 of lead: #2 is in work, #3 waits for it, #4 has the part #5."""
    commit(repo, {"docs/a.md": ""})
    succeed(
        repo,
        "agent-init",
        "agent-issue new Parser --label epic --assign lead",
        "agent-issue new Lexer --parent 1",
        "agent-issue new Grammar --parent 1 --blocked-by 2",
        "agent-issue new Docs --parent 1",
        "agent-issue new Chapter --parent 4",
        "agent-claim 2 --as worker-1",
        "agent-heartbeat --status testing --as worker-1",
    )
    return repo


def read(repo: Path) -> EpicWork:
    app = App(repo, os.environ)
    return read_epic(app, "1", app.store.snapshot(), [], [])


@pytest.mark.slow
def test_the_roll_up_shows_who_holds_each_part_and_what_it_waits_for(here: Path) -> None:
    succeed(
        here,
        "agent-escalate 'Which token?' --issue 2 --as worker-1",
        "agent-issue close 5",
    )
    name = question(here)
    room = " " * (len(name) - len("ASKS"))
    shown = invoke("agent-status --epic 1", here)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == (
        "#1 «Parser»: open, managed by lead\n"
        f"PART  STATE    HOLDER             WAITS FOR  ASKS{room}  TITLE\n"
        f"#2    started  worker-1, testing             {name}  Lexer\n"
        f"#3    blocked                     #2         {' ' * len(name)}  Grammar\n"
        f"#4    open                                   {' ' * len(name)}  Docs\n"
        f"  #5  closed                                 {' ' * len(name)}  Chapter\n"
        "4 parts: 1 closed, 1 started, 1 blocked, 1 open; 1 open question.\n"
    )


@pytest.mark.slow
def test_as_json_it_has_the_same_facts(here: Path) -> None:
    document = json.loads(invoke("agent-status --epic 1 --json", here).out)
    assert document["totals"] == {
        "parts": 4, "closed": 0, "started": 1, "blocked": 1, "open": 2, "questions": 0,
    }  # fmt: skip
    claim = document["parts"][0].pop("claim")
    assert (claim["holder"], claim["liveness"]) == ("worker-1", "active")
    assert document["parts"][0] == {
        "number": 2, "title": "Lexer", "parent": 1, "state": "started", "depth": 1,
        "status": "testing", "waitsFor": [], "questions": [],
    }  # fmt: skip
    assert document["parts"][1]["waitsFor"] == ["#2"]
    assert [(part["number"], part["depth"]) for part in document["parts"]] == [
        (2, 1), (3, 1), (4, 1), (5, 2),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_holder_that_waits_for_a_lease_makes_its_part_blocked(here: Path) -> None:
    from ghp_agents.leases.wait_graph import Wait
    from ghp_agents.presence import service as presence

    app = App(here, os.environ)
    snapshot = app.store.snapshot()
    waits = [Wait("worker-1", "worker-2", "lease docs/a.md", "L-1")]
    work = read_epic(app, "1", snapshot, presence.list_agents(app, snapshot), waits)
    assert (work.parts[0].state, work.parts[0].waits_for) == (
        "blocked", ("lease docs/a.md of worker-2",),
    )  # fmt: skip


@pytest.mark.slow
def test_an_epic_is_proposed_for_closing_when_its_own_parts_are_closed(here: Path) -> None:
    assert read(here).proposal == ""
    succeed(here, *(f"agent-issue close {number}" for number in (2, 3, 4)))
    work = read(here)
    assert work.is_done
    assert invoke("agent-status --epic 1", here).out.splitlines()[-2:] == [
        "4 parts: 3 closed, 1 open.",
        work.proposal,
    ]


def test_an_issue_without_parts_says_how_to_add_one(here: Path) -> None:
    shown = invoke("agent-status --epic 2", here)
    assert (shown.code, shown.out) == (0, "#2 «Lexer»: open, managed by worker-1\n")
    assert shown.err == (
        "#2 has no parts. Add one: `ghp agent-issue new TITLE --parent 2`, or `ghp agent-issue "
        "edit N --parent 2`.\n"
    )


@pytest.mark.slow
def test_options_that_choose_agents_do_not_go_with_an_epic(here: Path) -> None:
    refused = invoke("agent-status --epic 1 --stale", here)
    assert (refused.code, refused.out, refused.err) == (
        2, "",
        "Error: --epic shows the parts of one epic, and no list of agents.\n"
        "Hint: Use it only with --json and --at: `ghp agent-status --epic N --json`.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_the_past_of_an_epic_is_shown_as_it_was(repo: Path) -> None:
    clock = ManualClock()

    def do(words: str) -> Result:
        return invoke(words, repo, clock=clock)

    commit(repo, {"docs/a.md": ""})
    for words in (
        "agent-init",
        "agent-issue new Parser --label epic --assign lead",
        "agent-issue new Lexer --parent 1",
        "agent-issue new Grammar --parent 1 --blocked-by 2",
        "agent-claim 2 --as worker-1",
        "agent-heartbeat --status testing --as worker-1",
        "agent-sync",
    ):
        assert do(words).code == 0
    clock.wait(60)
    then = to_text(clock.now())
    shown = do("agent-status --epic 1").out
    clock.wait(3_600)
    for words in (
        "agent-issue close 2 --reason done --as worker-1",
        "agent-issue new Docs --parent 1",
        "agent-status --set stopped --as worker-1",
    ):
        assert do(words).code == 0
    before = refs(repo)
    past = do(f"agent-status --epic 1 --at {then}")
    assert (past.code, past.out) == (0, shown)
    assert past.err == (
        f"As of {then} (60 min ago).\n"
        "Claims keep no history, so holders are the agents that worked on the parts; see "
        "`ghp agent-log --event claim`.\n"
    )
    document = json.loads(do(f"agent-status --epic 1 --json --at {then}").out)
    assert [part["state"] for part in document["parts"]] == ["started", "blocked"]
    assert refs(repo) == before
    assert do(f"agent-status --epic 4 --at {then}").code == 1
