"""The compiled policy holds what living agents of other clones report."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.guard import evaluate
from ghp_agents.hotpath.changes_elsewhere import ChangesReport
from ghp_agents.wiring import App
from tests.support.ghp import invoke, succeed
from tests.support.git import git
from tests.support.hooks import SILENT, Hooked, call, context, payload
from tests.support.news import hear
from tests.support.repos import Restored
from tests.support.two_clones import TwoClones, changed, two_clones


@pytest.fixture
def two(restored: Restored) -> TwoClones:
    pair = two_clones(restored)
    (pair.place / "a.py").write_text(changed(10))
    (pair.place / "b.py").unlink()
    (pair.place / "new.py").write_text("1\n")
    return pair


def book(clone: Path) -> dict[str, Any]:
    return evaluate.current(App(clone, os.environ, name="worker-2"))


@pytest.mark.slow
def test_each_file_has_the_reports_of_agents_in_other_clones(two: TwoClones) -> None:
    two.exchange()
    policy_book = book(two.other)
    reports = {
        path: [ChangesReport(*fields) for fields in rows]
        for path, rows in policy_book["changes"].items()
    }
    shown = {
        path: [(x.agent, x.issue, x.base[:4], x.ranges, x.is_deleted) for x in of_path]
        for path, of_path in reports.items()
    }
    a, b = (git(two.other, "rev-parse", f"main:{name}")[:4] for name in ("a.py", "b.py"))
    assert shown == {
        "a.py": [("worker-1", 1, a, [(9, 10)], False)],
        "b.py": [("worker-1", 1, b, None, True)],
        "new.py": [("worker-1", 1, "", None, False)],
    }
    assert policy_book["main"] == "refs/remotes/origin/main"
    (report,) = reports["a.py"]
    presence = json.loads((two.one / ".git/ghp/agents/worker-1.json").read_bytes())
    assert report.epoch == presence["epoch"]
    assert report.until - report.heard > 1_700
    assert len(report.clone) == 12


@pytest.mark.slow
def test_the_own_clone_holds_nothing_of_its_agents(two: TwoClones) -> None:
    two.exchange()
    assert book(two.one)["changes"] == {}


@pytest.mark.slow
def test_an_agent_that_stopped_is_left_out(two: TwoClones) -> None:
    two.exchange()
    succeed(two.place, "agent-heartbeat --as worker-1 --status stopped")
    path = two.one / ".git/ghp/agents/worker-1.json"
    assert "changes" in json.loads(path.read_bytes())
    two.exchange()
    assert book(two.other)["changes"] == {}


@pytest.mark.slow
def test_what_was_handed_over_is_no_change_of_the_agent_that_gave_it(two: TwoClones) -> None:
    two.exchange()
    assert [*book(two.other)["changes"]] == ["a.py", "b.py", "new.py"]
    succeed(two.place, "agent-handoff --as worker-1 --to worker-2")
    two.exchange()
    assert "changes" in json.loads((two.one / ".git/ghp/agents/worker-1.json").read_bytes())
    assert book(two.other)["changes"] == {}


@pytest.mark.slow
def test_where_case_is_ignored_paths_are_compared_in_lower_case(two: TwoClones) -> None:
    (two.place / "New.py").write_text("2\n")
    git(two.other, "config", "core.ignoreCase", "true")
    two.exchange()
    assert len(book(two.other)["changes"]["new.py"]) == 2


def write(two: TwoClones, text: str, name: str = "a.py") -> Hooked:
    """worker-2 is about to write a file."""
    given = {"file_path": str(two.other / name), "content": text}
    message = payload("claude-PreToolUse-Write", two.other, tool_input=given)
    return call("claude", message, two.other)


def refusal(hooked: Hooked) -> str:
    assert hooked.code == 0, hooked
    fields = hooked.said["hookSpecificOutput"]
    assert fields["permissionDecision"] == "deny"
    return re.sub(r"reported .+ ago", "reported <age> ago", fields["permissionDecisionReason"])


REFUSED = (
    "This edit of a.py would conflict at your line 11. worker-1 has changed line 10 of it (as "
    "numbered where your branch left main) in another clone for #1, as reported <age> ago.\n"
    "Next: Edit other lines, wait until worker-1 finishes its issue, ask: `ghp agent-escalate "
    "--file a.py`, or edit anyway after `ghp agent-check --override REASON a.py`, which "
    "notifies worker-1."
)


def started(two: TwoClones) -> None:
    assert call("claude", payload("claude-SessionStart-startup", two.other), two.other).code == 0
    two.exchange()


@pytest.mark.slow
def test_an_edit_of_the_same_lines_is_refused_and_of_others_is_not(two: TwoClones) -> None:
    started(two)
    assert refusal(write(two, changed(11))) == REFUSED
    assert write(two, changed(20)) == SILENT
    assert write(two, changed(20), "c.py") == SILENT


@pytest.mark.slow
def test_what_can_only_be_guessed_is_a_warning_once(two: TwoClones) -> None:
    started(two)
    text = context(write(two, "2\n", "new.py"))
    assert re.sub(r"reported .+ ago", "reported <age> ago", text) == (
        "worker-1 also created new.py in another clone for #1, as reported <age> ago."
    )
    assert write(two, "3\n", "new.py") == SILENT


@pytest.mark.slow
def test_an_override_is_recorded_lets_the_agent_go_on_and_tells_the_other(two: TwoClones) -> None:
    started(two)
    done = invoke("agent-check --override 'We agreed' a.py", two.other, {"GHP_AGENT": "worker-2"})
    assert done.code == 0, done
    assert write(two, changed(11)) == SILENT
    succeed(two.other, "agent-sync")
    succeed(two.one, "agent-sync")
    heard = hear(two.place, "worker-1")
    assert [line for line in heard if "a.py" in line] == [
        "worker-2 edits a.py, although you are editing it, too. Reason given: «We agreed». Expect "
        "a conflict when your branches are merged."
    ]


@pytest.mark.slow
def test_the_merge_ends_the_refusals(two: TwoClones) -> None:
    started(two)
    git(two.place, "commit", "--quiet", "--all", "--message", "Done")
    git(two.place, "push", "--quiet", "origin", "HEAD:main")
    two.exchange()
    assert write(two, changed(11)) == SILENT


@pytest.mark.slow
def test_who_is_refused_a_file_gets_no_lease_of_it(two: TwoClones) -> None:
    started(two)
    for what in ("a.py", "--strict a.py", ".", "*.py"):
        refused = invoke(["agent-lease", *what.split(), "--as", "worker-2"], two.other)
        assert refused.code == 3
        assert refused.err.startswith(
            "Error: a.py is being changed by worker-1, whose work is not merged yet."
        )


@pytest.mark.slow
def test_a_check_of_what_was_edited_warns_and_asking_for_the_file_works(two: TwoClones) -> None:
    (two.other / "a.py").write_text(changed(11))
    started(two)
    done = invoke("agent-check a.py --as worker-2", two.other)
    assert done.code == 0
    assert "This edit of a.py would conflict at your line 11. worker-1 has changed" in done.err
    result = invoke("agent-escalate --file a.py --as worker-2", two.other)
    assert result.code == 0, result
