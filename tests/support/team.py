"""A team that claims issues: agents in clones of one remote, on real git.

A world in which they know of each other takes a second to make. Each of its stages is made once,
and every test has a copy.
"""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.claimants import Claimant, Team
from tests.support.repos import Templates, copy_clone, copy_remote, copy_world, pack
from tests.support.sweeps import run

Clones = Callable[[int], list[Path]]
Stages = Callable[[str], Path]
WHO = {"worker-1": "clone-1", "worker-2": "clone-2", "sweeper": "clone-3"}


@pytest.fixture
def clones(templates: Templates, remote: Path) -> Clones:
    """`clones(3)` makes three more clones of `remote`, beside those that are there."""
    return lambda count: more_clones(templates, remote, count)


def more_clones(templates: Templates, remote: Path, count: int) -> list[Path]:
    first = 1 + len([*remote.parent.glob("clone-*")])
    paths = [remote.parent / f"clone-{number}" for number in range(first, first + count)]
    return [copy_clone(templates, path, remote) for path in paths]


@pytest.fixture(scope="session")
def stages(templates: Templates, tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """`stages("two")` is a folder with all that is there when `two` has come."""

    @cache
    def stage(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        remote = folder / "remote.git"
        if name == "one":
            copy_remote(templates, remote)
        else:
            copy_world(stage("two" if name == "sweeper" else "one"), folder)
        team = team_in(folder, lambda count: more_clones(templates, remote, count))
        if name == "one":
            one = team.join("worker-1")
            one.new("Parse files")
            one.sync()
        elif name == "two":
            two = team.join("worker-2")
            two.beat()
            two.sync()
        else:
            run(team.join("@me", "sweeper"))
        return pack(folder)

    return stage


def team_in(folder: Path, clones: Clones) -> Team:
    """The team, with those who are in a folder already."""
    folders = {name: folder / clone for name, clone in WHO.items() if (folder / clone).exists()}
    return Team(clones, folder / "remote.git", folders)


@pytest.fixture
def team(request: pytest.FixtureRequest, stages: Stages, clones: Clones, remote: Path) -> Team:
    """Everybody whom the test asks for, around one remote."""
    wanted = [name for name in ("sweeper", "two", "one") if name in request.fixturenames]
    if wanted:
        shutil.rmtree(remote)
        copy_world(stages(wanted[0]), remote.parent)
    return team_in(remote.parent, clones)


@pytest.fixture
def one(team: Team) -> Claimant:
    """worker-1, in a clone that has an issue #1 and told the others of it."""
    return team.join("worker-1")


@pytest.fixture
def two(team: Team, one: Claimant) -> Claimant:
    """worker-2, in another clone that has heard of worker-1 and the issue."""
    return team.join("worker-2")


@pytest.fixture
def sweeper(team: Team, two: Claimant) -> Claimant:
    """A person's clone from which is swept; it has looked once, so it knows since when."""
    return team.join("@me", "sweeper")
