"""The handoff of an agent that says nothing any more: written from what is known of it.

Where its worktree is in this clone, its uncommitted work is taken as a patch. From elsewhere there
are its branch, as far as it was pushed and fetched, and all that was said.
"""

import re
from pathlib import Path

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.git import worktree
from ghp_agents.git import worktree_admin as checkouts
from ghp_agents.git.patch import Patch
from ghp_agents.handoffs import evidence, uncommitted
from ghp_agents.handoffs.evidence import Branch
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.handoffs.service import HandoffFacts, record_of
from ghp_agents.handoffs.uncommitted import Uncommitted
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.notes import recall
from ghp_agents.state.default_branch import remote_name, trunk, trunk_refs
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import MYSELF, NAME_FILE, Workspace, open_workspace

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+#-]{0,200}")  # a branch that asks nothing else of git


def write(me: ClaimContext, issue: Issue, lease: Lock, to: str | None) -> Handoff:
    """Record what `lease`'s holder leaves of an issue; once for each claim."""
    ws, store = me.ws, me.store
    agent = lease.holder or ""
    said: Presence = store.snapshot().agents().get(agent, {})
    there = worktree_of(ws, agent, said)
    about = evidence.topic(ws, me.tracker, me.actor, str(issue.number))
    for had in evidence.handoffs_about(store.snapshot(), about)[0]:
        if had.note.startswith(_first_line(agent, lease)):
            return had
    rights = [
        each for each in me.leaser.known() if each.holder == agent and each.name != lease.name
    ]
    story = evidence.said(store, about, ws.settings.orchestrators)
    notes = [*about.notes, *story.notes]
    if there is None:
        notes.append(_not_here(agent, said))
    facts = HandoffFacts(
        about=about,
        branch=evidence.branch(there) if there else _branch(ws, said),
        said=story,
        work=uncommitted.take_uncommitted(there) if there else Uncommitted(Patch("", b"")),
        rights=tuple(rights),
        notes=tuple(notes),
        learnt=tuple(recall.learnt(ws, store, agent, about.numbers)),
    )
    return record_of(there or ws, store, facts, to=to, note=_note(agent, said, lease)).handoff


def _first_line(agent: str, lease: Lock) -> str:
    """How the note of this claim begins, and of no other."""
    return f"{agent} claimed this at {lease.acquired_at} (generation {lease.generation})"


def _note(agent: str, said: Presence, lease: Lock) -> str:
    """What holds whenever it is written, so that it is written once."""
    lines = [
        f"{_first_line(agent, lease)} and was not heard of any more. This is written from what is "
        "known of it; it said nothing itself."
    ]
    if said:
        status, at = one_line(str(said.get("status")), 40), one_line(str(said.get("timestamp")), 40)
        lines.append(f"Its last word, {at}: {status}: {one_line(str(said.get('lastAction')), 300)}")
    return "\n\n".join(lines)


def _not_here(agent: str, said: Presence) -> str:
    tree = one_line(str(said.get("worktree") or ""), 80)
    where = f"its worktree {tree!r}" if tree else "its worktree"
    return (
        f"{where[0].upper()}{where[1:]} is not in the clone in which this was written: what "
        f"{agent} had not pushed is there, if that machine still is."
    )


def worktree_of(ws: Workspace, agent: str, said: Presence) -> Workspace | None:
    """The worktree of an agent, if it is in this clone."""
    for folder in worktree.folders(ws.folder):
        try:
            there = open_workspace(folder, ws.environ, ws.clock, MYSELF)
        except GhpError:
            continue
        if there.common_dir == ws.common_dir and _is_of(there, agent, said):
            return there
    return None


def named(there: Workspace) -> str:
    """The agent that a worktree is named after; empty for none."""
    try:
        name = (there.git_dir / NAME_FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return name if pulse.is_name(name) else ""


def _is_of(there: Workspace, agent: str, said: Presence) -> bool:
    name = named(there)
    if name or there.presence(agent) is None:
        return name == agent
    here = pulse.surroundings(there.place)
    return all(said.get(key) == here.get(key) for key in ("branch", "worktree"))


def _branch(ws: Workspace, said: Presence) -> Branch:
    """The agent's branch as the remote has it, as far as it was fetched."""
    name = said.get("branch")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ws.place.toplevel is None:
        return Branch()
    folder = Path(ws.place.toplevel)
    ref = f"refs/remotes/{remote_name(ws)}/{name}"
    tip = checkouts.tip(folder, ref)
    if not tip:
        return Branch(name=name, trunk=trunk(ws))
    others = [each for each in trunk_refs(ws) if each != ref]
    history = worktree.history(ws.place, tip, others)
    return Branch(name=name, head=tip, tip=tip, trunk=trunk(ws), unsent=0, history=history)
