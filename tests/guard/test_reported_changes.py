"""The compiled policy holds what living agents of other clones report."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.guard import evaluate
from ghp_agents.hotpath.changes_elsewhere import Report
from ghp_agents.wiring import App
from tests.support.ghp import succeed
from tests.support.git import git
from tests.support.two_clones import TwoClones, changed, two_clones


@pytest.fixture
def two(clones: Callable[[int], list[Path]]) -> TwoClones:
    found = two_clones(clones)
    (found.place / "a.py").write_text(changed(10))
    (found.place / "b.py").unlink()
    (found.place / "new.py").write_text("1\n")
    return found


def book(clone: Path) -> dict[str, Any]:
    return evaluate.current(App(clone, os.environ, name="worker-2"))


def test_each_file_has_the_reports_of_agents_in_other_clones(two: TwoClones) -> None:
    two.exchange()
    found = book(two.other)
    reports = {
        path: [Report(*fields) for fields in each] for path, each in found["changes"].items()
    }
    shown = {
        path: [(x.agent, x.issue, x.base[:4], x.ranges, x.is_deleted) for x in each]
        for path, each in reports.items()
    }
    a, b = (git(two.other, "rev-parse", f"main:{name}")[:4] for name in ("a.py", "b.py"))
    assert shown == {
        "a.py": [("worker-1", 1, a, [(9, 10)], False)],
        "b.py": [("worker-1", 1, b, None, True)],
        "new.py": [("worker-1", 1, "", None, False)],
    }
    assert found["main"] == "refs/remotes/origin/main"
    (report,) = reports["a.py"]
    presence = json.loads((two.one / ".git/ghp/agents/worker-1.json").read_bytes())
    assert report.epoch == presence["epoch"]
    assert report.until - report.heard > 1_700
    assert len(report.clone) == 12


def test_the_own_clone_holds_nothing_of_its_agents(two: TwoClones) -> None:
    two.exchange()
    assert book(two.one)["changes"] == {}


def test_an_agent_that_stopped_is_left_out(two: TwoClones) -> None:
    two.exchange()
    succeed(two.place, "agent-heartbeat --as worker-1 --status stopped")
    path = two.one / ".git/ghp/agents/worker-1.json"
    assert "changes" in json.loads(path.read_bytes())
    two.exchange()
    assert book(two.other)["changes"] == {}


def test_where_case_is_ignored_paths_are_compared_in_lower_case(two: TwoClones) -> None:
    (two.place / "New.py").write_text("2\n")
    git(two.other, "config", "core.ignoreCase", "true")
    two.exchange()
    assert len(book(two.other)["changes"]["new.py"]) == 2
