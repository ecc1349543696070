"""The list of agents with a selected row. It draws only what fits, so it is never too tall."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, MouseScrollDown, MouseScrollUp, Resize
from textual.message import Message
from textual.widget import Widget

from ghp_agents.cli.watch.content import content, selected
from ghp_agents.cli.watch.page import Listing, Page
from ghp_agents.reports.overview import AgentRow

STEP = 3  # rows that the mouse wheel moves


class AgentList(Widget, can_focus=True):
    """The rows around the selected one. The selection stays with its agent when rows move."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)"),
        Binding("down,j", "move(1)"),
        Binding("pageup,ctrl+u", "turn(-1)"),
        Binding("pagedown,ctrl+d", "turn(1)"),
        Binding("home,g", "edge(0)"),
        Binding("end,G", "edge(-1)"),
        Binding("enter,right,l", "open"),
    ]

    class Moved(Message):
        """Another agent is selected."""

    class Opened(Message):
        """The selected agent is to be shown in full."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: Sequence[AgentRow] = ()
        self._at = 0
        self._elapsed = 0.0
        self._note = "Reading …"
        self._listing = Listing()
        self._page = Page()

    @property
    def row(self) -> AgentRow | None:
        """The selected agent."""
        return self._rows[self._at] if self._rows else None

    def show(self, rows: Sequence[AgentRow], note: str, elapsed: float) -> None:
        """Show these rows, or `note` if there is none."""
        self._note, self._elapsed = note, elapsed
        if rows != self._rows:
            name = self.row.name if self.row else ""
            position = next((at for at, row in enumerate(rows) if row.name == name), self._at)
            self._rows, self._at = rows, max(0, min(position, len(rows) - 1))
            self._listing = Listing(rows, self.size.width)
        self._draw()

    def render(self) -> Content:
        if not self._rows:
            return Content.styled(self._note, "dim")
        width, page = self.size.width, self._page
        return Content("\n").join(
            selected(line, width) if at == page.at else content(line)
            for at, line in enumerate(page.lines)
        )

    def action_move(self, by: int) -> None:
        """Select the agent `by` rows below."""
        self._select(self._at + by)

    def action_turn(self, pages: int) -> None:
        """Select the agent some pages below."""
        self._select(self._at + pages * max(1, self.size.height - 2))

    def action_edge(self, at: int) -> None:
        """Select the first or the last agent."""
        self._select(at % max(1, len(self._rows)))

    def action_open(self) -> None:
        """Show the selected agent in full."""
        if self._rows:
            self.post_message(self.Opened())

    def on_resize(self, _: Resize) -> None:
        self._listing = Listing(self._rows, self.size.width)
        self._draw()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.action_move(STEP)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.action_move(-STEP)

    def on_click(self, event: Click) -> None:
        name = self._page.names[event.y] if event.y < len(self._page.names) else ""
        at = next((at for at, row in enumerate(self._rows) if name and row.name == name), None)
        if at is not None:
            again = at == self._at
            self._select(at)
            if again:
                self.action_open()

    def _select(self, at: int) -> None:
        at = max(0, min(at, len(self._rows) - 1))
        if at != self._at:
            self._at = at
            self._draw()
            self.post_message(self.Moved())

    def _draw(self) -> None:
        """Draw again, if the lines have changed."""
        name = self.row.name if self.row else ""
        drawn = self._listing.page(name, max(1, self.size.height), self._elapsed)
        if drawn != self._page or not self._rows:
            self._page = drawn
            self.refresh()
