"""What the list and the detail of an agent have in common: the keys that act on an agent."""

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ghp_agents.cli.watch import keys, open_place
from ghp_agents.cli.watch.commands import CommandResult
from ghp_agents.cli.watch.dialogs import AnswerDialog, HelpDialog, OpenDialog, StopDialog
from ghp_agents.cli.watch.look import OpenTarget, QuestionText
from ghp_agents.hotpath.quoting import clean
from ghp_agents.reports.overview import AgentRow

if TYPE_CHECKING:
    from ghp_agents.cli.watch.app import Watch


class AgentScreen(Screen[None]):
    """A screen with a selected agent, and a line for messages with the id `message`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "answer"),
        Binding("s", "stop"),
        Binding("o", "open"),
        Binding("r", "exchange"),
        Binding("question_mark", "help"),
    ]

    @property
    def program(self) -> "Watch":
        """The program."""
        return cast("Watch", self.app)

    @property
    def row(self) -> AgentRow | None:
        """The selected agent."""
        raise NotImplementedError

    def say(self, *lines: str) -> None:
        """Show a message; the next key takes it away."""
        message = self.query_one("#message", Static)
        message.update(Content("\n".join(clean(line) for line in lines if line)))
        message.display = any(lines)

    def on_key(self) -> None:
        self.say()

    def action_help(self) -> None:
        """Show all keys."""
        self.app.push_screen(HelpDialog())

    def action_answer(self) -> None:
        """Answer the agent's question."""
        if (row := self.row) is None:
            return
        if not row.question:
            self.say(f"{row.name} has no open question.")
            return
        self.program.do(lambda: self.program.look.question(row.question), self._ask)

    def _ask(self, question: QuestionText) -> None:
        def send(text: str | None) -> None:
            if text is not None:
                self.program.say(f"Answering {question.id} …")
                self.program.do(lambda: self.program.look.answer(question.id, text), self._report)

        self.app.push_screen(AnswerDialog(question), send)

    def action_stop(self) -> None:
        """Stop the agent, after a question."""
        if (row := self.row) is None:
            return
        if not keys.can_stop(row):
            self.say(f"{row.name} is {row.liveness.value} and holds no issue.")
            return

        def send(reason: str | None) -> None:
            if reason is not None:
                self.program.say(f"Stopping {row.name} …")
                self.program.do(lambda: self.program.look.stop(row.name, reason), self._report)

        self.app.push_screen(StopDialog(row.name), send)

    def action_open(self) -> None:
        """Open the agent's worktree or pull request."""
        if (row := self.row) is not None:
            self.program.do(
                lambda: self.program.look.places(row), lambda places: self._choose(row, places)
            )

    def _choose(self, row: AgentRow, places: Sequence[OpenTarget]) -> None:
        def visit(key: str | None) -> None:
            chosen = next((place for place in places if place.key == key), None)
            if chosen:
                self._visit(chosen)

        if not places:
            self.program.say(
                f"{row.name} has no worktree in this clone and no pull request with a page."
            )
        elif self.is_attached:  # else the person has left it meanwhile
            self.app.push_screen(OpenDialog(row.name, places), visit)

    def _visit(self, place: OpenTarget) -> None:
        if place.url:
            self.program.do(lambda: open_place.browse(place.url, os.environ), self.program.say)
        elif place.command:
            self.program.say(*self.program.lend(place.command, place.path))
        else:
            self.app.copy_to_clipboard(place.path)
            self.program.say(f"cd {shlex.quote(place.path)}")

    def action_exchange(self) -> None:
        """Ask the remote for news now."""
        self.say("Asking the remote …")
        self.program.do(self.program.look.sync, self.program.say)

    def _report(self, ran: CommandResult) -> None:
        self.program.say(*ran.lines)
