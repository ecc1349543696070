"""What provisioning puts into a worktree is nobody's work."""

import pytest

from ghp_agents.handoffs.hand_over import pass_on
from ghp_agents.handoffs.restore import restore
from ghp_agents.handoffs.service import handoff
from ghp_agents.handoffs.uncommitted import take_uncommitted
from ghp_agents.worktrees.provisioned_files import differences
from tests.support.git import git
from tests.support.repos import Restored
from tests.support.road import Road, with_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


def test_what_was_furnished_is_no_work_of_the_agent(road: Road) -> None:
    road.configure(worktreeCopyFiles=["./.env"], worktreeSymlinkFiles=["node_modules"])
    for name in (".env", "node_modules/a.js", "src/a.js"):
        (road.folder / name).parent.mkdir(exist_ok=True)
        (road.folder / name).touch()
    ws = road.house("worker-1").ws
    assert [item.path for item in differences(ws, road.folder)] == ["src/"]


@pytest.mark.slow
def test_what_git_does_not_ignore_is_not_handed_over_and_in_no_ones_way(road: Road) -> None:
    road.configure(worktreeCopyFiles=["a.ini", "b.ini"], worktreeSymlinkFiles=["node_modules"])
    road.put({".gitignore": "node_modules/\n"})  # folders only
    (road.folder / "node_modules").mkdir()
    for name in ("a.ini", "b.ini"):
        (road.folder / name).write_text("port = 1\n")
    one = road.house("worker-1", road.start("worker-1").path)
    (one.cwd / "b.ini").write_text("port = 2\n")
    (one.cwd / "parser.py").write_text("x = 1\n")
    taken = take_uncommitted(one.ws).patch
    assert [change.path for change in taken.changes] == ["b.ini", "parser.py"]
    (one.cwd / "b.ini").write_text("port = 1\n")
    handed = handoff(one, issue="1", to="worker-2").handoff
    pass_on(one, handed)
    git(road.folder, "worktree", "remove", "--force", str(one.cwd))
    two = road.house("worker-2", road.start("worker-2").path)
    assert git(two.cwd, "status", "--porcelain") == "?? a.ini\n?? b.ini\n?? node_modules"
    restore(two, handed)
    assert (two.cwd / "parser.py").read_text() == "x = 1\n"
