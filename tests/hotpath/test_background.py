"""Work in the background is started when there is reason to, once, and never holds anybody up."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from ghp_agents.hotpath import background

NOW = 1_750_000_000.0


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A named pipe: who reads it waits for the program that was started, and reads its words."""
    log = tmp_path / "started"
    os.mkfifo(log)
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\necho "$@" > {log}\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    return log


def wake(
    folder: Path,
    now: float = NOW,
    *,
    urgent: bool = False,
    pause: float = background.SPAWN_PAUSE,
    environ: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
) -> bool:
    variables = environ or {"PATH": os.environ["PATH"]}
    return background.start_sync(
        [str(folder)], variables, now, settings or {}, urgent=urgent, pause=pause
    )


def stamp(folder: Path, name: str, when: float) -> None:
    path = folder / "cache" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (when, when))


def test_a_fold_that_is_due_is_started_detached(tmp_path: Path, started: Path) -> None:
    assert wake(tmp_path)
    assert started.read_text() == "-P -m ghp_agents agent-sync --background\n"


def test_it_is_started_once_however_many_beat(tmp_path: Path, started: Path) -> None:
    assert [wake(tmp_path), wake(tmp_path), wake(tmp_path, urgent=True)] == [True, False, False]
    assert wake(tmp_path, NOW + 1.9) is False
    started.read_text()
    assert wake(tmp_path, NOW + 2.1)
    started.read_text()


def test_a_record_starts_it_before_it_is_due_and_a_process_in_the_background_only_sees_it(
    tmp_path: Path, started: Path
) -> None:
    stamp(tmp_path, "due", NOW + 30)
    environ = {"PATH": os.environ["PATH"]}
    background.ring([str(tmp_path)], environ, NOW, {})
    assert started.read_text() == "-P -m ghp_agents agent-sync --background\n"
    seen = background.rung_at([str(tmp_path)])
    background.ring([str(tmp_path)], {background.SPAWNED: "1"}, NOW + 60, {})
    assert background.rung_at([str(tmp_path)]) > seen > 0
    background.ring([str(tmp_path)], {"GHP_BACKGROUND": "0"}, NOW + 60, {})
    assert (tmp_path / "cache/started").stat().st_mtime == NOW


def test_what_a_record_started_begins_when_its_command_was_killed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = (
        "import os, signal, sys; from ghp_agents.hotpath import background; "
        f"background.spawn(['/bin/sh', '-c', 'cat; echo ended > {pipe}'], {{}}, waits=True); "
        "print(flush=True); signal.pause()"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    )
    assert command.stdout is not None
    command.stdout.readline()
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert not select.select([reader], [], [], 0)[0]
    os.killpg(command.pid, signal.SIGKILL)
    assert select.select([reader], [], [], 20)[0]
    assert os.read(reader, 10) == b"ended\n"
    os.close(reader)
    command.stdout.close()
    assert command.wait() == -signal.SIGKILL


def test_before_it_is_due_only_what_is_urgent_starts_it(tmp_path: Path, started: Path) -> None:
    stamp(tmp_path, "due", NOW + 30)
    assert not wake(tmp_path)
    assert wake(tmp_path, urgent=True)
    started.read_text()
    assert wake(tmp_path, NOW + 31)
    started.read_text()


@pytest.mark.parametrize("name", ["due", "started"])
def test_a_clock_that_was_set_back_stops_nothing(tmp_path: Path, started: Path, name: str) -> None:
    stamp(tmp_path, name, NOW + 86_400)
    assert wake(tmp_path)
    started.read_text()


def test_a_person_can_turn_it_off(tmp_path: Path) -> None:
    assert not wake(tmp_path, urgent=True, environ={"GHP_BACKGROUND": "0"})
    assert not wake(tmp_path, urgent=True, settings={"background": False})
    assert not (tmp_path / "cache").exists()


def test_where_nothing_can_be_written_or_started_nothing_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    assert not wake(tmp_path / "file", urgent=True)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert not wake(tmp_path, urgent=True)


def test_what_is_started_holds_none_of_our_pipes(tmp_path: Path) -> None:
    # Else a hook's caller would wait for the end of its output for as long as the fold takes.
    release = tmp_path / "release"
    os.mkfifo(release)
    code = (
        "import os, sys; from ghp_agents.hotpath import background; "
        f"background.spawn(['/bin/sh', '-c', 'read x < {release}'], dict(os.environ))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, capture_output=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    release.write_text("go\n")


def test_runs_and_the_background_work_for_nobody_who_waits() -> None:
    assert [background.leaves_to_people({name: "1"}) for name in ("GHP_RUN", "GHP_SPAWNED")] == [
        True, True,
    ]  # fmt: skip
    assert not background.leaves_to_people({"PATH": "/bin"})
