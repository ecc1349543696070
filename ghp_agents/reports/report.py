"""What happened since a time, and what still waits: from the ledger since then, and from the state
at both ends."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ghp_agents.claims import shown_work
from ghp_agents.core.clock import to_seconds, to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, first_line
from ghp_agents.escalations import escalation as questions
from ghp_agents.escalations.escalation import DEFAULT_URGENCY, Escalation
from ghp_agents.handoffs import what_runs
from ghp_agents.handoffs.returned import REASONS, Return
from ghp_agents.issues.issue import Issue, short
from ghp_agents.jobs import listing
from ghp_agents.leases import settled_questions
from ghp_agents.notes import service as note
from ghp_agents.notes.note import Note
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import NO_CLIENT, Liveness
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.pulls import local_pulls
from ghp_agents.pulls.merging import left_behind
from ghp_agents.pulls.merging.left_behind import LeftBehind
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.review import ReviewRecord
from ghp_agents.state import known_branches
from ghp_agents.state.cause import SWEPT
from ghp_agents.state.events import MERGE
from ghp_agents.state.join import SetAside
from ghp_agents.state.ledger import PRESENCE, LedgerEntry
from ghp_agents.state.presence import issue_of
from ghp_agents.workspace import Workspace

LISTED = 200  # of each section; the rest is counted
REFUSED = "refused"  # the state of a record that the remote does not take
NOBODY = Actor("")
RESTING = ("idle", "done")
PULL_MERGE = "pull-merge"
_MERGED_AS = re.compile(r" as ([0-9a-f]{12})(?![0-9a-f])")  # in the reason of a released claim


class ReportItem(NamedTuple):
    """One thing that happened or waits. Except for `id`, `state` and `command` it is others'
    text."""

    id: str  # #12, E-3f9a, or an agent's name
    at: str
    title: str = ""
    by: Actor = NOBODY
    issue: int | None = None
    state: str = ""  # a word: a status, an urgency
    text: str = ""  # an answer, a note
    result: str = ""  # what an answer led to
    command: str = ""  # what to type
    options: tuple[str, ...] = ()  # of a question


class Report(NamedTuple):
    """The sections by name, each with at most LISTED items, the newest."""

    since: float
    until: float
    sections: Mapping[str, Sequence[ReportItem]]
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()  # what could not be read


class _Facts(NamedTuple):
    """What a report is made of."""

    since: float
    until: float
    entries: Sequence[LedgerEntry]  # since then
    issues: Mapping[int, Issue]
    pulls: Mapping[int, Pull]  # local ones
    opened: Sequence[Pull]  # open now
    questions: Sequence[Escalation]
    agents: Sequence[AgentView]
    lived: frozenset[str]  # the agents that were alive at the beginning
    refused: Sequence[SetAside]  # by the remote, of this clone
    sent_back: Sequence[Return | ReviewRecord]  # open pull requests
    learnt: Sequence[Note]
    running: Mapping[int, str]  # of open pull requests: what that runs by itself they change
    merged: Mapping[str, str]  # the same of merges, by their objects in the ledger
    unfinished: Sequence[AgentView]  # they ended after a failed `agent-finish`
    left: Sequence[LeftBehind]  # in the worktrees of agents here


def read_report(ctx: Context, since: float) -> Report:
    """Read what happened since a time (seconds). Raises GhpError if the state cannot be read."""
    then, snapshot = ctx.store.snapshot(since), ctx.store.snapshot()
    escalations = settled_questions.read(ctx.world)
    notes: list[str] = []
    opened = _open_pulls(ctx, notes)
    agents = presence.list_agents(ctx, snapshot)
    entries = [entry for entry in ctx.store.ledger(after=then.tips()) if is_since(entry.at, since)]
    pulls = _local_pulls(snapshot)
    facts = _Facts(
        since,
        ctx.ws.clock.now(),
        entries,
        {number: issue for issue in _all_issues(ctx, notes) for number in issue.numbers},
        pulls,
        opened,
        escalations,
        agents,
        frozenset(x.name for x in presence.look_back(ctx.ws, then, since) if x.liveness in LIVING),
        ctx.store.set_aside(),
        listing.sent_back(snapshot, opened),
        note.active(ctx.ws, note.read_all(snapshot)[0]),
        _running(ctx.ws, opened),
        _merged_running(ctx.ws, entries, pulls),
        [x for x in shown_work.shown(ctx, snapshot, agents) if x.has_ended and x.unfinished],
        left_behind.find(ctx, snapshot),
    )
    sections = {name: [*items(facts)] for name, items in SECTIONS.items()}
    counts = {name: len(items) for name, items in sections.items()}
    shown = {name: tuple(items[:LISTED]) for name, items in sections.items()}
    return Report(since, facts.until, shown, counts, tuple(notes))


def is_since(at: str, since: float) -> bool:
    """Whether a record's own time is not before `since`; not if it cannot be read."""
    try:
        return to_seconds(at) >= since
    except (ValueError, OverflowError):
        return False


def _local_pulls(snapshot: Snapshot) -> dict[int, Pull]:
    pulls = local_pulls.read_all(snapshot)
    return {number: entry.pull for entry in pulls for number in entry.numbers}


def _all_issues(ctx: Context, notes: list[str]) -> Sequence[Issue]:
    try:
        return ctx.tracker.list(closed=True)
    except GhpError as error:  # GitHub cannot be reached
        notes.append(f"The issues are those of the last sync: {error}")
        return ctx.tracker.known(closed=True)


def _open_pulls(ctx: Context, notes: list[str]) -> Sequence[Pull]:
    try:
        return ctx.forge.list()
    except GhpError as error:  # GitHub cannot be reached
        notes.append(f"Cannot list the open pull requests: {error}")
        return ()


def _running(ws: Workspace, opened: Sequence[Pull]) -> dict[int, str]:
    """What pull requests change that runs by itself, if this clone has their commits."""
    main, texts = known_branches.main_commit(ws), dict[int, str]()
    for pull in opened[-LISTED:] if main else ():
        with suppress(GhpError):
            words = what_runs.of_branch(ws.folder, main, pull.head).words
            texts[pull.number] = f"changes {words}" if words else ""
    return texts


def _merged_running(
    ws: Workspace, entries: Sequence[LedgerEntry], pulls: Mapping[int, Pull]
) -> dict[str, str]:
    """What merges changed that runs by itself, if this clone has their commits."""
    texts: dict[str, str] = {}
    for entry in [entry for entry in entries if entry.kind.mark == MERGE][-LISTED:]:
        pull = pulls.get(_number(entry.object)) if entry.event == PULL_MERGE else None
        named = _MERGED_AS.search(entry.text)
        commit = (pull.merged_as or "") if pull else named[1] if named else ""
        if commit:
            words = what_runs.of_merge(ws.folder, commit, pull.paths if pull else ()).words
            texts |= {entry.object: f"changed {words}"} if words else {}
    return texts


def _waiting(facts: _Facts) -> Iterator[ReportItem]:
    yield from _unfinished(facts)
    for left in facts.left:
        yield ReportItem(
            left.agent, left.at, issue=left.issue, state=f"left {left.amount}", text=left.details,
            command=left.command,
        )  # fmt: skip
    for question in questions.by_need(facts.questions):
        if question.is_open:
            urgency = "" if question.urgency == DEFAULT_URGENCY else question.urgency
            yield _asked(question)._replace(
                state=urgency,
                command=f"ghp agent-answer {question.name} TEXT",
                options=question.question.options,
            )
    for kept in facts.refused:
        about = kept.record
        yield ReportItem(
            kept.id, to_text(kept.at), f"{about.event} {about.object}", about.actor, about.issue,
            REFUSED, text=first_line(kept.words), command=f"ghp agent-sync --refused {kept.id}",
        )  # fmt: skip


def _unfinished(facts: _Facts) -> Iterator[ReportItem]:
    """Agents whose `agent-finish` failed and whose session has ended."""
    for view in facts.unfinished:
        number = view.claimed
        if number:
            at = str(view.presence.get("timestamp") or "")
            yield ReportItem(
                view.name, at, issue=number, state=view.state, text=view.unfinished,
                command=view.continuing,
            )  # fmt: skip


def _asked(question: Escalation) -> ReportItem:
    by, issue = Actor(question.question.agent), question.question.issue
    return ReportItem(question.name, question.asked_at, question.title, by, issue)


def _sent_back(facts: _Facts) -> Iterator[ReportItem]:
    """Pull requests that their agents must change, each with who wants what."""
    pulls = {pull.number: pull for pull in facts.opened}
    for entry in facts.sent_back:
        why = "changes requested" if isinstance(entry, ReviewRecord) else REASONS[entry.reason]
        yield _pull(facts, pulls[entry.pull], entry.at)._replace(
            by=entry.by,
            state=why,
            text=first_line(entry.text),
            command=f"ghp agent-pull show {entry.pull}",
        )


def _mergeable(facts: _Facts) -> Iterator[ReportItem]:
    sent_back = {entry.pull for entry in facts.sent_back}
    for pull in facts.opened:
        if not pull.draft and pull.number not in sent_back:
            yield _pull(facts, pull, pull.updated_at)._replace(
                command=f"ghp agent-merge {pull.number}"
            )


def _pull(facts: _Facts, pull: Pull, at: str) -> ReportItem:
    by = pull.sent.by if pull.sent else Actor(pull.author)
    text = facts.running.get(pull.number, "")
    return ReportItem(f"#{pull.number}", at, pull.title, by, pull.issue, text=text)


def _merged(facts: _Facts) -> Iterator[ReportItem]:
    """Merges, the newest first. On GitHub the ledger has only the releases of the merged claims."""
    recorded = {entry.issue for entry in facts.entries if entry.event == PULL_MERGE}
    for entry in reversed(facts.entries):
        if entry.kind.mark != MERGE or (entry.event != PULL_MERGE and entry.issue in recorded):
            continue
        item = _of_issue(facts, entry)
        if entry.event == PULL_MERGE:
            pull = facts.pulls.get(_number(entry.object))
            item = _pull(facts, pull, entry.at) if pull else ReportItem(entry.object, entry.at)
        yield item._replace(text=facts.merged.get(entry.object, ""))


def _of_issue(facts: _Facts, entry: LedgerEntry) -> ReportItem:
    issue = facts.issues.get(entry.issue or 0)
    return ReportItem(entry.object, entry.at, issue.title if issue else "", entry.by)


def _number(name: str) -> int:
    digits = name.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0


def _answered(facts: _Facts) -> Iterator[ReportItem]:
    answered = [question for question in facts.questions if question.answers]
    for question in sorted(answered, key=lambda question: -question.answers[-1].clock):
        last = question.answers[-1]
        if is_since(last.at, facts.since):
            item = _asked(question)._replace(at=last.at, by=last.by, text=first_line(last.text))
            yield item._replace(result=question.outcome.text if question.outcome else "")


def _opened(facts: _Facts) -> Iterator[ReportItem]:
    """New issues, and new pull requests that are neither merged, nor ready, nor sent back."""
    listed = {item.id for item in (*_merged(facts), *_mergeable(facts), *_sent_back(facts))}
    authors = {entry.issue: entry.by for entry in facts.entries if entry.event == "issue-new"}
    for number in sorted({issue.number for issue in facts.issues.values()}, reverse=True):
        issue = facts.issues[number]
        if is_since(issue.created_at, facts.since):
            state = "closed" if issue.state == "closed" else ""
            by = authors.get(number, Actor(issue.author))
            yield ReportItem(short(issue), issue.created_at, issue.title, by, state=state)
    for entry in reversed(facts.entries):
        pull = facts.pulls.get(_number(entry.object)) if entry.event == "pull-open" else None
        if pull and f"#{pull.number}" not in listed:
            state = "draft" if pull.draft and pull.state == "open" else pull.state
            yield _pull(facts, pull, entry.at)._replace(state=state)


def _closed(facts: _Facts) -> Iterator[ReportItem]:
    """Issues that were closed without a merge, and still are."""
    merged = {item.issue for item in _merged(facts)}
    reported: set[int | None] = set()
    for entry in reversed(facts.entries):
        issue = facts.issues.get(entry.issue or 0)
        is_closed = entry.event == "issue-close" and issue and issue.state == "closed"
        if is_closed and entry.issue not in (*merged, *reported):
            reported.add(entry.issue)
            yield _of_issue(facts, entry)


def _handed_over(facts: _Facts) -> Iterator[ReportItem]:
    for entry in reversed(facts.entries):
        if entry.event == "handoff":
            yield ReportItem(
                entry.object, entry.at, by=entry.by, issue=entry.issue, text=entry.text
            )


def _died(facts: _Facts) -> Iterator[ReportItem]:
    causes = {entry.issue: entry.cause for entry in facts.entries if entry.cause}
    for view in facts.agents:
        at = str(view.presence.get("timestamp") or "")
        recent = view.name in facts.lived or is_since(at, facts.since)
        is_over = view.liveness in (Liveness.DEAD, Liveness.GONE) or view.has_no_client
        if is_over and recent and not view.unfinished:
            number = issue_of(view.presence)
            issue = facts.issues.get(number or 0)
            is_left = issue and issue.state != "closed" and causes.get(number) != SWEPT
            if view.has_no_client and not is_left:
                continue  # it ended after its work
            go_on = view.continuing if number and view.has_no_client else ""
            command = go_on or "ghp agent-sweep"
            state = NO_CLIENT if view.has_no_client else _status(view)
            command = command if is_left else ""
            yield ReportItem(view.name, at, issue=number, state=state, command=command)


def _idle(facts: _Facts) -> Iterator[ReportItem]:
    last = {entry.actor: entry.at for entry in facts.entries if not entry.is_person}
    worked = {entry.actor for entry in facts.entries if entry.event != PRESENCE}
    for view in facts.agents:
        moves = is_since(str(view.presence.get("lastProgress")), facts.since)
        rests = _status(view) in RESTING or not (moves or view.name in worked)
        if view.liveness in LIVING and rests:
            issue, at = issue_of(view.presence), last.get(view.name, "")
            yield ReportItem(view.name, at, issue=issue, state=_status(view))


def _status(view: AgentView) -> str:
    return str(view.presence.get("status") or "idle")


def _learnt(facts: _Facts) -> Iterator[ReportItem]:
    for saved in reversed(facts.learnt):
        if is_since(saved.at, facts.since):
            yield ReportItem(saved.name, saved.at, saved.title, saved.by, saved.issue)


# The sections, the most important first.
SECTIONS: Mapping[str, Callable[[_Facts], Iterator[ReportItem]]] = {
    "waiting": _waiting, "sentBack": _sent_back, "mergeable": _mergeable, "merged": _merged,
    "answered": _answered, "opened": _opened, "closed": _closed, "handedOver": _handed_over,
    "died": _died, "idle": _idle, "learnt": _learnt,
}  # fmt: skip
