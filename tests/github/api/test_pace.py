"""The pace of writes: one at a time, a second apart, and never too many in an hour."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.core import files
from ghp_agents.core.errors import ExitCode
from ghp_agents.github.api.errors import LimitError
from ghp_agents.github.api.pace import HOUR, MOST_IN_AN_HOUR, Pace
from ghp_agents.github.api.rate_limit import Deadline, Waits
from tests.support.clock import ManualClock
from tests.support.house import CHECKOUT

# A process with a clock of its own that stands still but for its own waits, as a frozen one would:
# only the file can tell it that others wrote.
WRITE = """
import sys
from pathlib import Path
from tests.support.clock import ManualClock
from ghp_agents.github.api.pace import Pace
from ghp_agents.github.api.rate_limit import Deadline, Waits

folder = Path(sys.argv[1])
sys.stdin.readline()
for _ in range(5):
    clock = ManualClock(float((folder / "now").read_text()))
    with Pace([folder], clock).turn(Deadline(clock, 60)):
        with (folder / "log").open("a") as log:
            log.write(f"{clock.now()}\\n")
        (folder / "now").write_text(repr(clock.now()))
"""


def write(folder: Path, clock: ManualClock, seconds: float = 30.0) -> float:
    with Pace([folder], clock).turn(Deadline(clock, seconds)):
        return clock.now()


def test_a_write_comes_a_second_after_the_last_one_of_anybody(tmp_path: Path) -> None:
    clock = ManualClock(1_000.0)
    times = [write(tmp_path, clock) for _ in range(3)]
    clock.wait(0.4)
    times.append(write(tmp_path, clock))
    clock.wait(5.0)
    times.append(write(tmp_path, clock))
    assert times == [1_000.0, 1_001.0, 1_002.0, 1_003.0, 1_008.0]


def test_a_second_counts_from_the_end_of_a_write(tmp_path: Path) -> None:
    clock = ManualClock(1_000.0)
    with Pace([tmp_path], clock).turn(Deadline(clock, 30)):
        clock.wait(10.0)
    assert write(tmp_path, clock) == 1_011.0


def test_a_write_that_failed_counts_too(tmp_path: Path) -> None:
    clock = ManualClock(1_000.0)
    with pytest.raises(KeyError), Pace([tmp_path], clock).turn(Deadline(clock, 30)):
        raise KeyError
    assert write(tmp_path, clock) == 1_001.0


def test_a_clock_that_was_set_back_waits_no_longer_than_a_second(tmp_path: Path) -> None:
    write(tmp_path, ManualClock(9_000.0))
    assert write(tmp_path, ManualClock(1_000.0)) == 1_001.0


def test_a_broken_or_missing_time_is_none(tmp_path: Path) -> None:
    (tmp_path / "written").write_text("yesterday")
    assert write(tmp_path, ManualClock(1_000.0)) == 1_000.0


@pytest.mark.slow
def test_processes_take_turns_a_second_apart(tmp_path: Path) -> None:
    (tmp_path / "now").write_text("1000.0")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(tmp_path)], stdin=subprocess.PIPE, cwd=CHECKOUT
        )
        for _ in range(4)
    ]
    for process in processes:
        process.communicate(b"go\n", timeout=120)
    assert [process.returncode for process in processes] == [0] * 4
    times = [float(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(times) == 20
    assert all(later - earlier >= 1.0 for earlier, later in itertools.pairwise(times))


def test_who_waits_too_long_for_the_others_sends_nothing_and_says_so(tmp_path: Path) -> None:
    clock = ManualClock()
    with files.locked(tmp_path / "write.lock"), pytest.raises(LimitError) as caught:
        write(tmp_path, clock, seconds=0.1)
    assert caught.value.exit_code is ExitCode.UNKNOWN
    assert str(caught.value).startswith(
        "Nothing was sent to GitHub: one process writes at a time. Another process has held"
    )
    assert caught.value.hint == "Try again when the other process has finished."


def test_who_has_less_time_than_the_pace_sends_nothing(tmp_path: Path) -> None:
    clock = ManualClock(1_000.0)
    write(tmp_path, clock)
    with pytest.raises(LimitError) as caught:
        write(tmp_path, clock, seconds=0.5)
    assert str(caught.value) == (
        "Nothing was sent to GitHub: other changes are sent first, one a second."
    )
    assert clock.now() == 1_000.0
    assert Pace([tmp_path], clock).in_last_hour() == 1


def test_waiting_for_other_processes_counts_among_the_waits_of_a_command(tmp_path: Path) -> None:
    clock, waits = ManualClock(1_000.0), Waits(30.0)
    deadline = Deadline(clock, 30.0, waits)
    assert deadline.patience == 30.0
    deadline.spend(29.5)
    deadline.spend(-5.0)  # the clock was set back
    assert (waits.left, Deadline(clock, 30.0, waits).patience) == (0.5, 0.5)
    with Pace([tmp_path], clock).turn(deadline):
        clock.wait(3.0)  # the write itself
    assert waits.left == 0.5


def test_where_there_can_be_no_lock_writes_go_on_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert write(tmp_path / "file", ManualClock(1_000.0)) == 1_000.0


@pytest.mark.slow
def test_an_hours_writes_leave_room_for_the_person(tmp_path: Path) -> None:
    clock = ManualClock(1_000.0)
    for _ in range(MOST_IN_AN_HOUR):
        write(tmp_path, clock)
    pace = Pace([tmp_path], clock)
    assert pace.in_last_hour() == MOST_IN_AN_HOUR
    with pytest.raises(LimitError) as caught:
        write(tmp_path, clock)
    assert caught.value.until == 1_000.0 + HOUR
    assert str(caught.value) == (
        "This machine sent 450 changes to GitHub within an hour. GitHub allows 500 in an hour; the "
        "rest is left for the account's person. The next may be sent in 52 min."
    )
    clock.wait(caught.value.until - clock.now())
    assert write(tmp_path, clock) == 1_000.0 + HOUR


def test_clones_of_one_machine_share_the_pace_of_a_token(tmp_path: Path) -> None:
    clock, machine = ManualClock(1_000.0), tmp_path / "machine"
    one, two = (Pace([machine, tmp_path / name], clock) for name in ("one", "two"))
    for pace, at in ((one, 1_000.0), (two, 1_001.0), (one, 1_002.0)):
        with pace.turn(Deadline(clock, 30)):
            assert clock.now() == at
    assert (one.in_last_hour(), two.in_last_hour()) == (3, 3)


def test_where_the_machines_folder_cannot_be_written_the_clone_has_a_pace(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    clock = ManualClock(1_000.0)
    pace = Pace([tmp_path / "file" / "machine", tmp_path / "clone"], clock)
    with pace.turn(Deadline(clock, 30)):
        pass
    assert (tmp_path / "clone" / "written").read_text() == "[1000.0]"
