"""The watch, key by key, on made values."""

import json
from collections import Counter
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING

import pytest

from tests.support.watching import EXTRA, FakeLook, press, screen, seen, team, watch

pytest.importorskip("textual", reason=EXTRA)

from ghp_agents.cli.watch import feed

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from ghp_agents.cli.watch.app import Watch


@pytest.mark.slow
def test_the_selection_moves_with_arrows_letters_and_pages() -> None:
    names: list[str] = []

    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        for key in ("j", "down", "k", "up", "G", "g", "pagedown", "end", "pageup", "home"):
            await press(program, pilot, key)
            row = program.main.row
            names.append(row.name if row else "")

    watch(play)
    assert names == [
        "worker-2", "codex-7", "worker-2", "claude-232b", "idle-50", "claude-232b",
        "worker-26", "idle-50", "worker-15", "claude-232b",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_selection_stays_with_its_agent_when_rows_move() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "j")
        await look.change(pilot, seen(*reversed(team())))
        assert program.main.row is not None
        assert program.main.row.name == "worker-2"
        await look.change(pilot, seen(*team()[2:]))
        assert program.main.row.name == "idle-50", "its place, where the agent is gone"

    look = FakeLook(seen(*team()))
    watch(play, look)


@pytest.mark.slow
def test_slash_shows_only_rows_with_all_the_words_and_escape_shows_all_again() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "slash", *"HTTP w", "enter")
        assert [line for line in screen(program) if line][1:-2] == [
            "NEEDS YOU",
            "! worker-2  #2  HTTP/2: the pool leaks a stream  conflict  1m  #32  _urlparse.py",
        ]
        await press(program, pilot, "escape")
        assert "… 11 more below" in "\n".join(screen(program))

    watch(play)


@pytest.mark.slow
def test_a_filter_that_nothing_has_says_how_to_end_it() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "slash", *"zzz")
        assert "No agent has these words; Esc shows all." in screen(program)

    watch(play)


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
def test_q_and_ctrl_c_end_it(key: str) -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, key)

    program, _ = watch(play)
    assert program.return_value == 0


@pytest.mark.slow
def test_an_unexpected_error_is_shown_and_logged_and_the_watch_goes_on(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        look.error = ValueError("broken answer")
        await press(program, pilot, "a")
        assert "Unexpected: ValueError: broken answer" in screen(program)
        look.error = None
        await press(program, pilot, "a")
        assert program.screen is not program.main

    monkeypatch.chdir(repo)
    look = FakeLook(seen(*team()))
    program, _ = watch(play, look)
    assert program.unexpected is None
    log = (repo / ".git/ghp/log.jsonl").read_text().splitlines()
    assert [json.loads(line)["error"] for line in log] == ["ValueError: broken answer"]


def test_both_threads_of_the_feed_outlive_any_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(FakeLook):
        def exchange(self) -> float:
            raise KeyError("exchange")

    monkeypatch.setattr(feed, "RETRY_S", 0.01)
    errors: Queue[Exception] = Queue()
    look = Broken(seen())
    look.found = ValueError("overview")
    reads = feed.Feed(look, lambda overview: None, errors.put)
    reads.start()
    try:
        kept = Counter(type(errors.get(timeout=30.0)) for _ in range(2))
        while min(kept[ValueError], kept[KeyError]) < 2:
            kept[type(errors.get(timeout=30.0))] += 1
    finally:
        reads.stop()
