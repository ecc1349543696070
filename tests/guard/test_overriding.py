"""An agent goes on in spite of another one's edits: recorded, told once, and only where it may."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, RefusedError, UsageError
from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate, overriding
from ghp_agents.guard.overriding import OverrideResult
from ghp_agents.hotpath import overrides
from ghp_agents.wiring import App
from tests.support.consent import mine
from tests.support.ghp import invoke, succeed
from tests.support.git import commit
from tests.support.news import hear

ONE, TWO = AgentName("worker-1"), AgentName("worker-2")
WHY = "it is a rename"
Worktree = Callable[[Path, str], Path]


def app(folder: Path, agent: str = "worker-1") -> App:
    return App(folder, os.environ, name=agent)


def edit(folder: Path, agent: AgentName, *paths: str) -> list[bool]:
    """Whether the agent is refused to edit each path now."""
    ctx = app(folder, agent).offline
    return [x.is_refused for x in evaluate.judge(ctx, agent, paths, editing=True)]


def go_on(
    folder: Path, *paths: str, agent: AgentName | None = ONE, why: str = WHY
) -> OverrideResult:
    return overriding.go_on(app(folder).offline, agent, paths, why)


def recorded(folder: Path) -> list[tuple[str, str, str]]:
    entries = app(folder).store.ledger()
    return [(x.actor, x.object, x.text) for x in entries if x.event == "override"]


@pytest.fixture
def here(repo: Path) -> Path:
    """Two agents at work; worker-2 edits src/a.py."""
    commit(repo, {"src/a.py": "1\n", "src/b.py": "1\n"})
    succeed(repo, "agent-init")
    for agent in (ONE, TWO):
        succeed(repo, f"agent-heartbeat --as {agent}")
        hear(repo, agent)
    assert edit(repo, TWO, "src/a.py") == [False]
    return repo


def test_the_agent_goes_on_and_the_other_is_told_once(here: Path) -> None:
    assert edit(here, ONE, "src/a.py") == [True]
    result = go_on(here, "src/a.py")
    assert [(record.path, record.lease.agent, record.reason) for record in result.done] == [
        ("src/a.py", "worker-2", WHY)
    ]
    assert not any(verdict.is_refused for verdict in result.verdicts)
    assert edit(here, ONE, "src/a.py", "src/b.py") == [False, False]
    assert edit(here, TWO, "src/a.py") == [False]
    assert recorded(here) == [("worker-1", "worker-2", f"src/a.py: {WHY}")]
    assert hear(here, TWO) == [
        "worker-1 edits src/a.py, although you are editing it, too. "
        "Reason given: «it is a rename». Read each file again before you edit it."
    ]
    assert hear(here, TWO) == []
    assert hear(here, ONE) == []


def test_a_third_agent_is_still_refused(here: Path) -> None:
    succeed(here, "agent-heartbeat --as worker-3")
    go_on(here, "src/a.py")
    assert edit(here, AgentName("worker-3"), "src/a.py") == [True]


def test_repeating_it_changes_nothing(here: Path) -> None:
    first = go_on(here, "src/a.py")
    again = go_on(here, "src/a.py")
    assert (again.done, again.new) == (first.done, ())
    assert len(recorded(here)) == 1


def test_another_reason_is_told_and_takes_the_place_of_the_first(here: Path) -> None:
    go_on(here, "src/a.py")
    hear(here, TWO)
    again = go_on(here, "src/a.py", why="another reason")
    assert [record.reason for record in again.done] == ["another reason"]
    assert len(recorded(here)) == 2
    (notice,) = hear(here, TWO)
    assert "Reason given: «another reason»." in notice
    assert go_on(here, "src/a.py", why="another reason").new == ()


def test_what_was_recorded_comes_into_force_when_it_is_repeated(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the record and the file, nothing is lost, and nothing is recorded twice."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(overrides, "add", fail)
        with pytest.raises(GhpError) as caught:
            go_on(here, "src/a.py")
    assert str(caught.value) == (
        "The override is recorded, but not yet in force: No space left on device."
    )
    assert edit(here, ONE, "src/a.py") == [True]
    assert go_on(here, "src/a.py").new == ()
    assert edit(here, ONE, "src/a.py") == [False]
    assert len(recorded(here)) == 1


def test_it_ends_when_the_other_has_finished(here: Path) -> None:
    go_on(here, "src/a.py")
    assert len(list(overriding.in_force(app(here).offline, ONE, ["src/a.py"]))) == 1
    succeed(here, "agent-status --set stopped --as worker-2")
    assert list(overriding.in_force(app(here).offline, ONE, ["src/a.py"])) == []
    assert list(overriding.in_force(app(here).offline, None, ["src/a.py"])) == []


def test_what_nobody_edits_needs_no_override(here: Path) -> None:
    result = go_on(here, "src/b.py", "../elsewhere")
    assert (result.done, result.new) == ((), ())
    assert recorded(here) == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "agent-lease src/b.py --as worker-2",
            "Only worker-2 can release it; a person can end it.",
        ),
        ("agent-claim 1 --as worker-2", "Only worker-2 or a person can allow it."),
    ],
)
def test_what_somebody_reserved_cannot_be_overridden(
    here: Path, command: str, message: str
) -> None:
    body = "## Scope\n- src/b.py\n"
    assert invoke(["agent-issue", "new", "Parse", "--body", body], here).code == 0
    succeed(here, command)
    with pytest.raises(RefusedError) as caught:
        go_on(here, "src/a.py", "src/b.py")
    assert str(caught.value).endswith(f"This cannot be overridden. {message}")
    assert caught.value.hint.startswith(("Work on something else", "Keep to the scope"))
    assert recorded(here) == []


def test_shared_files_cannot_be_overridden(here: Path) -> None:
    mine({"agents": {"shared": ["src/b.py"]}})
    with pytest.raises(RefusedError) as caught:
        go_on(here, "src/b.py")
    assert str(caught.value) == (
        "src/b.py is shared (see `agents.shared`), so a change needs approval. This cannot be "
        "overridden. Only a person or an orchestrator can allow it."
    )


@pytest.mark.parametrize("why", ["", " \n", "\x00"])
def test_a_reason_is_required(here: Path, why: str) -> None:
    with pytest.raises(UsageError, match="An override needs a reason"):
        go_on(here, "src/a.py", why=why)
    assert recorded(here) == []


def test_a_long_reason_is_cut_and_a_secret_in_it_is_left_out(here: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    go_on(here, "src/a.py", why=f"{token} " + "x" * 1_000)
    ((_, _, text),) = recorded(here)
    assert token not in text
    assert len(text) <= 320


def test_a_person_has_nothing_to_override(here: Path) -> None:
    with pytest.raises(UsageError, match="A person's edits are never refused"):
        go_on(here, "src/a.py", agent=None)


def test_in_another_worktree_a_conflict_is_to_be_expected(here: Path, worktree: Worktree) -> None:
    other = worktree(here, "147")
    succeed(other, "agent-init --agent worker-1")
    result = go_on(other, "src/a.py")
    assert [(record.path, record.lease.agent) for record in result.done] == [
        ("src/a.py", "worker-2")
    ]
    assert hear(here, TWO) == [
        "worker-1 edits src/a.py, although you are editing it, too. "
        "Reason given: «it is a rename». Expect a conflict when your branches are merged."
    ]
