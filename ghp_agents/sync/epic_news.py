"""News for the manager of an epic: a part starts, is blocked, asks, or is closed."""

from collections.abc import Iterator
from functools import partial

from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.issues import epics
from ghp_agents.issues.dependencies import open_blockers
from ghp_agents.issues.issue import Issue
from ghp_agents.state.events import CLOSED_THERE, HOLDER, WAITING
from ghp_agents.state.ledger import PRESENCE, LedgerEntry
from ghp_agents.sync.news_view import NewsView


def lines(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    """What the manager hears of an entry about a part, if it is still so."""
    if entry.event == PRESENCE and entry.object != "blocked":
        return
    part = view.issues.get(entry.issue) if entry.issue else None
    if part is None or part.parent is None or not view.held.keys().isdisjoint(part.numbers):
        return
    is_mine = partial(view.manages, entry=entry)
    boss = view.agent in view.ctx.ws.settings.orchestrators
    epic = epics.managed(part, view.issues, is_mine, view.is_managed, is_orchestrator=boss)
    if epic is None or (boss and entry.event == "escalate"):  # an orchestrator hears of it anyway
        return
    name = f"#{part.number} {phrase(part.title)}, a part of your #{epic.number}"
    if HOLDER in entry.kind.concerns:
        yield from _started(view, entry, name)
    elif entry.event == PRESENCE:
        yield from _stuck(view, entry, name)
    elif entry.event == "issue-block":
        yield from _blocked(view, entry, part, name)
    elif entry.event == "escalate":
        show = f"`ghp agent-escalations {file(entry.object)}` shows all."
        yield f"{named(*entry.by)} asks about {name}: {phrase(entry.text)} {show}"
    elif part.state == "closed":
        is_there = entry.event == CLOSED_THERE
        yield f"{name}, was closed on GitHub." if is_there else f"{named(*entry.by)} closed {name}."
        yield from _done(view, entry, view.issues.get(part.parent, epic))


def _started(view: NewsView, entry: LedgerEntry, name: str) -> Iterator[str]:
    claim = view.claims.get(entry.issue or 0)
    if claim and claim.holder and claim.generation == entry.generation:
        yield f"{named(claim.holder, claim.is_person)} started {name}."


def _stuck(view: NewsView, entry: LedgerEntry, name: str) -> Iterator[str]:
    now = view.snapshot.agents().get(entry.actor, {}).get("status")
    if now == "blocked":
        why = f": {phrase(entry.text)}" if entry.text else ""
        yield f"{named(*entry.by)} is blocked on {name}{why}."


def _blocked(view: NewsView, entry: LedgerEntry, part: Issue, name: str) -> Iterator[str]:
    is_added = any(word.startswith("blocked") for word in entry.text.split(", "))
    blockers = open_blockers(part, view.all_issues)
    if is_added and blockers and part.state == "open":
        numbers = ", ".join(f"#{blocker.number}" for blocker in blockers)
        yield f"{named(*entry.by)} marked {name}, as blocked by {numbers}."


def _done(view: NewsView, entry: LedgerEntry, epic: Issue) -> Iterator[str]:
    """The proposal to close an epic, with the news of the last part. What has parts and no manager
    is proposed to the manager of the whole."""
    own = epics.own_parts(epic, view.all_issues)
    numbers = {number for part in own for number in part.numbers}
    closed = [x for x in view.entries if WAITING in x.kind.concerns and x.issue in numbers]
    if epics.is_done(epic, own) and closed[-1] == entry:
        yield epics.proposal(epic, len(own))
