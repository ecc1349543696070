"""What passed on a tree is not checked again, as long as it means the same."""

import os
from pathlib import Path

import pytest

from ghp_agents.pulls import check_cache
from ghp_agents.pulls.check import Check
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.road import Road, merged

TREE, OTHER = "a" * 40, "b" * 40
RULES = Settings(checks=("make test", "make lint"))
GREEN = (Check("make test", 0), Check("make lint", 0))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ws(repo: Path, clock: ManualClock) -> Workspace:
    ws = open_workspace(repo, os.environ, clock=clock)
    ws.ghp_dir.mkdir(parents=True, exist_ok=True)
    return ws


def test_what_passed_on_a_tree_passed_before(ws: Workspace) -> None:
    assert check_cache.passed(ws, RULES, TREE) is None
    check_cache.remember(ws, RULES, TREE, GREEN)
    assert check_cache.passed(ws, RULES, TREE) == (
        Check("make test", 0, before=True),
        Check("make lint", 0, before=True),
    )
    assert check_cache.passed(ws, RULES, OTHER) is None


def test_a_failure_is_not_kept(ws: Workspace) -> None:
    check_cache.remember(ws, RULES, TREE, (GREEN[0], Check("make lint", 1)))
    check_cache.remember(ws, RULES, TREE, GREEN[:1])
    assert check_cache.passed(ws, RULES._replace(checks=("make test",)), TREE) is None


def test_the_timeout_does_not_matter_and_one_more_command_does(ws: Workspace) -> None:
    check_cache.remember(ws, RULES, TREE, GREEN)
    assert check_cache.passed(ws, RULES._replace(check_timeout=5.0), TREE) is not None
    more = RULES._replace(checks=(*RULES.checks, "make docs"))
    assert check_cache.passed(ws, more, TREE) is None


@pytest.mark.slow
def test_it_is_forgotten_after_a_day_and_after_many_others(
    ws: Workspace, clock: ManualClock
) -> None:
    check_cache.remember(ws, RULES, TREE, GREEN)
    one = Settings(checks=("true",))
    for number in range(check_cache.ENTRIES - 1):
        check_cache.remember(ws, one, f"{number:040}", (Check("true", 0),))
    assert check_cache.passed(ws, RULES, TREE) is None
    assert check_cache.passed(ws, one, f"{7:040}") is not None
    clock.wait(check_cache.AGE)
    assert check_cache.passed(ws, one, f"{7:040}") is None


@pytest.mark.parametrize("content", ["", "[]", '{"x": "y"}', '{"x": 1e999}'])
def test_a_damaged_file_knows_nothing(ws: Workspace, content: str) -> None:
    path = Path(ws.home_folder, check_cache.FILE)
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert check_cache.passed(ws, RULES, TREE) is None


@pytest.mark.slow
def test_a_merge_does_not_repeat_what_finish_checked(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    runs = repo.parent / "runs"
    road.configure({"checks": [f"echo run >> {runs}"]})
    road.done("worker-1", 1, {"a.txt": "one\n"})
    done = merged(road.merge(1))
    assert runs.read_text() == "run\n"
    assert done.checks[0].verdict == "passed before on the same files"


@pytest.mark.slow
def test_another_set_up_command_means_another_result(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    runs = repo.parent / "runs"
    checks = {"checks": [f"echo run >> {runs}"]}
    road.configure(checks)
    road.done("worker-1", 1, {"a.txt": "one\n"})
    road.configure(checks, worktreeSetupCommand="true")
    merged(road.merge(1))
    assert runs.read_text() == "run\nrun\n"
