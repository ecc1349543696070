"""Resume: what an agent needs to continue, the most important first, within a size limit."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from ghp_agents.conflicts import stale_base
from ghp_agents.consent import templates as repo_templates
from ghp_agents.core import templates, text_budget
from ghp_agents.core.file_names import as_code
from ghp_agents.core.ids import Actor, AgentName, count, listed
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.messages import News, who
from ghp_agents.git import apply_patch, patch_text, worktree
from ghp_agents.git.worktree import Difference
from ghp_agents.handoffs import (
    evidence,
    left_work,
    markdown,
    missing_commits,
    returned_work,
    sections,
)
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.evidence import Branch, EvidenceTopic, TopicFacts
from ghp_agents.handoffs.handoff import NOTE_LIMIT, Handoff, find, next_steps
from ghp_agents.handoffs.latest import latest
from ghp_agents.hotpath.quoting import indented, named, when
from ghp_agents.notes import recall
from ghp_agents.notes.note import Note
from ghp_agents.ports import Context, StateStore
from ghp_agents.presence import start_command, stopping
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees.provisioned_files import unchanged_files

TEMPLATE = "resume.md.j2"
APPLY = "resume-apply"  # the event of work that was restored
SHOWN = 5
LONG = ("here", "commits", "files", "ledger", "earlier")  # sections that a brief text leaves out


@dataclass(frozen=True, slots=True)
class Resumed:
    """The text to print, and the news that it contains."""

    text: str
    news: tuple[News, ...]
    handoff: Handoff | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to resume: an issue, or work without one, and the handoff to start from."""

    about: EvidenceTopic
    facts: TopicFacts
    handoff: Handoff | None


def choose(ctx: Context, *, issue: str | None = None, handoff: str | None = None) -> Chosen:
    """Choose the named or current issue, else that of the actor's last handoff (from or to); and
    its last handoff, or the named one. Raises NotFoundError, UsageError."""
    actor = ctx.ws.actor()
    about = evidence.topic(ctx, actor, issue)
    if about.number is None and not handoff and not actor.is_person:
        given = _newest_claim(ctx, actor.name)
        about = about if given is None else evidence.topic(ctx, actor, str(given))
    named = None
    if issue is None and (handoff or about.number is None):
        handoffs, _ = handoff_record.read_handoffs(
            ctx.store.snapshot().files(handoff_record.HANDOFFS)
        )
        mine = [item for item in handoffs if actor.name in (item.by.name, item.to)]
        named = find(handoffs, handoff) if handoff else (mine[-1] if mine else None)
        if named and named.issue is not None:
            about = evidence.topic(ctx, actor, str(named.issue))
    facts = evidence.topic_facts(ctx, about)
    if handoff and named is None:
        named = find(facts.handoffs, handoff)
    return Chosen(about, facts, named or latest(facts.handoffs))


def _newest_claim(ctx: Context, agent: str) -> int | None:
    """The issue that was given to the agent, or that it claimed, last."""
    mine = ctx.world.held_by(Actor(agent))
    return max(mine, key=lambda n: (mine[n].acquired_at, mine[n].name), default=None)


def resume(
    ctx: Context,
    chosen: Chosen,
    *,
    max_chars: int | None = None,
    stopped: Set[int] = frozenset(),
    requested: Sequence[str] = (),
    is_brief: bool = False,
) -> Resumed:
    """Return what the actor needs to continue; on one of the `stopped` issues it must stop. Brief
    is the text without what its client tells anyway, and without the history. `requested` are the
    steps that reviews of its pull request request.

    The caller marks the answers in it as delivered, after printing them.
    """
    actor = chosen.about.actor
    news: list[News] = []
    if not actor.is_person:
        news = escalation.news_for(ctx.world, AgentName(actor.name))
    is_stopped = not stopped.isdisjoint(chosen.about.numbers)
    values = _values(ctx, chosen, news, requested, is_stopped=is_stopped)
    if is_brief:
        values |= {name: [] for name in LONG}
    values = {**markdown.cleaned(values), "section": text_budget.mark}
    text = templates.render(TEMPLATE, values, own=repo_templates.templates(ctx.ws))
    limit = max(text_budget.LEAST, max_chars or ctx.ws.settings.resume_chars)
    head, sections = text_budget.split(text)
    return Resumed(text_budget.fit(head, sections, limit), tuple(news), chosen.handoff)


def _values(
    ctx: Context, chosen: Chosen, news: list[News], requested: Sequence[str], *, is_stopped: bool
) -> dict[str, Any]:
    """Return the template's values."""
    about, facts, last = chosen.about, chosen.facts, chosen.handoff
    now = ctx.ws.clock.now()
    tip, how_to_get_it = _locate(ctx, last)
    branch = evidence.branch(ctx.ws, tip)
    stale = stale_base.known(ctx.ws, about.actor.name)
    top = ctx.ws.place.toplevel
    differences = worktree.differences(Path(top)) if top is not None else []
    is_here = _is_here(ctx, chosen, is_clean=not differences)
    named = f" --issue {about.number}" if about.number else ""
    everything = f"ghp agent-resume{named} --max-chars 1000000"
    base, newest = branch.history.base[:12], branch.tip[:12]
    return {
        "title": markdown.title(about.issue, about.number),
        "lead": [
            *_describe_last(last, now),
            *(left_work.awaited(ctx, about.number) if about.number else ()),
            *_other_handoffs(ctx.store, about),
        ],
        "news": indented(escalation.render_news(news).rstrip()) if news else "",
        "note": _note(facts, last, everything, now),
        **_words(facts, last),
        "steps": _steps(ctx, chosen, branch, requested, is_stopped=is_stopped, is_here=is_here),
        "issue": markdown.issue_values(about.issue, about.blockers),
        "decisions": _decisions(facts, news, now),
        "questions": markdown.question_lines(facts.escalations),
        "work": _work(chosen, "" if is_here else f"ghp agent-resume{named} --apply"),
        "missing": markdown.missing_lines(last.work.missing) if last and last.work else [],
        "here": [
            *_branch(ctx.ws, branch, differences),
            *([stale_base.sentence(stale)] if stale else []),
            *how_to_get_it,
        ],
        "commits": markdown.commit_lines(branch.history.commits, branch.history.total),
        "files": markdown.file_lines(branch.history.files),
        "ledger": markdown.ledger_lines(facts.ledger),
        "earlier": markdown.handoff_lines([item for item in facts.handoffs if item != last], now),
        "known": markdown.note_lines(_known(ctx, about, branch, differences), now),
        "notes": [*about.notes, *facts.notes],
        "all": everything,
        "asked": f"ghp agent-escalations{named}",
        "show": f"ghp agent-issue show {about.number}",
        "log": f"git log {base}..{newest}" if base else f"git log {newest}",
        "diff": f"git diff --stat {base} {newest}",
        "ledger_command": f"ghp agent-log{named or f' --agent {quote(about.actor.name)}'}",
    }


def _is_here(ctx: Context, chosen: Chosen, *, is_clean: bool) -> bool:
    """Whether the last handoff's uncommitted work is in this worktree, or was committed in it."""
    last, top = chosen.handoff, ctx.ws.place.toplevel
    if last is None or last.work is None or top is None:
        return False
    if not is_clean and last.by == chosen.about.actor and last.branch == ctx.ws.branch:
        return True  # the actor's own checkpoint; it may have gone on since
    folder = handoff_record.patch_folder_of(last)
    content = ctx.store.snapshot().files(folder).get(handoff_record.patch_path_of(last))
    try:
        return content is not None and apply_patch.is_applied(Path(top), content)
    except patch_text.UnsafePatchError:
        return False


def _steps(
    ctx: Context,
    chosen: Chosen,
    branch: Branch,
    requested: Sequence[str],
    *,
    is_stopped: bool,
    is_here: bool,
) -> list[str]:
    if chosen.about.actor.name in stopping.in_force(ctx, ctx.store.snapshot()):
        return ["Stop: you were told to. Change nothing more, and end your turn."]
    last = chosen.handoff
    work = last.work if last and not is_here and not _restored(chosen) else None
    # The present situation; that of the handoff may be outdated.
    now = evidence.situation(chosen.about, branch, chosen.facts.escalations)
    start, stored = start_command.of_reader(ctx.ws), work.files if work else 0
    now = now._replace(stored=stored, is_stopped=is_stopped, start=start)
    fixes = [
        *_bring(ctx, last),
        *returned_work.steps(ctx.ws, ctx.store.snapshot(), chosen.about),
        *requested,
    ]
    return [*([] if is_stopped else fixes), *next_steps(now)]


def _bring(ctx: Context, last: Handoff | None) -> list[str]:
    """Return how to get the commits that the branch here lacks: all else builds on them."""
    missing = missing_commits.of(ctx.ws, ctx.store, last)
    if last is None or missing is None:
        return []
    # The name of a branch is others' text, which is not among the steps.
    is_ours = missing.command.startswith(("git merge ", "ghp "))
    how = as_code(missing.command) if is_ours else '"Where you are" has the command'
    return [f"First get the commits of {last.name} that the branch here lacks: {how}."]


def _decisions(facts: TopicFacts, news: list[News], now: float) -> list[str]:
    """Return the answered questions, without those that the news shows in full."""
    new = {item.escalation.id for item in news}
    answered = [item for item in facts.escalations if item.id not in new]
    return markdown.decision_lines(answered, now)


def _known(
    ctx: Context, about: EvidenceTopic, branch: Branch, differences: Sequence[Difference]
) -> list[Note]:
    """Return the notes that fit the issue and the changed files."""
    touched = {file.path for file in branch.history.files} | {item.path for item in differences}
    return recall.fitting(ctx, about.issue, about.numbers, touched)


def _describe_last(last: Handoff | None, now: float) -> list[str]:
    if last is None:
        return ["No handoff yet."]
    lead = markdown.sentence(markdown.handed(last))
    return [f"{lead} ({last.name}, {markdown.age(last.at, now)})."]


def _other_handoffs(store: StateStore, about: EvidenceTopic) -> list[str]:
    """List other issues whose latest handoff is to the actor."""
    handoffs, _ = handoff_record.read_handoffs(store.snapshot().files(handoff_record.HANDOFFS))
    latest = {handoff.issue: handoff for handoff in handoffs if handoff.issue is not None}
    return [
        f"Also handed over to you: #{number} ({handoff.name}): `ghp agent-resume --issue {number}`."
        for number, handoff in sorted(latest.items())
        if handoff.to == about.actor.name and number not in about.numbers
    ][:SHOWN]


def _note(facts: TopicFacts, last: Handoff | None, everything: str, now: float) -> str:
    """Return the last note; a checkpoint without one, e.g. a hook's, must not hide it."""
    handoff = _newest(facts, last, lambda item: bool(item.note))
    if handoff is None:
        return ""
    author = f"{who(handoff.by)}, {markdown.age(handoff.at, now)}, in {handoff.name}"
    return markdown.quoted(handoff.note, author, NOTE_LIMIT * 2, everything)


def _words(facts: TopicFacts, last: Handoff | None) -> dict[str, Any]:
    """Return the sections of the last handoff that has some."""
    handoff = _newest(facts, last, lambda item: any(item.sections))
    if handoff is None:
        return {"words": []}
    author = f"{markdown.sentence(who(handoff.by))} wrote in {handoff.name}"
    return {"words": sections.shown(handoff.sections), "words_by": author}


def _newest(
    facts: TopicFacts, last: Handoff | None, has_it: Callable[[Handoff], bool]
) -> Handoff | None:
    """Return the newest handoff up to the last one that has something."""
    until = [item for item in facts.handoffs if last is None or item.clock <= last.clock]
    return next((item for item in reversed(until) if has_it(item)), None)


def _work(chosen: Chosen, command: str) -> str:
    last = chosen.handoff
    if last is None or last.work is None:
        return ""
    if not last.work.size:
        return f"{last.name} had uncommitted work, but none of it could be stored."
    text = f"{last.name} stored {markdown.work_line(last.work)} "
    text += f"`{command}` restores it." if command else "This worktree has it."
    restored = _restored(chosen)
    if restored:
        author = markdown.sentence(who(Actor(restored[-1].actor, restored[-1].is_person)))
        text += f" {author} restored it at {when(restored[-1].at)}."
    return text


def _restored(chosen: Chosen) -> list[LedgerEntry]:
    name = chosen.handoff.name if chosen.handoff else ""
    return [entry for entry in chosen.facts.ledger if (entry.event, entry.object) == (APPLY, name)]


def _locate(ctx: Context, last: Handoff | None) -> tuple[str | None, list[str]]:
    """Return the commit whose history is shown (None: this worktree's own), and how to get it."""
    if ctx.ws.place.toplevel is None or last is None or not last.head:
        return None, []
    folder = Path(ctx.ws.place.toplevel)
    head = worktree.head(folder)
    if head and worktree.contains(folder, head, last.head):
        return None, []
    branch = f"branch {as_code(last.branch)} at " if last.branch else ""
    prefix = f"The handed-over work is on {branch}`{last.head[:12]}`"
    command = as_code(missing_commits.way(ctx.ws, ctx.store, folder, head, last))
    if worktree.has_commit(folder, last.head):
        return last.head, [f"{prefix}: {command}."]
    return None, [
        f"{prefix}, which this clone does not have: {command}. If that fails, "
        f"{named(*last.by)} must push it first."
    ]


def _branch(ws: Workspace, branch: Branch, differences: Sequence[Difference]) -> list[str]:
    if ws.place.toplevel is None:
        return []
    ours = unchanged_files(ws)
    changes = [item for item in differences if item.code != "??" or item.path not in ours]
    lines = markdown.branch_lines(branch)
    if not changes:
        return lines
    paths = listed([as_code(item.path) for item in changes], SHOWN)
    return [*lines, f"{count(len(changes), 'uncommitted path')}: {paths}."]
