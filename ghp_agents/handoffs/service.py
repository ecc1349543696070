"""Handoff: record what the next agent must know, from evidence, and pass the issue on."""

from typing import NamedTuple

from ghp_agents.core import secret_scan
from ghp_agents.core.child_env import publishable
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.file_names import as_code
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, Timestamp, agent_name, count, digest, one_line
from ghp_agents.core.light_hashes import sha256
from ghp_agents.handoffs import evidence, record, sections
from ghp_agents.handoffs import handoff as rules
from ghp_agents.handoffs.evidence import EvidenceTopic
from ghp_agents.handoffs.facts import HandoffFacts, gather
from ghp_agents.handoffs.handoff import (
    CHECKPOINT,
    HANDOFF,
    NO_WORDS,
    NOTE_LIMIT,
    NOTHING,
    Carried,
    Handoff,
    Sections,
    Work,
)
from ghp_agents.handoffs.page import page
from ghp_agents.hotpath.quoting import clean, named
from ghp_agents.issues.issue import short
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context, Snapshot, StateStore
from ghp_agents.state.codec import ledger_record
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class HandoffResult(NamedTuple):
    """The result of a handoff."""

    handoff: Handoff
    document: str  # as it is stored, with front matter
    path: str
    is_new: bool  # False: nothing has changed since the last one
    notes: tuple[str, ...] = ()  # what a person should know
    learnt: int = 0  # number of notes from this work
    carried: Carried = NOTHING  # how the branch's commits reach the receiver
    shared: str = ""  # what others of this worktree edit, in one line
    unknown: tuple[str, ...] = ()  # paths that are not known to be the agent's, and left out


def handoff(
    ctx: Context,
    *,
    issue: str | None = None,
    to: str | None = None,
    note: str = "",
    words: Sections | None = None,
    push: bool = False,
    checkpoint: bool = False,
    dry_run: bool = False,
    unless_empty: bool = False,
    only_known: bool = False,
) -> HandoffResult:
    """Record a handoff of the work in this worktree, with its uncommitted part as a patch.

    For a receiver, the branch is pushed with `push`; else a handoff stores its commits, too.
    `pass_on` makes the receiver the next holder. An unchanged handoff is not recorded again; with
    `unless_empty`, nor is one without any work, or of an issue that was handed over. With
    `only_known`, only uncommitted work is stored that is known to be the actor's. Raises
    UsageError, NotFoundError, NotSetUpError, RefusedError (another holds the issue, or a person has
    nothing to hand over).
    """
    actor = ctx.ws.actor()
    receiver = _receiver(actor, to, checkpoint)
    about = evidence.topic(ctx, actor, issue)
    if receiver:
        _refuse_foreign(about, receiver)
    kind = CHECKPOINT if checkpoint else HANDOFF
    tidy, warnings = _note(ctx.ws, note)
    facts = gather(ctx, about, ask_rights=not checkpoint, only_known=only_known)
    every, cut = _words(ctx.ws, facts, words)
    facts = facts._replace(sections=every)
    notes = (*warnings, *cut, *facts.notes)
    if actor.is_person and not (tidy or (words and any(words))) and _is_empty(facts):
        raise RefusedError(
            "There is nothing to hand over: no issue, no changes, no commits and no note.",
            hint="Run it in the worktree with the work, or name the issue with `--issue N`. "
            "`--note TEXT` alone is enough, too.",
        )
    if facts.branch.unsent and not dry_run and not checkpoint:
        from ghp_agents.handoffs import commits

        carried = commits.carry(ctx, facts.branch, receiver or "", push=push and bool(receiver))
        unsent = 0 if carried.is_pushed else facts.branch.unsent
        facts = facts._replace(carried=carried, branch=facts.branch._replace(unsent=unsent))
    if unless_empty and not tidy and (_is_empty(facts) or _is_given_away(facts)):
        draft = _build_handoff(ctx.ws, facts, kind, receiver, tidy)
        return HandoffResult(draft, "", "", False, notes)
    handed = record_of(ctx.ws, ctx.store, facts, kind=kind, to=receiver, note=tidy, dry_run=dry_run)
    return handed._replace(notes=notes)


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
    """Record a handoff from gathered facts; an unchanged one is not recorded again."""
    about = facts.about
    draft = _build_handoff(ws, facts, kind, to, note)
    body = page(ws, facts, draft)

    def decide(snapshot: Snapshot) -> tuple[HandoffResult, list[Record]]:
        earlier, _ = evidence.handoffs_about(snapshot, about)
        if earlier and _is_unchanged(earlier[-1], draft):
            path = record.path_of(earlier[-1])
            stored = snapshot.files(record.folder_of(earlier[-1].issue)).get(path, b"")
            text = stored.decode("utf-8", "replace")
            return HandoffResult(earlier[-1], text, path, False, facts.notes), []
        now = draft._replace(clock=snapshot.clock + 1)
        document = record.render(now, body)
        text, learnt = document.decode("utf-8"), len(facts.learnt)
        handed = HandoffResult(now, text, record.path_of(now), True, facts.notes, learnt)
        return handed, [] if dry_run else [_record(now, document, facts)]

    done = transact(store, decide)
    work = facts.work
    return done._replace(carried=facts.carried, shared=work.shared, unknown=work.unknown)


def _is_unchanged(last: Handoff, draft: Handoff) -> bool:
    has_commits = last.commits is not None or draft.commits is None
    return last.evidence == draft.evidence and has_commits


def _is_empty(facts: HandoffFacts) -> bool:
    """Return whether there is no work to continue."""
    about, branch = facts.about, facts.branch
    return (
        about.number is None
        and not facts.work.patch.content
        and not facts.work.missing
        and not (branch.operation or branch.unsent)
        and not (branch.history.base and branch.history.total)
        and not facts.topic_facts.escalations
    )


def _is_given_away(facts: HandoffFacts) -> bool:
    """Return whether the issue is with the agent to whom the actor handed it over."""
    issue, name = facts.about.issue, facts.about.actor.name
    given = [
        earlier.to
        for earlier in facts.topic_facts.handoffs
        if earlier.by.name == name and earlier.to
    ]
    if issue is None or not given:
        return False
    return given[-1] in issue.assignees and name not in issue.assignees


def _receiver(actor: Actor, to: str | None, checkpoint: bool) -> str | None:
    if to is None:
        return None
    if checkpoint:
        raise UsageError(
            "A checkpoint is for yourself, so it has no receiver.",
            hint="To hand over, omit --checkpoint. To keep the work, omit --to.",
        )
    receiver = agent_name(to)
    if receiver == actor.name and not actor.is_person:
        raise UsageError(
            f"You are {receiver}.", hint="To leave a note for yourself, use --checkpoint."
        )
    return receiver


def _refuse_foreign(about: EvidenceTopic, receiver: str) -> None:
    """Refuse if another agent holds the issue. A free issue and people are exempt."""
    issue, me = about.issue, about.actor
    if issue is None or me.is_person or not issue.assignees:
        return
    # The receiver holds it already: the command was repeated.
    if not {me.name, receiver} & set(issue.assignees):
        names = ", ".join(map(named, issue.assignees))
        raise RefusedError(
            f"{short(issue)} is assigned to {names}, not to {me.name}.",
            hint="Its holder can hand it over, or a person can assign it: "
            f"`ghp agent-issue assign {issue.number} NAME`.",
        )


def _note(ws: Workspace, text: str) -> tuple[str, list[str]]:
    """Return the note as it is stored, and warnings about changes to it."""
    tidy, warnings = _storable(ws, text, "note")
    if len(tidy) > NOTE_LIMIT:
        warnings.append(f"The note was cut to {NOTE_LIMIT} of {len(tidy)} characters.")
        tidy = f"{tidy[:NOTE_LIMIT]}\n… (cut to {NOTE_LIMIT} of {len(tidy)} characters)"
    return tidy, warnings


def _storable(ws: Workspace, text: str, what: str) -> tuple[str, list[str]]:
    tidy = text.encode("utf-8", "replace").decode("utf-8")
    tidy = clean(tidy.replace("\r\n", "\n").replace("\r", "\n")).strip()
    secret = secret_scan.find(tidy)
    warnings = [f"The {what} seemed to contain {secret}, which was removed."] if secret else []
    return publishable(tidy, ws.environ), warnings


def _words(
    ws: Workspace, facts: HandoffFacts, words: Sections | None
) -> tuple[Sections, list[str]]:
    """Return the agent's new sections merged with its earlier ones, and warnings."""
    about = facts.about
    is_over = about.issue is not None and about.issue.state == "closed"
    handoffs = () if is_over else facts.topic_facts.handoffs
    before = sections.carried(handoffs, about.actor.name, facts.branch.name)
    removed: list[str] = []

    def storable(text: str) -> str:
        tidy, warnings = _storable(ws, text, "text")
        removed.extend(warnings)
        return tidy

    new, cut = sections.tidy(words or NO_WORDS, storable)
    return sections.merge(before, new), [*dict.fromkeys(removed), *cut]


def _build_handoff(
    ws: Workspace, facts: HandoffFacts, kind: str, to: str | None, note: str
) -> Handoff:
    about, branch, kept = facts.about, facts.branch, facts.work.patch
    work = None
    if kept.content or facts.work.missing:
        sha = sha256(kept.content).hexdigest() if kept.content else ""
        work = Work(kept.base, len(kept.content), sha, len(kept.changes), facts.work.missing)
    at = Timestamp(now_text(ws))
    evidence_of = digest(*map(repr, _evidence(facts, kind, to, note, work)), length=24)
    return Handoff(
        id=digest(evidence_of, at, random_hex(8)),
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
        commits=facts.carried.packed,
        sections=facts.sections,
    )


def _evidence(
    facts: HandoffFacts, kind: str, to: str | None, note: str, work: Work | None
) -> list[object]:
    """Return what distinguishes a handoff from the last one: all but the time and the ledger."""
    about, branch, topic = facts.about, facts.branch, facts.topic_facts
    issue = about.issue
    return [
        kind, about.actor, to, about.number, note, work, branch.name, branch.head, branch.operation,
        issue and (issue.title, issue.body, issue.state, issue.blocked_by, len(issue.comments)),
        [(item.id, [answer.id for answer in item.answers]) for item in topic.escalations],
        [(lock.name, lock.generation) for lock in facts.locks],
        *([facts.sections] if any(facts.sections) else []),
    ]  # fmt: skip


def _situation(facts: HandoffFacts, to: str | None) -> rules.Situation:
    about, branch = facts.about, facts.branch
    passed_on = [claim_name(number) for number in about.numbers if number]
    now = evidence.situation(about, branch, facts.topic_facts.escalations)
    return now._replace(
        unstored=len(facts.work.missing),
        stored=len(facts.work.patch.changes),
        branch=as_code(branch.name) if branch.name else None,
        rights=tuple(
            one_line(lock.name, 100) for lock in facts.locks if lock.name not in passed_on
        ),
        to=to,
    )


def _record(handoff: Handoff, document: bytes, facts: HandoffFacts) -> Record:
    files = [(record.path_of(handoff), document)]
    if facts.work.patch.content:
        files.append((record.patch_path_of(handoff), facts.work.patch.content))
    if facts.carried.packed:
        files.append((record.pack_path_of(handoff), facts.carried.content))
    text = one_line(handoff.note, 120) or _summary(facts)
    return ledger_record(handoff, handoff.kind, handoff.name, files, issue=handoff.issue, text=text)


def _summary(facts: HandoffFacts) -> str:
    history, changes = facts.branch.history, facts.work.patch.changes
    commits = count(history.total, "commit") if history.base and history.total else ""
    work = count(len(changes), "uncommitted file") if changes else ""
    return ", ".join(part for part in (commits, work) if part)
