"""A decision that takes too long: what others hold stays refused, as it was last known."""

import itertools
import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from ghp_agents.hooks import deadline
from ghp_agents.hooks.edit import MOST, edit
from ghp_agents.hooks.event import Event
from ghp_agents.hooks.scene import find
from ghp_agents.integrations.clients.events import CLIENTS
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.hooks import call, log, set_up, write
from tests.support.hosts import executable
from tests.support.in_home import in_home


def edits(agent: str, repo: Path, path: str) -> str:
    """What this process answers to an edit; empty where it is allowed."""
    environ = {"GHP_AGENT": agent, "HOME": os.environ["HOME"]}
    event = Event("claude", "edit", "PreToolUse", agent, str(repo), paths=[str(repo / path)])
    scene = find(event, environ)
    assert scene is not None
    reply = edit([scene])
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
            "The state could not be read now, so this is the last known state."
        )
    assert edits("worker-2", stuck, "free.py") == ""
    assert edits("worker-1", stuck, "src/a.py") == ""


@pytest.mark.slow
def test_what_cannot_be_read_is_decided_like_what_takes_too_long(repo: Path) -> None:
    set_up(repo, None)
    commit(repo, {"src/a.py": "", "free.py": "", "other.py": ""})
    invoke("agent-lease src/ --strict --as worker-1", repo)
    assert edits("worker-2", repo, "free.py") == ""
    invoke("agent-lease lib/ --as worker-1", repo)  # so the policy is outdated
    shutil.rmtree(repo / ".git/ghp/state.git/objects")
    env = {"GHP_AGENT": "worker-2"}
    assert "worker-1" in json.dumps(call("claude", write(repo / "src/a.py", repo), repo, env).said)
    assert call("claude", write(repo / "other.py", repo), repo, env).said is None
    assert [entry["where"] for entry in log(repo)] == ["hook claude"] * 2


def test_where_no_rules_were_ever_read_an_edit_is_allowed_and_logged(stuck: Path) -> None:
    in_home(stuck, "rulebook.json").unlink()
    assert edits("worker-2", stuck, "src/a.py") == ""
    (entry,) = log(stuck)
    assert (entry["where"], entry["error"]) == ("decide about an edit", "OverBudgetError: ")


def test_an_edit_of_too_many_files_is_refused(repo: Path) -> None:
    set_up(repo, "worker-1")
    names = [str(repo / f"{number}") for number in range(MOST + 1)]
    event = Event("claude", "edit", "PreToolUse", "worker-1", str(repo), paths=names)
    context = find(event, {"GHP_AGENT": "worker-1", "HOME": os.environ["HOME"]})
    assert context is not None
    reply = edit([context])
    assert reply is not None
    assert reply.deny == (
        "The edit names 1001 files; at most 1000 can be decided at once.\nNext: Split it."
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


@pytest.mark.parametrize("processor", [False, True])
def test_a_long_computation_is_interrupted(processor: bool) -> None:
    def count() -> None:
        with deadline.budget(0.05, processor=processor):
            for _ in itertools.count():
                pass

    with pytest.raises(deadline.OverBudgetError):
        count()
