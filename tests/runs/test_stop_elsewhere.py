"""An agent that another clone stops: its supervisor saves what that clone could not."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.runs import processes
from tests.support.ghp import invoke, succeed
from tests.support.git import git
from tests.support.runs import SPEAKS, STAYS, Shift, shift_of, states, without_ids

WRITES = "echo one >a.txt; git add a.txt; git commit -qm One; echo two >>a.txt; echo three >b.txt"


@pytest.fixture
def one_and_other(
    clones: Callable[[int], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, Shift]]:
    """A clone, and the shift of another one."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    one, other = clones(2)
    shift = shift_of(other, "One")
    yield one, shift
    shift.end_all()
    assert [pid for run in shift.runs() for pid in processes.marked(run.id)] == []


def begin(shift: Shift, script: str) -> Callable[[], None]:
    """A run that has written something; returns what lets its supervisor look."""
    supervisor = shift.supervisor(f"{script}; {SPEAKS}; {STAYS}")
    supervisor.step()
    shift.spoke()

    def look() -> None:
        shift.clock.wait(60)
        supervisor.step()

    look()
    return look


@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True])
def test_a_stop_from_another_clone_ends_the_run_and_saves_its_work(
    one_and_other: tuple[Path, Shift], keep: bool
) -> None:
    one, shift = one_and_other
    look = begin(shift, WRITES)
    succeed(one, "agent-sync")
    option = " --keep" if keep else ""
    ordered = invoke(f"agent-stop worker-1 --now{option} --as @me", one)
    assert "That clone saves it in another handoff after its next sync" in ordered.err
    assert "`ghp agent-work` ends its run there at once" in ordered.err
    succeed(one, "agent-sync")
    look()  # it hears of it
    look()
    assert states(shift.runs()) == [("worker-1", 1, "stopped")]
    last = without_ids(shift.lines)[-1]
    assert last.startswith("Its work is in H-")
    succeed(shift.repo, "agent-sync")
    succeed(one, "agent-sync")
    if keep:
        return
    succeed(one, "agent-start 1 --as worker-2")
    path = Path(invoke("agent-where 1", one).out.strip())
    handoff = shift.lines[-1].split()[-1].rstrip(".")
    succeed(path, f"agent-resume --handoff {handoff} --apply --as worker-2")
    assert (path / "a.txt").read_text() == "one\ntwo\n"
    assert (path / "b.txt").read_text() == "three\n"
    assert "One" in git(path, "log", "--format=%s", "-1")


@pytest.mark.slow
def test_a_run_without_work_leaves_no_second_handoff(
    one_and_other: tuple[Path, Shift],
) -> None:
    one, shift = one_and_other
    look = begin(shift, ":")
    succeed(one, "agent-sync")
    succeed(one, "agent-stop worker-1 --as @me", "agent-sync")
    look()
    look()
    assert states(shift.runs()) == [("worker-1", 1, "stopped")]
    assert "told to stop" in shift.lines[-1]


@pytest.mark.slow
def test_a_stop_in_its_own_clone_saves_once(one_and_other: tuple[Path, Shift]) -> None:
    _, shift = one_and_other
    look = begin(shift, WRITES)
    succeed(shift.repo, "agent-stop worker-1 --as @me")
    look()
    look()
    assert "told to stop" in shift.lines[-1]
