"""`agent-jobs` and `agent-explain` as people use them."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.ghp import invoke, succeed


@pytest.fixture
def here(clone: Path) -> Path:
    """A clone with an agent that can do Rust, and issues."""
    succeed(clone, "agent-whoami --set worker-1", "agent-whoami --capability rust")
    succeed(clone, "agent-issue new Lexer --priority high")
    succeed(clone, "agent-issue new Parser --blocked-by 1 --label needs:gpu --label epic")
    succeed(clone, "agent-issue edit 2 --label agent:needs-human")
    succeed(clone, "agent-issue assign 2 worker-2")
    return clone


def out(cwd: Path, *words: str) -> str:
    done = invoke(words, cwd)
    assert (done.code, done.err) == (0, "")
    return done.out


def explained(cwd: Path, about: str) -> Any:
    return json.loads(out(cwd, "agent-explain", about, "--json"))


def test_an_issue_that_waits_is_explained_rule_by_rule(here: Path) -> None:
    assert out(here, "agent-explain", "2") == (
        "#2 «Parser» is assigned, priority medium.\n"
        "Nobody works on it, because 3 rules forbid it.\n"
        "✗ It waits until this is closed: #1 «Lexer» (nobody has it).\n"
        "  → ghp agent-issue block 2 --by 1 --remove\n"
        "✗ It waits for a person: it has the label agent:needs-human.\n"
        "  → ghp agent-issue edit 2 --remove-label agent:needs-human\n"
        "✗ It is an epic, so agents work on its parts.\n"
        "  → ghp agent-issue edit 2 --remove-label epic\n"
        "✓ Nobody else has claimed it.\n"
        "✓ No sweep gave it up.\n"
        "✓ No person stopped it.\n"
        "✓ It is offered to agents.\n"
        "✗ worker-1 cannot claim it. It is assigned to worker-2.\n"
        "  → ghp agent-issue assign 2 worker-1\n"
        "✗ worker-1 cannot claim it. It requires gpu.\n"
        "  → ghp agent-whoami --as worker-1 --capability gpu\n"
    )


def test_doing_what_an_explanation_names_lets_the_agent_claim_it(here: Path) -> None:
    assert invoke("agent-claim 2 --as worker-1", here).code == 3
    found = explained(here, "2")
    changes = [rule["change"] for rule in found["agents"][0]["rules"]]
    for change in changes:
        assert invoke(shlex.split(change)[1:], here).code == 0
    turn = explained(here, "2")["agents"][0]
    assert turn == {"agent": "worker-1", "canClaim": True, "before": 0, "rules": []}
    succeed(here, "agent-claim --next")
    assert explained(here, "2")["holder"] == "worker-1"
    assert out(here, "agent-explain", "2") == (
        "#2 «Parser» is in progress, priority medium.\n"
        "worker-1 works on it.\n"
        "✗ worker-1 has claimed it.\n"
        "  → ghp agent-release 2\n"
    )


def test_an_agent_is_told_its_next_issue_and_why_not_the_others(here: Path) -> None:
    assert out(here, "agent-explain", "worker-1") == (
        "worker-1 is active. It can claim 1 open issue; the next is #1 «Lexer».\n"
        "✓ It is alive.\n"
        "✓ Nobody told it to stop.\n"
        "✓ It has no issue in hand.\n"
        "✗ 1 is blocked by another issue: #2.\n"
        "  → ghp agent-explain 2\n"
    )


def test_a_closed_issue_can_be_reopened_and_an_unknown_agent_is_an_error(here: Path) -> None:
    succeed(here, "agent-issue close 1 --as @me")
    assert out(here, "agent-explain", "1") == (
        "#1 «Lexer» is completed, priority high.\n✗ It is closed.\n  → ghp agent-issue reopen 1\n"
    )
    done = invoke("agent-explain nobody", here)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "Error: No agent is called nobody.\n"
        "Hint: `ghp agent-status` lists agents; `ghp agent-issues` lists issues.\n"
    )


def test_jobs_are_listed_by_state(here: Path) -> None:
    assert out(here, "agent-jobs") == (
        "JOB  STATE     PRIORITY  AGENT     TITLE\n"
        "#1   queued    high                Lexer\n"
        "#2   assigned  medium    worker-2  Parser\n"
    )
    succeed(here, "agent-claim 1")
    (job,) = json.loads(out(here, "agent-jobs", "--state", "in_progress", "--json"))
    assert job == {
        "schemaVersion": 1, "issue": 1, "title": "Lexer", "state": "in_progress",
        "priority": "high", "due": None, "assignees": ["worker-1"], "holder": "worker-1",
        "blockedBy": [], "requires": [], "pull": None,
    }  # fmt: skip
    assert invoke("agent-jobs --state failed", here).err.startswith("No jobs.")


def test_a_person_dispatches_and_a_rehearsal_changes_nothing(here: Path) -> None:
    succeed(here, "agent-heartbeat --status idle --action ready")
    line = "#1 «Lexer» to worker-1: priority high, its issue 1 of 1.\n"
    done = invoke("agent-dispatch --dry-run --as @me", here)
    assert (done.code, done.out, done.err) == (
        0, f"Would assign {line}", "",
    )  # fmt: skip
    assert invoke("agent-dispatch --as @me", here).out == f"Assigned {line}"
    assert json.loads(invoke("agent-dispatch --as @me --json", here).out) == {
        "schemaVersion": 1, "assigned": [], "waiting": {},
    }  # fmt: skip
    assert invoke("agent-claim --next --as worker-1", here).out == "1\n"
    refused = invoke("agent-dispatch --as worker-1", here)
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.startswith("Error: worker-1 may not assign issues to others.\nHint: ")
