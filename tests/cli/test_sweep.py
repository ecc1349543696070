"""`agent-sweep` from the command line: what people, scripts and jobs see of it."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.clock import to_text
from tests.support.ghp import Result, invoke
from tests.support.git import git, refs
from tests.support.rulesets import ALL_BRANCHES, Rules, rule

Clones = Callable[[int], list[Path]]


@pytest.fixture
def work(repo: Path) -> Path:
    """A repository in which worker-1 has issue 1 and was not heard of for long."""
    git(repo, "config", "user.name", "Ann Example")
    assert invoke("agent-issue new 'Parse files'", repo).code == 0
    assert invoke("agent-claim 1 --as worker-1", repo).code == 0
    silence(repo, 2_000)
    return repo


def silence(repo: Path, seconds: float) -> None:
    """Make the last beats as old as that; of the processes that beat nothing is known."""
    for path in (repo / ".git/ghp/agents").glob("*.json"):
        presence = json.loads(path.read_text())
        presence["timestamp"] = to_text(time.time() - seconds)
        presence.get("local", {}).pop("pid", None)
        path.write_text(json.dumps(presence))
        os.utime(path, (time.time() - seconds,) * 2)
    invoke("agent-sync", repo)


def sweep(repo: Path, words: str = "", **env: str) -> Result:
    return invoke(f"agent-sweep {words}", repo, {"CI": "", **env})


@pytest.mark.slow
def test_it_says_what_it_did_and_the_second_time_that_there_is_nothing(work: Path) -> None:
    assert sweep(work) == Result(
        0,
        "✓ #1: worker-1 is dead; back in the queue (attempt 1)\n",
        "Nothing leaves this clone: there is no remote.\n✓ Swept. Agents: 1 dead; actions: 1.\n",
    )
    assert sweep(work).out == ""
    assert invoke("agent-claim --next --as worker-2", work).out == "1\n"


@pytest.mark.slow
def test_a_dry_run_says_what_would_be_done_and_does_nothing(work: Path) -> None:
    assert sweep(work, "--dry-run") == Result(
        0,
        "· #1: worker-1 has been dead for 33 min: put it back in the queue\n",
        "Agents: 1 dead. Dry run: nothing was done.\n",
    )
    shown = invoke("agent-issue show 1", work).out
    assert "worker-1" in shown


@pytest.mark.slow
def test_as_json_it_is_for_scripts(work: Path) -> None:
    done = sweep(work, "--json --policy reassign")
    assert done.code == 0
    assert json.loads(done.out) == {
        "schemaVersion": 1,
        "policy": "reassign",
        "dryRun": False,
        "agents": {"dead": 1},
        "acts": [
            {
                "kind": "free",
                "issue": 1,
                "agent": "worker-1",
                "to": None,
                "done": True,
                "failed": False,
                "text": "worker-1 is dead; back in the queue (attempt 1)",
            }
        ],
        "notes": ["Nothing leaves this clone: there is no remote."],
        "trouble": None,
    }


def test_a_policy_that_there_is_not_is_refused(work: Path) -> None:
    refused = sweep(work, "--policy kill")
    assert refused.code == 2
    assert "'alert', 'release', 'reassign'" in refused.err


@pytest.mark.slow
def test_the_policy_can_be_a_setting(work: Path) -> None:
    (work / ".ghp").mkdir(exist_ok=True)
    (work / ".ghp/config.json").write_text('{"agents": {"sweepPolicy": "alert"}}')
    assert sweep(work).out == (
        "· #1: worker-1 is dead\n✓ #1: worker-1 is dead: commented on the issue\n"
    )


@pytest.mark.slow
def test_the_summary_of_a_job_is_appended(work: Path, tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    page.write_text("Before\n")
    assert sweep(work, GITHUB_STEP_SUMMARY=str(page)).code == 0
    assert page.read_text() == (
        "Before\n"
        "## Sweep of agents (release)\n"
        "\n"
        "Agents: 1 dead.\n"
        "\n"
        "| | issue | agent | what |\n"
        "|---|---|---|---|\n"
        "| done | #1 | worker-1 | worker-1 is dead; back in the queue (attempt 1) |\n"
        "\n"
        "- Nothing leaves this clone: there is no remote.\n"
    )


@pytest.mark.slow
def test_a_summary_that_cannot_be_written_stops_nothing(work: Path, tmp_path: Path) -> None:
    done = sweep(work, GITHUB_STEP_SUMMARY=str(tmp_path / "no/such/folder"))
    assert done.code == 0
    assert "Cannot write the summary to " in done.err


def test_out_of_reach_nothing_is_done(clone: Path, remote: Path) -> None:
    git(clone, "config", "user.name", "Ann Example")
    remote.rename(remote.with_suffix(".away"))
    failed = sweep(clone)
    assert (failed.code, failed.out) == (4, "")
    assert "cannot be reached" in failed.err
    assert "Hint: No agent was declared dead." in failed.err


@pytest.mark.slow
def test_jobs_leave_one_ref_and_renew_what_is_published(clones: Clones, remote: Path) -> None:
    for clone in clones(3):
        done = invoke("agent-sweep", clone, {"CI": "true"})
        assert done.code == 0, done.err
    names = list(refs(remote))
    assert len([name for name in names if name.startswith("refs/ghp/clone/")]) == 1
    assert "refs/heads/ghp-state" not in names


@pytest.mark.slow
def test_a_sweep_publishes_only_where_a_person_did(clones: Clones, remote: Path) -> None:
    one, other = clones(2)
    assert invoke("agent-sweep", one).code == 0
    assert "refs/heads/ghp-state" not in refs(remote)
    assert invoke("agent-sync --publish", one).code == 0
    assert invoke("agent-heartbeat --status testing --as worker-1", other).code == 0
    assert invoke("agent-sync", other).code == 0
    assert invoke("agent-sweep", one).code == 0
    assert "worker-1" in git(remote, "show", "ghp-state:README.md")


@pytest.mark.slow
def test_a_rule_for_all_branches_leaves_the_sweep_green_and_says_one_line(
    clones: Clones, remote: Path
) -> None:
    one, other = clones(2)
    assert invoke("agent-sync --publish", one).code == 0
    rule(remote, Rules(signed=ALL_BRANCHES))
    assert invoke("agent-heartbeat --status testing --as worker-1", other).code == 0
    assert invoke("agent-sync", other).code == 0
    done = invoke("agent-sweep", one)
    advice = (
        "Take ghp-state out of the remote's rules, or switch publishing off: "
        '"agents": {"publish": false} in .ghp/config.json.'
    )
    line = (
        "Not published: [remote rejected] (push declined due to repository rule violations) GH013: "
        "Repository rule violations found for refs/heads/ghp-state. Commits must have verified "
        f"signatures. {advice}\n"
    )
    assert (done.code, line in done.err) == (0, True), done.err
    assert "worker-1" in invoke("agent-status --offline", one).out  # refs/ghp/* go on
    published = invoke("agent-sync --publish", one)
    assert (
        published.code,
        published.err.startswith(f"Not published. {advice}\nError: origin: "),
    ) == (
        1,
        True,
    )


@pytest.mark.slow
def test_publishing_can_be_switched_off(clone: Path, remote: Path) -> None:
    assert invoke("agent-sync --publish", clone).code == 0
    before = refs(remote)["refs/heads/ghp-state"]
    (clone / ".ghp").mkdir(exist_ok=True)
    (clone / ".ghp/config.json").write_text('{"agents": {"publish": false}}')
    assert invoke("agent-heartbeat --status testing --as worker-1", clone).code == 0
    assert "publish" not in invoke("agent-sweep", clone).err
    result = invoke("agent-sync --publish", clone)
    assert result.code == 0
    assert result.err.startswith("not published, because `agents.publish` is false\n")
    assert refs(remote)["refs/heads/ghp-state"] == before


@pytest.mark.slow
def test_a_job_in_which_nobody_is_named_sweeps_as_the_sweeper(clone: Path, remote: Path) -> None:
    done = invoke("agent-sweep", clone, {"CI": "true", "GIT_CONFIG_GLOBAL": os.devnull})
    assert done.code == 0, done.err


@pytest.mark.slow
def test_an_agent_whose_only_command_was_refused_is_not_given_the_work_of_a_dead_one(
    work: Path,
) -> None:
    assert invoke("agent-issue new 'Write files'", work).code == 0
    assert invoke("agent-claim 2 --as @me", work).code == 0
    assert invoke("agent-claim 2 --as worker-9", work).code == 3
    assert sweep(work, "--policy reassign").out == (
        "✓ #1: worker-1 is dead; back in the queue (attempt 1)\n"
    )
