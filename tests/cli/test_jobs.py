"""`agent-jobs` and `agent-explain` as people use them."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.git import git
from tests.support.road import Road


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
        "✓ Agents have not failed at it too often.\n"
        "✓ No person answered that agents should leave it.\n"
        "✓ No person stopped it.\n"
        "✓ Agents are allowed to take it.\n"
        "✗ worker-1 cannot claim it. It is assigned to worker-2.\n"
        "  → ghp agent-issue assign 2 worker-1\n"
        "✗ worker-1 cannot claim it. It requires gpu.\n"
        "  → ghp agent-whoami --as worker-1 --capability gpu\n"
    )


@pytest.mark.slow
def test_doing_what_an_explanation_names_lets_the_agent_claim_it(here: Path) -> None:
    assert invoke("agent-claim 2 --as worker-1", here).code == 3
    explanation = explained(here, "2")
    changes = [rule["change"] for rule in explanation["agents"][0]["rules"]]
    for change in changes:
        assert invoke(shlex.split(change)[1:], here).code == 0
    turn = explained(here, "2")["agents"][0]
    assert turn == {
        "agent": "worker-1", "canClaim": True, "before": 0, "hasRoom": None, "rules": [],
    }  # fmt: skip
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
        "✓ It has claimed no issue.\n"
        "✓ It has room: a dispatch may give it 1 more issue.\n"
        "✗ 1 issue is blocked by another issue: #2.\n"
        "  → ghp agent-explain 2\n"
    )


@pytest.mark.slow
def test_an_agent_without_room_is_told_what_makes_room(here: Path) -> None:
    succeed(here, "agent-issue new Docs", "agent-issue assign 1 worker-1", "agent-claim 3")
    lines = out(here, "agent-explain", "worker-1").splitlines()
    no_room = (
        "✗ It has no room for a dispatch: it has #3, #1, and `agents.jobsPerAgent` is 1. "
        "It must finish work first."
    )
    assert lines[4:] == [no_room, lines[5], "  → ghp agent-explain 2"]
    assert explained(here, "worker-1")["room"] == {
        "issues": ["#3", "#1"], "limit": 1, "changes": [],
    }  # fmt: skip
    succeed(here, "agent-issue new More")
    of_issue = out(here, "agent-explain", "4").splitlines()
    assert of_issue[-2:] == [
        "✓ worker-1 can claim it, after #3, #1.", no_room.replace("It has", "worker-1 has"),
    ]  # fmt: skip
    assert explained(here, "4")["agents"][0]["hasRoom"] is False
    succeed(here, "agent-issue assign 1 worker-1 --remove --as @me", "agent-release 3")
    assert "It has room: a dispatch may give it 1 more" in out(here, "agent-explain", "worker-1")


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


@pytest.mark.slow
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
        "blockedBy": [], "requires": [], "pull": None, "result": None,
    }  # fmt: skip
    assert invoke("agent-jobs --state failed", here).err.startswith("No jobs.")


@pytest.mark.slow
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


JOB = """\
id: job-001
title: "Implement user authentication API"
status: queued
priority: high
assigned_to: null
created_by: user
dependencies: []
context_files:
  - docs/api-spec.md
  - chats/admin.md#L45-60
description: |
  Build REST API for user auth with JWT tokens
requirements:
  - Express.js framework
deliverables:
  - src/routes/auth.js
"""
MORE = """\
- {id: job-002, title: Second, due: 2026-12-31, dependencies: [job-001, issue-1]}
- {id: job-003, title: Over, status: completed}
"""


@pytest.mark.slow
def test_jobs_are_imported_once_changed_with_their_file_and_exported_again(clone: Path) -> None:
    succeed(clone, "agent-whoami --set worker-1", "agent-issue new Lexer")
    queue = clone / "jobs" / "queue"
    queue.mkdir(parents=True)
    (queue / "a.yaml").write_text(JOB)
    (queue / "b.yml").write_text(MORE)
    (queue / "notes.txt").write_text("{")
    done = invoke("agent-jobs import jobs/queue", clone)
    assert (done.code, done.out) == (0, "2\n3\n")
    assert done.err == (
        "✓ Created #2 «Implement user authentication API» for job-001.\n"
        "✓ Created #3 «Second» for job-002.\n"
        "1 job completed or failed already; not created.\n"
    )
    again = invoke("agent-jobs import jobs/queue", clone)
    assert (again.out, again.err) == (
        "", "2 jobs had not changed.\n1 job completed or failed already; not created.\n",
    )  # fmt: skip
    assert [job["blockedBy"] for job in json.loads(out(clone, "agent-jobs", "--json"))] == [
        [], [1, 2], [],
    ]  # fmt: skip
    (queue / "a.yaml").write_text(JOB.replace("priority: high", "priority: critical"))
    changed = invoke("agent-jobs import jobs/queue/a.yaml", clone)
    assert changed.err == "✓ Changed #2 «Implement user authentication API» for job-001.\n"
    assert invoke("agent-jobs export saved", clone).err == ("✓ Wrote 3 files; 0 had not changed.\n")
    assert (clone / "saved" / "job-001.yaml").read_text() == (
        "id: job-001\n"
        "title: Implement user authentication API\n"
        "status: queued\n"
        "priority: critical\n"
        "created_by: user\n"
        "description: Build REST API for user auth with JWT tokens\n"
        "context_files:\n- docs/api-spec.md\n- chats/admin.md#L45-60\n"
        "requirements:\n- Express.js framework\n"
        "deliverables:\n- src/routes/auth.js\n"
    )
    assert invoke("agent-jobs import saved", clone).err == "3 jobs had not changed.\n"
    assert invoke("agent-jobs export saved", clone).err == "✓ Wrote 0 files; 3 had not changed.\n"
    assert out(clone, "agent-jobs", "export", "--state", "queued").count("---\n") == 3


@pytest.mark.slow
def test_a_completed_job_has_its_result(clone: Path) -> None:
    succeed(clone, "agent-whoami --set worker-1", "agent-issue new One", "agent-issue new Two")
    succeed(clone, "agent-issue close 2 --reason 'Nobody needs it' --as @me")
    invoke("agent-start 1", clone)
    worktree = Path(out(clone, "agent-where", "1").strip())
    (worktree / "one.txt").write_text("one\n")
    git(worktree, "add", ".")
    git(worktree, "commit", "-qm", "one")
    succeed(worktree, "agent-finish")
    succeed(clone, "agent-merge 3 --unchecked --as @me")
    jobs = json.loads(out(clone, "agent-jobs", "--state", "completed", "--json"))
    merged = git(clone, "rev-parse", "main")[:12]
    assert [(job["issue"], job["result"]) for job in jobs] == [
        (1, f"pull request #3, merged as {merged}"),
        (2, "Nobody needs it"),
    ]
    done = invoke("agent-jobs export saved --state completed", clone)
    assert done.code == 0
    assert "result: Nobody needs it\n" in (clone / "saved/issue-2.yaml").read_text()
    assert invoke("agent-jobs import saved", clone).err == "2 jobs had not changed.\n"


@pytest.mark.slow
def test_what_a_person_changed_in_an_imported_issue_stays(clone: Path) -> None:
    succeed(clone, "agent-whoami --set worker-1")
    (clone / "a.yaml").write_text("{id: a, title: One}")
    assert invoke("agent-jobs import a.yaml", clone).out == "1\n"
    succeed(clone, "agent-issue edit 1 --priority low")
    assert invoke("agent-jobs import a.yaml", clone).err == "1 job had not changed.\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: &x [1]\nb: *x", "a.yaml has an alias (`*name`)."),
        ("3", "a.yaml is not a list of fields."),
        ("[]", "a.yaml has 0 jobs; at most 100 are read."),
        ("{id: ../x, title: a}",
         "a.yaml: `id` must be one word of letters, digits, `.`, `_`, `-`."),
        ("{id: x}", "a.yaml: `title` is missing."),
        ("{id: x, title: a, estimate: 3}", "a.yaml: a job has no field `estimate`."),
        ("{id: x, title: a, priority: soon}",
         "a.yaml: `priority` must be one of critical, high, medium, low."),
        ("{id: x, title: a, deliverables: b}",
         "a.yaml: `deliverables` is not a list of at most 100 entries."),
        ("{id: x, title: [a]}", "a.yaml: `title` is not a text."),
        ("{id: x, title: a, dependencies: [y]}", "x depends on y, which is not a job."),
        ("[{id: x, title: a}, {id: x, title: b}]", "Two jobs have the id x."),
        ("a" * 20_001, "a.yaml has more than 20000 characters."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_job_is_refused_and_nothing_is_created(
    clone: Path, text: str, error: str
) -> None:
    succeed(clone, "agent-whoami --set worker-1")
    (clone / "a.yaml").write_text(text)
    done = invoke("agent-jobs import a.yaml", clone)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[0] == f"Error: {error}"
    assert invoke("agent-jobs", clone).out == ""


@pytest.fixture
def finished(repo: Path) -> Path:
    """#2 is the pull request of worker-1 for #1."""
    road = Road(repo)
    road.issue("Parse files")
    road.done("worker-1", 1, {"a.txt": "one\n"})
    return repo


def test_an_issue_in_review_names_what_its_pull_request_waits_for(finished: Path) -> None:
    in_review = (
        "#1 «Parse files» is in review, priority medium.\n"
        "worker-1 has finished it.\n"
        "Its pull request #2 waits for its merge.\n"
        "  → ghp agent-merge 2\n"
        "✗ worker-1 has claimed it.\n"
    )
    assert out(finished, "agent-explain", "1") == in_review
    assert out(finished, "agent-explain", "#2") == in_review, "by the number of the pull request"


def test_an_issue_whose_pull_request_was_sent_back_says_so(finished: Path) -> None:
    assert invoke("agent-review 2 --request-changes 'Add a test' --as worker-2", finished).code == 0
    lines = out(finished, "agent-explain", "1").splitlines()
    assert lines[:4] == [
        "#1 «Parse files» is in progress, priority medium.",
        "worker-1 works on it.",
        "✗ worker-2 requested changes to #2: «Add a test».",
        "  → ghp agent-pull show 2",
    ]


def test_explain_and_dispatch_agree_on_who_gets_no_work(repo: Path) -> None:
    assert invoke("agent-issue new Parse", repo).code == 0
    assert invoke("agent-heartbeat --as w-1", repo).code == 0
    said = invoke("agent-explain w-1", repo).out
    assert "✗ A dispatch gives it nothing: it has registered, and nothing more.\n" in said
    assert "none is at work" in invoke("agent-dispatch --dry-run --as @me", repo).err
    assert invoke("agent-heartbeat --action Look --as w-1", repo).code == 0
    said = invoke("agent-explain w-1", repo).out
    assert "✓ It has room: a dispatch may give it 1 more issue.\n" in said
    assert "to w-1:" in invoke("agent-dispatch --dry-run --as @me", repo).out
