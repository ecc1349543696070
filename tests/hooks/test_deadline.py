"""A decision that takes too long: what others hold stays refused, as it was last known."""

import itertools
import os
import shutil
import signal
from pathlib import Path

import pytest

from ghp_agents.hooks import deadline
from ghp_agents.hooks.edit import edit
from ghp_agents.hooks.event import Event
from ghp_agents.hooks.scene import find
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.integrations.clients.events import CLIENTS
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.hooks import set_up
from tests.support.hosts import executable


def edits(agent: str, repo: Path, path: str) -> str:
    """What this process answers to an edit; empty where it is allowed."""
    environ = {"GHP_AGENT": agent, "HOME": str(repo)}
    event = Event("claude", "edit", "PreToolUse", agent, str(repo), paths=[str(repo / path)])
    scene = find(event, environ)
    assert scene is not None
    reply = edit(scene)
    return reply.deny if reply else ""


@pytest.fixture
def stuck(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose rules changed since they were last read, with a git that hangs."""
    set_up(repo, None)
    commit(repo, {"src/a.py": "", "lib/b.py": "", "free.py": ""})
    invoke("agent-issue new Lexer --body '## Scope\n\n- lib/' --as worker-1", repo)
    invoke("agent-claim 1 --as worker-1", repo)
    invoke("agent-lease src/ --strict --as worker-1", repo)
    assert edits("worker-2", repo, "free.py") == ""
    invoke("agent-lease other/ --as worker-1", repo)
    git(repo / ".git/ghp/state.git", "repack", "-a", "-d", "-q")  # packed objects are read by git
    os.mkfifo(tmp_path / "never")
    hangs = f'case " $* " in *" cat-file "*) read line < {tmp_path}/never;; esac'
    executable(tmp_path / "bin/git", f'{hangs}\nexec {shutil.which("git")} "$@"\n')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(deadline, "BUDGET_S", 0.3)
    return repo


@pytest.mark.slow
def test_leased_and_claimed_files_are_refused_and_others_are_not(stuck: Path) -> None:
    for path in ("src/a.py", "lib/b.py"):
        refused = edits("worker-2", stuck, path)
        assert "worker-1" in refused
        assert refused.splitlines()[0].endswith(
            "Reading the state timed out, so this is the last known state."
        )
    assert edits("worker-2", stuck, "free.py") == ""
    assert edits("worker-1", stuck, "src/a.py") == ""


def test_without_any_rules_known_nothing_is_let_through(stuck: Path) -> None:
    rulebook.drop(str(stuck / ".git/ghp"))
    assert edits("worker-2", stuck, "free.py") == (
        "The check of free.py timed out, and this clone has no cached policy.\n"
        "Next: Run `ghp agent-check PATH`, which has no time limit, then try again."
    )


def test_the_budget_ends_before_any_client_stops_waiting() -> None:
    waits = [one.timeout for events in CLIENTS.values() for one in events if one.kind == "edit"]
    assert len(waits) == len(CLIENTS)
    assert min(waits) - 2 >= deadline.BUDGET_S


def test_a_budget_that_is_kept_leaves_no_timer_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with deadline.budget(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_long_computation_is_interrupted() -> None:
    def count() -> None:
        with deadline.budget(0.05):
            for _ in itertools.count():
                pass

    with pytest.raises(deadline.OverBudgetError):
        count()
