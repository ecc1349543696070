"""`agent-status`: who does what, and who needs a person."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from ghp_agents.claims import shown_work
from ghp_agents.cli import complete, json_choice, output, past, statuses
from ghp_agents.cli.context import acting, start_background
from ghp_agents.cli.messages import channels
from ghp_agents.cli.params import LIMIT
from ghp_agents.cli.views import agent as agent_view
from ghp_agents.cli.views import card as card_view
from ghp_agents.cli.views import remote_news, status_notes
from ghp_agents.cli.views import stale_base as stale_view
from ghp_agents.cli.views import upstream as upstream_view
from ghp_agents.cli.views import waiting as waiting_view
from ghp_agents.core.errors import GhpError, NotFoundError, UsageError
from ghp_agents.core.ids import agent_name, listed, status_name
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues import current_issue
from ghp_agents.ports import Snapshot
from ghp_agents.presence import service as services
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.reports.overview import AgentFacts, Overview, overview
from ghp_agents.reports.read_overview import Team
from ghp_agents.wiring import App
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.cards.card import AgentCard
    from ghp_agents.leases.wait_graph import Wait

STALE = (Liveness.STALE, Liveness.DEAD)
HOLDERS = 10  # agents without a heartbeat that are named


class StatusRead(NamedTuple):
    """The agents and their overview at one time."""

    snapshot: Snapshot
    agents: Sequence[AgentView]  # all of them
    views: Sequence[AgentView]  # the chosen ones
    overview: Overview  # of the chosen ones
    team: Team | None = None  # None: in the past
    left_out: int = 0  # chosen ones after the limit

    @property
    def waits(self) -> "Sequence[Wait]":
        """Who waits for whom."""
        return self.team.waits if self.team else ()


class AgentChoice(NamedTuple):
    """Which agents are wanted."""

    name: str | None = None
    stale: bool = False
    limit: int | None = None  # the first ones: who needs a person
    capability: str | None = None


@click.command("agent-status", epilog="Example: ghp agent-status --epic 1")
@click.argument("agent", required=False, shell_complete=complete.agents)
@json_choice.option("Print the agents as JSON.")
@click.option(
    "--all", "show_all", is_flag=True, help="All agents, even if they fill several screens."
)
@click.option("--plain", is_flag=True, help="Words instead of symbols, every column, no colours.")
@click.option("--watch", is_flag=True, help="Keep showing it until interrupted.")
@click.option("--stale", is_flag=True, help="Only agents that are stale or dead.")
@click.option("--capability", metavar="WORD", help="Only agents that can do this.")
@past.AT
@click.option("--offline", is_flag=True, help="Do not ask the remote; show what is known here.")
@LIMIT
@statuses.SET
@click.option(
    "--epic", metavar="N", help="An epic instead: the state of its parts.",
    shell_complete=complete.issues,
)  # fmt: skip
@acting
def status(
    app: App,
    agent: str | None,
    as_json: bool,
    show_all: bool,
    plain: bool,
    watch: bool,
    stale: bool,
    capability: str | None,
    at: str | None,
    offline: bool,
    limit: int | None,
    new_status: str | None,
    epic: str | None,
) -> None:
    """List the agents of all clones and what they are doing; those that need you come first.

    An agent needs you if it asked a question, or if its client waits for a permission or a prompt.
    It also needs you if its pull request can be merged or was sent back. The same holds if it ended
    and left work.

    If the news is older than `agents.syncEvery`, it asks the remote, for at most 1.5 seconds.
    Meanwhile, a terminal shows what this clone knows.

    The age is that of the need, or else of the last heartbeat. Clocks differ, so the age of a
    heartbeat from another clone begins when it arrived here.
    """
    if new_status is not None:
        _set_status(app, agent, new_status)
        return
    if epic is not None:
        from ghp_agents.cli.views import epic as epic_view

        epic_view.show(app, epic, as_json, at, is_alone=not (agent or watch or stale or limit))
        return
    choice = AgentChoice(agent_name(agent) if agent else None, stale, limit, capability)
    if watch and at is None:
        _watch(app, choice)
        return
    then = past.time_of(app, at)
    channels.refresh(app)
    is_screen = output.shows_tables() and not (as_json or plain or choice.name)
    look = _look_back(app, choice, then) if then is not None else None
    if look is None:
        look = (
            _paint(app, choice, offline, show_all)
            if is_screen and output.is_terminal()
            else _look(app, choice, offline, leases=as_json or is_screen)
        )
    if as_json:
        _print_json(app, look, choice, then)
    else:
        _print(app, look, choice, then, is_screen=is_screen)
    _tell_limit(look)
    heard = upstream_view.heard(app, look.agents) if then is None and not stale else None
    if not as_json:
        upstream_view.tell(heard, choice.name)
    if look.team:
        waiting_view.warn(look.team)
        status_notes.tell_settled(look.team.settled)
        stale_view.tell(app.ws, look.views)
        is_summed_up = is_screen and bool(look.views)
        totals = look.overview.totals
        can_send = status_notes.warn(app, look.snapshot, totals, is_summed_up=is_summed_up)
        upstream_view.warn(heard)
        status_notes.print_news(app, look.snapshot, output.say if as_json else output.data)
        if app.ws.ghp_dir.exists():  # else nobody uses this program here, and nothing is created
            start_background(app, urgent=can_send)


def _print(
    app: App, look: StatusRead, choice: AgentChoice, then: float | None, *, is_screen: bool
) -> None:
    if not look.views:
        output.say(_nothing(app, look.agents, choice, then))
    elif choice.name:
        row = look.overview.agents[0]
        held = current_issue.held(app, row.name, look.views[0].clone) if then is None else ()
        for line in agent_view.page(row, look.views[0].presence, held):
            output.page(line)
        card = app.ws.settings.card(choice.name)
        for line in card_view.page(card) if card else ():
            output.page(line)
        waiting_view.tell(look.waits, look.views, indent="  ")
    elif not is_screen:
        output.plain_table(
            agent_view.COLUMNS, [agent_view.cells(row) for row in look.overview.agents]
        )
        waiting_view.tell(look.waits, look.views)
    elif then is not None or not output.is_terminal():  # there `_paint` has shown it
        _draw(look)
    if choice.capability:
        card_view.tell_idle(_idle(app, look, choice))


def _draw(look: StatusRead) -> None:
    """Show the screen once, as wide as $COLUMNS, with all agents."""
    from ghp_agents.cli.terminal.frame import Frame, size
    from ghp_agents.cli.views.status_screen import screen

    Frame().show(screen(look.overview, size()[0]))


def _tell_limit(look: StatusRead) -> None:
    shown = len(look.overview.agents)
    if look.left_out:
        output.say(f"The first {shown} of {shown + look.left_out}; --limit shows more.")


def _idle(app: App, look: StatusRead, choice: AgentChoice) -> "list[AgentCard]":
    return card_view.idle(app.ws, {view.name for view in look.agents}, choice.capability)


def _look(app: App, choice: AgentChoice, offline: bool, *, leases: bool) -> StatusRead:
    """Look now, for a program or a page. The plain table has no column of leases."""
    if not offline and remote_news.is_due(app):
        remote_news.tell_trouble(app, remote_news.ask(app))
    snapshot = app.store.snapshot()
    agents = services.list_agents(app, snapshot, processes=True)
    agents = shown_work.shown(app, snapshot, agents)
    is_page = choice.name is not None
    return _chosen(app, choice, snapshot, agents, deep=True, leases=is_page or leases)


def _look_back(app: App, choice: AgentChoice, then: float) -> StatusRead:
    snapshot = app.store.snapshot(then)
    agents = services.look_back(app.ws, snapshot, then)
    facts = Team(app.past(then), snapshot, agents, then).facts()
    views = _select(app.ws, agents, choice, facts)
    return _first(StatusRead(snapshot, agents, views, overview(views, facts)), choice.limit)


def _chosen(
    app: App,
    choice: AgentChoice,
    snapshot: Snapshot,
    agents: Sequence[AgentView],
    *,
    deep: bool = False,
    leases: bool = True,
) -> StatusRead:
    team = Team(app.offline, snapshot, agents)
    facts = team.facts(deep=deep, leases=leases)
    if choice.name:
        facts = facts._replace(worktrees=team.worktrees)
    views = waiting_view.shown(_select(app.ws, agents, choice, facts), team.waits)
    return _first(StatusRead(snapshot, agents, views, overview(views, facts), team), choice.limit)


def _first(look: StatusRead, limit: int | None) -> StatusRead:
    """The first of the agents, with the totals of all."""
    rows = look.overview.agents
    if limit is None or len(rows) <= limit:
        return look
    names = {row.name for row in rows[:limit]}
    return look._replace(
        views=[view for view in look.views if view.name in names],
        overview=look.overview._replace(agents=rows[:limit]),
        left_out=len(rows) - limit,
    )


def _paint(app: App, choice: AgentChoice, offline: bool, show_all: bool) -> StatusRead:
    """Show what this clone knows at once. Then ask for news, and update the same screen."""
    from ghp_agents.cli.terminal.frame import Frame, size
    from ghp_agents.cli.views.status_screen import screen

    frame = Frame()

    def look_at(*, deep: bool, loading: bool = False) -> StatusRead:
        snapshot = app.store.snapshot()
        agents = services.list_agents(app, snapshot)
        agents = shown_work.shown(app, snapshot, agents)
        look = _chosen(app, choice, snapshot, agents, deep=deep)
        if look.views:
            width, height = size()
            frame.show(screen(look.overview, width, None if show_all else height, loading=loading))
        return look

    has_remote = app.store.remote() is not None
    asks = has_remote and not offline and remote_news.is_due(app)
    look = look_at(deep=False, loading=asks)
    report = remote_news.ask(app) if asks else None
    if asks or any(_may_have_left_work(view) for view in look.views):
        look = look_at(deep=True)
    if report:  # a warning in between would move the frame
        remote_news.tell_trouble(app, report)
    return look


def _may_have_left_work(view: AgentView) -> bool:
    """Whether an agent of this clone died or finished, so that its worktree is worth a look."""
    is_over = view.liveness is Liveness.DEAD or not view.claimed or view.presence.get("pull")
    return view.is_here and bool(is_over)


def _print_json(app: App, look: StatusRead, choice: AgentChoice, then: float | None) -> None:
    document: dict[str, Any] = services.document([*look.views])
    for row in look.overview.agents:
        if row.name in document["agents"]:
            document["agents"][row.name] |= agent_view.fields(row)
    card_view.join(
        document["agents"], app.ws, _idle(app, look, choice) if choice.capability else ()
    )
    heard = upstream_view.heard(app, look.agents) if then is None and not choice.stale else None
    output.as_json(upstream_view.joined(document, heard, choice.name), upstream_view.rows(document))


def _nothing(app: App, agents: Sequence[AgentView], choice: AgentChoice, then: float | None) -> str:
    if choice.stale:
        return "No agents are stale."
    if choice.capability:
        return f"No living agent has the capability {named(choice.capability)}."
    if agents:
        return "No agent is alive; `ghp agent-status NAME` shows one that is gone."
    if then is not None:
        return "There were no agents at that time."
    return _unseen(app) or "No agents yet. Start one with `ghp agent-start --next --as NAME`."


def _unseen(app: App) -> str:
    """The agents that hold issues and have no heartbeat here yet: locks arrive before records."""
    if not app.ws.ghp_dir.exists():
        return ""

    held = [x for x in app.offline.world.claims.items() if not x[1].is_person]
    holders = listed([f"{named(lock.holder or '')} (#{number})" for number, lock in held], HOLDERS)
    return holders and f"No heartbeat has arrived yet. These agents hold an issue: {holders}."


def _set_status(app: App, agent: str | None, new_status: str) -> None:
    if agent:
        app.name = agent
    name = app.ws.agent()
    services.heartbeat(app.ws, app.store, name, {"status": status_name(new_status)})
    try:
        app.store.fold()
    except (GhpError, OSError) as error:  # the presence is saved; a later fold takes it
        output.warn(
            f"Saved, but not committed yet: {error}", "Run `ghp agent-doctor` to find the cause."
        )
    output.done(f"{name} is {new_status}.")
    start_background(app)


def _select(
    ws: Workspace, agents: Sequence[AgentView], choice: AgentChoice, facts: AgentFacts
) -> list[AgentView]:
    """The wanted agents; without a name not those that are gone, unless a person should look."""
    chosen = [view for view in agents if choice.name in (None, view.name)]
    if choice.capability:
        chosen = card_view.able(ws, chosen, choice.capability)
    if choice.name and not chosen:
        has_card = " It has a card, but has never run." if choice.name in ws.settings.cards else ""
        raise NotFoundError(
            f"There is no agent {choice.name}.{has_card}",
            hint=f"Start it with `ghp agent-work --agent {choice.name}`."
            if has_card
            else "`ghp agent-status` lists agents; `ghp agent-sync` gets news from other clones.",
        )
    if choice.stale:
        return [view for view in chosen if view.liveness in STALE]
    if choice.name:
        return chosen
    return [x for x in chosen if x.liveness is not Liveness.GONE or facts.needs.get(x.name)]


def _watch(app: App, choice: AgentChoice) -> None:
    if not output.is_terminal():
        raise UsageError(
            "--watch needs a terminal.", hint="For a script, use `ghp agent-log --follow --json`."
        )
    from ghp_agents.cli.views.live_table import keep_showing
    from ghp_agents.cli.watch import run as watching

    def look() -> Overview:
        snapshot = app.store.snapshot()
        agents = services.list_agents(app, snapshot)
        status = _chosen(app, choice, snapshot, shown_work.shown(app, snapshot, agents))
        start_background(app)
        return status.overview

    if not watching.run(app, look):
        keep_showing(look, app.ws.clock)
