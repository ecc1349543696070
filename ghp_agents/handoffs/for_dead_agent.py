"""Write the handoff of a dead agent from what this clone knows of it.

If its worktree is in this clone, its uncommitted work is stored as a patch, and its unpushed
commits as a pack for the next agent. Otherwise there are its branch, as far as pushed and fetched,
and all records.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, issue_of_branch, one_line
from ghp_agents.core.light_hashes import sha256
from ghp_agents.git import own_work, worktree, worktree_admin
from ghp_agents.git.branch_range import between
from ghp_agents.git.patch import Patch
from ghp_agents.handoffs import commits, evidence, sections, uncommitted
from ghp_agents.handoffs.evidence import Branch, EvidenceTopic
from ghp_agents.handoffs.facts import HandoffFacts
from ghp_agents.handoffs.handoff import CHECKPOINT, HANDOFF, NOTHING, Carried, Handoff
from ghp_agents.handoffs.latest import FROM_RECORDS, is_about, is_bare, latest, life
from ghp_agents.handoffs.own_worktree import is_own
from ghp_agents.handoffs.service import record_of
from ghp_agents.handoffs.uncommitted import Uncommitted
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock, agent_lock
from ghp_agents.notes import recall
from ghp_agents.state.default_branch import remote_name, trunk, trunk_refs
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import MYSELF, Workspace, open_workspace

FROM_WORKTREE = "This handoff was written for it, from its worktree."
_OF_WORKTREE = re.compile(r"The work of \S{1,63} in its worktree\. ")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+#-]{0,200}")  # a branch without syntax of git's


def write(
    me: ClaimContext,
    issue: Issue,
    lock: Lock,
    to: str | None,
    why: str = "is gone",
    *,
    keeps: bool = False,
) -> Handoff:
    """Record a handoff of an issue for `lock`'s holder; once for each claim. `why` says what
    happened to it. If its worktree is not in this clone, the last handoff of its work is enough.
    If the holder keeps the issue, this is a checkpoint, and every one is recorded."""
    ws, store = me.ctx.ws, me.ctx.store
    agent = lock.holder or ""
    fields: Presence = store.snapshot().agents().get(agent, {})
    theirs = _worktree_of(ws, agent, fields, issue)
    about = evidence.topic(me.ctx, me.actor, str(issue.number))
    earlier = evidence.handoffs_about(store.snapshot(), about)[0]
    last = latest([x for x in earlier if is_about(x, lock)])
    if theirs is None and last is not None and not (keeps and is_bare(last)):
        return last  # it says no less than what is known here
    for previous in earlier:
        if not keeps and previous.note.startswith(life(lock)) and not is_bare(previous):
            return previous
    if theirs is None:
        about = about._replace(notes=(*about.notes, _describe_missing(agent, fields)))
    branch = evidence.branch(theirs) if theirs else _branch(ws, fields)
    if theirs and own_work.stashes(ws.common_dir, branch.name or ""):
        stays = "A stash of it stays in the clone that has its worktree: `git stash list`."
        about = about._replace(notes=(*about.notes, stays))
    carried = commits.carry(me.ctx, branch, to or "", push=False) if theirs else NOTHING
    work = uncommitted.take_uncommitted(theirs, agent) if theirs else Uncommitted(Patch("", b""))
    facts = _facts(me, lock, about, branch, work, carried)
    note, kind = _note(fields, lock, why, is_here=theirs is not None), HANDOFF
    if keeps:
        note, kind = f"A checkpoint: {note}", CHECKPOINT
    return record_of(theirs or ws, store, facts, kind=kind, to=to, note=note).handoff


def write_work(
    me: ClaimContext, issue: Issue, lock: Lock, theirs: Workspace, *, is_held: bool
) -> Handoff | None:
    """Record what the worktree `theirs` of an agent has beyond its pushed branch: a checkpoint if
    the agent has the claim `lock` still, else a handoff. None if there is no such work, or if a
    handoff of the issue has it."""
    agent, store = lock.holder or "", me.ctx.store
    work, branch = uncommitted.take_uncommitted(theirs, agent), evidence.branch(theirs)
    if not work.patch.changes and not work.missing and not branch.unsent:
        return None
    about = evidence.topic(me.ctx, me.actor, str(issue.number))
    earlier = evidence.handoffs_about(store.snapshot(), about)[0]
    if has_work(earlier, work) and _has_commits(earlier, branch):
        return None
    carried = commits.carry(me.ctx, branch, "", push=False)
    facts = _facts(me, lock, about, branch, work, carried)
    kind, then = (CHECKPOINT, "still had it") if is_held else (HANDOFF, "had lost it")
    note = f"The work of {agent} in its worktree. {life(lock)} and {then} "
    note += "when this was written."
    return record_of(theirs, store, facts, kind=kind, to=None, note=note).handoff


def has_work(earlier: Sequence[Handoff], work: Uncommitted) -> bool:
    """Whether one of the handoffs has the same uncommitted work, or there is none."""
    content = work.patch.content
    state = (sha256(content).hexdigest() if content else "", work.missing)
    stored = [(x.work.digest, x.work.missing) for x in earlier if x.work]
    return state in [("", ()), *stored]


def _has_commits(earlier: Sequence[Handoff], branch: Branch) -> bool:
    """Whether one of the handoffs has the branch's commits, or a remote."""
    return not branch.unsent or any(x.commits and x.head == branch.head for x in earlier)


def is_of_worktree(handoff: Handoff) -> bool:
    """Whether a handoff says that `write_work` recorded it."""
    return bool(_OF_WORKTREE.match(handoff.note))


def is_left_work(handoff: Handoff, lock: Lock) -> bool:
    """Whether a handoff is what the worktree of the claim's holder had, or the holder's own."""
    agent = lock.holder or ""
    is_own = handoff.by == Actor(agent) and str(handoff.at) >= str(lock.acquired_at)
    note = f"The work of {agent} in its worktree. {life(lock)} "
    return handoff.note.startswith(note) or (is_own and handoff.kind == HANDOFF)


def _facts(
    me: ClaimContext,
    lock: Lock,
    about: EvidenceTopic,
    branch: Branch,
    work: Uncommitted,
    carried: Carried,
) -> HandoffFacts:
    agent = lock.holder or ""
    locks = [
        other
        for other in me.ctx.locks.known()
        if other.holder == agent and other.name not in (lock.name, agent_lock(agent))
    ]
    topic_facts = evidence.topic_facts(me.ctx, about)
    return HandoffFacts(
        about=about,
        branch=branch,
        topic_facts=topic_facts,
        work=work,
        locks=tuple(locks),
        notes=(*about.notes, *topic_facts.notes),
        learnt=tuple(recall.learnt(me.ctx, agent, about.numbers)),
        sections=sections.carried(topic_facts.handoffs, agent, branch.name),
        carried=carried,
    )


def _note(fields: Presence, lock: Lock, why: str, *, is_here: bool) -> str:
    """Return the note; `is_here`: the worktree of the claim's holder is in this clone."""
    source = FROM_WORKTREE if is_here else FROM_RECORDS
    lines = [f"{life(lock)} and {why}. {source}"]
    if fields:
        at, status = (one_line(str(fields.get(key)), 40) for key in ("timestamp", "status"))
        action = one_line(str(fields.get("lastAction")), 300)
        lines.append(f"Its last report, {at}: {status}: {action}")
    return "\n\n".join(lines)


def _describe_missing(agent: str, fields: Presence) -> str:
    tree = one_line(str(fields.get("worktree") or ""), 80)
    where = f"its worktree {tree!r}" if tree else "its worktree"
    return (
        f"{where[0].upper()}{where[1:]} is in another clone. Unpushed work of {agent} is there, "
        "if that machine still exists."
    )


def worktrees_of(ws: Workspace, agent: str, fields: Presence) -> Iterator[Workspace]:
    """An agent's worktrees in this clone."""
    for folder in worktree.folders(ws.folder):
        try:
            theirs = open_workspace(folder, ws.environ, ws.clock, MYSELF)
        except GhpError:
            continue
        if theirs.common_dir == ws.common_dir and is_own(theirs, agent, fields):
            yield theirs


def _worktree_of(ws: Workspace, agent: str, fields: Presence, issue: Issue) -> Workspace | None:
    """Return an agent's worktree for an issue, if it is in this clone; else one whose branch names
    no issue, or any."""

    def rank(theirs: Workspace) -> int:
        name = theirs.branch or worktree_admin.in_progress(theirs.git_dir)[0]
        number = issue_of_branch(name)
        return 0 if number in issue.numbers else 1 if number is None else 2

    return min(worktrees_of(ws, agent, fields), key=rank, default=None)


def _branch(ws: Workspace, fields: Presence) -> Branch:
    """Return the agent's branch as last fetched from the remote."""
    name = fields.get("branch")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ws.place.toplevel is None:
        return Branch()
    folder = Path(ws.place.toplevel)
    ref = f"refs/remotes/{remote_name(ws)}/{name}"
    tip = worktree_admin.tip(folder, ref)
    if not tip:
        return Branch(name=name, trunk=trunk(ws))
    others = [other for other in trunk_refs(ws) if other != ref]
    history = between(folder, others, tip).history
    return Branch(name=name, head=tip, tip=tip, trunk=trunk(ws), unsent=0, history=history)
