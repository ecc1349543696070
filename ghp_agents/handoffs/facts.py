"""The contents of a handoff: everything that it is made from."""

from typing import TYPE_CHECKING, NamedTuple

from ghp_agents.handoffs import evidence, uncommitted
from ghp_agents.handoffs.evidence import Branch, EvidenceTopic, TopicFacts
from ghp_agents.handoffs.handoff import NO_WORDS, NOTHING, Carried, Sections
from ghp_agents.handoffs.uncommitted import Uncommitted
from ghp_agents.ports import Context
from ghp_agents.state.record import NOTES

if TYPE_CHECKING:
    from ghp_agents.locks.lock import Lock
    from ghp_agents.notes.note import Note


class HandoffFacts(NamedTuple):
    """The contents of a handoff; `about.actor` is who hands over."""

    about: EvidenceTopic
    branch: Branch
    topic_facts: TopicFacts
    work: Uncommitted
    locks: "tuple[Lock, ...]"
    notes: tuple[str, ...]
    learnt: "tuple[Note, ...]" = ()
    sections: Sections = NO_WORDS
    carried: Carried = NOTHING


def gather(
    ctx: Context, about: EvidenceTopic, *, ask_rights: bool, only_known: bool = False
) -> HandoffFacts:
    """Read all facts of a topic; `ask_rights`: also the locks of the actor; `only_known`: of the
    uncommitted work, what is known to be the actor's. Raises GitError."""
    # Often a hook makes a checkpoint; it must not wait for the remote.
    held, unknown = evidence.held_locks(ctx.locks, about.actor) if ask_rights else ([], "")
    topic_facts = evidence.topic_facts(ctx, about)
    notes = [*about.notes, *topic_facts.notes, *([unknown] if unknown else [])]
    me = None if about.actor.is_person else about.actor.name
    if me is not None and only_known:
        from ghp_agents.handoffs.own_worktree import known_work

        work = uncommitted.take_uncommitted(ctx.ws, me, known_work(ctx, me))
    else:
        work = uncommitted.take_uncommitted(ctx.ws, me)
    learnt = _learnt(ctx, about)
    branch = evidence.branch(ctx.ws)
    return HandoffFacts(about, branch, topic_facts, work, tuple(held), tuple(notes), tuple(learnt))


def _learnt(ctx: Context, about: EvidenceTopic) -> "list[Note]":
    if not ctx.store.snapshot().files(NOTES):
        return []  # what reads notes is not even loaded
    from ghp_agents.notes import recall

    return recall.learnt(ctx, about.actor.name, about.numbers)
