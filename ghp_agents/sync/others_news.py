"""News from the ledger: what others did that concerns an agent, each in one line.

An agent hears what comes after its baseline: the tips of all clones up to which everything was
delivered. Without one it hears what happened since it started, and who gave it what it has.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AgentName, agent_name, one_line
from ghp_agents.core.json_file import JsonFile
from ghp_agents.escalations.delivered import is_told
from ghp_agents.github.commands import notices
from ghp_agents.guard import override
from ghp_agents.handoffs import for_dead_agent
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.hotpath.quoting import file, named, phrase, reason, thing
from ghp_agents.issues.issue import Issue
from ghp_agents.leases import record as lease_record
from ghp_agents.messages.topics.subscription import FOLDER as SUBSCRIPTIONS
from ghp_agents.messages.topics.subscription import Subscription, hears, read_subscriptions
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import start_command
from ghp_agents.presence.start_command import NEXT
from ghp_agents.state import events
from ghp_agents.state.events import CLOSED_THERE
from ghp_agents.state.ledger import Cursor, LedgerEntry, decode_cursor
from ghp_agents.sync import epic_news
from ghp_agents.sync.news_view import NewsView
from ghp_agents.workspace import Workspace

DECISION_LIMIT = 400  # characters of what a decision changed
LIMIT = 1_500  # characters of all lines together; the rest is counted
KEY = "ledger/"
EDITS = ("issue-edit", "issue-block")  # they can assign, too
FOLDER = "told"  # beside the list of delivered items

News = list[tuple[str, str]]  # the text, and the key that records its delivery


def gather(ctx: Context, snapshot: Snapshot, agent: AgentName) -> News:
    """What others did since the baseline, if it concerns the agent and was not delivered."""
    tips = tuple(sorted(snapshot.tips()))
    baseline = _file(ctx.ws, agent).read()
    presence = ctx.ws.presence(agent)
    started = str((presence or {}).get("startedAt"))
    closed = [
        entry
        for entry in notices.closed(ctx.ws, started)
        if not is_told(ctx.ws, agent, f"{KEY}{entry.id}")
    ]
    if baseline == tips and not closed:
        return []
    if baseline is None and presence is None:
        return []  # it never was here
    entries = ctx.store.ledger(baseline or ())
    if baseline is None:
        entries = _of_first(NewsView(ctx, snapshot, agent, entries), started)
    entries = sorted([*entries, *closed]) if closed else entries
    others = [entry for entry in entries if entry.is_person or entry.actor != agent]
    view = NewsView(ctx, snapshot, agent, entries)
    to = read_subscriptions(snapshot.present(f"{SUBSCRIPTIONS}{agent}/"))[0].get(agent)
    lines = [(text, f"{KEY}{entry.id}") for entry in others for text in _lines(view, entry, to)]
    # Two clones can carry out one decision, with the same record.
    news = [item for item in dict.fromkeys(lines) if not is_told(ctx.ws, agent, item[1])]
    if not news:
        _keep(ctx.ws, agent, tips)
    return _shortened(news)


def _of_first(view: NewsView, started: str) -> list[LedgerEntry]:
    """What a new agent hears of: what happened since it started, and by what the open issues that
    it has were given or assigned to it before."""
    before = [entry for entry in view.entries if entry.at < started]
    given = {entry.issue: entry.id for entry in before if view.is_gift(entry)}
    assigned = {entry.issue: entry.id for entry in before if view.is_assignment(entry)}
    lasting = {*given.values(), *assigned.values()}
    return [entry for entry in view.entries if entry.at >= started or entry.id in lasting]


def _shortened(news: News) -> News:
    """The first lines that fit, and the number of the others, which count as delivered with it."""
    room, kept = LIMIT, 0
    for text, _ in news:
        room -= len(text) + 1
        if room < 0 and kept:
            break
        kept += 1
    shown, left = news[:kept], news[kept:]
    if left:
        more = f"{len(left)} more of this kind: run `ghp agent-log`."
        shown += [(more if not number else "", name) for number, (_, name) in enumerate(left)]
    return shown


def _lines(view: NewsView, entry: LedgerEntry, to: Subscription | None) -> list[str]:
    """What an entry means for the agent, else its line if the agent subscribed to its topic."""
    relations = [name for name in entry.kind.concerns if name in TEXTS]
    texts = [text for name in relations for text in TEXTS[name](view, entry)]
    return texts or [*subscribed(entry, to)]


def subscribed(entry: LedgerEntry, to: Subscription | None) -> Iterator[str]:
    """An entry in one line, if the agent subscribed to its topic. Nothing is sent for that: the
    ledger has it already."""
    topics = entry.kind.topics
    if to is not None and any(hears(to.listens, to.ignores, topic) for topic in topics):
        text = f" {phrase(entry.text)}" if entry.text else ""
        about = f" {thing(one_line(entry.object, 60))}" if entry.object else ""
        yield f"{topics[0]}: {named(*entry.by)}{about}{text}"


def _given(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    if not view.is_gift(entry) or view.has_begun(entry.issue):
        return
    number, why = entry.issue, _reason(entry)
    handoffs = [x for x in _handoffs(view, number) if f" {x.name}" in f" {why}"]
    if handoffs and not view.is_stopped:
        last = handoffs[-1]
        yield (
            f"{named(*entry.by)} handed #{number} over to you{_note(last)}. Read `ghp agent-resume "
            f"--issue {number}`, then run {_start(view, number)}.{_restore(last)}"
        )
    else:
        then = "" if view.is_stopped else f" Run {_start(view, number)}."
        yield f"{named(*entry.by)} gave #{number} to you.{reason(why)}{then}"


def _start(view: NewsView, number: int | None) -> str:
    return f"`{start_command.of_reader(view.ctx.ws, number or NEXT)}`"


def _note(handoff: Handoff) -> str:
    return f": {phrase(handoff.note)}" if handoff.note else ""


def _restore(handoff: Handoff) -> str:
    return " To restore uncommitted work: `ghp agent-resume --apply`." if handoff.work else ""


def _reason(entry: LedgerEntry) -> str:
    """The reason of a release; the ledger says `to worker-1; REASON; held by worker-2`."""
    text = f"; {entry.text.partition('; ')[2]}"
    why, was_held, _ = text.rpartition("; held by ")
    return (why if was_held else text).removeprefix("; ")


def _handoffs(view: NewsView, number: int | None) -> list[Handoff]:
    """The handoffs of an issue, or of work without one, to the agent."""
    files = view.snapshot.files(handoff_record.folder_of(number))
    return [
        handoff for handoff in handoff_record.read_handoffs(files)[0] if handoff.to == view.agent
    ]


def _handed_over(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    """Work without an issue; that of an issue comes with its claim, but for what the clone of a
    former holder saved later."""
    if entry.issue in view.held:  # it may be older than the claim, and arrive later
        files = view.snapshot.files(handoff_record.folder_of(entry.issue))
        for handoff in handoff_record.read_handoffs(files)[0]:
            if handoff.name == entry.object and for_dead_agent.is_of_worktree(handoff):
                yield (
                    f"The work that a former holder of #{entry.issue} left in another clone is "
                    f"here: `ghp agent-resume --handoff {handoff.name}` shows it, and with "
                    "`--apply` restores it."
                )
    if entry.issue is None and entry.object in {handoff.name for handoff in _handoffs(view, None)}:
        by = named(*entry.by)
        yield f"{by} handed work over to you: `ghp agent-resume --handoff {entry.object}`."


def _assigned(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    issue = view.issue(entry.issue)
    if issue is None or view.was_given(entry.issue):
        return
    added, removed = view.assignees(entry)
    is_assignee = view.agent in issue.assignees
    if is_assignee and view.agent in added:
        rests = view.is_stopped or issue.number in view.held
        then = "" if rests else f" Run {_start(view, issue.number)}."
        other = view.claims.get(issue.number) if then else None
        if other:
            who = named(other.holder or "", other.is_person)
            then = f" {who} holds it: run {_start(view, issue.number)} when it is free."
        yield f"{named(*entry.by)} assigned #{issue.number} {phrase(issue.title)} to you.{then}"
    elif view.agent in removed and not (
        is_assignee or view.is_lost(entry.issue) or view.is_stopped
    ):
        yield f"{named(*entry.by)} unassigned you from #{issue.number} {phrase(issue.title)}."


def _changed(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    """What became of the agent's issue. A comment with a marker repeats something that is delivered
    otherwise."""
    assignees = view.assignees(entry)
    if entry.event in EDITS and view.agent in {name for names in assignees for name in names}:
        yield from _assigned(view, entry)
    elif not view.is_mine(entry):
        return
    elif entry.event != "issue-close":
        event = view.record(entry)
        words = f": {phrase(entry.text)}" if entry.event != "issue-reopen" else ""
        if not (event and event.marker):
            yield f"{entry.words}{words}. {_show(entry.issue)}"
    elif entry.issue in view.held:
        yield f"{entry.words}, which you hold. {_show(entry.issue)}"
    elif not view.is_current(entry.issue) and not _is_merged(view, entry.issue):
        yield f"{entry.words}, which is assigned to you."  # else its claim has ended


def _show(number: int | None) -> str:
    return f"`ghp agent-issue show {number}` shows all."


def _unblocked(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    for number in sorted(view.held):
        issue = view.issues.get(number)
        if issue and entry.issue in issue.blocked_by and view.is_since_claim(entry, number):
            left = _open_blockers(view, issue)
            then = f"It still waits for {left}." if left else "Nothing else blocks it: continue."
            is_there = entry.event == CLOSED_THERE
            what = f"#{entry.issue}" if is_there else entry.words
            on_github = ", was closed on GitHub" if is_there else ""
            yield f"{what}, which blocked your #{number}{on_github}. {then}"


def _open_blockers(view: NewsView, issue: Issue) -> str:
    blockers = [view.issues.get(number) for number in issue.blocked_by]
    return ", ".join(f"#{issue.number}" for issue in blockers if issue and issue.state == "open")


def _awaited(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    waiter = view.waiters.get(entry.object)
    behind = waiter.behind if waiter else ()
    wanted = [hold for hold in behind if hold.is_of(view.agent, is_person=False, clone="")]
    for hold in wanted[:1]:
        yield (
            f"{named(*entry.by)} waits for your lease of "
            f"{lease_record.what(hold.patterns, hold.name)}. "
            f"When you no longer need it: `ghp agent-release {hold.short}`."
        )


def _lease_ended(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    lease = view.own_leases.get(entry.object)
    if lease:
        what = lease_record.what(lease.request.patterns, lease.request.name)
        why = entry.text.removeprefix(what).removeprefix(": ")  # the ledger says both
        yield f"{named(*entry.by)} ended your lease of {what}.{reason(why)}"


def _is_merged(view: NewsView, issue: int | None) -> bool:
    """Whether the agent hears that its work on an issue was merged."""
    merges = (
        entry for entry in view.entries if (entry.event, entry.issue) == ("pull-merge", issue)
    )
    return any(text for merge in merges for text in _merged(view, merge))


def _merged(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    """A merge of the agent's work, unless the end of its claim says so, or has said so."""
    if not view.ctx.forge.is_local or view.is_current(entry.issue):
        return
    number = entry.object.removeprefix("#")
    ended = view.ctx.world.claim_locks.get(entry.issue or 0)
    key = f"{ended.name}/{ended.generation}" if ended else ""
    if not number.isdecimal() or is_told(view.ctx.ws, view.agent, key):
        return
    try:
        pull = view.ctx.forge.get(int(number))
    except GhpError:
        return
    if pull.author == view.agent:
        of = f" of #{entry.issue}" if entry.issue else ""
        yield f"{named(*entry.by)} merged your pull request #{number}{of} {phrase(pull.title)}."


def _asked(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    if view.agent in view.ctx.ws.settings.orchestrators:
        yield (
            f"{named(*entry.by)} asks: {phrase(entry.text)} Decide with "
            f"`ghp agent-answer {file(entry.object)} TEXT`."
        )


def _answered(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    """An answer to another's question; answers to its own have a block of their own."""
    question = view.questions.get(entry.object)
    if question and question.agent != view.agent and (entry.issue or 0) in view.held:
        yield (
            f"{entry.words}, {named(question.agent)}'s question about "
            f"#{entry.issue}: `ghp agent-escalations {file(entry.object)}`."
        )


def _decided(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    """What was done. If nothing could be done, the block of the answer says so."""
    outcome = view.outcomes.get(entry.id)
    question = view.questions.get(entry.object)
    is_asker = question is not None and question.agent == view.agent
    if outcome and view.agent in outcome.agents and (outcome.is_done or not is_asker):
        words = phrase(outcome.text, DECISION_LIMIT)
        yield f"{entry.words}: {words}"


def _overridden(view: NewsView, entry: LedgerEntry) -> Iterator[str]:
    """Somebody edits files that the agent is editing."""
    if entry.object == view.agent:
        name = override.path_of(view.agent, entry.id)
        files = view.snapshot.files(f"{override.FOLDER}{view.agent}/")
        permissions, _ = override.read_overrides({name: files[name]} if name in files else {})
        yield from (permission.words for permission in permissions)


# By relation. What is for one addressee has a block of its own.
TEXTS: Mapping[str, Callable[[NewsView, LedgerEntry], Iterator[str]]] = {
    events.HOLDER: _given,
    events.RECEIVER: _handed_over,
    events.ASSIGNEE: _assigned,
    events.WORKER: _changed,
    events.WAITING: _unblocked,
    events.LENDER: _awaited,
    events.BORROWER: _lease_ended,
    events.AUTHOR: _merged,
    events.ORCHESTRATOR: _asked,
    events.COLLEAGUE: _answered,
    events.AFFECTED: _decided,
    events.NAMED: _overridden,
    events.MANAGER: epic_news.lines,
}


def _keep(ws: Workspace, agent: AgentName, tips: Cursor) -> None:
    content = [list(tip) for tip in tips]
    for folder in ws.folders:
        if files.usable(Path(folder)):
            _at(folder, agent).write(content)
            return


def _file(ws: Workspace, agent: AgentName) -> JsonFile[Cursor | None]:
    existing = [folder for folder in ws.folders if _path(folder, agent).exists()]
    return _at((existing or ws.folders)[0], agent)


def _at(folder: str, agent: AgentName) -> JsonFile[Cursor | None]:
    return JsonFile(_path(folder, agent), decode_cursor, lambda: None)


def _path(folder: str, agent: AgentName) -> Path:
    return Path(folder, FOLDER, f"{agent_name(agent)}.tips.json")
