"""The tokens in clients' session files: recorded lines of the real clients, and odd files."""

import json
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import session_file
from ghp_agents.hotpath import boot_clock
from tests.support.house import CHECKOUT

SESSIONS = CHECKOUT / "tests/hooks/sessions"  # of each client, the numbers too
NAMES = ("inputTokens", "cachedTokens", "outputTokens", "apiSeconds", "usd")


def read(client: str, path: Path | str, memory: Any = None, *, is_base: bool = False) -> Any:
    """The counters and what the machine keeps; as the next reading knows them."""
    reading = session_file.read(client, str(path), "s-1", "", memory or {}, is_base=is_base)
    return reading and {**reading.counters, **reading.place, "model": reading.model}


def counts(reading: Any) -> list[float]:
    return [reading[name] for name in NAMES if name in reading]


def answer(name: str, output: int) -> str:
    """A line of Claude Code's transcript."""
    used = {"input_tokens": 2, "cache_read_input_tokens": 100, "output_tokens": output}
    return json.dumps({"type": "assistant", "message": {"id": name, "usage": used}}) + "\n"


@pytest.mark.parametrize(
    ("client", "model", "expected"),
    [
        ("copilot", "m", [500, 200, 40, 0.2]),
        ("gemini", "gemini-2.5-pro", [800, 350, 70]),
        ("pi", "m", [800, 350, 70]),
        ("qwen", "m", [1000, 450, 90, 0.1]),
    ],
)
def test_the_answers_in_a_recorded_session_count_once(
    client: str, model: str, expected: list[float], tmp_path: Path
) -> None:
    recorded = SESSIONS / f"{client}.jsonl"
    whole = read(client, recorded)
    assert (counts(whole), whole["model"]) == (expected, model)
    assert counts(read(client, recorded, whole)) == expected
    memory: Any = {}
    path = tmp_path / "session.jsonl"
    for line in recorded.read_text().splitlines(keepends=True):
        with path.open("a") as file:
            file.write(line)
        memory = read(client, path, memory)
    assert counts(memory) == expected, "line by line"


def test_money_counts_if_the_client_knows_a_price(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    for number, usd in enumerate((0.25, 0.5, "9")):
        used = {"input": 1, "output": 1, "cost": {"total": usd}}
        line = {"id": str(number), "message": {"role": "assistant", "usage": used}}
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
    assert read("pi", path)["usd"] == 0.75


def test_thoughts_count_as_output_where_the_total_has_them_beside_it(tmp_path: Path) -> None:
    def line(total: int) -> str:
        event = {
            "event.name": "qwen-code.api_response", "input_token_count": 10,
            "output_token_count": 5, "thoughts_token_count": 3, "total_token_count": total,
        }  # fmt: skip
        return json.dumps({"uuid": str(total), "systemPayload": {"uiEvent": event}}) + "\n"

    path = tmp_path / "session.jsonl"
    path.write_text(line(15) + line(18))
    assert read("qwen", path)["outputTokens"] == 5 + 8


def test_a_session_that_is_resumed_elsewhere_counts_from_there(tmp_path: Path) -> None:
    recorded = (SESSIONS / "copilot.jsonl").read_text()
    path = tmp_path / "events.jsonl"
    path.write_text(recorded + '{"type":"session.resume","data":{}}\n' + recorded)
    assert counts(read("copilot", path)) == [500, 200, 40, 0.2]
    assert counts(read("copilot", path, is_base=True)) == [0, 0, 0, 0]


# ------------------------------------------------------------------------------ sub-agents


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of Claude Code with one sub-agent."""
    path = tmp_path / "s-1.jsonl"
    path.write_text(answer("m1", 5))
    (tmp_path / "s-1/subagents").mkdir(parents=True)
    (tmp_path / "s-1/subagents/agent-a1.jsonl").write_text(answer("m2", 7))
    return path


def test_what_sub_agents_use_is_their_sessions(session: Path) -> None:
    first = read("claude", session)
    assert counts(first) == [204, 200, 12]
    part = session.parent / "s-1/subagents/agent-a1.jsonl"
    with part.open("a") as file:
        file.write(answer("m2", 9) + answer("m3", 1))
    part.with_name("agent-a2.jsonl").write_text(answer("m4", 3))
    first = read("claude", session, first)
    assert counts(first) == [408, 400, 5 + 9 + 1 + 3]
    assert counts(read("claude", session, first)) == counts(first)
    assert counts(read("claude", session, read("claude", session, is_base=True))) == [0, 0, 0]


def test_the_sub_agents_of_gemini_are_in_a_folder_of_its_sessions_name(tmp_path: Path) -> None:
    recorded = (SESSIONS / "gemini.jsonl").read_text()
    (tmp_path / "session-1.jsonl").write_text(recorded)
    (tmp_path / "s-1").mkdir()
    (tmp_path / "s-1/helper.jsonl").write_text(recorded)
    assert counts(read("gemini", tmp_path / "session-1.jsonl")) == [1600, 700, 140]


def test_odd_files_of_sub_agents_are_passed_over(session: Path) -> None:
    folder = session.parent / "s-1/subagents"
    (folder / "agent-a2.jsonl").symlink_to(folder / "agent-a1.jsonl")
    (folder / "agent-a3.jsonl").mkdir()
    (folder / "notes.txt").write_text(answer("m9", 100))
    (folder / "agent-a4.jsonl").write_text("no json\n")
    first = read("claude", session)
    assert counts(first) == [204, 200, 12]
    odd: Any
    for odd in ([], {"agent-a1.jsonl": 7}, {"agent-a1.jsonl": ["x", {}]}):
        assert counts(read("claude", session, {"parts": odd})) == [204, 200, 12]


def test_the_files_of_very_many_sub_agents_are_not_all_read(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_file, "PARTS", 2)
    for number in range(2, 9):
        path = session.parent / f"s-1/subagents/agent-a{number}.jsonl"
        path.write_text(answer(f"m{number}", 1))
    first = read("claude", session)
    assert len(first["parts"]) == 2
    assert counts(first) == [306, 300, 13]


# ------------------------------------------------------------------------------ long files


def test_a_long_transcript_is_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_file, "PART", 1_000)
    path = tmp_path / "session.jsonl"
    path.write_text(answer("m0", 1) + "x" * 2_500 + "\n" + answer("m1", 5))
    first: Any = {}
    sizes = []
    for _ in range(5):
        first = read("claude", path, first)
        sizes.append(first["outputTokens"])
    assert (sizes[0], sizes[-1]) == (1, 6)


@pytest.mark.parametrize("client", ["aider", "cursor", "opencode", ""])
def test_clients_without_such_a_file_report_nothing(client: str, session: Path) -> None:
    assert read(client, session) is None


def test_a_file_that_is_written_late_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "session.jsonl"
    parts = ['{"timestamp":1}\n', '{"timestamp":2}\n', '{"timestamp":3}\n']
    waits: list[float] = []

    def write_more(seconds: float) -> None:
        waits.append(seconds)
        with path.open("a") as file:
            file.write(parts[len(waits) - 1])

    monkeypatch.setattr(boot_clock, "wait", write_more)
    session_file.wait(str(path), b'"timestamp":2')
    assert len(waits) == 2


def test_the_wait_for_a_file_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(boot_clock, "wait", waits.append)
    for path in ("", "relative", "/\0", f"{tmp_path}/missing/session.jsonl"):
        session_file.wait(path, b"mark")
    assert waits == []
    session_file.wait(str(tmp_path / "missing"), b"mark")
    assert sum(waits) == pytest.approx(2)
