"""A watch on made values: what it shows is set, and what it is told is kept."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from threading import Event
from typing import TYPE_CHECKING, Any

from ghp_agents.presence.liveness import Liveness
from ghp_agents.reports.overview import AgentRow, Need, NeedKind, Overview, Totals
from ghp_agents.state.usage import Use

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from ghp_agents.cli.watch.app import Watch
    from ghp_agents.cli.watch.commands import CommandResult
    from ghp_agents.cli.watch.look import Detail, OpenTarget, QuestionText

EXTRA = "the extra `tui` is not installed"
HOSTILE = "\x1b]0;x\x07[red]all[/red] \u202egpj.exe [@click=app.leave()]x[/]"
Play = Callable[["Watch", "Pilot[int]"], Coroutine[Any, Any, None]]


def team() -> tuple[AgentRow, ...]:
    """Thirty agents: four need a person, one is stale, two are idle."""
    active = Liveness.ACTIVE
    need = Need(
        NeedKind.QUESTION, "Is a tab one column or eight?", "high", 720.0, "E-091122", "E-0911"
    )
    conflict = Need(NeedKind.CONFLICT, "_urlparse.py", age=90.0, id="#32", short="#32")
    dead = Need(NeedKind.DEAD, "2 files unsaved", age=2_460.0)
    pull = Need(NeedKind.PULL, id="#40", short="#40")
    first = [
        AgentRow(
            "claude-232b", active, "implementing", (need,), 3, "Typing: make Client.request",
            33.0, branch="agent/claude-232b/3-typing", worktree="/src/3-typing", leases=2,
            used=Use(12.344, 754.2, 3_400_000, 2_992_000, 41_200),
        ),
        AgentRow(
            "worker-2", active, "implementing", (conflict,), 2, "HTTP/2: the pool leaks a stream",
            12.0, pull=32, is_here=False, clone="4f0a", worktree="2-http",
        ),
        AgentRow("codex-7", Liveness.DEAD, "testing", (dead,), 7, "Fix a flaky test", 2_460.0),
        AgentRow("worker-4", active, "done", (pull,), 4, "エラーメッセージを日本語で書く", 61.0),
    ]  # fmt: skip
    working = [
        AgentRow(
            f"worker-{n}", Liveness.STALE if n == 12 else active, "testing", (), n,
            f"Issue {n} with a title that is longer than its column", n * 7.0,
            action=f"{n} passed so far", branch=f"agent/worker-{n}/{n}-issue",
        )
        for n in range(10, 34)
    ]  # fmt: skip
    idle = [AgentRow(f"idle-{n}", active, "idle", last_seen=3_600.0 * n) for n in (1, 50)]
    return (*first, *working, *idle)


def seen(*rows: AgentRow) -> Overview:
    """The overview of these agents, with totals that fit to thirty."""
    return Overview(rows, Totals(30, 24, 4, 2, 1, 1, 1, 6, 4.0))


class FakeLook:
    """`Look` on made values; keeps what the person asked for."""

    def __init__(self, overview: Overview) -> None:
        self.found: Overview | Exception = overview
        self.asked: list[tuple[str, ...]] = []
        self.detail_: Detail | None = None
        self.places_: Sequence[OpenTarget] = ()
        self.error: Exception | None = None
        self._changed, self._shown = Event(), Event()

    def overview(self) -> Overview:
        """What was set."""
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def wait(self, over: Event) -> None:
        """Until `change` is called."""
        self._shown.set()
        self._changed.wait()
        self._changed.clear()

    async def change(self, pilot: "Pilot[int]", overview: Overview | None = None) -> None:
        """Set the overview, and wait until it is shown."""
        if overview is not None:
            self._shown.clear()
            self.found = overview
            self._changed.set()
        await asyncio.to_thread(self._shown.wait, 30.0)
        await pilot.pause()

    def exchange(self) -> float:
        """Keep that it was asked for."""
        self.asked.append(("exchange",))
        return 1e6

    def sync(self) -> str:
        """Keep that it was asked for."""
        self.asked.append(("sync",))
        return "origin: news from 1 clone."

    def question(self, id: str) -> "QuestionText":
        """The question of `team`, or the error."""
        from ghp_agents.cli.watch.look import QuestionText

        if self.error:
            raise self.error
        return QuestionText(
            id, "claude-232b", f"Is a tab one column or eight? {HOSTILE}", ("1", "8")
        )

    def detail(self, row: AgentRow) -> "Detail":
        """What was set."""
        from ghp_agents.cli.watch.look import Detail

        self.asked.append(("detail", row.name))
        return self.detail_ or Detail(
            ("2 commits, 1 file, +5 -1", "  +5 -1  src/lexer.py"),
            ("5m  H-12ab  handoff by worker-1 to claude-232b",),
            ("6s  status testing", f"9s  {HOSTILE}"),
        )

    def places(self, row: AgentRow) -> "Sequence[OpenTarget]":
        """What was set."""
        return self.places_

    def answer(self, question: str, text: str) -> "CommandResult":
        """Keep the answer."""
        return self._ran("answer", question, text)

    def stop(self, agent: str, reason: str) -> "CommandResult":
        """Keep the stop."""
        return self._ran("stop", agent, reason)

    def _ran(self, *words: str) -> "CommandResult":
        from ghp_agents.cli.watch.commands import CommandResult

        self.asked.append(words)
        return CommandResult(0, (f"✓ {' '.join(words)}",))


class Seconds:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.at


def watch(
    play: Play, look: FakeLook | None = None, size: tuple[int, int] = (80, 24)
) -> "tuple[Watch, FakeLook]":
    """Run the program on a screen of this size, and `play` what the person does."""
    from ghp_agents.cli.watch.app import Watch

    fake = look or FakeLook(seen(*team()))
    seconds = Seconds()
    program = Watch(fake, seconds)

    async def run() -> None:
        async with program.run_test(size=size) as pilot:
            await fake.change(pilot)
            await play(program, pilot)

    asyncio.run(run())
    return program, fake


async def press(program: "Watch", pilot: "Pilot[int]", *keys: str) -> None:
    """Press keys, and wait for the work that they caused."""
    for key in keys:
        await pilot.press(key)
        await program.workers.wait_for_complete()
        await pilot.pause()


def screen(program: "Watch") -> list[str]:
    """The lines on the screen, without colours."""
    height = program.size.height
    strips = program.screen._compositor.render_strips()
    assert len(strips) == height
    return [strip.text.rstrip() for strip in strips]
