"""What clients report of their use: status lines, transcripts and rollout files, also odd ones."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import usage
from tests.support.hooks import SESSION, SILENT, call, log, payload, presence, set_up

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
    said = payload(f"{client}-{name}", work, transcript_path=str(file))
    assert call(client, said, work).code == 0
    assert log(work) == []


def spent(work: Path) -> Any:
    return presence(work).get("usage", {}).get("spent")


def line(work: Path, usd: object = 0.5, **more: Any) -> None:
    """Claude Code shows its status line."""
    cost = {"total_cost_usd": usd, "total_api_duration_ms": 61_500, "total_lines_added": 3}
    said = payload("statusline-claude", work, cost=cost, **more)
    assert call("claude-statusline", said, work).err == b""
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
    said = payload("statusline-claude", work, cost=cost, model=7, context_window="x")
    assert call("claude-statusline", said, work).err == b""
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


def test_a_long_transcript_is_read_in_parts(
    work: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "PART", 1_000)
    file.write_text(answer("m0", 1) + "x" * 2_500 + "\n" + answer("m1", 5))
    found: dict[str, Any] = {"session": SESSION}
    sizes = []
    handle = os.open(file, os.O_RDONLY)
    for _ in range(5):
        reading = usage._of_claude(handle, file.stat().st_size, found)
        found = {**reading.counters, **reading.place}
        sizes.append(found["outputTokens"])
    os.close(handle)
    assert (sizes[0], sizes[-1]) == (1, 6)


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
    call("qwen", payload("qwen-UserPromptSubmit", repo, transcript_path=str(file)), repo)
    assert call("qwen", payload("qwen-Stop", repo, transcript_path=str(file)), repo) == SILENT
    assert "usage" not in presence(repo)
