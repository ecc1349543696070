"""After a hand-over to another clone everything is the other's: branch, work, leases, authority."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import Result, invoke
from tests.support.git import commit, git

Clones = Callable[[int], list[Path]]
ONE, TWO = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}
FILES = ("src/done.py", "src/begun.py", "README.md")


def run(line: str, folder: Path, env: dict[str, str] | None = None) -> Result:
    done = invoke(line, folder, env)
    assert done.code == 0, (line, done)
    return done


def place(folder: Path) -> Path:
    """The worktree of the issue in a clone."""
    return Path(run("agent-where 1", folder).out.strip())


@pytest.fixture
def begun(clones: Clones) -> tuple[Path, Path, Path]:
    """Two clones, and worker-1's worktree in the first: a commit, more work, a lease."""
    one, other = clones(2)
    run("agent-init", one)
    run("agent-issue new Parse --body '### Scope\n\nsrc/'", one)
    run("agent-sync", one)
    run("agent-start 1", one, ONE)
    mine = place(one)
    commit(mine, {"src/done.py": "1\n"}, "Begin to parse")
    (mine / "src/begun.py").write_bytes(b"\x00\xff half")
    (mine / "README.md").write_text("# Changed\n")
    run("agent-lease README.md", mine, ONE)
    return one, other, mine


def test_everything_goes_along(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    handed = run("agent-handoff --to worker-2 --note 'Go on.'", mine, ONE)
    assert "✓ Pushed agent/worker-1/1-parse.\n" in handed.err
    assert "✓ worker-2 has your leases now: README.md.\n" in handed.err
    run("agent-sync", one)
    run("agent-init", other)
    run("agent-sync", other)
    run("agent-start 1", other, TWO)
    theirs = place(other)
    run("agent-resume --apply", theirs, TWO)
    assert git(theirs, "rev-parse", "--abbrev-ref", "HEAD") == "agent/worker-1/1-parse"
    for name in FILES:
        assert (theirs / name).read_bytes() == (mine / name).read_bytes()
        assert invoke(f"agent-check {name}", theirs, TWO).code == 0, name
        assert invoke(f"agent-check {name}", mine, ONE).code == 3, name


def test_a_branch_that_nobody_pushed_is_not_begun_anew(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    handed = run("agent-handoff --to worker-2 --note 'Go on.' --no-push", mine, ONE)
    name = handed.err.split("Recorded ")[1].split(",")[0]
    run("agent-sync", one)
    run("agent-init", other)
    run("agent-sync", other)
    refused = invoke("agent-start 1", other, TWO)
    assert refused.code == 4
    assert refused.err.endswith(
        f"Error: worker-1 handed #1 over on branch agent/worker-1/1-parse ({name}), which "
        "neither this clone nor the remote has.\n"
        "Hint: In the clone of worker-1: `git push origin agent/worker-1/1-parse`. To begin "
        "without that work: `git branch agent/1-anew main`, then start again.\n"
    )
    assert git(other, "branch", "--list", "agent/*") == ""
    git(mine, "push", "--quiet", "origin", "HEAD")
    run("agent-start 1", other, TWO)
    assert (place(other) / "src/done.py").exists()


def test_or_it_is_begun_without_that_work(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    run("agent-handoff --to worker-2 --note 'Go on.' --no-push", mine, ONE)
    run("agent-sync", one)
    run("agent-init", other)
    run("agent-sync", other)
    git(other, "branch", "agent/1-anew", "main")
    run("agent-start 1", other, TWO)
    assert git(place(other), "rev-parse", "--abbrev-ref", "HEAD") == "agent/1-anew"
