"""Several clients, clones and ways in: the same answer everywhere."""

import os
import re
import select
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, edit, run, set_up, shell, start, states
from tests.support.clients import TIMEOUT_S, Bench, end
from tests.support.fake_models import Request, Turn
from tests.support.git import commit, git

pytestmark = pytest.mark.slow

BOTH = [("claude", "codex"), ("codex", "claude")]


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_what_one_client_has_begun_another_may_not_edit(
    bench: Bench, repo: Path, worktree: Callable[[Path, str], Path], first: str, second: str
) -> None:
    there = worktree(repo, "two")
    set_up(bench, repo, first)
    set_up(bench, there, second, agent="worker-3")

    def meanwhile(request: Request) -> Turn:
        bench.models.script("two", Turn(calls=[edit(second, there / "new.py", "other")]))
        assert end(start(bench, second, there, "two")).code == 0
        return Turn("I stop.")

    bench.models.script("one", Turn(calls=[edit(first, repo / "new.py")]), meanwhile)
    assert end(start(bench, first, repo, "one")).code == 0
    assert (repo / "new.py").exists()
    assert not (there / "new.py").exists()
    assert re.search(r"hook[^\n]*: worker-1 also created new\.py\.", bench.models.said("two"))


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_lease_in_another_clone_holds_here_after_a_sync(
    bench: Bench, clones: Callable[[int], list[Path]], client: str
) -> None:
    here, there = clones(2)
    set_up(bench, here, client)
    run("agent-lease", "src/", "--reason", "new parser", cwd=there, env=OTHER)
    run("agent-sync", cwd=there)
    run("agent-sync", cwd=here)
    bench.models.script("one", Turn(calls=[edit(client, here / "src/new.py")]))
    assert end(start(bench, client, here, "one")).code == 0
    assert not (here / "src").exists()
    assert "src/new.py is leased by worker-2" in bench.models.said("one")


def test_hooks_of_the_user_guard_worktrees_that_are_made_later(
    bench: Bench, repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    run("agent-init", "--agent", "worker-1", cwd=repo)
    run("agent-init", "--hooks", "claude", "--user", cwd=repo)
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    there = worktree(repo, "later")
    bench.models.script("one", Turn(calls=[edit("claude", there / "src/new.py")]))
    assert end(start(bench, "claude", there, "one")).code == 0
    assert not (there / "src").exists()
    assert "src/new.py is leased by worker-2" in bench.models.said("one")


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_what_a_shell_wrote_is_refused_when_it_is_committed(
    bench: Bench, repo: Path, client: str
) -> None:
    commit(repo, {"src/parser.py": "old\n"}, "Files")
    set_up(bench, repo, f"{client},git")
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    before = git(repo, "rev-parse", "HEAD")
    by_shell = shell(client, "echo new > src/parser.py; git commit -qam Mine && echo I did it")
    bench.models.script("one", Turn(calls=[by_shell]))
    assert end(start(bench, client, repo, "one")).code == 0
    assert (repo / "src/parser.py").read_text() == "new\n"
    assert git(repo, "rev-parse", "HEAD") == before
    said = bench.models.requests("one")[-1].said
    assert "src/parser.py is leased by worker-2" in said
    assert "\nI did it" not in said


def test_with_the_background_on_another_clone_hears_of_a_session_until_its_end(
    bench: Bench, remote: Path, clones: Callable[[int], list[Path]], tmp_path: Path
) -> None:
    here, there = clones(2)
    set_up(bench, here, "claude")
    pushes = told_of_pushes(remote, tmp_path / "pushes")
    bench.models.script("one", Turn(calls=[edit("claude", here / "new.py")]))
    assert end(bench.claude(here, "one", env={"GHP_BACKGROUND": "1"})).code == 0
    seen: list[str] = []
    while seen[-1:] != ["stopped"]:
        next(pushes)
        run("agent-sync", cwd=there)
        seen.append(states(there)["worker-1"]["status"])
    assert states(there)["worker-1"]["lastAction"] == "Edited new.py"


def told_of_pushes(remote: Path, pipe: Path) -> Iterator[str]:
    """A line for each push that has arrived at a bare repository; waits for the next one."""
    os.mkfifo(pipe)
    hook = remote / "hooks/post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho push > '{pipe}'\n")
    hook.chmod(0o755)
    descriptor = os.open(pipe, os.O_RDWR)  # for writing as well: nobody waits for a reader

    def lines() -> Iterator[str]:
        with os.fdopen(descriptor) as lines:
            while True:
                assert select.select([lines], [], [], TIMEOUT_S)[0], "Nothing is pushed any more."
                yield lines.readline()

    return lines()
