"""News of other clones for commands that read: one rule for all of them.

If the news is older than a sync would leave it, the remote is asked, for at most LIMIT_S. If it was
asked in vain, the command says how old its news is, and asks again after the same time.
"""

from collections.abc import Callable
from typing import TypeVar

from ghp_agents.cli import output
from ghp_agents.cli.params import NUMBER_DIGITS
from ghp_agents.core.clock import ago
from ghp_agents.core.errors import GhpError, NotFoundError, RefusedError
from ghp_agents.state.join import SyncReport, SyncStatus, Tip
from ghp_agents.wiring import App

LIMIT_S = 1.5  # seconds that a person waits for the remote
T = TypeVar("T")


def hear(app: App) -> None:
    """Ask the remote if that is due; say how old the news is if it is not new."""
    if is_due(app):
        tell_trouble(app, ask(app))
    elif _is_old(app, app.store.news_at()):
        output.say(f"{age(app, app.store.sync_status())}.")


def is_due(app: App) -> bool:
    """Whether to ask the remote; also where there is none, which `ask` finds out."""
    return _is_old(app, app.store.asked_at())


def _is_old(app: App, at: float | None) -> bool:
    now = app.ws.clock.now()
    return at is None or not now - app.ws.settings.sync_every < at <= now


def ask(app: App) -> SyncReport:
    """Ask the remote for news, for at most LIMIT_S. Where nobody uses this program, nothing is
    created."""
    with output.busy("Asking for news"):
        return app.store.hear(LIMIT_S)


def after_asking(
    app: App,
    find: Callable[[], T],
    kinds: tuple[type[GhpError], ...] = (NotFoundError, RefusedError),
) -> T:
    """What `find` returns; if it raises one of `kinds`, ask the remote and try once more: what it
    needs, such as an answer, may have come meanwhile, and what refuses it may be over. Another
    process of this clone may have fetched that since, so the state tells whether there is news."""
    before = _others(app)
    try:
        return find()
    except kinds:
        if not ask(app).news and _others(app) == before:
            raise
    return find()


def _others(app: App) -> set[Tip]:
    snapshot = app.store.snapshot()
    return {tip for tip in snapshot.tips() if tip.clone != snapshot.clone}


def issue_after_asking(app: App, reference: str | None, find: Callable[[], T]) -> T:
    """The same for an issue. The error for the number of a pull request says so."""
    try:
        return after_asking(app, find)
    except NotFoundError as missing:
        raise _pull_instead(app, reference or "") or missing from None


def _pull_instead(app: App, reference: str) -> NotFoundError | None:
    digits = reference.strip().removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < NUMBER_DIGITS):
        return None
    try:
        number = app.forge.get(int(digits)).number
    except GhpError:
        return None
    show = f"`ghp agent-pull show {number}`"
    return NotFoundError(f"#{number} is a pull request.", hint=f"Show it: {show}.")


def tell_trouble(app: App, report: SyncReport) -> None:
    """Warn that the remote could not be asked, and say how old the news is."""
    if not report.trouble:
        return
    at = app.store.news_at()
    knowledge = "knows" if at is None else f"knew {ago(app.ws.clock.now() - at)} ago"
    output.warn(
        f"Could not ask {report.remote} for news: {report.trouble}",
        f"This is what this clone {knowledge}. `ghp agent-sync` waits longer for the remote.",
    )


def age(app: App, status: SyncStatus) -> str:
    """When this clone last heard of the others; empty without a remote."""
    if status.remote is None:
        return ""
    now = app.ws.clock.now()
    heard = f"{ago(now - status.news_at)} ago" if status.news_at else "never"
    return f"Last news from {status.remote}: {heard}"
