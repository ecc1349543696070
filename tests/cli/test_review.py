"""`agent-review` as agents and people call it."""

import json
import re
from pathlib import Path

import pytest

from ghp_agents.hotpath import news_flag
from tests.support.ghp import Result, invoke
from tests.support.git import commit
from tests.support.repos import Restored
from tests.support.road import Road, with_pull


@pytest.fixture
def sent(restored: Restored) -> Road:
    """#2, the pull request of worker-1 for #1."""
    return Road(restored(with_pull).repo)


def review(road: Road, words: str) -> Result:
    done = invoke(f"agent-review {words}", road.folder, clock=road.clock)
    return Result(done.code, done.out, re.sub(r"\b[0-9a-f]{12}\b", "COMMIT", done.err))


@pytest.mark.slow
def test_a_review_is_confirmed_and_again_changes_nothing(sent: Road) -> None:
    ok = "2 --approve --as worker-2"
    assert review(sent, ok) == (0, "", "✓ You approved #2 at COMMIT.\n")
    assert review(sent, ok) == (0, "", "You approved #2 at COMMIT already.\n")
    assert review(sent, "1 --request-changes 'Add a test' --as @me") == (
        0, "", "✓ You requested changes to #2 at COMMIT.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_its_author_reads_it_at_its_next_step(repo: Path) -> None:
    invoke("agent-issue new Parse --as @me", repo)
    invoke("agent-start 1 --as worker-1", repo)
    place = Path(invoke("agent-where 1", repo).out.strip())
    commit(place, {"a.txt": "one\n"})
    assert invoke("agent-finish --as worker-1", place).out == "2\n"
    assert not news_flag.is_set([str(repo / ".git/ghp")], "worker-1")
    invoke("agent-review 2 --request-changes 'Add a test' --as worker-2", repo)
    assert news_flag.is_set([str(repo / ".git/ghp")], "worker-1")
    resumed = invoke("agent-resume --issue 1 --as worker-1", repo).out
    assert "worker-2 commented on #1: «Requested changes to pull request #2 at " in resumed
    assert "\n1. Read the review of #2 by worker-2, who requested changes: «Add a test»." in resumed


@pytest.mark.slow
def test_where_a_review_is_required_finish_names_it(sent: Road) -> None:
    sent.configure({"review": "required"})
    place = sent.start("worker-1").path
    err = invoke("agent-finish --as worker-1", place, clock=sent.clock).err
    assert err.endswith(
        "First another agent or a person approves it with `ghp agent-review 2 --approve`.\n"
        "Merge it into main with `ghp agent-merge 2`.\n"
    )


def test_as_json_it_is_the_record(sent: Road) -> None:
    shown = json.loads(review(sent, "2 --approve 'Reads well' --as worker-2 --json").out)
    assert shown == {
        "schemaVersion": 1,
        "number": 2,
        "head": sent.house("@me").forge.get(2).head,
        "verdict": "approve",
        "by": "worker-2",
        "person": False,
        "text": "Reads well",
        "already": False,
    }


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ("2 --as worker-2", 2,
         "Error: A review needs a verdict.\nHint: Use --approve, or --request-changes TEXT.\n"),
        ("2 --request-changes ' ' --as worker-2", 2,
         "Error: Say what should change.\nHint: Use --request-changes TEXT.\n"),
        ("2 --approve --as worker-1", 3,
         "Error: #2 is your own work.\nHint: Another agent or a person can review it: `ghp "
         "agent-review 2 --approve`.\n"),
        ("9 --approve --as worker-2", 1,
         "Error: There is no issue 9.\nHint: `ghp agent-issues --all` lists issues, `ghp "
         "agent-pulls` pull requests. `ghp agent-sync` fetches those of other clones.\n"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_reason_and_the_way_on(
    sent: Road, words: str, code: int, error: str
) -> None:
    assert review(sent, words) == (code, "", error)
