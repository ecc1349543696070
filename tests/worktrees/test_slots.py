"""Each worktree has a port and a name of its own."""

import re
import socket
from pathlib import Path

import pytest

from ghp_agents.cli.run_client import Launch
from ghp_agents.workspace import SLOT_FILE
from ghp_agents.worktrees import slots
from tests.support.git import git
from tests.support.repos import Restored
from tests.support.road import Road, with_issue


def linked(repo: Path, name: str) -> Path:
    place = repo.parent / name
    git(repo, "worktree", "add", "--quiet", "--detach", str(place))
    return place


def test_they_stay_while_the_worktree_is_there_and_differ(repo: Path) -> None:
    one, two = (slots.variables(linked(repo, name)) for name in ("12-Parse-files", "13-b"))
    assert slots.variables(repo.parent / "12-Parse-files") == one
    git(repo, "worktree", "move", str(repo.parent / "12-Parse-files"), str(repo.parent / "moved"))
    assert slots.variables(repo.parent / "moved") == one
    assert len({*one.values(), *two.values()}) == 4
    assert re.fullmatch(r"w_[a-z0-9_]+_12_parse_files_[0-9a-f]{4}", one["GHP_SLOT"])
    assert slots.FIRST <= int(one["GHP_PORT"]) < slots.FIRST + slots.STEP * slots.COUNT
    assert slots.variables(repo) == {}


@pytest.mark.slow
def test_a_port_that_is_in_use_is_not_given(repo: Path) -> None:
    place = linked(repo, "place")
    first = int(slots.variables(place)["GHP_PORT"])
    (file,) = repo.glob(f".git/worktrees/*/{SLOT_FILE}")
    file.unlink()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first))
        assert int(slots.variables(place)["GHP_PORT"]) != first


@pytest.mark.slow
def test_set_up_checks_and_clients_get_them(restored: Restored) -> None:
    road = Road(restored(with_issue).repo)
    show = 'echo "$GHP_PORT $GHP_SLOT"'
    road.configure({"checks": [show]}, worktreeSetupCommand=f"{show} >> out; {show}")
    started = road.start("worker-1")
    own = slots.variables(started.path)
    assert (started.path / "out").read_text() == f"{own['GHP_PORT']} {own['GHP_SLOT']}\n"
    (started.path / ".gitignore").write_text("out\n")
    git(started.path, "add", ".gitignore")
    git(started.path, "commit", "--quiet", "-m", "Ignore")
    (check,) = road.finish("worker-1", started.path).checks
    assert check.output == f"{own['GHP_PORT']} {own['GHP_SLOT']}"
    launch = Launch(("claude",), started.path, "worker-1", "Begin", "mark")
    assert own.items() <= launch.environment({}).items()
