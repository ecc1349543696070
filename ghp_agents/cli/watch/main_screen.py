"""The first screen: totals, agents, and the keys that apply to the selected one."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input, Static

from ghp_agents.cli.views.status_screen import summary
from ghp_agents.cli.watch.agent_list import AgentList
from ghp_agents.cli.watch.agent_screen import AgentScreen
from ghp_agents.cli.watch.content import content
from ghp_agents.cli.watch.detail_screen import DetailScreen
from ghp_agents.cli.watch.keys import hints
from ghp_agents.cli.watch.page import matching, news_aged
from ghp_agents.reports.overview import AgentRow, Overview

AGE_EVERY = 2.0  # seconds between two looks at the ages on the screen
NOBODY = "No agents yet. Start one with `ghp agent-start --next --as NAME`."


class MainScreen(AgentScreen):
    """All agents."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.leave"),
        Binding("slash", "filter"),
        Binding("escape", "unfilter"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._overview: Overview | None = None
        self._at = 0.0  # when it was read
        self._words = ""

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        yield AgentList()
        yield Static(id="message")
        yield Input(id="filter", placeholder="words to look for", compact=True)
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.set_interval(AGE_EVERY, self._tick)
        self.query_one(AgentList).focus()
        self._hint()

    @property
    def row(self) -> AgentRow | None:
        """The selected agent."""
        return self.query_one(AgentList).row

    def show(self, overview: Overview) -> None:
        """Show what was read just now."""
        self._overview, self._at = overview, self.program.seconds()
        self._tick()
        self._hint()

    def on_resize(self, _: Resize) -> None:
        self._tick()
        self._hint()

    def on_agent_list_moved(self) -> None:
        self._hint()

    def on_agent_list_opened(self) -> None:
        if self.row:
            self.app.push_screen(DetailScreen(self.row))

    def on_input_changed(self, event: Input.Changed) -> None:
        self._words = event.value
        self._tick()
        self._hint()

    def on_input_submitted(self) -> None:
        self._close_filter(keep=True)

    def action_filter(self) -> None:
        """Type words to look for."""
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    def action_unfilter(self) -> None:
        """Show all rows again."""
        self._close_filter(keep=False)

    def _close_filter(self, *, keep: bool) -> None:
        box = self.query_one("#filter", Input)
        if not keep:
            box.value = ""
        box.display = bool(box.value)
        self.query_one(AgentList).focus()

    def _tick(self) -> None:
        """Let the ages go on."""
        if self._overview is None:
            return
        elapsed = self.program.seconds() - self._at
        lines = summary(news_aged(self._overview, elapsed), self.size.width)
        header = self.query_one("#header", Static)
        header.styles.height = len(lines)
        header.update(Content("\n").join(map(content, lines)), layout=False)
        rows = matching(self._overview.agents, self._words)
        note = "No agent has these words; Esc shows all." if self._words else NOBODY
        self.query_one(AgentList).show(rows, note, elapsed)

    def _hint(self) -> None:
        self.query_one("#keys", Static).update(hints(self.row, self.size.width), layout=False)
