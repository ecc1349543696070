"""Trial merges of pairs, against what git itself does with the same branches."""

import random
from itertools import combinations
from pathlib import Path

import pytest

from ghp_agents.conflicts import pairs
from ghp_agents.conflicts.overlap import NetChange
from ghp_agents.conflicts.trunk import OnTrunk
from ghp_agents.conflicts.work import AgentWork
from ghp_agents.git import trial_merge
from tests.support.git import git, run_git
from tests.support.rivals import TEXT, agent, base, survey


def changed(chance: random.Random) -> dict[str, str | bytes | None]:
    """Some edits, additions, deletions and renames."""
    files: dict[str, str | bytes | None] = {}
    for name in chance.sample(["a.txt", "b.txt", "d/c.txt", "d/e.txt"], 2):
        lines = TEXT.splitlines()
        start = chance.randrange(len(lines))
        lines[start : start + chance.randrange(1, 4)] = [
            f"new {chance.random()}"
        ] * chance.randrange(3)
        match chance.randrange(5):
            case 0:
                files[name] = None
            case 1:
                files |= {name: None, f"moved-{name}": "\n".join([*lines, ""])}
            case _:
                files[name] = "\n".join([*lines, ""])
    if chance.random() < 0.3:
        files["new.txt"] = f"{chance.random()}\n"
    return files


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sample(2)
def test_exactly_the_pairs_conflict_that_git_cannot_merge(repo: Path, seed: int) -> None:
    chance = random.Random(seed)
    base(repo, {name: TEXT for name in ("a.txt", "b.txt", "d/c.txt", "d/e.txt")})
    names = [f"worker-{number}" for number in range(1, 7)]
    branches = {}
    for number, name in enumerate(names, 1):
        agent(repo, name, number, changed(chance))
        branches[name] = f"agent/{name}/{number}-part"
    conflicts = {
        tuple(sorted((*pair.ours.agents, *pair.theirs.agents))): pair for pair in survey(repo).pairs
    }
    expected: dict[tuple[str, ...], list[str]] = {}
    place = repo.parent / "real"
    git(repo, "worktree", "add", "--quiet", "--detach", str(place))
    for one, other in combinations(names, 2):
        git(place, "reset", "--quiet", "--hard", branches[one])
        git(place, "clean", "--quiet", "-fdx")
        if run_git(place, "merge", "--no-commit", "--quiet", branches[other]).returncode:
            shown = git(place, "diff", "--name-only", "--diff-filter=U")
            expected[one, other] = shown.splitlines()
        run_git(place, "merge", "--abort")
    assert conflicts.keys() == expected.keys()
    for pair, unmerged in expected.items():
        named = {x for one in conflicts[pair].files for x in (one.path, *one.paths)}
        assert named.issuperset(unmerged), pair


def test_a_pair_that_git_cannot_merge_at_all_is_kept_with_the_reason(
    repo: Path, tmp_path: Path
) -> None:
    place = trial_merge.open_place(repo / ".git", tmp_path, trial_merge.programs(repo))
    change = NetChange(frozenset({"a"}))
    works = [
        OnTrunk(AgentWork((f"worker-{n}",), None, "", "", ""), str(n) * 40, str(n), "", change)
        for n in (1, 2)
    ]
    (clash,) = pairs.merge_pairs(place, works)
    assert (clash.first, clash.second, clash.files) == (0, 1, ())
    assert "not something we can merge" in clash.failure
