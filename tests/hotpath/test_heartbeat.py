"""A beat: what it writes, when it writes nothing, and what it leaves to the slow road."""

import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hotpath import fastjson as quickjson
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import own_name, process_start
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.hotpath.locate import locate
from ghp_agents.state import presence

NOW = 1_737_801_000.0
THEN = "2025-01-25T10:30:00Z"


class Desk:
    """One agent's folders."""

    def __init__(self, folder: Path) -> None:
        self.folders = [str(folder / "own"), str(folder / "spare")]

    def beat(self, now: float = NOW, /, **options: Any) -> str | None:
        fields: dict[str, Any] = {
            key: options.pop(key)
            for key in ("status", "issue", "generation", "lastAction", "branch")
            if key in options
        }
        return pulse.beat(self.folders, "worker-1", fields, now, **options)

    def begin(self, session: str | None = None, epoch: int = 1) -> None:
        assert self.beat(epoch=epoch, session=session) == "moved"

    @property
    def record(self) -> dict[str, Any]:
        presence = presencefile.newest(self.folders, "worker-1")
        assert presence is not None
        return presence


NO_PROCESS = 99_999_999  # above every limit of Linux


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# ------------------------------------------------------------------------------ what is written


def test_a_first_beat_writes_the_record_that_people_read(desk: Desk) -> None:
    fields = {"status": "testing", "issue": 147, "lastAction": "Ran the tests"}
    assert desk.beat(epoch=3, session="s-1", pid=NO_PROCESS, **fields) == "moved"
    assert quickjson.encode(desk.record).decode() == (
        '{"issue": 147, "status": "testing", "lastAction": "Ran the tests", '
        '"timestamp": "2025-01-25T10:30:00Z", "epoch": 3, "seq": 1, '
        '"startedAt": "2025-01-25T10:30:00Z", "lastProgress": "2025-01-25T10:30:00Z", '
        f'"session": "s-1", "local": {{"session": "s-1", "left": [], "pid": {NO_PROCESS}, '
        f'"space": {quickjson.encode(pulse.process_space()).decode().strip()}}}}}\n'
    )


def test_an_agent_that_nobody_knows_is_left_to_the_slow_road(desk: Desk) -> None:
    assert desk.beat(status="testing") is None
    assert presencefile.newest(desk.folders, "worker-1") is None


def test_the_claims_before_the_current_one_are_remembered(desk: Desk) -> None:
    desk.begin("s-1")
    for issue in range(1, 12):
        desk.beat(issue=issue, generation=issue + 100)
    assert list(desk.record["local"]["former"].items())[::7] == [("3", 103), ("10", 110)]
    desk.beat(issue=10, generation=200)
    assert list(desk.record["local"]["former"])[-2:] == ["9", "11"]
    desk.beat(issue=12)  # without a claim
    desk.beat(issue=None)
    desk.begin("s-2", epoch=2)
    assert list(desk.record["local"]["former"].items())[-2:] == [("11", 111), ("10", 200)]
    assert "former" not in presence.published(desk.record)


def test_each_beat_goes_one_further(desk: Desk) -> None:
    desk.begin()
    for seq in range(2, 6):
        assert desk.beat(NOW + 10 * seq) == "beat"
        assert (desk.record["epoch"], desk.record["seq"]) == (1, seq)


def test_a_beat_says_what_changed_and_keeps_the_rest(desk: Desk) -> None:
    desk.begin()
    desk.beat(status="testing", issue=147, lastAction="Ran the tests")
    before = desk.record
    assert desk.beat(NOW + 60, lastAction="Ran them again") == "beat"
    assert desk.record == before | {
        "lastAction": "Ran them again",
        "seq": before["seq"] + 1,
        "timestamp": "2025-01-25T10:31:00Z",
    }


def test_a_field_from_a_newer_version_stays(desk: Desk) -> None:
    desk.begin()
    newer = desk.record | {"mood": {"now": ["calm", 1.5, None, True]}}
    presences = [presencefile.presence(folder, "worker-1") for folder in desk.folders]
    presencefile.write(desk.folders, presences, "worker-1", quickjson.encode(newer))
    desk.beat(NOW + 60, status="done")
    assert desk.record["mood"] == {"now": ["calm", 1.5, None, True]}


def test_progress_is_when_something_was_said_to_be_achieved(desk: Desk) -> None:
    desk.begin()
    desk.beat(NOW + 60)
    assert desk.record["lastProgress"] == THEN
    desk.beat(NOW + 120, progress=True)
    assert desk.record["lastProgress"] == "2025-01-25T10:32:00Z"
    desk.beat(NOW + 180, status="testing")
    assert desk.record["lastProgress"] == "2025-01-25T10:33:00Z"


def test_the_generation_of_a_claim_stays_as_long_as_the_issue_does(desk: Desk) -> None:
    desk.begin()
    desk.beat(issue=12, generation=3)
    desk.beat(NOW + 1, status="testing", issue=12)
    assert (desk.record["issue"], desk.record["generation"]) == (12, 3)
    desk.beat(NOW + 2, issue=13)
    assert "generation" not in desk.record
    desk.beat(NOW + 3, issue=14, generation=1)
    assert desk.record["generation"] == 1
    desk.beat(NOW + 4, issue=None)
    assert "generation" not in desk.record


def test_an_agent_that_named_a_wrong_issue_has_its_claim_again_with_the_right_one(
    desk: Desk,
) -> None:
    desk.begin()
    desk.beat(issue=12, generation=3)
    desk.beat(NOW + 1, issue=13)
    assert "generation" not in desk.record
    desk.beat(NOW + 2, issue=12)
    assert (desk.record["issue"], desk.record["generation"]) == (12, 3)
    desk.beat(NOW + 3, issue=13)
    desk.beat(NOW + 4, issue=12, generation=7)
    assert desk.record["generation"] == 7


def test_another_status_or_issue_is_a_move_and_an_action_is_none(desk: Desk) -> None:
    desk.begin()
    assert desk.beat(NOW, status="testing") == "moved"
    assert desk.beat(NOW, issue=7) == "moved"
    assert desk.beat(NOW, status="testing", issue=7, lastAction="x") == "beat"
    assert desk.beat(NOW, issue=None) == "moved"


# ------------------------------------------------------------------------------ the throttle


def test_a_beat_that_says_nothing_new_writes_nothing_for_a_while(desk: Desk) -> None:
    desk.begin()
    before = desk.record
    assert [desk.beat(NOW + after) for after in (0, 1, 4)] == ["quiet"] * 3
    assert desk.record == before
    assert desk.beat(NOW + 5) == "beat"
    assert desk.beat(NOW + 9, throttle=60) == "quiet"


@pytest.mark.parametrize(
    "fields", [{"status": "testing"}, {"issue": 7}, {"lastAction": "x"}, {"branch": "b"}]
)
def test_news_are_written_at_once(desk: Desk, fields: dict[str, Any]) -> None:
    desk.begin()
    assert desk.beat(NOW + 1, **fields) in ("moved", "beat")
    assert desk.beat(NOW + 2, **fields) == "quiet"


def test_progress_is_news_unless_there_was_some_just_now(desk: Desk) -> None:
    desk.begin()
    desk.beat(NOW + 60)
    assert desk.beat(NOW + 61, progress=True) == "beat"
    assert desk.beat(NOW + 62, progress=True) == "quiet"


def test_a_clock_that_was_set_back_silences_nobody(desk: Desk) -> None:
    desk.begin()
    assert desk.beat(NOW - 3_600) == "beat"
    assert desk.record["timestamp"] == "2025-01-25T09:30:00Z"


# ------------------------------------------------------------------------------ sessions


def test_a_session_that_was_never_here_is_left_to_the_slow_road(desk: Desk) -> None:
    desk.begin("one")
    assert desk.beat(NOW + 60, session="two") is None
    assert desk.record["session"] == "one"


def test_a_new_session_begins_again_above(desk: Desk) -> None:
    desk.begin("one")
    desk.beat(NOW + 60)
    assert desk.beat(NOW + 120, session="two", epoch=2, status="idle") == "moved"
    record = desk.record
    assert (record["epoch"], record["seq"], record["session"]) == (2, 1, "two")
    assert (record["startedAt"], record["local"]["left"]) == ("2025-01-25T10:32:00Z", ["one"])


def test_two_first_beats_of_a_session_begin_once(desk: Desk) -> None:
    # Two tool calls at once: each found no presence, each comes with the epoch it found.
    assert desk.beat(epoch=1, session="one", status="idle") == "moved"
    assert desk.beat(NOW + 1, epoch=1, session="one", lastAction="x") == "beat"
    assert (desk.record["epoch"], desk.record["seq"]) == (1, 2)


def test_a_position_never_goes_back(desk: Desk) -> None:
    desk.begin("one", epoch=4)
    assert desk.beat(NOW + 60, epoch=2, session="two") == "moved"
    assert (desk.record["epoch"], desk.record["seq"]) == (5, 1)


def test_a_resumed_session_goes_on(desk: Desk) -> None:
    desk.begin("one")
    desk.beat(NOW + 60, session="two", epoch=2)
    assert desk.beat(NOW + 120, session="one") == "beat"
    assert (desk.record["session"], desk.record["local"]["left"]) == ("one", ["two"])


def test_a_process_that_goes_on_under_another_session_is_the_same_agent(desk: Desk) -> None:
    desk.beat(epoch=1, session="one", status="idle", pid=os.getpid())
    assert desk.beat(NOW + 60, session="two", pid=os.getpid()) == "beat"
    assert (desk.record["session"], desk.record["epoch"]) == ("two", 1)
    desk.beat(NOW + 120, status="stopped")
    assert desk.beat(NOW + 180, session="three", pid=os.getpid()) is None  # another life


def test_a_shell_that_knows_only_the_process_beats_for_its_session(desk: Desk) -> None:
    desk.beat(epoch=1, session="one", status="idle", pid=os.getpid())
    shell = process_start.key(os.getpid())
    assert desk.beat(NOW + 60, session=shell) == "beat"
    assert (desk.record["session"], desk.record["local"]["session"]) == ("one", "one")


def test_only_the_last_sessions_are_remembered(desk: Desk) -> None:
    desk.begin("s-0")
    for number in range(1, 30):
        desk.beat(NOW + 60 * number, session=f"s-{number}", epoch=number + 1)
    assert desk.record["local"]["left"] == ["s-26", "s-27", "s-28"]


def test_a_shell_without_a_session_goes_on_with_the_one_that_is_there(desk: Desk) -> None:
    desk.begin("one")
    assert desk.beat(NOW + 60) == "beat"
    assert (desk.record["session"], desk.record["local"]["session"]) == ("one", "one")
    nobody = Desk(Path(desk.folders[0]) / "x")
    nobody.begin()
    assert nobody.beat(NOW + 60, session="two") == "beat"
    assert nobody.record["local"]["session"] == "two"


# ------------------------------------------------------------------------------ files


def test_a_torn_file_is_kept_and_the_agent_begins_again(desk: Desk) -> None:
    desk.begin()
    path = Path(desk.folders[0], "agents/worker-1.json")
    path.write_bytes(path.read_bytes()[:40])
    assert desk.beat(NOW + 60) is None
    assert desk.beat(NOW + 60, epoch=2) == "moved"
    assert path.with_name(path.name + ".unreadable").stat().st_size == 40
    assert desk.beat(NOW + 120) == "beat"


def test_a_sandbox_beats_in_the_spare_folder_and_the_clone_goes_on_from_there(desk: Desk) -> None:
    desk.begin()
    own = Path(desk.folders[0])
    own.rename(own.with_name("away"))
    own.write_text("no folder")
    assert desk.beat(NOW + 60) is None, "the sandbox sees no presence of its own yet"
    desk.beat(NOW + 60, epoch=2)
    assert desk.beat(NOW + 120) == "beat"
    own.unlink()
    own.with_name("away").rename(own)
    assert desk.beat(NOW + 180) == "beat"
    assert (desk.record["epoch"], desk.record["seq"]) == (2, 3)
    assert presencefile.presence(desk.folders[0], "worker-1") == desk.record


def test_where_nothing_can_be_written_that_is_an_os_error(desk: Desk) -> None:
    for folder in desk.folders:
        Path(folder).write_text("no folder")
    with pytest.raises(OSError, match="own"):
        desk.beat(epoch=1)


# ------------------------------------------------------------------------------ names and places


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"GHP_AGENT": "worker-1", "CLAUDE_CODE_SESSION_ID": "x"}, "worker-1"),
        ({"CLAUDE_CODE_SESSION_ID": "0b9f-77aa-3f9a"}, "claude-3f9a"),
        ({"CODEX_THREAD_ID": "0b9f77aa3F9A"}, "codex-3f9a"),
        ({"GEMINI_SESSION_ID": "zzz"}, "gemini-3312"),
        ({"GHP_SESSION": "…"}, "agent-2026"),
        ({"GHP_AGENT": "", "CLAUDE_CODE_SESSION_ID": ""}, None),
        ({}, None),
    ],
)
def test_who_this_is(repo: Path, environ: dict[str, str], name: str | None) -> None:
    place = locate(str(repo), {})
    assert place is not None
    assert own_name.whoami(place, environ) == name


def test_a_worktrees_own_name_wins_over_its_session(repo: Path) -> None:
    place = locate(str(repo), {})
    assert place is not None
    (repo / ".git/ghp-agent").write_text(" worker-7\n")
    assert own_name.whoami(place, {"CLAUDE_CODE_SESSION_ID": "x"}) == "worker-7"
    assert own_name.whoami(place, {"GHP_AGENT": "worker-1"}) == "worker-1"


@pytest.mark.parametrize(
    ("environ", "pid"),
    [
        ({"GHP_AGENT_PID": "7", "CLAUDE_PID": "8"}, 7),
        ({"CLAUDE_PID": "8"}, 8),
        ({"CLAUDE_PID": "x"}, None),
        ({"CLAUDE_PID": "-1"}, None),
        ({"CLAUDE_PID": "٣"}, None),
        ({"CLAUDE_PID": "9" * 30}, None),
        ({}, None),
    ],
)
def test_the_process_of_an_agent_is_told_by_a_number(
    environ: dict[str, str], pid: int | None
) -> None:
    assert pulse.agent_pid(environ) == pid


def test_what_surrounds_a_beat_can_be_printed_whatever_it_is_called(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9\x1b[31m")
    Path(folder, ".git/objects").mkdir(parents=True)
    Path(folder, ".git/refs").mkdir()
    Path(folder, ".git/HEAD").write_bytes(b"ref: refs/heads/caf\xe9\n")
    place = locate(folder, {})
    assert place is not None
    assert pulse.surroundings(place) == {"branch": "caf\ufffd", "worktree": "caf\ufffd\ufffd[31m"}
    assert pulse.session({"GHP_SESSION": "a\x1bb\udcff"}) == ("agent", "a\ufffdb\ufffd")


def test_the_spare_folder_is_one_for_each_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    one = pulse.spare_folder(str(tmp_path), {"HOME": "/home/x"})
    assert one.startswith("/home/x/.local/state/ghp/")
    assert len(one.rpartition("/")[2]) == 16
    assert pulse.spare_folder(str(tmp_path / "link"), {"HOME": "/home/x"}) == one
    assert pulse.spare_folder("/other", {"HOME": "/home/x"}) != one
    name = one.rpartition("/")[2]
    for environ, base in (
        ({"XDG_STATE_HOME": "/state", "HOME": "/home/x"}, "/state"),
        ({"GHP_STATE_DIR": "/mine", "XDG_STATE_HOME": "/state"}, "/mine"),
        ({"GHP_STATE_DIR": "mine"}, str(tmp_path / "mine")),
    ):
        assert pulse.spare_folder(str(tmp_path), environ) == f"{base}/ghp/{name}"
