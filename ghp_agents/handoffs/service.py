"""Handoff: write down what the next agent must know, from evidence, and give the issue over."""

import hashlib
import secrets
from dataclasses import dataclass, replace
from typing import Any

from ghp_agents.claims.claim import is_mine
from ghp_agents.consent import templates as trunk_file
from ghp_agents.core import secret_scan as secret
from ghp_agents.core import templates
from ghp_agents.core.child_env import publishable
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import Actor, Timestamp, agent_name, digest, one_line
from ghp_agents.escalations.messages import who
from ghp_agents.handoffs import evidence, record, uncommitted
from ghp_agents.handoffs import handoff as rules
from ghp_agents.handoffs import markdown as page
from ghp_agents.handoffs.evidence import Branch, Topic, TopicFacts
from ghp_agents.handoffs.handoff import CHECKPOINT, HANDOFF, NOTE_LIMIT, Handoff, Work
from ghp_agents.handoffs.note_lines import note_lines
from ghp_agents.handoffs.uncommitted import Uncommitted
from ghp_agents.hotpath.quoting import clean, named
from ghp_agents.issues import outsider_text
from ghp_agents.issues.body_sections import outline
from ghp_agents.issues.issue import Issue, IssueChange, short
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.notes import recall
from ghp_agents.notes.note import Note
from ghp_agents.ports import IssueTracker, LockService, Snapshot, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.state.presence import number
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text

TEMPLATE = "handoff.md.j2"


@dataclass(frozen=True, slots=True)
class HandoffResult:
    """What became of a handoff."""

    handoff: Handoff
    document: str  # as it is stored, with front matter
    path: str
    is_new: bool  # False: the same was said before, and is not said again
    notes: tuple[str, ...] = ()  # what a person should know
    learnt: int = 0  # notes that came of the work
    unsent: int = 0  # commits that are in no remote, if there is one


@dataclass(frozen=True, slots=True)
class HandoffFacts:
    """All that a handoff is made of; `about.actor` is who hands over."""

    about: Topic
    branch: Branch
    said: TopicFacts
    work: Uncommitted
    rights: tuple[Lock, ...]
    notes: tuple[str, ...]
    learnt: tuple[Note, ...] = ()


def handoff(
    ws: Workspace,
    store: StateStore,
    tracker: IssueTracker,
    leaser: LockService,
    *,
    issue: str | None = None,
    to: str | None = None,
    note: str = "",
    checkpoint: bool = False,
    dry_run: bool = False,
    unless_empty: bool = False,
) -> HandoffResult:
    """Record a handoff of the work in this worktree, with its uncommitted part as a patch.

    `pass_on` makes its receiver the next holder. What says nothing new since the last one is not
    recorded again; `unless_empty`, neither is that there is no work at all. Raises UsageError,
    NotFoundError, RefusedError (the issue is somebody else's), NotSetUpError.
    """
    actor = ws.actor()
    receiver = _receiver(actor, to, checkpoint)
    about = evidence.topic(ws, tracker, actor, issue)
    if receiver:
        _refuse_foreign(about, receiver)
    tidy, warnings = _note(ws, note)
    facts = _facts(ws, store, leaser, about, ask_rights=not checkpoint)
    notes = (*warnings, *facts.notes)
    if unless_empty and not tidy and _is_empty(facts):
        made = _made(ws, facts, CHECKPOINT if checkpoint else HANDOFF, receiver, tidy)
        return HandoffResult(made, "", "", False, notes)
    kind = CHECKPOINT if checkpoint else HANDOFF
    handed = record_of(ws, store, facts, kind=kind, to=receiver, note=tidy, dry_run=dry_run)
    return replace(handed, notes=notes)


def record_of(
    ws: Workspace,
    store: StateStore,
    facts: HandoffFacts,
    *,
    kind: str = HANDOFF,
    to: str | None = None,
    note: str = "",
    dry_run: bool = False,
) -> HandoffResult:
    """Record a handoff of what was found out; what says nothing new is not recorded again."""
    about = facts.about
    made = _made(ws, facts, kind, to, note)
    values = page.cleaned(_values(ws, facts, made))
    text = templates.render(TEMPLATE, values, own=trunk_file.templates(ws))
    body = publishable(text.strip("\n") + "\n", ws.environ)

    def decide(snapshot: Snapshot) -> tuple[HandoffResult, list[Record]]:
        known, _ = evidence.handoffs_about(snapshot, about)
        if known and known[-1].evidence == made.evidence:
            return _as_it_is(snapshot, known[-1], facts.notes), []
        now = replace(made, clock=snapshot.clock + 1)
        document = record.render(now, body)
        text, learnt = document.decode("utf-8"), len(facts.learnt)
        handed = HandoffResult(now, text, record.path_of(now), True, facts.notes, learnt)
        return handed, [] if dry_run else [_record(now, document, facts)]

    return replace(transact(store, decide), unsent=facts.branch.unsent or 0)


def is_here(ws: Workspace, store: StateStore, agent: str) -> bool:
    """Whether an agent lives in this clone, which has all the commits that were made in it."""
    views = presence.list_agents(ws, store, store.snapshot(), processes=False)
    return any(view.name == agent and view.is_here for view in views)


def _is_empty(facts: HandoffFacts) -> bool:
    """Whether there is nothing that anybody could go on with."""
    about, branch = facts.about, facts.branch
    return (
        about.number is None
        and not facts.work.patch.content
        and not facts.work.missing
        and not (branch.operation or branch.unsent)
        and not (branch.history.base and branch.history.count)
        and not facts.said.escalations
    )


def _as_it_is(snapshot: Snapshot, had: Handoff, notes: tuple[str, ...]) -> HandoffResult:
    path = record.path_of(had)
    stored = snapshot.files(record.folder_of(had.issue)).get(path, b"")
    return HandoffResult(had, stored.decode("utf-8", "replace"), path, False, notes)


def pass_on(
    ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker, handed: Handoff
) -> Issue | None:
    """Make the receiver of a handoff the holder of its issue, in place of the one who hands over:
    the claim, if that one has it, and the assignment.

    Answers the issue as it is then; None if there is nothing to pass on. Raises UnknownError where
    the claim cannot be passed on now.
    """
    if handed.to is None or handed.issue is None:
        return None
    if _has_claim(ws, leaser, handed):
        from ghp_agents.claims import service as claim

        given = claim.release(
            ws, store, leaser, tracker, str(handed.issue),
            to=handed.to, reason=f"handed over in {handed.name}",
        )  # fmt: skip
        return given.issue
    change = IssueChange(add_assignees=(handed.to,), remove_assignees=(handed.by.name,))
    return tracker.change(handed.issue, change, ws.actor())


def _has_claim(ws: Workspace, leaser: LockService, handed: Handoff) -> bool:
    name = claim_name(handed.issue or 0)
    epoch = 0 if handed.by.is_person else number(ws.presence(handed.by.name) or {}, "epoch")
    known = (lease for lease in leaser.known(name) if lease.name == name)
    return any(is_mine(lease, handed.by.name, epoch, leaser.clone) for lease in known)


# -------------------------------------------------------------------------------- what is said


def _receiver(actor: Actor, to: str | None, checkpoint: bool) -> str | None:
    if to is None:
        return None
    if checkpoint:
        raise UsageError(
            "A checkpoint is for oneself; it has no receiver.",
            hint="Leave out --checkpoint to hand over, or --to to keep the work.",
        )
    receiver = agent_name(to)
    if receiver == actor.name and not actor.is_person:
        raise UsageError(
            f"{receiver} is yourself.", hint="Use --checkpoint for what you leave for yourself."
        )
    return receiver


def _refuse_foreign(about: Topic, receiver: str) -> None:
    """Only who holds an issue can hand it over; nobody's issue is anybody's, and people may."""
    issue, me = about.issue, about.actor
    if issue is None or me.is_person or not issue.assignees:
        return
    # To the one who has it already is the same command again.
    if not {me.name, receiver} & set(issue.assignees):
        names = ", ".join(map(named, issue.assignees))
        raise RefusedError(
            f"{short(issue)} is assigned to {names}, not to {me.name}.",
            hint="Who holds it can hand it over; a person can assign it: "
            f"`ghp agent-issue assign {issue.number} NAME`.",
        )


def _note(ws: Workspace, text: str) -> tuple[str, list[str]]:
    """The note as it is kept, and what was done to it."""
    tidy = text.encode("utf-8", "replace").decode("utf-8")
    tidy = clean(tidy.replace("\r\n", "\n").replace("\r", "\n")).strip()
    warnings: list[str] = []
    found = secret.find(tidy)
    if found:
        warnings.append(f"The note seemed to hold {found}; it was taken out.")
    tidy = publishable(tidy, ws.environ)
    if len(tidy) > NOTE_LIMIT:
        warnings.append(f"Of the note, {NOTE_LIMIT} of {len(tidy)} characters are kept.")
        tidy = f"{tidy[:NOTE_LIMIT]}\n… (cut: {NOTE_LIMIT} of {len(tidy)} characters are here)"
    return tidy, warnings


def _made(ws: Workspace, facts: HandoffFacts, kind: str, to: str | None, note: str) -> Handoff:
    about, branch, kept = facts.about, facts.branch, facts.work.patch
    work = None
    if kept.content or facts.work.missing:
        sha = hashlib.sha256(kept.content).hexdigest() if kept.content else ""
        work = Work(kept.base, len(kept.content), sha, len(kept.changes), facts.work.missing)
    at = Timestamp(now_text(ws))
    evidence_of = digest(*map(repr, _evidence(facts, kind, to, note, work)), length=24)
    return Handoff(
        id=digest(evidence_of, at, secrets.token_hex(8)),
        kind=kind,
        by=about.actor,
        to=to,
        issue=about.number,
        at=at,
        clock=0,
        evidence=evidence_of,
        branch=branch.name,
        head=branch.head,
        note=note,
        next_steps=tuple(rules.next_steps(_situation(facts, to))),
        work=work,
    )


def _evidence(
    facts: HandoffFacts, kind: str, to: str | None, note: str, work: Work | None
) -> list[object]:
    """What makes a handoff another one than the last: all but the time and the ledger."""
    about, branch = facts.about, facts.branch
    issue = about.issue
    return [
        kind, about.actor, to, about.number, note, work, branch.name, branch.head, branch.operation,
        issue and (issue.title, issue.body, issue.state, issue.blocked_by, len(issue.comments)),
        [(each.id, [answer.id for answer in each.answers]) for each in facts.said.escalations],
        [(lease.name, lease.generation) for lease in facts.rights],
    ]  # fmt: skip


def _situation(facts: HandoffFacts, to: str | None) -> rules.Situation:
    about, branch = facts.about, facts.branch
    read = outline(about.issue.body) if about.issue else outline("")
    return rules.Situation(
        issue=about.number,
        issue_is_closed=about.issue is not None and about.issue.state == "closed",
        operation=branch.operation,
        conflicts=len(branch.conflicts),
        unstored=len(facts.work.missing),
        stored=len(facts.work.patch.changes),
        unsent=branch.unsent or 0,
        branch=page.path(branch.name) if branch.name else None,
        waiting_for=tuple(each.name for each in facts.said.escalations if each.is_open),
        blocked_by=tuple(each.number for each in about.blockers if each.state != "closed"),
        tasks_open=read.tasks_open,
        tasks=read.tasks,
        rights=tuple(one_line(lease.name, 100) for lease in facts.rights),
        to=to,
    )


# -------------------------------------------------------------------------- what is found out


def _facts(
    ws: Workspace, store: StateStore, leaser: LockService, about: Topic, *, ask_rights: bool
) -> HandoffFacts:
    # A checkpoint is often made by a hook, which must not wait for the remote.
    held, unknown = evidence.rights(leaser, about.actor) if ask_rights else ([], "")
    said = evidence.said(store, about, ws.settings.orchestrators)
    notes = [*about.notes, *said.notes, *([unknown] if unknown else [])]
    work = uncommitted.take_uncommitted(ws)
    learnt = recall.learnt(ws, store, about.actor.name, about.numbers)
    branch = evidence.branch(ws)
    return HandoffFacts(about, branch, said, work, tuple(held), tuple(notes), tuple(learnt))


# ------------------------------------------------------------------------------ what is written


def _for_agents(ws: Workspace, issue: Issue | None) -> Issue | None:
    """The issue as agents may see it, whoever hands it over."""
    return outsider_text.hidden(issue) if issue and ws.settings.lockdown else issue


def _values(ws: Workspace, facts: HandoffFacts, made: Handoff) -> dict[str, Any]:
    """What the template is given."""
    about, branch, said = facts.about, facts.branch, facts.said
    command = f"ghp agent-resume{f' --issue {about.number}' if about.number else ''}"
    return {
        "name": made.name,
        "kind": made.kind,
        "title": page.title(about.issue, about.number),
        "lead": f"{page.sentence(page.handed(made))}, {made.at}. "
        f"`{command}` prints what the next one needs.",
        "note": page.quoted(made.note, who(made.by), NOTE_LIMIT * 2, command),
        "steps": list(made.next_steps),
        "issue": page.issue_values(_for_agents(ws, about.issue), about.blockers),
        "questions": page.question_lines(said.escalations),
        "answers": page.answer_blocks(said.escalations),
        "branch": page.branch_lines(branch) if ws.place.toplevel else [],
        "trunk": branch.trunk or "",
        "commits": page.commit_lines(branch.history.commits, branch.history.count),
        "files": page.file_lines(branch.history.files),
        "work": _work_text(made, command),
        "changes": page.change_lines(facts.work.patch.changes),
        "missing": page.missing_lines(facts.work.missing),
        "converted": [page.path(name) for name in facts.work.patch.converted],
        "rights": page.right_lines(facts.rights),
        "learnt": note_lines(facts.learnt, ws.clock.now()),
        "ledger": page.ledger_lines(said.ledger),
        "earlier": page.handoff_lines(said.handoffs, ws.clock.now()),
        "notes": list(facts.notes),
    }


def _work_text(made: Handoff, command: str) -> str:
    if made.work is None:
        return "None: everything is committed."
    if not made.work.size:
        return "Nothing of it could be stored."
    kept = page.work_line(made.work)
    place = record.patch_path_of(made)
    return f"{kept} Stored as `{place}`; `{command} --apply` restores it."


def _record(made: Handoff, document: bytes, facts: HandoffFacts) -> Record:
    files = [(record.path_of(made), document)]
    if facts.work.patch.content:
        files.append((record.patch_path_of(made), facts.work.patch.content))
    return Record(
        event=made.kind,
        actor=made.by,
        object=made.name,
        id=made.id,
        at=made.at,
        clock=made.clock,
        files=tuple(files),
        issue=made.issue,
        text=one_line(made.note, 120) or _summary(facts),
    )


def _summary(facts: HandoffFacts) -> str:
    history, changes = facts.branch.history, facts.work.patch.changes
    commits = rules.count(history.count, "commit") if history.base and history.count else ""
    work = rules.count(len(changes), "uncommitted file") if changes else ""
    return ", ".join(part for part in (commits, work) if part)
