"""`agent-start`, `agent-finish` and `agent-merge`: whole outputs, and what scripts get."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.ports import Clock
from tests.support import consent
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke
from tests.support.git import commit, git
from tests.support.repos import Restored, Site
from tests.support.road import Road

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
OID = re.compile(r"\b[0-9a-f]{12}\b")
BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process; nobody is named but by --as."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


def with_issue(site: Site) -> None:
    words = ["agent-issue", "new", "Parse files", "--body", "## Goal\nRead all files"]
    ghp(site.make_repo(), words)


def started(site: Site) -> None:
    with_issue(site)
    ghp(site.repo, "agent-start 1 --as worker-1")


def finished(site: Site) -> None:
    started(site)
    place = Road(site.repo).work
    commit(place, {"a.txt": "one\n"}, "Parse one file")
    ghp(place, "agent-finish")


@pytest.fixture
def folder(restored: Restored, request: pytest.FixtureRequest) -> Path:
    """A repository with issue #1; where a test asks for them, with its worktree, and finished."""
    wanted = request.fixturenames
    source = finished if "ready" in wanted else started if "place" in wanted else with_issue
    return restored(source).repo


@pytest.fixture
def place(folder: Path) -> Path:
    return Road(folder).work


def ghp(folder: Path, args: str | Sequence[str], clock: Clock | None = None) -> Result:
    """A command with times and commits taken out of what it says."""
    result = invoke(args, folder, clock=clock or ManualClock())
    return Result(result.code, *(OID.sub("<commit>", STAMP.sub("<then>", t)) for t in result[1:]))


def configure(folder: Path, ours: dict[str, object], **upstream: object) -> None:
    consent.configure(folder, {**upstream, "agents": ours})


# ------------------------------------------------------------------------------ starting


@pytest.mark.slow
def test_a_start_says_where_and_prints_what_is_needed(folder: Path) -> None:
    place = Path.home() / ".ghp/worktrees/repo/1-parse-files"
    started = ghp(folder, "agent-start 1 --as worker-1")
    assert (started.code, started.err) == (
        0,
        f"✓ Claimed #1 «Parse files».\n✓ Created branch {BRANCH} in {place}.\n"
        f"Start your agent there: cd {place} && claude\n",
    )
    assert started.out.startswith(
        f"Work in {place}\n\n# Resume: #1 «Parse files»\n\nNo handoff yet.\n"
    )
    assert "\n> Read all files\n" in started.out
    assert f"\n- Branch `{BRANCH}` at `<commit>`.\n" in started.out


@pytest.mark.slow
@pytest.mark.background
def test_again_it_says_that_it_is_there(folder: Path, place: Path) -> None:
    again = ghp(folder, "agent-start 1 --as worker-1")
    mine = "You already hold #1 «Parse files», since <then>.\n"
    assert (again.code, again.err) == (
        0,
        f"{mine}{place} already exists, on {BRANCH}.\n"
        f"Start your agent there: cd {place} && claude\n",
    )


@pytest.mark.slow
def test_another_agent_hears_whose_worktree_it_gets(folder: Path, place: Path) -> None:
    assert ghp(folder, "agent-release 1 --as worker-1").code == 0
    other = ghp(folder, "agent-start 1 --as worker-2")
    assert (
        "Warning: This was the worktree of worker-1. What it left uncommitted is there.\n"
        "Hint: If its client still runs there, end it: `ghp agent-stop worker-1 --now`.\n"
    ) in other.err


@pytest.mark.slow
def test_scripts_get_path_branch_and_issue(folder: Path) -> None:
    started = ghp(folder, "agent-start --next --json --as worker-1")
    assert json.loads(started.out) == {
        "schemaVersion": 1,
        "path": str(Path.home() / ".ghp/worktrees/repo/1-parse-files"),
        "branch": BRANCH,
        "issue": 1,
        "how": "new",
        "setup": None,
    }


@pytest.mark.slow
def test_the_set_up_command_is_shown_and_its_failure_said(folder: Path) -> None:
    configure(
        folder, {}, worktreeSetupCommand="echo installing; exit 3", worktreeCopyFiles=[".env"]
    )
    (folder / ".env").write_text("PORT=1\n")
    started = ghp(folder, "agent-start 1 --as worker-1")
    assert started.code == 0
    assert (
        "Copied .env.\n"
        "installing\n"
        "Warning: `echo installing; exit 3` exited with 3; the worktree was created anyway.\n"
        "Hint: Fix the problem and run the same command again to repeat it.\n"
    ) in started.err


@pytest.mark.parametrize("args", ["agent-start --as w", "agent-start 1 --next --as w"])
def test_an_issue_is_named_or_chosen(folder: Path, args: str) -> None:
    assert ghp(folder, args) == (
        2,
        "",
        "Error: Name an issue, or use --next.\n"
        "Hint: Run `ghp agent-start 12` or `ghp agent-start --next`.\n",
    )


def test_who_is_nobody_starts_nothing(folder: Path) -> None:
    assert ghp(folder, "agent-start 1").code == 5


# ------------------------------------------------------------------------------ finishing


@pytest.mark.slow
@pytest.mark.background
def test_a_finish_prints_the_number(folder: Path, place: Path) -> None:
    configure(folder, {"checks": ["echo fine"]})
    commit(place, {"a.txt": "one\n"}, "Parse one file")
    assert ghp(place, "agent-finish") == (
        0,
        "2\n",
        "Running `echo fine` …\n"
        "✓ `echo fine` passed.\n"
        f"Merged main into {BRANCH}.\n"
        f"✓ Opened pull request #2 of {BRANCH}, 2 commits.\n"
        "Did you learn something that others need? Save it: `ghp agent-remember TEXT`.\n"
        "Merge it into main with `ghp agent-merge 2`.\n",
    )
    assert ghp(place, "agent-finish") == (
        0,
        "2\n",
        "Running `echo fine` …\n"
        "✓ `echo fine` passed.\n"
        f"✓ Updated pull request #2 of {BRANCH}, 2 commits.\n"
        "Merge it into main with `ghp agent-merge 2`.\n",
    )


@pytest.mark.slow
def test_scripts_get_the_pull_request(place: Path) -> None:
    head = commit(place, {"a.txt": "one\n"}, "Parse one file")
    finished = invoke("agent-finish --draft --json", place)
    assert json.loads(finished.out) == {
        "schemaVersion": 1,
        "number": 2,
        "url": None,
        "branch": BRANCH,
        "head": head,
        "issue": 1,
        "draft": True,
        "new": True,
        "commits": 1,
        "checks": [],
    }


def test_what_is_in_the_way_ends_with_3_and_says_what_next(place: Path) -> None:
    (place / "a.txt").write_text("one\n")
    assert ghp(place, "agent-finish") == (
        3,
        "",
        "Error: There are uncommitted changes: a.txt.\nHint: Commit them, or save them for the "
        "next agent with `ghp agent-handoff`. To leave them out: save them by name with `ghp "
        "agent-handoff --checkpoint`, then undo them.\n",
    )


def test_a_red_check_ends_with_1_and_the_end_of_its_output(folder: Path, place: Path) -> None:
    configure(folder, {"checks": ["echo 2 tests failed; exit 1"]})
    commit(place, {"a.txt": "one\n"})
    failed = ghp(place, "agent-finish")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err == (
        "Running `echo 2 tests failed; exit 1` …\n"
        "Error: `echo 2 tests failed; exit 1` failed with 1.\n"
        "2 tests failed\n"
        "Hint: Nothing was pushed. Full output: "
        f"{folder}/.git/ghp/checks/agent-worker-1-1-parse-files.txt. To push it as a draft: `ghp "
        "agent-finish --draft`.\n"
    )


# -------------------------------------------------------------------------------- merging


@pytest.fixture
def ready(folder: Path) -> Path:
    return Road(folder).work


@pytest.mark.slow
def test_a_merge_prints_the_number_and_what_was_left(folder: Path, ready: Path) -> None:
    assert ghp(folder, "agent-merge 1 --unchecked --as lead") == (
        0,
        "2\n",
        "No checks are configured. List the commands in `agents.checks` of .ghp/config.json.\n"
        f"✓ Merged #2 ({BRANCH}) into main as <commit>.\n✓ Closed #1 «Parse files».\n"
        f"Kept the worktree {ready}: worker-1 is active there; `ghp agent-sweep --prune` "
        "removes it later.\n",
    )
    assert git(folder, "log", "-1", "--format=%s") == f"Merge #2 from {BRANCH}"
    assert ghp(folder, "agent-merge 2 --as worker-1") == (
        0,
        "2\n",
        "#2 is already on main as <commit>, committed by Test Person.\nClosed #1 «Parse files».\n",
    )
    assert not ready.exists()


@pytest.mark.slow
def test_the_agent_itself_merges_from_its_worktree_and_keeps_its_ground(ready: Path) -> None:
    merged = ghp(ready, "agent-merge --unchecked")
    assert (merged.code, merged.out) == (0, "2\n")
    assert "this command runs in it" in merged.err
    assert ready.is_dir()


@pytest.mark.slow
def test_what_is_red_goes_back_and_the_command_ends_with_1(folder: Path, ready: Path) -> None:
    configure(folder, {"checks": ["echo 2 tests failed; ! test -e a.txt"]})
    assert ghp(folder, "agent-merge 2 --as lead") == (
        1,
        "",
        "Running `echo 2 tests failed; ! test -e a.txt` …\n"
        "Repeating the failed check: one failure does not count.\n"
        "Running `echo 2 tests failed; ! test -e a.txt` …\n"
        "Checking main itself.\n"
        "Running `echo 2 tests failed; ! test -e a.txt` …\n"
        "Warning: Sent #2 back to worker-1, round 1: a check failed.\n"
        "`echo 2 tests failed; ! test -e a.txt` failed with 1\n"
        "2 tests failed\n"
        "Error: Not merged, but sent back: #2.\n"
        "Hint: worker-1 is notified at its next step. Nothing of it is on main.\n",
    )
    back = invoke("agent-merge 2 --json --as lead", folder)
    assert json.loads(back.out) == [
        {
            "schemaVersion": 1, "number": 2, "branch": BRANCH, "issue": 1, "outcome": "returned",
            "reason": "checks", "round": 1, "to": "worker-1", "escalation": None,
        }
    ]  # fmt: skip


@pytest.mark.slow
def test_the_queue_says_what_became_of_each(folder: Path, ready: Path) -> None:
    merged = ghp(folder, "agent-merge --queue --unchecked --json --as lead")
    (one,) = json.loads(merged.out)
    assert (one["number"], one["outcome"]) == (2, "merged")
    assert ghp(folder, "agent-merge --queue --as lead") == (
        0, "", "No pull request is ready to be merged.\n"
    )  # fmt: skip


def test_a_name_and_the_queue_exclude_each_other(folder: Path) -> None:
    assert ghp(folder, "agent-merge 1 --queue --as lead").code == 2


def test_while_another_merges_it_ends_with_3(folder: Path, ready: Path) -> None:
    locks = Road(folder).house("other").locks
    ghp(folder, "agent-heartbeat --as other")
    locks.acquire("trunk", "other", expected=None, epoch=1, reason="merges #9")
    assert ghp(folder, "agent-merge 1 --unchecked --as lead") == (
        3,
        "",
        "Error: other has been merging since <then>. other gave this reason: «merges "
        "#9».\nHint: Only one merges at a time. Try again, or wait: `ghp agent-merge --queue "
        "--wait 600`.\n",
    )


@pytest.mark.slow
def test_a_clone_that_never_asked_starts_and_merges_what_another_one_made(
    clones: Callable[[int], list[Path]], home: Path
) -> None:
    one, two, three = clones(3)
    clock = ManualClock()
    ghp(one, "agent-issue new 'Parse files'", clock)
    ghp(one, "agent-sync", clock)
    started = ghp(two, "agent-start 1 --json --as worker-1", clock)
    place = Path(json.loads(started.out)["path"])
    commit(place, {"parser.py": "x = 1\n"})
    finished = ghp(place, "agent-finish --as worker-1", clock)
    merged = ghp(three, "agent-merge --queue --unchecked", clock)
    assert (merged.code, merged.out) == (0, finished.out)
    git(three, "fetch", "--quiet")
    assert git(three, "show", "origin/main:parser.py") == "x = 1"
