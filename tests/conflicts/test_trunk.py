"""Each agent's work on top of the main branch."""

import os
from pathlib import Path

from ghp_agents.conflicts import trunk
from ghp_agents.conflicts import work as works
from ghp_agents.conflicts.trunk import OnTrunk
from ghp_agents.git import trial_merge
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from tests.support.git import commit, git
from tests.support.rivals import TEXT, agent, base, edited, paths


def merged(repo: Path, scratch: Path) -> list[OnTrunk]:
    app = App(repo, os.environ)
    views = presence.list_agents(app, app.store.snapshot())
    place = trial_merge.open_place(repo / ".git", scratch, trial_merge.programs(repo))
    read, _ = works.read(works.find(app.ws, views, "origin", "main"), place, scratch)
    return trunk.merge_each(place, git(repo, "rev-parse", "main"), read)[0]


def test_only_what_is_new_on_the_main_branch_is_its_change(repo: Path, tmp_path: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": edited(3), "b.txt": edited(9)}, {"new.txt": "1\n"})
    commit(repo, {"b.txt": edited(9), "c.txt": TEXT})
    (one,) = merged(repo, tmp_path)
    assert paths(one) == ["a.txt", "new.txt"]
    assert one.change.added == {"new.txt"}
    assert one.is_stale
    assert one.conflicts == ()


def test_a_conflict_with_the_main_branch_is_part_of_the_change(repo: Path, tmp_path: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": None})
    commit(repo, {"a.txt": edited(9)})
    (one,) = merged(repo, tmp_path)
    assert [(conflict.path, conflict.kind) for conflict in one.conflicts] == [("a.txt", "deleted")]
    assert paths(one) == ["a.txt"]


def test_work_on_top_of_the_main_branch_is_not_stale(repo: Path, tmp_path: Path) -> None:
    base(repo)
    agent(repo, "worker-1", 1, {"a.txt": None})
    (one,) = merged(repo, tmp_path)
    assert not one.is_stale
    assert one.change.removed == {"a.txt"}
