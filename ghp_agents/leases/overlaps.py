"""Leases that overlap, because clones granted them before they heard of each other."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseHistory
from ghp_agents.state.cause import OVERLAP
from ghp_agents.workspace import Workspace


class Conflict(NamedTuple):
    """Two leases of different holders; the earlier one decides edits."""

    earlier: Hold
    later: Hold
    place: str  # what both have
    question: Escalation | None = None  # by which a person decides; asked by the later one's clone


def find(
    ws: Workspace, holds: Sequence[Hold], logs: Sequence[LeaseHistory], asked: Sequence[Escalation]
) -> list[Conflict]:
    """The conflicts among `holds`, which are in the order in which they count."""
    clones = {log.id: log.request.clone for log in logs}
    if len({clones.get(hold.id) for hold in holds}) < 2:
        return []  # one clone grants nothing twice
    ground = WorktreeFiles(ws)
    found: list[Conflict] = []
    for number, later in enumerate(holds):
        before = [each for each in holds[:number] if _may_meet(each, later, clones)]
        reach = ground.reach(later.patterns, later.name) if before else None
        for earlier in before:
            place = reach and reach.meets_other(earlier, Actor(later.holder, later.is_person))
            if place:
                found.append(Conflict(earlier, later, place, _question(earlier, later, asked)))
    return found


def _may_meet(earlier: Hold, later: Hold, clones: Mapping[str, str]) -> bool:
    return clones.get(earlier.id) != clones.get(later.id)


def _question(earlier: Hold, later: Hold, asked: Sequence[Escalation]) -> Escalation | None:
    """The last that was asked about the two."""
    pairs = [each for each in asked if each.question.kind == OVERLAP]
    about = [x for x in pairs if _names(x, earlier) and _names(x, later)]
    return about[-1] if about else None


def _names(asked: Escalation, hold: Hold) -> bool:
    """Whether a question is about a lease; older ones name it by the beginning of its id."""
    return any(hold.id.startswith(each) for each in asked.question.about)
