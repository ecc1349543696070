"""What others hold of a change: how it is said, and that nothing is said without the remote."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.guard import held_paths
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.road import Road

ALICE, LEAD, PERSON = Actor("alice"), Actor("lead"), Actor("Test Person", is_person=True)


def refuse(road: Road, author: Actor, paths: list[str], by: Actor | None = None) -> tuple[str, ...]:
    house = road.house(author.name if not author.is_person else "@me")
    return held_paths.refuse(house, author, paths, by=by)


def test_many_files_are_named_up_to_ten(repo: Path) -> None:
    road = Road(repo)
    invoke("agent-lease src/ --as bob", repo, clock=road.clock)
    paths = [f"src/{number:02}.py" for number in range(12)]
    with pytest.raises(RefusedError) as caught:
        refuse(road, ALICE, [*paths, "README.md"])
    lines = str(caught.value).splitlines()
    assert [line.split()[0] for line in lines] == [*paths[:10], "2"]
    assert lines[-1] == "2 more files are held by others."
    assert refuse(road, ALICE, ["README.md"]) == ()


@pytest.mark.slow
def test_a_person_is_told_of_ordinary_leases_and_refused_strict_ones(repo: Path) -> None:
    road = Road(repo)
    invoke("agent-lease src/ --as bob", repo, clock=road.clock)
    invoke("agent-lease lib/ --strict --as bob", repo, clock=road.clock)
    for author, by in ((PERSON, None), (ALICE, PERSON)):
        (warning,) = refuse(road, author, ["src/a.py"], by)
        assert warning.startswith("src/a.py is leased by bob since ")
        with pytest.raises(RefusedError, match=r"^lib/a\.py is leased by bob since [^\n]*$"):
            refuse(road, author, ["src/a.py", "lib/a.py"], by)
    with pytest.raises(RefusedError):
        refuse(road, ALICE, ["src/a.py"], LEAD)


def test_a_remote_that_does_not_answer_is_no_leave(clone: Path) -> None:
    git(clone, "remote", "set-url", "origin", "/nowhere")
    with pytest.raises(UnknownError, match="Cannot tell whether others hold the changed files"):
        refuse(Road(clone), ALICE, ["src/a.py"])


@pytest.mark.slow
def test_what_the_author_holds_in_another_clone_is_the_authors_own(
    clones: Callable[[int], list[Path]],
) -> None:
    ours, theirs = (Road(folder) for folder in clones(2))
    done = invoke("agent-lease src/ --strict --as alice", theirs.folder, clock=theirs.clock)
    assert done.code == 0
    assert refuse(ours, ALICE, ["src/a.py"], LEAD) == ()
    with pytest.raises(RefusedError):
        refuse(ours, Actor("carol"), ["src/a.py"], LEAD)
