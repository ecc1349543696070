"""One agent in full: its question, its changes, its handoffs and its log."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from ghp_agents.cli.views.agent import state_words
from ghp_agents.cli.watch.agent_screen import AgentScreen
from ghp_agents.cli.watch.content import content
from ghp_agents.cli.watch.detail_text import detail_text
from ghp_agents.cli.watch.keys import hints
from ghp_agents.cli.watch.look import Detail
from ghp_agents.reports.overview import AgentRow, Overview

SCROLLBAR = 2  # columns


class DetailScreen(AgentScreen):
    """One agent. It is read again when the agent changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,left,h,enter", "app.pop_screen"),
        Binding("down,j", "scroll(1)"),
        Binding("up,k", "scroll(-1)"),
    ]

    def __init__(self, row: AgentRow) -> None:
        super().__init__()
        self._row = row
        self._detail: Detail | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        with VerticalScroll():
            yield Static(id="detail")
        yield Static(id="message")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self._draw()
        self._read()

    @property
    def row(self) -> AgentRow | None:
        """The agent that is shown."""
        return self._row

    def show(self, overview: Overview) -> None:
        """Show the agent's new row."""
        row = next((row for row in overview.agents if row.name == self._row.name), self._row)
        if row._replace(last_seen=None) != self._row._replace(last_seen=None):
            self._read()
        self._row = row
        self._draw()

    def on_resize(self, _: Resize) -> None:
        self._draw()

    def action_scroll(self, lines: int) -> None:
        """Scroll the text."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def _read(self) -> None:
        def shown(detail: Detail) -> None:
            self._detail = detail
            if self.is_attached:
                self._draw()

        self.program.do(lambda: self.program.look.detail(self._row), shown)

    def _draw(self) -> None:
        row = self._row
        title = ((row.name, "bold"), (f"  {state_words(row)}", ""))
        lines = map(content, detail_text(row, self._detail, self.size.width - SCROLLBAR))
        self.query_one("#header", Static).update(content(title), layout=False)
        self.query_one("#detail", Static).update(Content("\n").join(lines))
        self.query_one("#keys", Static).update(
            hints(row, self.size.width, is_detail=True), layout=False
        )
