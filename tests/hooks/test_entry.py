"""The hook's command, as clients call it: whatever comes in, the agent goes on.

A process of its own each time: what counts is its exit code and what it prints.
"""

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.hooks.entry import CLIENTS
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.hooks import SILENT, Hooked, call, context, log, payload, presence, set_up, write
from tests.support.house import CHECKOUT
from tests.support.thorough import mostly_slow

NO_EVENTS = {
    "nothing": b"",
    "blank": b" \n\t",
    "text": b"Do it.",
    "half an object": b'{"hook_event_name": "PreToolUse", "cwd": "/',
    "two objects": b"{}{}",
    "no UTF-8": b'{"cwd": "\xff\xfe"}',
    "a list": b'["PreToolUse"]',
    "a number": b"7",
    "null": b"null",
    "NUL": b"\0\0\0",
    "a byte order mark": b'\xef\xbb\xbf{"hook_event_name": "Stop"}',
    "depth": b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "NaN": b'{"hook_event_name": NaN}',
}


@pytest.mark.parametrize("what", NO_EVENTS)
def test_what_is_no_event_is_left_alone(repo: Path, what: str) -> None:
    set_up(repo)
    assert call("claude", NO_EVENTS[what], repo) == SILENT


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_no_json_is_in_the_log_of_every_client(repo: Path, client: str) -> None:
    set_up(repo)
    assert call(client, b"no JSON", repo) == SILENT
    (entry,) = log(repo)
    assert set(entry) == {"at", "where", "error", "trace"}
    assert entry["where"] == f"hook {client}"
    assert entry["error"] == "OddInputError: The event (7 bytes) is not JSON: not JSON"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "message",
    [
        {},
        {"hook_event_name": "NeverHeardOf"},
        {"hook_event_name": 7, "session_id": 7, "cwd": 7},
        {"hook_event_name": None, "session_id": None, "cwd": None, "tool_calls": None},
    ],
)
@pytest.mark.sample(10)
def test_an_event_that_is_not_known_is_left_alone(
    repo: Path, client: str, message: dict[str, object]
) -> None:
    set_up(repo)
    assert call(client, message, repo) == SILENT
    assert log(repo) == []


@pytest.mark.parametrize("client", ["", "claud", "--help", "../claude", "claude\n"])
def test_a_client_that_is_not_known_is_left_alone(repo: Path, client: str) -> None:
    set_up(repo)
    assert call(client, payload("claude-Stop", repo), repo) == SILENT
    assert [entry["error"] for entry in log(repo)] == [
        f"OddInputError: No hooks exist for the client {client!r}."
    ]


EVENTS = (
    "UserPromptSubmit", "SessionStart-startup", "PreToolUse-Write", "PostToolBatch", "Stop",
    "PreCompact", "SessionEnd",
)  # fmt: skip
FIELDS = ("session_id", "cwd", "tool_name", "tool_input", "tool_calls", "stop_hook_active")


@pytest.mark.parametrize("event", mostly_slow(EVENTS, every=7))
def test_fields_may_be_missing_or_something_else(repo: Path, event: str) -> None:
    set_up(repo)
    whole = payload(f"claude-{event}", repo)
    for field in FIELDS:
        for message in (
            {key: value for key, value in whole.items() if key != field},
            whole | {field: [None, {"x": 1}]},
        ):
            done = call("claude", message, repo)
            assert (done.code, done.err) == (0, b"")
            assert done.out == b"" or set(done.said) == {"hookSpecificOutput"}
    assert log(repo) == []


@pytest.mark.slow
def test_an_event_of_50_mb_is_decided_as_any_other(repo: Path) -> None:
    set_up(repo)
    content = "x" * 50_000_000
    given = {"file_path": str(repo / "a"), "content": content}
    assert call("claude", payload("claude-PreToolUse-Write", repo, tool_input=given), repo) == (
        SILENT
    )
    assert (repo / ".git/ghp/touched").is_dir()  # it was decided
    assert call("claude", b"[" + b"1," * 25_000_000, repo) == SILENT
    assert [entry["error"][:45] for entry in log(repo)] == [
        "OddInputError: The event (50000001 bytes) is "
    ]


@pytest.mark.slow
def test_more_than_is_looked_at_is_taken_all_the_same(repo: Path) -> None:
    set_up(repo)
    whole = b'{"a": "' + b"x" * 130_000_000 + b'"}'
    assert call("claude", whole, repo) == SILENT
    (entry,) = log(repo)
    assert entry["error"] == (
        "OddInputError: The event has 130000009 bytes; only 128000000 are read."
    )


@pytest.mark.parametrize(
    "cwd", mostly_slow(["/no/such/folder", "relative", "a\0b", "\ud800", "/etc/hosts"], every=5)
)
def test_a_folder_that_is_none_is_nowhere(repo: Path, cwd: str) -> None:
    set_up(repo)
    for event in EVENTS:
        message = payload(f"claude-{event}", repo, cwd=cwd)
        assert call("claude", message, repo, {"GHP_AGENT": "worker-1"}) == SILENT
    assert presence(repo)["seq"] == 2  # of the step that edited a file of this repository
    assert log(repo) == []


def test_an_agent_whose_worktree_was_deleted_goes_on(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    set_up(repo)
    gone = worktree(repo, "147")
    shutil.rmtree(gone)
    for event in EVENTS:
        assert call("claude", payload(f"claude-{event}", gone), repo) == SILENT
    assert log(repo) == []


@pytest.mark.slow
def test_the_folder_of_the_process_may_be_gone(repo: Path, tmp_path: Path) -> None:
    set_up(repo)
    gone = tmp_path / "gone"
    gone.mkdir()
    message = json.dumps(payload("claude-PostToolBatch", repo))
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD" && exec "$0" -P -m ghp_agents hook claude', sys.executable],
        cwd=gone, env={"PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path)}, input=message.encode(),
        capture_output=True,
    )  # fmt: skip
    assert Hooked(done.returncode, done.stdout, done.stderr) == SILENT
    assert presence(repo)["lastAction"] == "Edited new.txt"


def test_a_repository_that_is_not_in_use_is_left_as_it_is(repo: Path, tmp_path: Path) -> None:
    before = sorted(repo.rglob("*"))
    for event in EVENTS:
        assert call("claude", payload(f"claude-{event}", repo), repo) == SILENT
        assert call("claude", payload(f"claude-{event}", tmp_path), tmp_path) == SILENT
    assert call("claude", b"no JSON", repo) == SILENT
    assert sorted(repo.rglob("*")) == before


def unheard(repo: Path, message: object) -> tuple[bytes, bytes]:
    """A hook whose standard output is closed; its exit code, and what it said elsewhere."""
    done = subprocess.run(
        ["sh", "-c", '"$0" -P -m ghp_agents hook claude >&-; echo "$?"', sys.executable],
        cwd=repo, env={"PYTHONPATH": str(CHECKOUT), "HOME": str(repo), "GHP_BACKGROUND": "0"},
        input=json.dumps(message).encode(), capture_output=True,
    )  # fmt: skip
    return done.stdout, done.stderr


@pytest.mark.slow
def test_an_answer_that_nobody_reads_goes_nowhere_and_counts_as_not_said(repo: Path) -> None:
    set_up(repo)
    name = invoke("agent-escalate 'Which database?' --as worker-1", repo).out.split()[0]
    invoke(["agent-answer", name, "SQLite", "--as", "@me"], repo)
    for event in EVENTS[:2]:
        assert unheard(repo, payload(f"claude-{event}", repo)) == (b"0\n", b"")
    hooked = call("claude", payload("claude-UserPromptSubmit", repo), repo)
    assert "SQLite" in context(hooked)
    assert log(repo) == []


@pytest.mark.slow
def test_an_answer_to_a_client_that_has_ended_counts_as_not_said(repo: Path) -> None:
    set_up(repo)
    name = invoke("agent-escalate 'Which database?' --as worker-1", repo).out.split()[0]
    invoke(["agent-answer", name, "SQLite", "--as", "@me"], repo)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "ghp_agents", "hook", "claude"],
            input=json.dumps(payload("claude-UserPromptSubmit", repo)).encode(), stdout=writer,
            stderr=subprocess.PIPE, cwd=repo, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr, log(repo)) == (0, b"", [])
    assert "SQLite" in context(call("claude", payload("claude-UserPromptSubmit", repo), repo))


def test_a_person_who_calls_it_is_told_what_it_is(repo: Path) -> None:
    mine, its = pty.openpty()
    command = [sys.executable, "-P", "-m", "ghp_agents", "hook", "claude"]
    env = {"PYTHONPATH": str(CHECKOUT), "HOME": str(repo)}
    done = subprocess.run(command, cwd=repo, env=env, stdin=its, capture_output=True)
    os.close(mine)
    os.close(its)
    assert Hooked(done.returncode, done.stdout, done.stderr) == Hooked(
        0, b"", b"`hook CLIENT` is what agents' clients call; `agent-init --hooks` puts it there.\n"
    )


# --------------------------------------------------- while the program is being upgraded


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the program that can be broken."""
    copy = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CHECKOUT / "ghp_agents", copy / "ghp_agents", ignore=ignored)
    return copy


BROKEN = [
    "cli/main.py", "hooks/entry.py", "hooks/handlers.py", "hooks/claude.py", "hooks/scene.py",
    "hooks/edit.py", "hotpath/fastjson.py", "hotpath/heartbeat.py", "hotpath/check_edit.py",
    "hotpath/locate.py", "cli/__init__.py",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("part", mostly_slow(BROKEN, every=6))
def test_a_part_that_is_missing_or_half_written_stops_no_agent(
    repo: Path, package: Path, part: str
) -> None:
    set_up(repo)
    path, whole = package / "ghp_agents" / part, (CHECKOUT / "ghp_agents" / part).read_bytes()
    halves = [whole[: len(whole) // 2], b'"""Half a', b"import ghp_agents.not_there\n", None]
    for half in halves:
        path.unlink(missing_ok=True)
        if half is not None:
            path.write_bytes(half)
        done = call("claude", write(repo / "a", repo), repo, {"PYTHONPATH": str(package)})
        assert done == SILENT


@pytest.mark.slow
def test_a_folder_that_is_gone_stops_no_agent(repo: Path, package: Path) -> None:
    set_up(repo)
    for folder in ("hooks", "guard", "cli"):
        shutil.rmtree(package / "ghp_agents" / folder)
        message = write(repo / "a", repo)
        assert call("claude", message, repo, {"PYTHONPATH": str(package)}) == SILENT


@pytest.mark.slow
def test_a_module_of_the_project_is_not_taken_for_one_of_pythons(repo: Path) -> None:
    set_up(repo)
    for name in ("json", "os", "time", "typing", "ghp_agents"):
        (repo / f"{name}.py").write_text("raise SystemExit('the wrong module')\n")
    git(repo, "add", ".")
    for event in EVENTS:
        done = call("claude", payload(f"claude-{event}", repo), repo)
        assert (done.code, done.err) == (0, b"")
    assert log(repo) == []
