"""The processes of a run: one group that outlives its supervisor, and nothing left afterwards."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.core import running
from ghp_agents.core.clock import SystemClock
from ghp_agents.core.process import Child
from ghp_agents.hotpath.background import RUN as MARK
from ghp_agents.runs import folder, processes
from ghp_agents.runs.record import RunRecord
from tests.support.runs import RUN, ended
from tests.support.waiting import until

Start = Callable[..., tuple[RunRecord, Child]]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def start(place: Path) -> Iterator[Start]:
    children: list[tuple[str, Child]] = []

    def begin(*command: str) -> tuple[RunRecord, Child]:
        run = RUN._replace(path=str(place), id=os.urandom(6).hex())
        env = processes.environment(os.environ, run, place / "prompt.md", ())
        child = processes.start(command, run, place, env)
        children.append((run.id, child))
        return run._replace(pid=child.pid, started=running.identity(child.pid) or ""), child

    yield begin
    for id, child in children:
        processes.end_rest(id)
        child.kill()


def printed(place: Path) -> None:
    until(lambda: folder.log_size(place))


@pytest.mark.slow
def test_the_exit_code_is_kept_for_any_supervisor(start: Start, place: Path) -> None:
    run, _ = start("sh", "-c", "echo out; echo err >&2; exit 7")
    ended(place)
    assert folder.exit_code(place) == 7
    assert sorted((place / "log").read_text().split()) == ["err", "out"]
    assert processes.lives(run)  # until its supervisor knows
    processes.end(run, SystemClock().wait)
    assert not processes.lives(run)


def test_no_shell_reads_the_words(start: Start, place: Path) -> None:
    words = "$(touch a)", "`touch b`", "; touch c", "$0", "'", ""
    start("printf", "%s\n", *words)
    ended(place)
    assert (place / "log").read_text().split("\n")[:-1] == list(words)
    assert not {"a", "b", "c"} & {path.name for path in place.iterdir()}


def test_a_missing_program_is_an_exit_code(start: Start, place: Path) -> None:
    start("/no/such/program")
    ended(place)
    assert folder.exit_code(place) == 127


@pytest.mark.slow
def test_a_client_that_is_told_to_end_says_how_it_ended(start: Start, place: Path) -> None:
    run, _ = start("sh", "-c", "trap 'exit 5' TERM; echo on; while :; do sleep 0.01; done")
    printed(place)
    assert processes.lives(run)
    processes.end(run, SystemClock().wait)
    assert not processes.lives(run)
    assert folder.exit_code(place) == 5


@pytest.mark.slow
def test_nothing_is_left_of_a_client_that_hides(start: Start, place: Path) -> None:
    run, _ = start("sh", "-c", "setsid sleep 1000 & trap '' TERM; echo on; sleep 1000")
    printed(place)
    assert len(processes.marked(run.id)) >= 3
    processes.end(run, SystemClock().wait)
    assert processes.marked(run.id) == []


@pytest.mark.slow
def test_what_a_client_leaves_behind_is_killed(start: Start, place: Path) -> None:
    run, _ = start("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & exit 0")
    ended(place)
    processes.end(run, SystemClock().wait)
    assert processes.marked(run.id) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps orphans as descendants")
def test_a_process_that_left_group_session_parent_and_mark_ends_with_its_run(
    start: Start, place: Path
) -> None:
    """Without a sandbox: the leader of the run gets it when its parents have ended."""
    hides = f"(env -u {MARK} setsid sh -c 'echo $$; exec sleep 1000' &) >pid; exit 3"
    run, _ = start("sh", "-c", hides)
    ended(place)
    until(lambda: (place / "pid").read_text().endswith("\n"))
    orphan = int((place / "pid").read_text())
    assert processes.marked(run.id) != []
    assert orphan not in processes.marked(run.id)
    assert running.identity(orphan)
    processes.end(run, SystemClock().wait)
    assert not running.identity(orphan)


@pytest.mark.slow
def test_it_is_killed_also_where_a_process_has_no_handle(
    start: Start, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    run, _ = start("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & exit 0")
    ended(place)
    processes.end(run, SystemClock().wait)
    until(lambda: not processes.marked(run.id))


def test_a_process_that_got_the_number_later_is_not_ended(start: Start) -> None:
    run, child = start("sleep", "1000")
    processes.end(run._replace(started="another boot 1", id="f" * 12), SystemClock().wait)
    assert child.poll() is None


def test_the_environment_has_no_secrets_but_those_that_the_client_needs(place: Path) -> None:
    environ = {
        "PATH": "/bin", "GITHUB_TOKEN": "t", "GH_TOKEN": "t", "SSH_AUTH_SOCK": "/s",
        "ANTHROPIC_API_KEY": "k", "DB_PASSWORD": "p",
    }  # fmt: skip
    env = processes.environment(environ, RUN, place / "prompt.md", ("ANTHROPIC_API_KEY",))
    assert env == {
        "PATH": "/bin", "ANTHROPIC_API_KEY": "k", "GHP_AGENT": "worker-1", MARK: RUN.id,
        "GHP_PROMPT_FILE": f"{place}/prompt.md", "PWD": "/tmp/tree",
    }  # fmt: skip
    assert processes.is_run(env)
    assert not processes.is_run(environ)
