"""What `agent-status` says besides the agents: news, what is not sent, what is broken."""

from collections.abc import Callable, Iterable, Iterator

from ghp_agents.cli import output
from ghp_agents.cli.views import remote_news
from ghp_agents.core import files
from ghp_agents.core.clock import ago
from ghp_agents.core.ids import AgentName, agent_name, count
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.hotpath import background, heartbeat, news_flag, own_name
from ghp_agents.ports import Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.pulls.merging import past_queue, undone_merges
from ghp_agents.reports.overview import Totals
from ghp_agents.settings import consent
from ghp_agents.state.join import SyncStatus
from ghp_agents.wiring import App
from ghp_agents.world import World

ANSWERS = ".ghp/answers/"  # without answers, the code that reads them is not imported
RETURNS = ".ghp/returns/"
COMMANDED = "hub/assigned.json"  # the same for commands in GitHub comments
UNREADABLE = "Fix the file; `ghp agent-doctor` checks it again."


def _print_github(app: App, snapshot: Snapshot) -> None:
    from ghp_agents.github.tokenless.place import MIRROR

    places = (app.ws.cache_dir / "hub", app.ws.ghp_dir / "hub")
    if not any(place.exists() for place in places) and not snapshot.present(MIRROR):
        return  # without importing the GitHub checks
    from ghp_agents.github import checks

    for line, remedy in checks.in_short(app.ws, snapshot):
        (output.warn(line, remedy) if remedy else output.say(line))


def warn(app: App, snapshot: Snapshot, totals: Totals, *, is_summed_up: bool) -> bool:
    """Print what a person should know; return whether changes can be sent. `is_summed_up`: the news
    and the questions were printed."""
    sync_status = app.store.sync_status()
    others = len([tip for tip in snapshot.tips() if tip.clone != snapshot.clone])
    if sync_status.remote and not (is_summed_up and sync_status.news_at):
        clones = count(others, "other clone")
        hint = "" if sync_status.news_at else "; run `ghp agent-sync` to get news"
        output.say(f"{remote_news.age(app, sync_status)} ({clones}){hint}.")
    if sync_status.waiting:
        why = files.why_unwritable(app.ws.ghp_dir)
        is_full = "space" in why or "quota" in why
        remedy = "free disk space first" if is_full else "outside the sandbox"
        output.warn(
            f"{count(sync_status.waiting, 'record')} waiting for a commit in this clone"
            f"{f': {why}' if why else ''}.",
            f"Run `ghp agent-sync`{f' ({remedy})' if why else ''}.",
        )
    _warn_unsent(app, sync_status)
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
    if totals.questions and not is_summed_up:
        output.say(f"{count(totals.questions, 'question')} open: `ghp agent-escalations --open`.")
    for words in _limits(totals):
        output.warn(*words)
    for words in (*past_queue.warnings(past_queue.find(app)), *undone_merges.warnings(app)):
        output.warn(*words)
    warn_of_rivalries(presence.rivalries(app.ws))
    for trouble in app.ws.settings.unreadable:
        output.warn(f"{trouble} Its last values stay in force.", UNREADABLE)
    if app.ws.settings.unagreed:
        from ghp_agents.consent import service as consent_service

        output.warn(consent_service.summary(app.ws), consent.HINT)
    return bool(sync_status.unsent) and not sync_status.trouble


def _limits(totals: Totals) -> Iterator[tuple[str, str]]:
    """Why agents begin nothing new, and what to do."""
    if totals.budget:
        yield totals.budget, "`ghp agent-report --cost` shows what was used."
    for pause in totals.pauses:
        yield pause, "They continue by themselves; `ghp agent-work --no-wait` does not wait."


def _warn_unsent(app: App, sync_status: SyncStatus) -> None:
    """Say what is not sent; where no process of ours may stay, as soon as a record is not."""
    is_off = background.is_off(app.environ, {"background": app.ws.settings.background})
    if sync_status.unsent and (sync_status.trouble or not sync_status.news_at):
        why = f": {sync_status.trouble}" if sync_status.trouble else ""
        hint = "Run `ghp agent-sync` to try again." if is_off else ""
        if sync_status.permanent:
            hint = "Run `ghp agent-doctor` to find the cause."
        output.warn(f"{count(sync_status.unsent, 'change')} not sent yet{why}", hint)
    elif age := _unsent_age(app, sync_status):
        remedy = "run `ghp agent-sync`" if is_off else "this is done in the background"
        output.say(f"{count(sync_status.unsent, 'change')} not sent for {age}: {remedy}.")
    elif sync_status.records and is_off:
        output.say(f"{count(sync_status.records, 'record')} not sent: run `ghp agent-sync`.")


def _unsent_age(app: App, status: SyncStatus) -> str:
    """How long this clone's oldest change waits; empty while a sync may still be due to send it."""
    since = app.ws.clock.now() - (status.unsent_since or float("inf"))
    return ago(since) if since > app.ws.settings.sync_every else ""


def tell_settled(number: int) -> None:
    """Say that questions wait for nobody any more."""
    if number:
        needs = "needs" if number == 1 else "need"
        output.say(
            f"{count(number, 'question')} {needs} no answer any more: `ghp agent-escalations` "
            "shows why."
        )


def warn_of_rivalries(rivalries: Iterable[presence.Rivalry]) -> None:
    """Warn of names with two running sessions."""
    for rivalry in rivalries:
        output.warn(
            f"Two running sessions use the name {rivalry.agent}: {rivalry.where}.",
            "Rename one, in its worktree: `ghp agent-whoami --set NAME`.",
        )


def print_news(app: App, snapshot: Snapshot, tell: Callable[[str], None]) -> None:
    """Print news for this agent, if one is named: commands from people, a lost claim, returned work
    and new answers. A person who looks in an agent's worktree takes no news away from it."""
    name = own_name.whoami(app.ws.place, app.environ) if not app.name else app.name
    if not name or not heartbeat.is_name(name):
        return
    agent, is_agents = agent_name(name), not _is_person(app)
    if (app.ws.cache_dir / COMMANDED).exists() or "generation" in snapshot.agents().get(name, ()):
        _print_fence(app, snapshot, agent, tell, is_agents)
    if news_flag.is_set(app.ws.folders, name):
        _print_others(app, snapshot, agent, tell, is_agents)
    if snapshot.files(RETURNS):
        from ghp_agents.handoffs import returned_work

        for line in returned_work.reminders(app, snapshot, agent):
            tell(output.clean(line))
    if snapshot.present(ANSWERS):
        _print_answers(app, snapshot, agent, tell, is_agents)


def _is_person(app: App) -> bool:
    """Whether a person at a terminal asks, and not the agent of the worktree."""
    return not app.name and not heartbeat.via(app.environ) and output.is_terminal()


def _print_fence(
    app: App, snapshot: Snapshot, agent: AgentName, tell: Callable[[str], None], is_agents: bool
) -> None:
    from ghp_agents.sync.notifications import fence_lines, mark_fence

    lines = fence_lines(app, snapshot, agent)
    for line in lines:
        tell(line)
    if lines and is_agents:
        mark_fence(app, agent)


def _print_others(
    app: App, snapshot: Snapshot, agent: AgentName, tell: Callable[[str], None], is_agents: bool
) -> None:
    from ghp_agents.sync import notifications

    others = notifications.of_others(app, snapshot, agent)
    if is_agents:
        news_flag.clear(app.ws.folders, agent)
        if notifications.must_stop(app, snapshot, agent):
            news_flag.set_flag(app.ws.folders, agent)  # the hook says it, too
    if others.text:
        tell(others.text)
        if is_agents:
            notifications.deliver(app, agent, others.ids)


def _print_answers(
    app: App, snapshot: Snapshot, agent: AgentName, tell: Callable[[str], None], is_agents: bool
) -> None:
    from ghp_agents.escalations import service as escalation

    news = escalation.news_for(World(app, snapshot), agent)
    if not news:
        return
    from ghp_agents.sync.notifications import is_covered

    whole = [item for item in news if not is_covered(app.ws, agent, item)]
    if whole:
        tell(output.clean(escalation.render_news(whole).rstrip()))
    if is_agents:
        mark_told(app.ws, agent, [item.id for item in news])
