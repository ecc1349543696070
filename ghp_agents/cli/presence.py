"""`agent-status`, `agent-heartbeat` and `agent-whoami`: presence and identity."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from ghp_agents.claims import shown_work
from ghp_agents.cli import complete, json_choice, output, past, statuses
from ghp_agents.cli.context import acting, log_unexpected, start_background
from ghp_agents.cli.views import news
from ghp_agents.cli.views import stale_base as stale_view
from ghp_agents.cli.views import upstream as upstream_view
from ghp_agents.cli.views import waiting as waiting_view
from ghp_agents.core.clock import ago
from ghp_agents.core.errors import GhpError, NotFoundError, UsageError
from ghp_agents.core.ids import agent_name, count, status_name
from ghp_agents.hotpath import background, news_flag, own_name
from ghp_agents.hotpath import heartbeat as heartbeats
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.ports import Snapshot
from ghp_agents.presence import namesakes
from ghp_agents.presence import service as services
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.settings import consent
from ghp_agents.state.presence import issue_of
from ghp_agents.wiring import App

QUESTIONS = ".ghp/escalations/"
ANSWERS = ".ghp/answers/"  # without answers, the code that reads them is not imported
RETURNS = ".ghp/returns/"
COMMANDED = "hub/assigned.json"  # the same for commands in GitHub comments
ACTION_SHOWN = 80  # characters in the table; `agent-status AGENT` shows all
STYLES = {Liveness.ACTIVE: "", Liveness.STALE: "yellow", Liveness.DEAD: "red"}
COLUMNS = ("AGENT", "STATE", "STATUS", "ISSUE", "SEEN", "BRANCH", "LAST ACTION")


@click.command(
    "agent-heartbeat",
    epilog="Example: ghp agent-heartbeat --status testing --issue 12 --action 'Running the tests'",
)
@statuses.OPTION
@click.option(
    "--issue", metavar="NUMBER", help="The issue it works on; 0 for none.",
    shell_complete=complete.issues,
)  # fmt: skip
@click.option("--action", metavar="TEXT", help="What it did last, in one line.")
@click.option("--progress", is_flag=True, help="Report progress.")
@acting
def heartbeat(
    app: App, status: str | None, issue: str | None, action: str | None, progress: bool
) -> None:
    """Report that this agent is alive and what it is doing.

    Prints nothing and always exits with 0, because hooks call it.
    """
    try:
        fields = _fields(status, issue, action)
        agent = app.ws.agent()
        beaten = services.heartbeat(app.ws, app.store, agent, fields, progress=progress)
        settings = {"background": app.ws.settings.background}
        background.start_sync(
            app.ws.folders, app.environ, app.ws.clock.now(), settings, urgent=beaten == "moved"
        )
    except (GhpError, OSError) as error:
        log_unexpected(error)
        if isinstance(error, UsageError) or sys.stderr.isatty():
            output.error(str(error), getattr(error, "hint", ""))


def _fields(status: str | None, issue: str | None, action: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if status is not None:
        fields["status"] = status_name(status)
    if issue is not None:
        number = issue.removeprefix("#")
        if not (number.isascii() and number.isdigit() and len(number) < 16):
            raise UsageError(
                f"{issue[:40]!r} is not an issue.", hint="Give its number: --issue 12."
            )
        fields["issue"] = int(number) or None
    if action is not None:
        fields["lastAction"] = heartbeats.clean_action(action)
    return fields


@click.command("agent-status", epilog="Example: ghp agent-status --epic 1")
@click.argument("agent", required=False, shell_complete=complete.agents)
@json_choice.option("Print the agents as JSON.")
@click.option("--watch", is_flag=True, help="Keep showing it until interrupted.")
@click.option("--stale", is_flag=True, help="Only agents that are stale or dead.")
@past.AT
@click.option("--offline", is_flag=True, help="Do not ask the remote; show what is known here.")
@click.option("--set", "new_status", metavar="STATUS", help="Set this agent's own status.")
@click.option(
    "--epic", metavar="N", help="An epic instead: the state of its parts.",
    shell_complete=complete.issues,
)  # fmt: skip
@acting
def status(
    app: App,
    agent: str | None,
    as_json: bool,
    watch: bool,
    stale: bool,
    at: str | None,
    offline: bool,
    new_status: str | None,
    epic: str | None,
) -> None:
    """List agents and what they are doing, in all clones.

    If no living agent is known here and the last news is older than a minute, it first asks the
    remote, for at most 1.5 seconds.

    SEEN is the age of an agent's last heartbeat. For an agent in another clone it is the time since
    the heartbeat was synced to this clone (`synced 3 min ago`), because clocks differ.
    """
    if new_status is not None:
        _set_status(app, agent, new_status)
        return
    if epic is not None:
        from ghp_agents.cli.views import epic as epic_view

        epic_view.show(app, epic, as_json, is_alone=not (agent or watch or stale or at))
        start_background(app)
        return
    name = agent_name(agent) if agent else None
    if watch and at is None:
        _watch(app, name, stale)
        return
    then = past.time_of(app, at)
    if then is None:
        snapshot, seen = news.look(app, processes=stale or not as_json, offline=offline)
    else:
        snapshot = app.store.snapshot(then)
        seen = services.look_back(app.ws, snapshot, then)
    waits = waiting_view.waits(app, snapshot, seen) if then is None else []
    views = waiting_view.shown(_select(seen, name, stale), waits)
    upstream = upstream_view.heard(app, seen) if then is None and not stale else None
    if as_json:
        found = services.document(views)
        output.as_json(upstream_view.joined(found, upstream, name), upstream_view.rows(found))
    elif not views:
        output.say("No agents are stale." if stale else _nobody(seen, then))
    elif name:
        _print_one(views[0])
        waiting_view.tell(waits, views, indent="  ")
    else:
        output.table(COLUMNS, [row(view) for view in views], styles(views))
        waiting_view.tell(waits, views)
    if not as_json:
        upstream_view.tell(upstream, name)
    if then is None:
        stale_view.tell(app.ws, views)
        _print_footer(app, snapshot, views)
        if app.ws.settings.unagreed:
            from ghp_agents.consent import service as consent_service

            output.warn(consent_service.summary(app.ws), consent.HINT)
        upstream_view.warn(upstream)
        _print_news(app, snapshot, output.say if as_json else output.data)
        _start_background(app)


def _start_background(app: App) -> None:
    if app.ws.ghp_dir.exists():  # else nobody uses this program here, and nothing is created
        start_background(app)


def _nobody(seen: Sequence[AgentView], then: float | None) -> str:
    if seen:
        return "No agent is alive; `ghp agent-status NAME` shows one that is gone."
    if then is not None:
        return "There were no agents at that time."
    return "No agents yet. Start one with `ghp agent-start --next --as NAME`."


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


def _select(views: Sequence[AgentView], name: str | None, stale: bool) -> list[AgentView]:
    chosen = [view for view in views if name is None or view.name == name]
    if name and not chosen:
        raise NotFoundError(
            f"There is no agent {name}.",
            hint="`ghp agent-status` lists agents; `ghp agent-sync` gets news from other clones.",
        )
    if stale:
        return [view for view in chosen if view.liveness in (Liveness.STALE, Liveness.DEAD)]
    return chosen if name else [view for view in chosen if view.liveness is not Liveness.GONE]


def row(view: AgentView) -> tuple[str, ...]:
    """An agent as a row under COLUMNS."""
    presence = view.presence
    issue = issue_of(presence)
    return (
        view.name,
        view.liveness.value,
        file(str(presence.get("status", "idle"))),
        f"#{issue}" if issue else "",
        _beat(view),
        file(str(presence["branch"])) if presence.get("branch") else "",
        phrase(str(presence["lastAction"]), ACTION_SHOWN) if presence.get("lastAction") else "",
    )


def _beat(view: AgentView) -> str:
    """The age of the last heartbeat; for another clone, whose clock may be wrong, its arrival."""
    if view.is_here:
        return f"{ago(view.silent)} ago"
    return "elsewhere" if view.heard is None else f"synced {ago(view.heard)} ago"


def styles(views: Sequence[AgentView]) -> list[str]:
    """A style for each row."""
    return [STYLES.get(view.liveness, "dim") for view in views]


def _print_one(view: AgentView) -> None:
    state = view.presence.get("status", "")
    output.data(f"{named(view.name)}: {view.liveness.value}, {file(str(state))}")
    for key, value in view.presence.items():
        if value not in (None, "", [], "idle") and key not in ("status", services.WAITS_FOR):
            shown = map(str, value if isinstance(value, list) else [value])
            output.data(f"  {file(key)}: {', '.join(_quoted(text) for text in shown)}")


def _quoted(text: str) -> str:
    """A single word as it is, any other text quoted."""
    return text if file(text) == text else phrase(text, heartbeats.ACTION_LIMIT)


def _print_github(app: App, snapshot: Snapshot) -> None:
    from ghp_agents.github.tokenless.place import MIRROR

    places = (app.ws.cache_dir / "hub", app.ws.ghp_dir / "hub")
    if not any(place.exists() for place in places) and not snapshot.present(MIRROR):
        return  # without importing the GitHub checks
    from ghp_agents.doctor import github_checks

    for line, remedy in github_checks.in_short(app.ws, snapshot):
        (output.warn(line, remedy) if remedy else output.say(line))


def _print_footer(app: App, snapshot: Snapshot, views: Sequence[AgentView]) -> None:
    sync_status = app.exchange.sync_status()
    others = len([tip for tip in snapshot.tips() if tip.clone != snapshot.clone])
    if sync_status.remote:
        clones = count(others, "other clone")
        hint = "" if sync_status.news_at else "; run `ghp agent-sync` to get news"
        output.say(f"{news.age(app)} ({clones}){hint}.")
    if sync_status.waiting:
        output.warn(
            f"{count(sync_status.waiting, 'record')} waiting: the repository is not writable.",
            "Run `ghp agent-sync` outside the sandbox.",
        )
    if sync_status.unsent and (sync_status.trouble or not sync_status.news_at):
        why = f": {sync_status.trouble}" if sync_status.trouble else ""
        hint = "Run `ghp agent-doctor` to find the cause." if sync_status.permanent else ""
        output.warn(f"{count(sync_status.unsent, 'change')} not sent yet{why}", hint)
    if sync_status.refused:
        output.warn(
            f"The remote refused {count(sync_status.refused, 'record')}: kept here only.",
            "`ghp agent-sync --refused` shows each, the reason, and what to do.",
        )
    _print_github(app, snapshot)
    if problems := snapshot.problems():
        output.warn(
            f"Skipped {count(len(problems), 'record')}: not readable.",
            "`ghp agent-doctor` lists them; they are kept.",
        )
    if waiting := _open_questions(app, snapshot):
        output.say(f"{count(waiting, 'question')} open: `ghp agent-escalations --open`.")
    _warn_of_rivalries(services.rivalries(app.ws))


def _warn_of_rivalries(rivalries: Iterable[services.Rivalry]) -> None:
    for rivalry in rivalries:
        output.warn(
            f"Two running sessions use the name {rivalry.agent}: {rivalry.where}.",
            "Rename one, in its worktree: `ghp agent-whoami --set NAME`.",
        )


def _open_questions(app: App, snapshot: Snapshot) -> int:
    """The number of questions without a deciding answer.

    Reads only single lines of the records, to avoid importing their parser.
    """
    questions = {path[len(QUESTIONS) :].removesuffix(".md") for path in snapshot.present(QUESTIONS)}
    if not questions:
        return 0
    markers = ["person: true", *(f'by: "{name}"' for name in app.ws.settings.orchestrators)]
    deciding = {line.encode() for line in markers}
    answered = {
        path[len(ANSWERS) :].split("/")[0]
        for path, data in snapshot.present(ANSWERS).items()
        if deciding.intersection(data.partition(b"\n---")[0].splitlines())
    }
    return len(questions - answered)


def _print_news(app: App, snapshot: Snapshot, tell: Callable[[str], None]) -> None:
    """Print news for this agent, if one is named: commands from people, a lost claim, returned work
    and new answers."""
    name = own_name.whoami(app.ws.place, app.environ) if not app.name else app.name
    if not name or not heartbeats.is_name(name):
        return
    if (app.ws.cache_dir / COMMANDED).exists() or "generation" in snapshot.agents().get(name, ()):
        from ghp_agents.sync.notifications import fence_lines

        for line in fence_lines(app, snapshot, agent_name(name)):
            tell(line)
    if news_flag.is_set(app.ws.folders, name):
        from ghp_agents.sync import notifications

        news_flag.clear(app.ws.folders, name)
        if notifications.must_stop(app, snapshot, agent_name(name)):
            news_flag.set_flag(app.ws.folders, name)  # also if it was a person who asked
        others = notifications.of_others(app, snapshot, agent_name(name))
        if others.text:
            tell(others.text)
            notifications.deliver(app, agent_name(name), others.ids)
    if snapshot.files(RETURNS):
        from ghp_agents.handoffs import returned_work

        for line in returned_work.reminders(app, snapshot, agent_name(name)):
            tell(output.clean(line))
    if not snapshot.present(ANSWERS):
        return
    from ghp_agents.escalations import service as escalation

    news = escalation.news_for(app.ws, snapshot, agent_name(name))
    if news:
        tell(output.clean(escalation.render_news(news).rstrip()))
        escalation.mark_told(app.ws, agent_name(name), [answer.id for answer in news])


def _watch(app: App, name: str | None, stale: bool) -> None:
    if not output.is_terminal():
        raise UsageError(
            "--watch needs a terminal.", hint="For a script, use `ghp agent-log --follow --json`."
        )
    from ghp_agents.cli.views.live_table import keep_showing
    from ghp_agents.cli.watch import run as watching

    if watching.run(app, lambda seen: _select(seen, name, stale)):
        return

    def frame() -> tuple[Sequence[str], list[tuple[str, ...]], list[str]]:
        snapshot = app.store.snapshot()
        start_background(app)
        seen = shown_work.shown(app, snapshot, services.list_agents(app, snapshot))
        views = waiting_view.shown(
            _select(seen, name, stale), waiting_view.waits(app, snapshot, seen)
        )
        return COLUMNS, [row(view) for view in views], styles(views)

    keep_showing(frame, app.ws.clock)


@click.command("agent-whoami", epilog="Example: ghp agent-whoami --set worker-1")
@click.option(
    "--set", "name", metavar="NAME", help="Name the agent of this worktree.",
    shell_complete=complete.agents,
)  # fmt: skip
@acting
def whoami(app: App, name: str | None) -> None:
    """Print this agent's name. With --set, name the agent of this worktree."""
    ws = app.ws
    if name is not None:
        mine = services.rename(ws, app.store, agent_name(name))
        output.done(f"This worktree's agent is {name}.")
        if mine != name:
            output.warn(*namesakes.renamed(name, mine))
        if ws.environ.get("GHP_AGENT") not in (None, "", name):
            output.warn(
                f"GHP_AGENT={ws.environ['GHP_AGENT']} is set and overrides it.",
                "Unset it, or set it to the same name.",
            )
        start_background(app)
        return
    output.data(ws.agent())
    _warn_of_rivalries(each for each in services.rivalries(ws) if each.agent == ws.agent())
