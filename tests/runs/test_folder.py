"""The folders of runs: their records, and logs that stay small."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.runs import folder
from ghp_agents.runs.folder import LogReader
from ghp_agents.runs.record import ENDED
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.runs import RUN


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, {}, ManualClock())


@pytest.fixture
def place(ws: Workspace) -> Path:
    folder.write(ws, RUN)
    return folder.of(ws, RUN.id)


def test_records_are_found_again_and_only_their_user_can_read_them(
    ws: Workspace, place: Path
) -> None:
    assert folder.read_all(ws) == [RUN]
    assert place.stat().st_mode & 0o077 == 0


def test_what_is_no_record_hides_no_other(ws: Workspace, place: Path) -> None:
    (place.parent / "ffffffffffff").mkdir()
    (place.parent / "ffffffffffff/run.json").write_text("{")
    (place.parent / "other").symlink_to(place)
    assert folder.read_all(ws) == [RUN]


def test_without_runs_there_is_nothing(ws: Workspace) -> None:
    assert folder.read_all(ws) == []


def test_of_many_ended_runs_the_last_of_each_issue_stay(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MOST_ENDED", 3)
    for n in range(6):
        issue = 1 if n < 5 else 2
        folder.write(ws, RUN._replace(id=f"{n:012}", issue=issue, at=f"{n}", state=ENDED))
    folder.write(ws, RUN._replace(id="f" * 12, at="0"))
    folder.forget_oldest(ws)
    assert [run.id[-1] for run in folder.read_all(ws)] == ["f", "3", "4", "5"]


def test_whole_lines_are_read_as_they_come(place: Path) -> None:
    reader = LogReader(place)
    assert [*reader.lines()] == []
    log = (place / "log").open("a")
    log.write("one\ntw")
    log.flush()
    assert [*reader.lines()] == ["one"]
    log.write("o\nthree")
    log.close()
    assert ([*reader.lines()], reader.last(), reader.last()) == (["two"], "three", "")


def test_a_log_that_grows_too_long_begins_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "LOG_LIMIT", 100)
    monkeypatch.setattr(folder, "LOG_KEPT", 25)
    with (place / "log").open("ab", buffering=0) as log:  # as a client has it open
        log.write(b"x" * 90 + b"\n")
        reader = LogReader(place)
        assert len([*reader.lines()]) == 1
        assert not folder.rotate(place)
        log.write(b"0123456789\n0123456789\n0123456789\n")
        assert folder.rotate(place)
        log.write(b"new\n")
    assert (place / "log").read_bytes() == b"new\n"
    assert (place / "log.1").read_bytes() == b"0123456789\n0123456789\n"
    assert [*reader.lines()] == ["new"]


def test_all_lines_of_a_long_log_are_read_before_it_is_cut(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "LOG_LIMIT", 10_000)
    monkeypatch.setattr(folder, "LOG_KEPT", 100)
    monkeypatch.setattr(folder, "READ_AT_ONCE", 64)
    reader = LogReader(place)
    (place / "log").write_text("".join(f"{n}\n" for n in range(4_000)))
    assert [*reader.lines()] == [str(n) for n in range(4_000)]
    assert folder.rotate(place)
    reader.begin_again()
    (place / "log").write_text("x" * 20_000 + "\n")  # longer than what was read before
    assert [len(line) for line in reader.lines()] == [
        160
    ]  # of a line without end, the last two parts


def test_an_agent_has_one_supervisor(ws: Workspace) -> None:
    with folder.alone(ws, "worker-1"), folder.alone(ws, "worker-2"):
        with pytest.raises(RefusedError) as refused, folder.alone(ws, "worker-1"):
            pass
        assert "supervises worker-1" in str(refused.value)
    with folder.alone(ws, "worker-1"):
        pass


def test_an_exit_code_is_a_number(place: Path) -> None:
    assert folder.exit_code(place) is None
    (place / "exit").write_text("143\n")
    assert folder.exit_code(place) == 143
    (place / "exit").write_text("oops")
    assert folder.exit_code(place) is None


def test_what_was_refused_is_read_without_control_characters(tmp_path: Path) -> None:
    assert folder.refused(tmp_path) == []
    (tmp_path / "refused").write_bytes(b"Bash: rm x: no\nWrite: \x1b[31m\xff: no\n")
    assert folder.refused(tmp_path) == ["Bash: rm x: no", "Write: �[31m�: no"]
