"""The benchmark that replays history: what it makes, what git says of it, and what it counts."""

from itertools import pairwise
from pathlib import Path

import pytest

from bench import authority, history, replay
from bench.history import Branch, Change, History
from bench.place import Place
from bench.replay import Conflict, Denial, Replay
from ghp_agents.hotpath.policy import ALLOW, Verdict
from tests.support import schedule
from tests.support.git import git

LINES = [f"line {number}\n" for number in range(40)]


def text(**changed: str) -> bytes:
    """Forty lines; `text(l3="x")` has another third one."""
    lines = [*LINES]
    for name, line in changed.items():
        lines[int(name[1:])] = f"{line}\n"
    return "".join(lines).encode()


def branch(name: str, *changes: Change) -> Branch:
    return Branch(name, "", tuple((change,) for change in changes))


TORN = History(
    {"a.py": text(), "b.py": text(), "c.py": text()},
    (
        branch("one", Change("a.py", text(l3="one")), Change("b.py", text(l3="one"))),
        branch("two", Change("a.py", text(l3="two")), Change("b.py", text(l30="two"))),
        branch("three", Change("c_renamed.py", text(l3="three"), "c.py")),
        branch("four", Change("c.py", text(l3="four"))),
    ),
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, quick=True)


# ------------------------------------------------------------------------------ histories


def test_a_generated_history_is_the_same_for_its_seed() -> None:
    made = history.generated(5, files=60, branches=6)
    assert made == history.generated(5, files=60, branches=6)
    assert made != history.generated(6, files=60, branches=6)


@pytest.mark.slow
def test_a_generated_history_has_the_shape_that_it_claims() -> None:
    made = history.generated(1, files=300, branches=200)
    commits = [commit for each in made.branches for commit in each.commits]
    sizes = sorted(len(commit) for commit in commits)
    assert sizes[len(sizes) // 2] in (2, 3, 4)
    lengths = sorted(content.count(b"\n") for content in made.base.values())
    assert 70 <= lengths[len(lengths) // 2] <= 140
    touched = [change.path for commit in commits for change in commit if change.path in made.base]
    often = sorted((touched.count(path) for path in made.base), reverse=True)
    assert 0.3 <= sum(often[:30]) / len(touched) <= 0.6
    assert touched.count("CHANGES.md") == often[0]
    assert any(change.source for commit in commits for change in commit)
    assert any(change.content is None for commit in commits for change in commit)


def test_a_history_becomes_branches_that_all_begin_at_the_base(repo: Path) -> None:
    history.write(TORN, repo)
    assert git(repo, "log", "--format=%s", "main..one").split("\n") == ["one 2", "one 1"]
    assert git(repo, "show", "one:a.py").encode() + b"\n" == text(l3="one")
    assert git(repo, "ls-tree", "--name-only", "three").split() == ["a.py", "b.py", "c_renamed.py"]
    assert git(repo, "status", "--porcelain") == ""


# ------------------------------------------------------------------------- what is counted


def test_git_finds_the_conflicts_under_all_names_of_a_file(place: Place) -> None:
    found = {(c.first, c.second): c.paths for c in replay._conflicts(place, TORN)}
    assert found == {
        ("one", "two"): frozenset({"a.py"}),
        ("three", "four"): frozenset({"c.py", "c_renamed.py"}),
    }


def test_a_conflict_is_announced_if_one_of_the_two_was_denied_a_path_of_it() -> None:
    torn = Conflict("one", "two", "CONFLICT (contents)", frozenset({"a.py"}))
    for who, path, is_silent in [
        ("two", "a.py", False),
        ("one", "a.py", False),
        ("two", "b.py", True),
        ("three", "a.py", True),
    ]:
        told = Replay(6, [torn], denials={Denial(who, path, "one")})
        assert bool(told.silent()) == is_silent, (who, path)


def test_a_denial_is_idle_where_the_branches_of_the_two_merge() -> None:
    torn = Conflict("one", "two", "CONFLICT (contents)", frozenset({"a.py"}))
    good, idle = Denial("two", "a.py", "one"), Denial("two", "b.py", "one")
    assert Replay(6, [torn], denials={good, idle}).idle() == {idle}


@pytest.mark.slow
def test_all_conflicts_are_announced_by_the_real_decision(place: Place) -> None:
    found = replay._replay(place, TORN, replay._conflicts(place, TORN))
    assert (found.edits, len(found.conflicts), found.silent()) == (7, 2, [])
    assert {each.path for each in found.denials} == {"a.py", "b.py", "c.py"}
    assert {each.path for each in found.idle()} == {"b.py"}


def test_a_guard_that_lets_everything_pass_is_found(place: Place) -> None:
    conflicts = replay._conflicts(place, TORN)
    found = replay._replay(place, TORN, conflicts, decide=lambda _, path: Verdict(ALLOW, path))
    assert len(found.silent()) == 2
    figures = replay._figures("careless", [found])
    assert [each.verdict for each in figures] == ["NOT OK", ""]


def test_agents_take_turns_and_each_keeps_the_order_of_its_commits() -> None:
    made = history.generated(5, files=60, branches=6)
    turns = [(each.name, change) for each, change, _ in replay._in_turn(made)]
    for each in made.branches:
        mine = [change for name, change in turns if name == each.name]
        assert mine == [change for commit in each.commits for change in commit]
    changes = sum(1 for one, other in pairwise(turns) if one[0] != other[0])
    assert changes > len(turns) / 2


# ----------------------------------------------------------------------------- authority


@pytest.mark.slow
def test_the_row_of_the_laws_says_what_was_done_and_counts_violations(place: Place) -> None:
    steps, violations, speed = authority.measure(place)
    assert (steps.measured, violations.measured, violations.bound) == (6 * 300, 0, 0)
    assert "claims" in steps.note
    assert speed.measured > 0
    assert sum(violations.detail.values()) >= steps.measured


@pytest.mark.slow
def test_a_seed_plays_the_same_schedule_as_the_row() -> None:
    assert authority.again(3) is None
    assert schedule.steps(3, authority.STEPS) == schedule.steps(3, authority.STEPS)
