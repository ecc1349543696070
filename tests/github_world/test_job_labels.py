"""The states of issues as labels on GitHub: where they are asked for, and only what differs."""

import json
from pathlib import Path

import pytest

from ghp_agents.jobs.job_state import JobState
from tests.support.commands import Field
from tests.support.faults import Said
from tests.support.ghp import invoke
from tests.support.git import commit
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, WORKER_2, GitHub, World
from tests.support.odd_hour import Crowd, OddHour
from tests.support.proxy import Exchange

pytestmark = pytest.mark.slow


@pytest.fixture
def field(github: GitHub) -> Field:
    new_field = Field(github)
    new_field.clone("one", jobLabels=True)
    return new_field


def jobs(field: Field, number: int) -> list[str]:
    return [label for label in field.labels(number) if label.lower().startswith("job:")]


def asked(field: Field, words: str, name: str = "one") -> list[Exchange]:
    """The requests of a command."""
    mark = len(field.github.proxy.exchanges)
    field.clock.wait(30)
    field.ghp(words, name)
    return field.github.proxy.since(mark)


def about_labels(exchanges: list[Exchange]) -> list[str]:
    requests = (x.asked for x in exchanges if x.asked.writes and "/issues/" in x.asked.path)
    return [f"{x.verb} {x.path.rpartition('/issues/')[2]}" for x in requests if "labels" in x.path]


def at(field: Field, tree: Path, words: str) -> None:
    """A command of worker-1 in its worktree."""
    env = field.github.environment(WORKER_1) | {"GHP_AGENT": "worker-1"}
    field.clock.wait(10)
    done = invoke(words, tree, env, clock=field.clock)
    assert done.code == 0, done.err


def test_the_label_follows_an_issue_from_the_queue_to_its_end(field: Field) -> None:
    number = field.github.issue("Blink")
    field.ghp("agent-sweep --no-ephemeral")
    assert jobs(field, number) == ["job:queued"]
    started = field.ghp(f"agent-start {number} --json", agent="worker-1").out
    changes = about_labels(asked(field, "agent-sync"))
    assert jobs(field, number) == ["job:in-progress"]
    assert changes == [f"DELETE {number}/labels/job%3Aqueued", f"POST {number}/labels"]
    tree = Path(json.loads(started)["path"])
    commit(tree, {"blink.py": "ON = True\n"}, "Blink")
    at(field, tree, "agent-finish")
    field.sync()
    assert jobs(field, number) == ["job:review"]
    at(field, tree, f"agent-merge {number} --unchecked")
    field.sync()
    field.sync()
    assert jobs(field, number) == ["job:completed"]


def test_nothing_is_written_while_nothing_changes(field: Field) -> None:
    first, second = field.github.issue("Blink"), field.github.issue("Shine")
    field.ghp(f"agent-claim {first}", agent="worker-1")
    sweep = "agent-sweep --no-ephemeral"
    for words in ("agent-sync", sweep, sweep, "agent-sync", sweep):  # they read what was written
        field.ghp(words)
    assert (jobs(field, first), jobs(field, second)) == (["job:in-progress"], ["job:queued"])
    for words in ("agent-sync", sweep):
        exchanges = asked(field, words)
        assert [str(x) for x in exchanges if not x.not_modified] == []


def test_a_clone_writes_for_its_own_agents_and_a_sweep_for_all(field: Field) -> None:
    first, second = field.github.issue("Blink"), field.github.issue("Shine")
    field.clone("two", jobLabels=True)
    field.ghp(f"agent-claim {first}", agent="worker-1")
    field.ghp(f"agent-claim {second}", "two", agent="worker-2", login=WORKER_2)
    field.sync()
    assert (jobs(field, first), jobs(field, second)) == (["job:in-progress"], [])
    field.ghp("agent-sweep --no-ephemeral")
    assert jobs(field, second) == ["job:in-progress"]


def test_a_released_or_closed_issue_is_shown_by_the_clone_that_showed_it_last(field: Field) -> None:
    first, second = field.github.issue("Blink"), field.github.issue("Shine")
    for number in (first, second):
        field.ghp(f"agent-claim {number}", agent=f"worker-{number}")
    field.sync()
    field.ghp(f"agent-release {first}", agent=f"worker-{first}")
    field.github.act(ADMIN, "PATCH", f"issues/{second}", {"state": "closed"})
    for _ in range(3):
        field.sync()
    assert (jobs(field, first), jobs(field, second)) == (["job:queued"], ["job:completed"])


def test_labels_of_people_are_no_truth_and_other_labels_stay(field: Field) -> None:
    number = field.github.issue("Blink", labels=["Job:Review", "job:failed", "job:cooking", "bug"])
    field.ghp("agent-sweep --no-ephemeral")
    assert field.labels(number) == ["bug", "job:cooking", "job:queued"]
    assert '"state": "queued"' in field.ghp("agent-jobs --json").out


def test_epics_and_issues_that_agents_may_not_take_have_none(field: Field) -> None:
    epic = field.github.issue("Lights", labels=["epic", "job:queued"])
    alien = field.github.issue("Buy this", login=OUTSIDER)
    field.ghp("agent-sweep --no-ephemeral")
    assert (jobs(field, epic), jobs(field, alien)) == ([], [])
    field.github.act(ADMIN, "POST", f"issues/{alien}/labels", {"labels": ["job:queued"]})
    field.sync()
    assert (
        "opened by people without write access"
        in field.ghp("agent-claim --next", agent="worker-1", code=3).err
    )


def test_without_the_setting_no_label_is_written(github: GitHub) -> None:
    field = Field(github)
    number = github.issue("Blink")
    field.ghp(f"agent-claim {number}", agent="worker-1")
    field.sync()
    field.ghp("agent-sweep --no-ephemeral")
    assert field.labels(number) == ["agent:worker-1"]


def test_a_repository_gets_the_labels_with_their_looks(field: Field) -> None:
    field.ghp("agent-init --labels")
    listed = field.github.act(ADMIN, "GET", "labels", per_page="100")
    shown = sorted(x["name"] for x in listed if x["name"].startswith("job:"))
    assert shown == sorted(state.label for state in JobState)


def test_what_github_refuses_is_a_note_and_stops_no_sync(field: Field) -> None:
    number = field.github.issue("Blink")
    field.ghp(f"agent-claim {number}", agent="worker-1")
    field.github.refusals.append((rf"POST .*/issues/{number}/labels", Said(403, {"message": "No"})))
    assert f"Cannot show the state of #{number} as a label: " in field.sync()
    field.github.refusals.clear()
    field.sync()
    assert jobs(field, number) == ["job:in-progress"]


def test_an_hour_with_labels_has_one_write_more_for_each_claim(tmp_path: Path) -> None:
    crowd = Crowd(clones=1, agents=4, every=60.0, seconds=300.0)
    written: list[int] = []
    for shown in (False, True):
        folder = tmp_path / str(shown)
        folder.mkdir()
        with GitHub(World(None, None), folder).open() as odd:
            hour = OddHour(odd, crowd, 1_780_000_000.0, jobLabels=shown)
            hour.pass_by()
            assert (hour.limits_hit(), hour.codes) == (0, {})
            written.append(hour.busiest().all)
    assert written[1] == written[0] + crowd.agents + 1  # and the label itself, once
