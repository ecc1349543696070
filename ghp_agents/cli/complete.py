"""Shell completion: files, and names that this clone knows, without network access.

Each name has a short description, which some shells show. On an error there are no completions:
a person who is typing gets no error message.
"""

from collections.abc import Callable, Iterable
from functools import partial

import click

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import KNOWN_STATUSES, one_line
from ghp_agents.wiring import App

TYPE_CHECKING = False
if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
Named = Iterable[tuple[str, str]]  # names and their descriptions
WORDS = 60  # characters of a description


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Files and folders, completed by the shell itself."""
    return [_item(incomplete, type="file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Folders, completed by the shell itself."""
    return [_item(incomplete, type="dir")]


def _item(value: str, **words: str) -> "CompletionItem":
    from click.shell_completion import CompletionItem  # no command needs it

    return CompletionItem(value, **words)


def known(read: Callable[[App], Named], *, comma: bool = False, fixed: bool = False) -> Completer:
    """Complete the names that `read` returns; `comma`: in a comma-separated list.

    Without an app, as for a static script, only `fixed` names are known.
    """

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        app = ctx.find_root().obj
        if app is None and not fixed:
            return []
        before, glue, begun = incomplete.rpartition(",") if comma else ("", "", incomplete)
        try:
            names = dict(read(app))
        except (GhpError, OSError):
            return []
        return [
            _item(f"{before}{glue}{name}", help=one_line(words, WORDS))
            for name, words in names.items()
            if name.startswith(begun)
        ]

    return complete


def or_files(*completers: Completer) -> Completer:
    """Names from `completers`, or files if there are none: bash cannot show both."""

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        items = [item for completer in completers for item in completer(ctx, param, incomplete)]
        return items or files(ctx, param, incomplete)

    return complete


def _agents(app: App) -> Named:
    for name, presence in sorted(app.store.snapshot().agents().items()):
        yield name, str(presence.get("status", ""))


def _issues(app: App, state: str = "open") -> Named:
    from ghp_agents.issues.issue import short

    issues = app.tracker.list(closed=state == "closed")
    for issue in (issue for issue in issues if issue.state == state):
        yield short(issue).removeprefix("#"), issue.title


def _pulls(app: App) -> Named:
    for pull in app.forge.list() if app.forge.is_local else ():
        yield str(pull.number), pull.title


def _questions(app: App, *, only_open: bool = False) -> Named:
    from ghp_agents.leases import settled_questions

    for question in settled_questions.read(app.world):
        if question.is_open or not only_open:
            yield question.name, question.title


def _leases(app: App) -> Named:
    from ghp_agents.leases import service as lease
    from ghp_agents.leases.record import what

    for hold in lease.listing(app).held:
        yield hold.short, f"{hold.holder}: {what(hold.patterns, hold.name)}"


def _resources(app: App) -> Named:
    from ghp_agents.leases import service as lease

    for hold in lease.listing(app).held:
        if hold.name:
            yield hold.name, hold.holder


def _handoffs(app: App) -> Named:
    from ghp_agents.handoffs import record as handoff_record

    handoffs, _ = handoff_record.read_handoffs(app.store.snapshot().files(handoff_record.HANDOFFS))
    for handoff in reversed(handoffs):
        about = f" about #{handoff.issue}" if handoff.issue else ""
        yield handoff.name, f"{handoff.by.name}{about}"


def _events(_: App) -> Named:
    from ghp_agents.state.events import EVENTS

    return [(event, "") for event in EVENTS]


def _statuses(_: App) -> Named:
    return [(status, "") for status in KNOWN_STATUSES]


def _times(_: App) -> Named:
    return [
        ("yesterday", "its beginning"),
        ("last-night", "22:00 yesterday"),
        ("today", "its beginning"),
        ("2h-ago", "also 30m, 3d, 1w"),
    ]


def _clients(_: App) -> Named:
    from ghp_agents.integrations.clients.hook_entries import HOMES

    return [*((client, home.title) for client, home in HOMES.items()), ("git", "git's own hooks")]


agents = known(_agents)
issues, closed_issues = known(_issues), known(partial(_issues, state="closed"))
pulls = known(_pulls)
questions, open_questions = known(_questions), known(partial(_questions, only_open=True))
handoffs, events = known(_handoffs), known(_events, fixed=True)
clients, times = known(_clients, comma=True, fixed=True), known(_times, fixed=True)
statuses = known(_statuses, fixed=True)
resources, to_release = known(_resources), or_files(known(_issues), known(_leases))
