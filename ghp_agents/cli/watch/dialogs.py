"""The windows over the list: an answer, a stop, what to open, and the keys."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ghp_agents.cli.watch.look import OpenTarget, QuestionText
from ghp_agents.hotpath.quoting import clean, seen_line

OPTION_SHOWN = 500  # characters
HELP = (
    ("↑ ↓  j k", "select an agent; PgUp, PgDn, g and G go further"),
    ("Enter", "show the agent: its question, changes, handoffs and log"),
    ("a", "answer the agent's question"),
    ("s", "stop the agent; asks for a reason first"),
    ("o", "open its worktree or its pull request"),
    ("/", "show only rows with these words; Esc shows all again"),
    ("r", "ask the remote for news now"),
    ("?", "this help"),
    ("Esc", "go back"),
    ("q  Ctrl-C", "quit"),
)


class Dialog(ModalScreen[str | None]):
    """A window over the list. Esc closes it without an effect."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)"),
        Binding("ctrl+c", "app.leave", priority=True),
    ]

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title, self._hint = title, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(Content.styled(self._title, "bold"))
            yield from self.body()
            yield Static(Content.styled(self._hint, "dim"))

    def body(self) -> ComposeResult:
        """The parts between title and hint."""
        yield from ()


class AnswerDialog(Dialog):
    """Shows a question; returns the answer."""

    def __init__(self, question: QuestionText) -> None:
        super().__init__(f"{question.agent} asks ({question.id})", "Enter send · Esc cancel")
        self._question = question

    def body(self) -> ComposeResult:
        question = self._question
        options = "".join(
            f"\n{n}  {seen_line(text, OPTION_SHOWN)}" for n, text in enumerate(question.options, 1)
        )
        with VerticalScroll(classes="text", can_focus=False):
            yield Static(Content(clean(question.text) + ("\n" + options if options else "")))
        hint = "The answer, or the number of an option" if options else "The answer"
        yield Input(placeholder=hint, compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value)


class StopDialog(Dialog):
    """Asks before an agent is stopped; returns the reason, which may be empty."""

    def __init__(self, agent: str) -> None:
        super().__init__(f"Stop {agent}?", "Enter stop · Esc cancel")

    def body(self) -> ComposeResult:
        yield Static("It stops at its next step. Its work is saved, and its issues are free again.")
        yield Input(placeholder="The reason; the agent reads it (may be empty)", compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class OpenDialog(Dialog):
    """Chooses one of several places; returns its key."""

    def __init__(self, agent: str, places: Sequence[OpenTarget]) -> None:
        super().__init__(f"Open for {agent}", "Esc cancel")
        self._places = places

    def body(self) -> ComposeResult:
        for place in self._places:
            yield Static(Content.assemble((place.key, "bold"), f"  {place.what}"))

    def on_key(self, event: Key) -> None:
        if event.key in {place.key for place in self._places}:
            event.stop()
            self.dismiss(event.key)


class HelpDialog(Dialog):
    """All keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,q,enter", "dismiss(None)")]

    def __init__(self) -> None:
        super().__init__("Keys", "Esc close")

    def body(self) -> ComposeResult:
        wide = max(len(keys) for keys, _ in HELP)
        lines = [Content.assemble((keys.ljust(wide), "bold"), f"  {what}") for keys, what in HELP]
        with VerticalScroll(classes="text"):
            yield Static(Content("\n").join(lines))
