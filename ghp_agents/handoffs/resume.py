"""Resume: what an agent needs to go on, the most important first, within a budget."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from ghp_agents.consent import templates as trunk_file
from ghp_agents.core import templates
from ghp_agents.core import text_budget as budget
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.messages import News, who
from ghp_agents.git import worktree
from ghp_agents.handoffs import evidence
from ghp_agents.handoffs import markdown as page
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs import returned_work as mending
from ghp_agents.handoffs.evidence import Branch, Topic, TopicFacts
from ghp_agents.handoffs.handoff import NOTE_LIMIT, Handoff, Situation, count, find, next_steps
from ghp_agents.handoffs.note_lines import note_lines
from ghp_agents.hotpath.quoting import indented, named
from ghp_agents.issues.body_sections import outline
from ghp_agents.notes import recall
from ghp_agents.notes.note import Note
from ghp_agents.ports import IssueTracker, StateStore
from ghp_agents.state.default_branch import remote_name
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees.provision import unchanged_files

TEMPLATE = "resume.md.j2"
APPLY = "resume-apply"  # the event of work that was restored
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Resumed:
    """What to print, and what its reader is then told of."""

    text: str
    news: tuple[News, ...]
    handoff: Handoff | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to go on with: an issue or work without one, and the handoff to go on from."""

    about: Topic
    said: TopicFacts
    handoff: Handoff | None


def choose(
    ws: Workspace,
    store: StateStore,
    tracker: IssueTracker,
    *,
    issue: str | None = None,
    handoff: str | None = None,
) -> Chosen:
    """The issue that is named or in hand, else that of the last handoff to or from the actor; and
    the last handoff of it, or the one that is named. Raises NotFoundError, UsageError.
    """
    actor = ws.actor()
    about = evidence.topic(ws, tracker, actor, issue)
    named = None
    if issue is None and (handoff or about.number is None):
        known, _ = handoff_record.read_handoffs(store.snapshot().files(handoff_record.HANDOFFS))
        mine = [each for each in known if actor.name in (each.by.name, each.to)]
        named = find(known, handoff) if handoff else (mine[-1] if mine else None)
        if named and named.issue is not None:
            about = evidence.topic(ws, tracker, actor, str(named.issue))
    said = evidence.said(store, about, ws.settings.orchestrators)
    if handoff and named is None:
        named = find(said.handoffs, handoff)
    return Chosen(about, said, named or (said.handoffs[-1] if said.handoffs else None))


def resume(
    ws: Workspace, store: StateStore, chosen: Chosen, *, max_chars: int | None = None
) -> Resumed:
    """What the actor needs to go on with what was chosen.

    The answers in it count as told once they were printed: that is for the caller to mark.
    """
    actor = chosen.about.actor
    news: list[News] = []
    if not actor.is_person:
        news = escalation.news_for(ws, store.snapshot(), AgentName(actor.name))
    values = _values(ws, store, chosen, news)
    values = {**page.cleaned(values), "section": budget.mark}
    text = templates.render(TEMPLATE, values, own=trunk_file.templates(ws))
    limit = max(budget.LEAST, max_chars or ws.settings.resume_chars)
    head, sections = budget.split(text)
    return Resumed(budget.fit(head, sections, limit), tuple(news), chosen.handoff)


def _values(ws: Workspace, store: StateStore, chosen: Chosen, news: list[News]) -> dict[str, Any]:
    """What the template is given."""
    about, said, last = chosen.about, chosen.said, chosen.handoff
    now = ws.clock.now()
    where = _where(ws, last)
    branch = evidence.branch(ws, where.tip)
    named = f" --issue {about.number}" if about.number else ""
    everything = f"ghp agent-resume{named} --max-chars 1000000"
    base, tip = branch.history.base[:12], branch.tip[:12]
    return {
        "title": page.title(about.issue, about.number),
        "lead": [*_last(last, now), *_also(store, about)],
        "news": indented(escalation.render_news(news).rstrip()) if news else "",
        "note": _note(said, last, everything, now),
        "steps": [
            *mending.steps(ws, store.snapshot(), about),
            *next_steps(_situation(chosen, branch)),
        ],
        "issue": page.issue_values(about.issue, about.blockers),
        "questions": page.question_lines(said.escalations),
        "work": _work(chosen, f"ghp agent-resume{named} --apply"),
        "missing": page.missing_lines(last.work.missing) if last and last.work else [],
        "here": [*_branch(ws, branch), *where.lines],
        "commits": page.commit_lines(branch.history.commits, branch.history.count),
        "files": page.file_lines(branch.history.files),
        "ledger": page.ledger_lines(said.ledger),
        "earlier": page.handoff_lines([each for each in said.handoffs if each != last], now),
        "known": note_lines(_known(ws, store, about, branch), now),
        "notes": [*about.notes, *said.notes],
        "all": everything,
        "show": f"ghp agent-issue show {about.number}",
        "log": f"git log {base}..{tip}" if base else f"git log {tip}",
        "diff": f"git diff --stat {base} {tip}",
        "ledger_command": f"ghp agent-log{named or f' --agent {quote(about.actor.name)}'}",
    }


def _known(ws: Workspace, store: StateStore, about: Topic, branch: Branch) -> list[Note]:
    """The notes that fit the issue and the files that were touched."""
    touched = {each.path for each in branch.history.files}
    if ws.place.toplevel is not None:
        touched |= {each.path for each in worktree.differences(Path(ws.place.toplevel))}
    return recall.fitting(ws, store, about.issue, about.numbers, touched)


def _last(last: Handoff | None, now: float) -> list[str]:
    if last is None:
        return ["Nothing was handed over yet."]
    return [f"{page.sentence(page.handed(last))} ({last.name}, {page.age(last.at, now)})."]


def _also(store: StateStore, about: Topic) -> list[str]:
    """What else was handed over to the actor, and by nobody since."""
    known, _ = handoff_record.read_handoffs(store.snapshot().files(handoff_record.HANDOFFS))
    latest = {each.issue: each for each in known if each.issue is not None}
    return [
        f"Also handed over to you: #{number} ({each.name}): `ghp agent-resume --issue {number}`."
        for number, each in sorted(latest.items())
        if each.to == about.actor.name and number not in about.numbers
    ][:SHOWN]


def _note(said: TopicFacts, last: Handoff | None, everything: str, now: float) -> str:
    """The last note: a checkpoint without one, made by a hook say, must not hide it."""
    until = [each for each in said.handoffs if last is None or each.clock <= last.clock]
    noted = next((each for each in reversed(until) if each.note), None)
    if noted is None:
        return ""
    author = f"{who(noted.by)}, {page.age(noted.at, now)}, in {noted.name}"
    return page.quoted(noted.note, author, NOTE_LIMIT * 2, everything)


def _work(chosen: Chosen, command: str) -> str:
    last = chosen.handoff
    if last is None or last.work is None:
        return ""
    if not last.work.size:
        return f"{last.name} left uncommitted work, and none of it could be stored."
    text = f"{last.name} left {page.work_line(last.work)} `{command}` restores it."
    restored = _restored(chosen)
    if restored:
        by, at = restored[-1].actor, page.date(restored[-1].at)
        text += f" It was restored {at}, by {page.name_of(by, restored[-1].is_person)}."
    return text


def _restored(chosen: Chosen) -> list[LedgerEntry]:
    name = chosen.handoff.name if chosen.handoff else ""
    return [each for each in chosen.said.ledger if (each.event, each.object) == (APPLY, name)]


def _situation(chosen: Chosen, branch: Branch) -> Situation:
    """What is so now; what was so when it was handed over may be over."""
    about, last = chosen.about, chosen.handoff
    read = outline(about.issue.body) if about.issue else outline("")
    work = last.work if last and not _restored(chosen) else None
    return Situation(
        issue=about.number,
        issue_is_closed=about.issue is not None and about.issue.state == "closed",
        operation=branch.operation,
        conflicts=len(branch.conflicts),
        stored=work.files if work else 0,
        unsent=branch.unsent or 0,
        waiting_for=tuple(each.name for each in chosen.said.escalations if each.is_open),
        blocked_by=tuple(each.number for each in about.blockers if each.state != "closed"),
        tasks_open=read.tasks_open,
        tasks=read.tasks,
    )


# ------------------------------------------------------------------------------ where it is


@dataclass(frozen=True, slots=True)
class _Where:
    """The commit whose history counts, None for this worktree's own; and how to get there."""

    tip: str | None = None
    lines: tuple[str, ...] = ()


def _where(ws: Workspace, last: Handoff | None) -> _Where:
    if ws.place.toplevel is None or last is None or not last.head:
        return _Where()
    folder = Path(ws.place.toplevel)
    head = worktree.head(folder)
    if head and worktree.contains(folder, head, last.head):
        return _Where()
    branch = f"branch {page.path(last.branch)} at " if last.branch else ""
    told = f"What was handed over is on {branch}`{last.head[:12]}`"
    if worktree.has_commit(folder, last.head):
        to = quote(last.branch) if last.branch else f"--detach {last.head[:12]}"
        return _Where(last.head, (f"{told}: {page.path(f'git switch {to}')}.",))
    command = page.path(f"git fetch {quote(remote_name(ws))} {quote(last.branch or last.head)}")
    return _Where(
        None,
        (
            f"{told}, which is not in this clone: {command}. If it is not there either, "
            f"{named(*last.by)} has to push it.",
        ),
    )


def _branch(ws: Workspace, branch: Branch) -> list[str]:
    if ws.place.toplevel is None:
        return []
    differences = worktree.differences(Path(ws.place.toplevel))
    ours = unchanged_files(ws)
    found = [each for each in differences if each.code != "??" or each.path not in ours]
    lines = page.branch_lines(branch)
    if not found:
        return lines
    shown = ", ".join(page.path(each.path) for each in found[:SHOWN])
    rest = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    differ = "differs" if len(found) == 1 else "differ"
    return [*lines, f"{count(len(found), 'path')} {differ} from the last commit: {shown}{rest}."]
