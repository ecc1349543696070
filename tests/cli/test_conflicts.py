"""`agent-conflicts`, as people and programs call it."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor
from ghp_agents.pulls.pull import NewPull
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.rivals import agent, base, edited, write


@pytest.fixture
def rivals(repo: Path) -> Path:
    """Three agents: the first two conflict, and the third with the main branch."""
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": edited(3, 4)})
    agent(repo, "worker-2", 2, changed={"a.txt": edited(4, by="otherwise"), "new.txt": "2\n"})
    agent(repo, "worker-3", 3, {"b.txt": None})
    commit(repo, {"b.txt": edited(9)})
    return repo


@pytest.mark.slow
def test_conflicts_are_shown_with_lines_and_what_to_do(rivals: Path) -> None:
    assert invoke("agent-conflicts", rivals) == (
        3,
        "worker-1 (#1) and worker-2 (#2) conflict in 1 file:\n"
        "  a.txt: lines 3-4 of worker-1, line 4 of worker-2\n"
        "  Next: finish and merge worker-1 first; worker-2 then runs `ghp agent-update` and "
        "resolves.\n"
        "worker-3 (#3) conflicts with main in 1 file:\n"
        "  b.txt: worker-3 deleted it, main changed it\n"
        "  Next: worker-3 runs `ghp agent-update`, which shows both sides, and resolves.\n"
        "Merge order with the fewest conflicts:\n"
        "  without a conflict: worker-1\n"
        "  then, each after resolving: worker-2, worker-3\n",
        "Compared the work of 3 agents: 1 pair conflicts, 1 agent conflicts with the main "
        "branch.\n",
    )


@pytest.mark.slow
def test_one_agent_and_the_main_branch_can_be_asked_for(rivals: Path) -> None:
    shown = invoke("agent-conflicts worker-3", rivals)
    assert (shown.code, shown.out.splitlines()[0]) == (
        3, "worker-3 (#3) conflicts with main in 1 file:",
    )  # fmt: skip
    assert "Merge order" not in shown.out
    assert invoke("agent-conflicts worker-1 --trunk", rivals) == (
        0, "", "Compared the work of 1 agent: nothing conflicts.\n",
    )  # fmt: skip


def test_where_nothing_conflicts_the_exit_code_is_0(repo: Path) -> None:
    assert invoke("agent-conflicts", repo) == (
        0, "", "No agent has work that is not on main yet.\n",
    )  # fmt: skip
    agent(base(repo), "worker-1", 1, {"a.txt": edited(3)})
    agent(repo, "worker-2", 2, {"b.txt": edited(3)})
    assert invoke("agent-conflicts", repo) == (
        0, "", "Compared the work of 2 agents: nothing conflicts.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_the_age_of_the_view_of_main_is_said(clone: Path) -> None:
    agent(base(clone), "worker-1", 1, {"a.txt": edited(3)})
    git(clone, "push", "--quiet", "origin", "main")
    git(clone, "fetch", "--quiet")
    now = ManualClock().now()
    for path in [clone / ".git/FETCH_HEAD", *clone.glob(".git/logs/refs/remotes/origin/*")]:
        os.utime(path, (now - 7200, now - 7200))
    assert invoke("agent-conflicts", clone, clock=ManualClock()) == (
        0, "",
        "Compared the work of 1 agent: nothing conflicts.\n"
        "main is as fetched 2 h ago; `git fetch` updates it.\n",
    )  # fmt: skip
    shown = json.loads(invoke("agent-conflicts --json", clone, clock=ManualClock()).out)
    assert shown["trunkFetched"] == to_text(now - 7200)


@pytest.mark.slow
def test_the_json_has_everything_and_names_works_by_position(rivals: Path) -> None:
    shown = invoke("agent-conflicts --json", rivals)
    assert shown.code == 3
    document = json.loads(shown.out)
    compared = document.pop("compared")
    assert [(work["agents"], work["issue"], work["uncommitted"]) for work in compared] == [
        (["worker-1"], 1, False), (["worker-2"], 2, True), (["worker-3"], 3, False),
    ]  # fmt: skip
    assert compared[1] == {
        "agents": ["worker-2"],
        "issue": 2,
        "branch": "agent/worker-2/2-part",
        "worktree": str(rivals.parent / "repo-worker-2"),
        "commit": git(rivals, "rev-parse", "agent/worker-2/2-part"),
        "uncommitted": True,
        "pushed": False,
        "notes": [],
    }
    assert document == {
        "schemaVersion": 1,
        "trunk": "main",
        "trunkFetched": None,
        "spellings": [],
        "conflicts": [
            {
                "first": 0,
                "second": 1,
                "files": [
                    {
                        "path": "a.txt",
                        "otherPaths": [],
                        "kind": "lines",
                        "what": "lines 3-4 of worker-1, line 4 of worker-2",
                        "places": [
                            {
                                "firstLine": 3,
                                "lastLine": 4,
                                "otherFirstLine": 4,
                                "otherLastLine": 4,
                                "text": "line 3 edited\nline 4 edited",
                                "otherText": "line 4 otherwise",
                            }
                        ],
                        "driver": None,
                    }
                ],
            }
        ],
        "withTrunk": [
            {
                "work": 2,
                "files": [
                    {
                        "path": "b.txt",
                        "otherPaths": [],
                        "kind": "deleted",
                        "what": "worker-3 deleted it, main changed it",
                        "places": [],
                        "driver": None,
                    }
                ],
            }
        ],
        "order": {"free": [0], "resolving": [1, 2]},
        "unread": [],
        "warnings": [],
    }


def test_sides_in_the_json_are_in_the_order_of_merging(repo: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, changed={"a.txt": edited(3)})
    agent(repo, "worker-2", 2, {"a.txt": edited(3, 4, by="x")})
    document = json.loads(invoke("agent-conflicts --json", repo).out)
    (pair,) = document["conflicts"]
    assert (pair["first"], pair["second"]) == (1, 0)  # what is committed comes first
    (place,) = pair["files"][0]["places"]
    assert (place["lastLine"], place["otherLastLine"], place["otherText"]) == (
        4,
        3,
        "line 3 edited",
    )
    assert pair["files"][0]["what"] == "lines 3-4 of worker-2, line 3 of worker-1"


@pytest.mark.slow
def test_finished_work_is_to_be_merged_first(repo: Path) -> None:
    base(repo)
    for number, lines in ((1, (3,)), (2, (3, 12)), (3, (12,))):
        text = edited(*lines, by=f"by {number}")
        agent(repo, f"worker-{number}", number, {"a.txt": text})
    branch = "agent/worker-2/2-part"
    head, app = git(repo, "rev-parse", branch), App(repo, os.environ)
    assert "Next: finish and merge worker-1 first; " in invoke("agent-conflicts", repo).out
    app.forge.open(NewPull(branch, "main", head, "Work", "", 2), Actor("worker-2"))
    shown = invoke("agent-conflicts", repo).out
    assert shown.count("Next: merge worker-2 first; ") == shown.count("Next: ") == 2
    assert shown.endswith(
        "  without a conflict: worker-2\n  then, each after resolving: worker-1, worker-3\n"
    )
    commit(repo.parent / f"{repo.name}-worker-2", {"c.txt": ""})  # after its pull request
    assert "Next: finish and merge worker-1 first; " in invoke("agent-conflicts", repo).out


def test_an_agent_without_work_is_told_so(repo: Path) -> None:
    agent(base(repo), "worker-1", 1)
    agent(repo, "worker-2", 2, {"a.txt": edited(3)})
    assert invoke("agent-conflicts worker-1", repo) == (
        0, "", "worker-1 has no work that is not on main yet.\n",
    )  # fmt: skip


def test_wrong_names_are_refused_with_a_hint(repo: Path) -> None:
    assert invoke("agent-conflicts worker-9", repo) == (
        1,
        "",
        "Error: There is no agent worker-9.\nHint: `ghp agent-status` lists agents.\n",
    )
    assert invoke("agent-conflicts 'no name'", repo).code == 2


class Changes(ManualClock):
    """A clock during whose pauses something happens, and at last an interrupt."""

    def __init__(self, *actions: object) -> None:
        super().__init__()
        self.actions = [*actions]

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        if not self.actions:
            raise KeyboardInterrupt
        action = self.actions.pop(0)
        if callable(action):
            action()


@pytest.mark.slow
def test_watching_prints_only_changes_until_interrupted(repo: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": edited(3)})
    other = agent(repo, "worker-2", 2, {"b.txt": edited(3)})
    clock = Changes(None, lambda: write(other, {"a.txt": edited(3, by="x")}), None)
    shown = invoke("agent-conflicts --watch", repo, clock=clock)
    assert shown.code == 0
    assert shown.err == (
        "Compared the work of 2 agents: nothing conflicts.\n"
        "Compared the work of 2 agents: 1 pair conflicts.\n"
    )
    assert shown.out.startswith("\nworker-1 (#1) and worker-2 (#2) conflict in 1 file:\n")


def test_hostile_names_are_quoted(repo: Path) -> None:
    name = "x\x1b[31m`«y"
    base(repo, {name: edited()})
    agent(repo, "worker-1", 1, {name: edited(3)})
    agent(repo, "worker-2", 2, {name: edited(3, by="x")})
    shown = invoke("agent-conflicts", repo)
    assert "  «x�[31m''y»: line 3 of worker-1, line 3 of worker-2\n" in shown.out


def test_an_empty_name_is_no_agent(rivals: Path) -> None:
    refused = invoke(["agent-conflicts", ""], rivals)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("Error: '' is not a valid agent name.")
