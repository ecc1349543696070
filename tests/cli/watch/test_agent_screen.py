"""The keys that act on the selected agent."""

from collections.abc import Sequence
from threading import Event
from typing import TYPE_CHECKING

import pytest

from ghp_agents.core.errors import NotFoundError
from ghp_agents.reports.overview import AgentRow
from tests.support.watching import EXTRA, HOSTILE, FakeLook, press, screen, seen, team, watch

pytest.importorskip("textual", reason=EXTRA)

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from ghp_agents.cli.watch.app import Watch


def messages(program: "Watch") -> list[str]:
    """The lines between the list and the keys."""
    box = program.screen.query_one("#message")
    return screen(program)[box.region.y : box.region.bottom] if box.display else []


@pytest.mark.slow
def test_a_sends_the_answer_that_is_typed() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "a")
        shown = "\n".join(screen(program))
        assert "claude-232b asks (E-091122)" in shown
        assert "1  1" in shown
        assert "2  8" in shown
        await press(program, pilot, *"8 q", "enter")
        assert messages(program) == ["✓ answer E-091122 8 q"]
        await press(program, pilot, "j")
        assert messages(program) == [], "the next key takes the message away"

    _, look = watch(play)
    assert ("answer", "E-091122", "8 q") in look.asked


@pytest.mark.slow
def test_an_empty_answer_is_not_sent_and_escape_sends_none() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "a", "enter", "space", "enter", "x", "escape")
        assert program.screen is program.main

    _, look = watch(play)
    assert [request for request in look.asked if request[0] == "answer"] == []


@pytest.mark.slow
def test_a_question_that_was_answered_meanwhile_says_so() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "a")
        assert messages(program) == ["Error: There is no question E-091122.", "It was compacted."]

    look = FakeLook(seen(*team()))
    look.error = NotFoundError("There is no question E-091122.", hint="It was compacted.")
    watch(play, look)


@pytest.mark.slow
def test_keys_that_do_not_apply_say_why_and_are_not_in_the_footer() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "j", "j", "a")
        assert messages(program) == ["codex-7 has no open question."]
        await press(program, pilot, "o")
        assert messages(program) == [
            "codex-7 has no worktree in this clone and no pull request with a page."
        ]
        assert screen(program)[-1] == "⏎ details  s stop  o open  / filter  ? help  q quit"
        await press(program, pilot, "k", "k")
        assert screen(program)[-1] == (
            "a answer  ⏎ details  s stop  o open  / filter  ? help  q quit"
        )

    watch(play)


@pytest.mark.slow
def test_s_asks_before_it_stops_an_agent_and_passes_the_reason() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "s", "escape")
        assert look.asked.count(("stop", "claude-232b", "")) == 0
        await press(program, pilot, "s")
        assert "Stop claude-232b?" in "\n".join(screen(program))
        await press(program, pilot, *"Wrong way", "enter")
        assert messages(program) == ["✓ stop claude-232b Wrong way"]

    look = FakeLook(seen(*team()))
    watch(play, look)
    assert [request for request in look.asked if request[0] == "stop"] == [
        ("stop", "claude-232b", "Wrong way")
    ]


@pytest.mark.slow
def test_o_offers_what_can_be_opened() -> None:
    from ghp_agents.cli.watch.look import OpenTarget

    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "o")
        assert "p  pull request #32" in "\n".join(screen(program))
        await press(program, pilot, "x")
        assert program.screen is not program.main, "any other key chooses nothing"
        await press(program, pilot, "c")
        assert messages(program) == ["cd '/src/3 typing'"]
        assert program.clipboard == "/src/3 typing"
        await press(program, pilot, "o", "p")
        assert messages(program) == ["The address of the page is not one of the web."]

    look = FakeLook(seen(*team()))
    look.places_ = (
        OpenTarget("c", "copy the path", "/src/3 typing"),
        OpenTarget("p", "pull request #32", url="file:///etc/passwd"),
    )
    watch(play, look)


@pytest.mark.slow
def test_enter_shows_the_agent_in_full_and_escape_goes_back() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "enter")
        shown = [line.rstrip() for line in screen(program) if line.strip()]
        assert shown[0] == "claude-232b  active, implementing"
        for line in (
            "CHANGES",
            "2 commits, 1 file, +5 -1",
            "HANDOFFS",
            "LOG",
            "6s  status testing",
        ):
            assert line in shown
        assert shown[-1] == "a answer  s stop  o open  ? help  Esc back"
        await press(program, pilot, "a", "1", "enter")
        assert messages(program) == ["✓ answer E-091122 1"]
        await press(program, pilot, "escape")
        assert program.screen is program.main

    watch(play)


@pytest.mark.slow
def test_the_detail_is_read_again_when_its_agent_changes() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "enter")
        first, *others = team()
        await look.change(pilot, seen(first._replace(status="testing"), *others))
        await program.workers.wait_for_complete()
        await pilot.pause()
        assert screen(program)[0] == "claude-232b  active, testing"
        assert look.asked.count(("detail", "claude-232b")) == 2
        await look.change(pilot, seen(first._replace(status="testing", last_seen=1.0), *others))
        assert look.asked.count(("detail", "claude-232b")) == 2, "only its age has changed"

    look = FakeLook(seen(*team()))
    watch(play, look)


@pytest.mark.slow
def test_r_asks_the_remote_at_once() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "r")
        assert look.asked.count(("sync",)) == 1
        assert messages(program) == ["origin: news from 1 clone."]

    look = FakeLook(seen(*team()))
    watch(play, look)


def test_question_mark_shows_all_keys() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "question_mark")
        shown = "\n".join(screen(program))
        for keys in ("↑ ↓", "Enter", "Esc", "Ctrl-C", " a ", " s ", " o ", " / ", " r "):
            assert keys in shown
        await press(program, pilot, "question_mark")
        assert program.screen is program.main

    watch(play)


@pytest.mark.slow
def test_others_text_is_shown_as_text_everywhere() -> None:
    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        texts = ["\n".join(screen(program))]
        await press(program, pilot, "a")
        texts.append("\n".join(screen(program)))
        await press(program, pilot, "escape", "enter")
        texts.append("\n".join(screen(program)))
        for text in texts:
            assert "[red]all[/red]" in text
            assert "\x1b" not in text
            assert "\u202e" not in text

    row = team()[0]._replace(title=HOSTILE, action=HOSTILE, branch=HOSTILE, worktree=HOSTILE)
    watch(play, FakeLook(seen(row)), (200, 50))


@pytest.mark.parametrize("has_places", [False, True])
def test_a_place_that_is_found_after_the_person_left_ends_nothing(has_places: bool) -> None:
    from ghp_agents.cli.watch.look import OpenTarget

    async def play(program: "Watch", pilot: "Pilot[int]") -> None:
        await press(program, pilot, "enter")
        await pilot.press("o", "escape")
        look.is_found.set()
        await program.workers.wait_for_complete()
        await pilot.pause()
        assert program.screen is program.main
        nothing = "claude-232b has no worktree in this clone and no pull request with a page."
        assert messages(program) == ([] if has_places else [nothing])

    class SlowLook(FakeLook):
        is_found = Event()

        def places(self, row: AgentRow) -> Sequence[OpenTarget]:
            self.is_found.wait(30.0)
            return self.places_

    look = SlowLook(seen(*team()))
    look.is_found.clear()
    look.places_ = (OpenTarget("c", "copy the path", "/src"),) if has_places else ()
    program, _ = watch(play, look)
    assert program.unexpected is None
