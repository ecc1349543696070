"""What is kept and said of work that no longer merges with the main branch."""

import os
from pathlib import Path

from ghp_agents.conflicts import stale_base
from ghp_agents.conflicts.path_conflict import PathConflict
from ghp_agents.conflicts.places import ClashPlace, LineRange
from ghp_agents.conflicts.report import TrunkConflict
from ghp_agents.conflicts.stale_base import StaleBase
from ghp_agents.conflicts.work import AgentWork
from ghp_agents.git.merge import Stage
from ghp_agents.wiring import App
from ghp_agents.workspace import Workspace
from tests.support.git import commit, git


def space(folder: Path) -> Workspace:
    return App(folder, os.environ, name="@me").ws


def found(folder: str, trunk_blob: str = "2" * 40, *paths: str) -> StaleBase:
    stages = (Stage("100644", trunk_blob, 2, "a.txt"), Stage("100644", "3" * 40, 3, "a.txt"))
    place = ClashPlace(LineRange(7, 8), LineRange(3, 3))
    files = [PathConflict("a.txt", "lines", stages=stages, places=(place,))]
    files += [PathConflict(path, "binary") for path in paths]
    work = AgentWork(("worker-1",), 1, "work", folder, "h" * 40)
    return stale_base.of_conflicts([TrunkConflict(work, tuple(files))], "t" * 40)["worker-1"]


def test_the_words_name_files_and_lines_of_both_sides() -> None:
    base = found("/x", "2" * 40, "b.png", "c", "d", "e", "evil`\n", "f")
    assert base.words == (
        "a.txt (line 3 of your work, lines 7-8 of main), "
        "b.png (both changed it, and it is binary), c (both changed it, and it is binary), "
        "d (both changed it, and it is binary), e (both changed it, and it is binary) "
        "and 2 more files"
    )
    assert stale_base.sentence(base) == (
        "No longer merges with main in a.txt, b.png, c, d, e and 2 more: `ghp agent-update` shows "
        "both sides."
    )


def test_the_key_changes_only_with_mains_version_of_the_files() -> None:
    assert found("/x").key == found("/y").key
    assert found("/x").key != found("/x", "4" * 40).key
    assert found("/x").key != found("/x", "2" * 40, "b.png").key


def test_it_is_known_until_the_branch_has_main_in_it(repo: Path) -> None:
    ws = space(repo)
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "switch", "--quiet", "-c", "work")
    other = commit(repo, {"a.txt": "other\n"})
    git(repo, "reset", "--quiet", "--hard", head)
    base = found(str(repo))._replace(tip=other)
    stale_base.keep(ws, {"worker-1": base})
    assert stale_base.known(ws, "worker-1") == base
    assert stale_base.known(ws, "worker-2") is None
    git(repo, "merge", "--quiet", other)
    assert stale_base.known(ws, "worker-1") is None


def test_a_broken_file_and_a_removed_worktree_are_no_stale_base(repo: Path) -> None:
    ws = space(repo)
    stale_base.keep(ws, {"worker-1": found(str(repo / "gone"))})
    assert stale_base.known(ws, "worker-1") is None
    (ws.cache_dir / stale_base.FILE).write_text('{"worker-1": 3}')
    assert stale_base.known(ws, "worker-1") is None
