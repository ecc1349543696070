"""The file of an agent's presence: whole, or set aside; in the first folder that takes it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ghp_agents.hotpath import fastjson as quickjson
from ghp_agents.hotpath import presence_file as presencefile

SAID = {"status": "idle", "epoch": 1, "seq": 7, "local": {"session": "s"}}


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    return [str(tmp_path / "own"), str(tmp_path / "spare")]


def write(folders: list[str], record: object, agent: str = "worker-1") -> None:
    presences = [presencefile.presence(folder, agent) for folder in folders]
    presencefile.write(folders, presences, agent, quickjson.encode(record))


def files(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder, "agents").glob("[!.]*"))


def test_the_first_folder_is_written_and_read(folders: list[str]) -> None:
    write(folders, SAID)
    assert presencefile.newest(folders, "worker-1") == SAID
    assert presencefile.presence(folders[0], "worker-1") == SAID
    assert (files(folders[0]), files(folders[1])) == (["worker-1.json"], [])


def test_only_its_owner_can_read_it(folders: list[str]) -> None:
    write(folders, SAID)
    assert Path(folders[0], "agents/worker-1.json").stat().st_mode & 0o777 == 0o600


def test_the_furthest_on_of_two_folders_counts(folders: list[str]) -> None:
    write(folders, SAID)
    write(folders[1:], SAID | {"epoch": 2, "seq": 1})
    assert presencefile.newest(folders, "worker-1") == SAID | {"epoch": 2, "seq": 1}
    assert presencefile.newest(folders[::-1], "worker-1") == SAID | {"epoch": 2, "seq": 1}
    assert presencefile.newest(folders, "worker-2") is None


def test_where_the_first_folder_takes_nothing_the_next_one_does(folders: list[str]) -> None:
    Path(folders[0]).write_text("in the way")
    assert presencefile.hold(folders, "worker-1")[0] == 1
    write(folders, SAID)
    assert files(folders[1]) == ["worker-1.json"]


def test_where_no_folder_takes_anything_that_is_an_os_error(folders: list[str]) -> None:
    for folder in folders:
        Path(folder).write_text("in the way")
    assert presencefile.hold(folders, "worker-1") == (0, -1)
    with pytest.raises(OSError, match="own"):
        write(folders, SAID)


BAD = [
    b"", b'{"status": "idle", "epo', b"[]", b"{}", b'{"epoch": 1}', b'{"epoch": "1", "seq": 1}',
    b'{"epoch": 1, "seq": null}', b'{"epoch": true, "seq": 1}', b'{"epoch": 1.0, "seq": 1}',
    b"\xff",
]  # fmt: skip


@pytest.mark.parametrize("content", BAD)
def test_what_cannot_be_gone_on_from_is_set_aside_and_not_overwritten(
    folders: list[str], content: bytes
) -> None:
    path = Path(folders[0], "agents/worker-1.json")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert presencefile.newest(folders, "worker-1") is None
    write(folders, SAID)
    assert presencefile.newest(folders, "worker-1") == SAID
    assert path.with_name("worker-1.json.unreadable").read_bytes() == content


def test_a_folder_in_its_place_is_set_aside_too(folders: list[str]) -> None:
    Path(folders[0], "agents/worker-1.json/x").mkdir(parents=True)
    write(folders, SAID)
    assert presencefile.newest(folders, "worker-1") == SAID
    assert files(folders[0]) == ["worker-1.json", "worker-1.json.unreadable"]


@pytest.mark.parametrize(
    "local",
    ["x", 7, [], {"left": "x"}, {"session": 7}, {"started": 7}, {"space": 1}],
)
def test_a_hand_edited_memory_of_sessions_is_no_memory(folders: list[str], local: object) -> None:
    write(folders, SAID | {"local": local})
    assert presencefile.newest(folders, "worker-1") == {"status": "idle", "epoch": 1, "seq": 7}


def test_a_write_that_fails_leaves_nothing_of_itself(folders: list[str], tmp_path: Path) -> None:
    agents = Path(folders[0], "agents")
    (agents / "worker-1.json.unreadable/in the way").mkdir(parents=True)
    (agents / "worker-1.json/in the way").mkdir(parents=True)
    write(folders, SAID)
    assert files(folders[0]) == ["worker-1.json", "worker-1.json.unreadable"]
    assert files(folders[1]) == ["worker-1.json"]


def test_the_processes_of_one_agent_take_turns(folders: list[str]) -> None:
    order: list[str] = []
    number, held = presencefile.hold(folders, "worker-1")

    def other() -> None:
        _, mine = presencefile.hold(folders, "worker-1")
        order.append("second")
        os.close(mine)

    waiting = threading.Thread(target=other)
    waiting.start()
    _, another = presencefile.hold(folders, "worker-2")  # nobody waits for another agent
    os.close(another)
    order.append("first")
    os.close(held)
    waiting.join(timeout=10)
    assert (number, order) == (0, ["first", "second"])


def test_a_killed_process_keeps_nobody_waiting(folders: list[str]) -> None:
    code = "import os, sys; from ghp_agents.hotpath import presence_file as p; "
    code += "p.hold(sys.argv[1:], 'w'); "
    code += "print(flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, *folders], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout
        holder.stdout.readline()
        holder.kill()
    _, held = presencefile.hold(folders, "w")
    os.close(held)


def test_a_stopped_process_keeps_nobody_waiting_for_long(folders: list[str]) -> None:
    _, stopped = presencefile.hold(folders, "w")
    number, held = presencefile.hold(folders, "w", patience=0.05)
    assert (number, held >= 0) == (0, True)
    write(folders, SAID)
    assert presencefile.newest(folders, "worker-1") == SAID
    os.close(stopped)
    os.close(held)
