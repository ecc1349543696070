"""What clients report of their use: status lines, files and messages, also odd ones."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.hooks import call, log, payload, presence, set_up

MODEL = "claude-opus-5-5"


def answer(name: str, output: int, **more: Any) -> str:
    """A line of Claude Code's transcript."""
    counts = {
        "input_tokens": 2, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100,
        "output_tokens": output, **more,
    }  # fmt: skip
    message = {"id": name, "model": MODEL, "role": "assistant", "usage": counts}
    return json.dumps({"type": "assistant", "message": message}) + "\n"


def rollout(total: int) -> str:
    """A line of Codex's rollout file."""
    counts = {"input_tokens": total, "cached_input_tokens": 5, "output_tokens": 7}
    info = {"total_token_usage": counts, "last_token_usage": {}}
    return (
        json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}}) + "\n"
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a session, which is empty."""
    path = tmp_path / "session.jsonl"
    path.touch()
    return path


@pytest.fixture
def work(repo: Path) -> Path:
    """A repository in which worker-1's session has begun."""
    set_up(repo)
    call("claude", payload("claude-SessionStart-startup", repo), repo)
    return repo


def hook(work: Path, name: str, file: Path | str, client: str = "claude") -> None:
    message = payload(f"{client}-{name}", work, transcript_path=str(file))
    assert call(client, message, work).code == 0
    assert log(work) == []


def spent(work: Path) -> Any:
    return presence(work).get("usage", {}).get("spent")


def line(work: Path, usd: object = 0.5, **more: Any) -> None:
    """Claude Code shows its status line."""
    cost = {"total_cost_usd": usd, "total_api_duration_ms": 61_500, "total_lines_added": 3}
    message = payload("statusline-claude", work, cost=cost, **more)
    assert call("claude-statusline", message, work).err == b""
    assert log(work) == []


# ------------------------------------------------------------------------------ status line


def test_the_status_line_reports_money_time_lines_model_and_context(work: Path) -> None:
    line(work, 0.5, context_window={"used_percentage": 43.7})
    assert presence(work)["usage"] == {
        "model": MODEL,
        "context": 43,
        "spent": [{"issue": None, "usd": 0.5, "apiSeconds": 61.5, "linesAdded": 3}],
    }


def test_a_status_line_without_news_writes_nothing(work: Path) -> None:
    line(work)
    before = presence(work)["seq"]
    for usd in (0.5, 0.501, 0.2):
        line(work, usd)
    assert presence(work)["seq"] == before
    line(work, 0.52)
    assert presence(work)["seq"] == before + 1
    assert spent(work)[0]["usd"] == 0.52


def test_a_status_line_registers_nobody_and_wakes_nobody(work: Path) -> None:
    call("claude", payload("claude-SessionEnd", work), work)
    before = presence(work)
    line(work, session_id="another")
    assert presence(work) == before


@pytest.mark.parametrize("cost", [None, [], {}, {"total_cost_usd": "9"}, {"total_cost_usd": -1}])
@pytest.mark.sample(2)
def test_an_odd_status_line_reports_nothing(work: Path, cost: object) -> None:
    message = payload("statusline-claude", work, cost=cost, model=7, context_window="x")
    assert call("claude-statusline", message, work).err == b""
    assert spent(work) is None
    assert log(work) == []


# ------------------------------------------------------------------------------ transcripts


def test_each_answer_of_a_transcript_counts_once_with_its_last_counts(
    work: Path, file: Path
) -> None:
    file.write_text('{"type": "user"}\n' + answer("m1", 1) + answer("m1", 40) + answer("m2", 2))
    hook(work, "Stop", file)
    assert presence(work)["usage"] == {
        "model": MODEL,
        "spent": [{"issue": None, "inputTokens": 224, "cachedTokens": 200, "outputTokens": 42}],
    }


def test_a_transcript_is_read_on_from_where_it_ended(work: Path, file: Path) -> None:
    file.write_text(answer("m1", 40) + answer("m2", 2)[:50])
    hook(work, "Stop", file)
    assert spent(work)[0]["outputTokens"] == 40
    file.write_text("x" * len(answer("m1", 40)) + answer("m2", 2) + answer("m2", 30))
    hook(work, "SessionEnd", file)
    assert spent(work)[0]["outputTokens"] == 70


def test_a_session_with_a_past_counts_only_what_follows(repo: Path, file: Path) -> None:
    set_up(repo)
    file.write_text(answer("m1", 40))
    hook(repo, "SessionStart-resume", file)
    assert spent(repo) is None
    with file.open("a") as transcript:
        transcript.write(answer("m2", 2))
    hook(repo, "Stop", file)
    assert spent(repo)[0]["outputTokens"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "usage assistant\n", '{"usage" "assistant"\n', '["usage", "assistant"]\n',
        '{"type": "assistant", "message": {"id": 1, "usage": 2}}\n',
        '{"type": "assistant", "message": {"id": "m", "usage": {}}}\n',
        '{"type": "assistant", "message": {"id": "m", "usage": {"output_tokens": "9"}}}\n',
        "[" * 90_000 + '"usage" "assistant"\n', '"usage" "assistant" \udcff\n',
    ],
)  # fmt: skip
@pytest.mark.sample(4)
def test_an_odd_transcript_reports_nothing(work: Path, file: Path, text: str) -> None:
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    hook(work, "Stop", file)
    assert spent(work) is None


@pytest.mark.slow
def test_only_a_regular_file_is_read(work: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero", "missing", "", "/\0", "/nowhere"):
        hook(work, "Stop", path)
    assert spent(work) is None


# ------------------------------------------------------------------------------ other clients


def test_codex_reports_the_totals_of_its_rollout_file(repo: Path, file: Path) -> None:
    set_up(repo)
    hook(repo, "SessionStart-startup", file, "codex")
    file.write_text(rollout(100) + rollout(300) + '{"token_count"\n{"type": "other"}\n')
    hook(repo, "Stop", file, "codex")
    assert presence(repo)["usage"] == {
        "model": "gpt-5.5",
        "spent": [{"issue": None, "inputTokens": 300, "cachedTokens": 5, "outputTokens": 7}],
    }


def test_a_client_that_reports_nothing_has_no_figures(repo: Path, file: Path) -> None:
    set_up(repo)
    file.write_text(answer("m1", 40))
    for kind in ("sessionStart", "stop"):
        message = {"hook_event_name": kind, "conversation_id": "c-1", "cwd": str(repo)}
        call("cursor", message | {"status": "completed", "transcript_path": str(file)}, repo)
    assert "usage" not in presence(repo)


# ------------------------------------------------------------------ counts in messages


def cursor_stops(repo: Path, turn: object, **counts: object) -> None:
    message = {"hook_event_name": "stop", "conversation_id": "c-1", "cwd": str(repo)}
    named = {"generation_id": turn, "model": "composer-2", "loop_count": 1, **counts}
    assert call("cursor", message | named, repo).err == b""
    assert log(repo) == []


def test_each_turn_that_cursor_reports_counts_once(repo: Path) -> None:
    set_up(repo)
    call("cursor", {"hook_event_name": "sessionStart", "session_id": "c-1"}, repo)
    counts = {"input_tokens": 100, "cache_read_tokens": 90, "output_tokens": 5}
    for turn in ("g-1", "g-1", "g-2"):
        cursor_stops(repo, turn, **counts, cache_write_tokens=7)
    cursor_stops(repo, "g-3", input_tokens="9", output_tokens=-1)
    cursor_stops(repo, None, **counts)
    assert presence(repo)["usage"] == {
        "model": "composer-2",
        "spent": [{"issue": None, "inputTokens": 200, "cachedTokens": 180, "outputTokens": 10}],
    }


def opencode(repo: Path, kind: str, pid: int, used: object) -> None:
    message = {"hook_event_name": kind, "session_id": "s-1", "cwd": str(repo), "pid": pid}
    assert call("opencode", message | {"usage": used}, repo).err == b""
    assert log(repo) == []


def test_the_counters_of_a_plugin_go_on_in_its_process_and_begin_again_in_another(
    repo: Path,
) -> None:
    set_up(repo)
    first = os.getpid()
    opencode(repo, "session.start", first, None)
    for tokens in (10, 30):
        used = {"model": "opus", "inputTokens": tokens, "outputTokens": 2, "usd": 0.5}
        opencode(repo, "session.idle", first, used)
    opencode(repo, "session.idle", os.getppid(), {"inputTokens": 40})
    assert presence(repo)["usage"] == {
        "model": "opus",
        "spent": [{"issue": None, "usd": 0.5, "inputTokens": 70, "outputTokens": 2}],
    }


@pytest.mark.parametrize("used", ["x", [], {}, {"usd": "9"}, {"usd": -1, "model": 7, "x": {}}])
@pytest.mark.sample(2)
def test_odd_counters_in_a_message_report_nothing(repo: Path, used: object) -> None:
    set_up(repo)
    opencode(repo, "session.start", os.getpid(), None)
    opencode(repo, "session.idle", os.getpid(), used)
    assert "usage" not in presence(repo)
