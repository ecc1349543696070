"""What the watch shows and does: the port between its screens and a clone."""

from collections.abc import Callable, Sequence
from threading import Event
from typing import NamedTuple, Protocol

from ghp_agents.cli.watch.commands import CommandResult
from ghp_agents.reports.overview import AgentRow, Overview

Read = Callable[[], Overview]


class QuestionText(NamedTuple):
    """An open question in full. The texts are others'."""

    id: str
    agent: str
    text: str
    options: tuple[str, ...] = ()


class OpenTarget(NamedTuple):
    """Something that can be opened, and the key that chooses it."""

    key: str
    what: str
    path: str = ""  # of a worktree on this machine
    command: tuple[str, ...] = ()  # to run there on this terminal
    url: str = ""  # of a page


class Detail(NamedTuple):
    """What one agent did, as lines. The texts are others'."""

    changes: tuple[str, ...] = ()
    handoffs: tuple[str, ...] = ()
    log: tuple[str, ...] = ()


class Look(Protocol):
    """Reads and commands of one clone. Each may take long, and is called in a thread of its own."""

    def overview(self) -> Overview:
        """The agents now. Raises GhpError, OSError."""

    def wait(self, over: Event) -> None:
        """Return when something has changed here, when it is time to look again, or when `over` is
        set."""

    def exchange(self) -> float:
        """Ask the remote for news if it is time; returns the seconds until the next time."""

    def sync(self) -> str:
        """Ask the remote for news now; returns what came. Raises GhpError, OSError."""

    def question(self, id: str) -> QuestionText:
        """An open question in full. Raises GhpError."""

    def detail(self, row: AgentRow) -> Detail:
        """What an agent did. Raises GhpError, OSError."""

    def places(self, row: AgentRow) -> Sequence[OpenTarget]:
        """What can be opened for an agent."""

    def answer(self, question: str, text: str) -> CommandResult:
        """Answer a question as the person."""

    def stop(self, agent: str, reason: str) -> CommandResult:
        """Stop an agent as the person."""
