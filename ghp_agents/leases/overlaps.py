"""Overlapping leases that two clones granted before they synced with each other."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseHistory
from ghp_agents.state.cause import OVERLAP
from ghp_agents.workspace import Workspace


class Overlap(NamedTuple):
    """Two leases of different holders; the earlier one decides edits."""

    earlier: Hold
    later: Hold
    place: str  # the overlap
    question: Escalation | None = None  # a person decides it; the clone of the later lease asks


def find(
    ws: Workspace,
    holds: Sequence[Hold],
    logs: Sequence[LeaseHistory],
    questions: Sequence[Escalation],
) -> list[Overlap]:
    """The conflicts among `holds`, which come in order of precedence."""
    clones = {log.id: log.request.clone for log in logs}
    if len({clones.get(hold.id) for hold in holds}) < 2:
        return []  # one clone grants nothing twice
    return [
        overlap._replace(question=_question(overlap.earlier, overlap.later, questions))
        for overlap in among(ws, holds, lambda x, y: clones.get(x.id) != clones.get(y.id))
    ]


def among(
    ws: Workspace,
    holds: Sequence[Hold],
    is_wanted: Callable[[Hold, Hold], bool],
    later_ids: Collection[str] | None = None,
) -> Iterator[Overlap]:
    """The overlaps among `holds` of different holders, of pairs that are wanted. With `later_ids`,
    the later lease is one of them: others' leases are not all compared with each other."""
    files = WorktreeFiles(ws)
    for number, later in enumerate(holds):
        if later_ids is not None and later.id not in later_ids:
            continue
        before = [hold for hold in holds[:number] if is_wanted(hold, later)]
        reach = files.reach(later.patterns, later.name) if before else None
        for earlier in before:
            place = reach and reach.meets_other(earlier, Actor(later.holder, later.is_person))
            if place:
                yield Overlap(earlier, later, place)


def _question(earlier: Hold, later: Hold, questions: Sequence[Escalation]) -> Escalation | None:
    """The last question about the two."""
    overlaps = [x for x in questions if x.question.kind == OVERLAP]
    about = [x for x in overlaps if _is_about(x, earlier) and _is_about(x, later)]
    return about[-1] if about else None


def _is_about(escalation: Escalation, hold: Hold) -> bool:
    """Whether a question is about a lease; older questions have the first digits of its id."""
    return any(hold.id.startswith(prefix) for prefix in escalation.question.about)
