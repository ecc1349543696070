"""Sync: exchange state, and do what the lists name before and after it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ghp_agents.parts.call import call, find
from ghp_agents.parts.lists import AFTER_SYNC, AGENTS, BEFORE_SYNC, PAGES, SyncAct
from ghp_agents.parts.plugin import load, notes_of
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.join import SyncReport
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.workspace import Workspace


@dataclass
class Round:
    """One sync: its acts take of it what their parameters name, and run when what they need holds.

    `kept` is what an act of a package leaves for a later one of it.
    """

    ctx: Context
    hub: Any  # the repository on GitHub, or None
    push: bool
    paced: bool
    in_command: bool
    publish: bool
    report: SyncReport = field(default_factory=lambda: SyncReport(None))
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def this(self) -> "Round":
        """For the acts of the sync itself."""
        return self

    @property
    def ws(self) -> Workspace:
        """The repository, and who works in it."""
        return self.ctx.ws

    @cached_property
    def budget(self) -> SenderBudget:
        """What others may cause in this sync."""
        return SenderBudget(self.ctx.store.snapshot())

    @cached_property
    def snapshot(self) -> Snapshot:
        """The records, when all of them have been exchanged."""
        return self.ctx.store.snapshot()

    @cached_property
    def views(self) -> Sequence[Any]:
        """The agents of that snapshot."""
        views: Sequence[Any] = find(AGENTS)(self.ctx, self.snapshot, processes=False)
        return views

    @property
    def always(self) -> bool:
        """Nothing is needed."""
        return True

    @property
    def unhurried(self) -> bool:
        """Nobody waits for a command."""
        return not self.in_command

    @property
    def fetched(self) -> bool:
        """There may be news."""
        return self.report.fetched

    @property
    def sends(self) -> bool:
        """The remote takes records."""
        return self.report.fetched and self.push and not self.report.trouble

    @property
    def compacts(self) -> bool:
        """In the background, and nothing is unsent for want of a remote."""
        return self.paced and (self.sends or not self.report.remote)

    @property
    def unsent(self) -> bool:
        """What the acts before wrote must still be sent."""
        return self.sends and bool(self.ctx.store.sync_status().unsent)

    @property
    def on_github(self) -> bool:
        """Issues are on GitHub."""
        return self.hub is not None

    @property
    def asks_github(self) -> bool:
        """Commands on GitHub may be executed here."""
        return self.on_github and (self.sends or (self.push and not self.report.remote))

    @property
    def sends_to_github(self) -> bool:
        """Both the remote and GitHub take what is new."""
        return self.on_github and self.sends

    @property
    def publishes(self) -> bool:
        """Pages for people are wanted, and the remote takes them."""
        return self.publish and bool(self.report.remote) and not self.report.trouble

    def do(self, acts: Sequence[SyncAct]) -> list[str]:
        """Do the acts whose needs hold; return their notes for people."""
        notes: list[str] = []
        for act in acts:
            if getattr(self, act.when):
                result = call(act.name, self)
                notes += result if act.tells else ()
        return notes


def sync(
    ctx: Context,
    *,
    hub: object = None,
    push: bool = True,
    publish: bool = False,
    paced: bool = False,
    in_command: bool = False,
) -> SyncReport:
    """Sync with the coordination remote once, and do the follow-up work.

    `paced` is for background processes: they sync no more often than hosts advise. `in_command`
    leaves work that nobody waits for to the next sync in the background. With `hub`, commands by
    people on GitHub are executed, and the state is shown there. The report says if the remote is
    unreachable. Raises GhpError for local errors.
    """
    this = Round(ctx, hub, push, paced, in_command, publish)
    this.do(BEFORE_SYNC)
    this.report = ctx.store.sync(push=push, paced=paced)
    notes = [*this.do(AFTER_SYNC), *_of_plugins(this), *this.budget.notes()]
    report = this.report._replace(notes=(*this.report.notes, *notes))
    if this.publishes:
        gone = {view.name for view in this.views if view.liveness == "gone"}
        report = _together(report, ctx.store.publish(find(PAGES)(ctx), gone=gone))
    return report


def _of_plugins(this: Round) -> list[str]:
    """Do what plug-ins add; return notes."""
    plugins = load(this.ws.settings.plugins).plugins
    return notes_of([(name, act) for name in plugins for act in plugins[name].acts], this)


def send_rest(this: Round) -> None:
    """Send what the acts before wrote."""
    this.report = _together(this.report, this.ctx.store.sync(push=this.push, fetch=False))


def _together(first: SyncReport, second: SyncReport) -> SyncReport:
    return second._replace(
        fetched=first.fetched or second.fetched,
        pushed=first.pushed or second.pushed,
        news=first.news + second.news,
        refused=first.refused + second.refused,
        notes=(*first.notes, *second.notes),
    )
