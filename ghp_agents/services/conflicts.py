"""Leases that overlap, because clones granted them before they heard of each other."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ghp_agents.model.escalation import Escalation
from ghp_agents.model.hold import Hold
from ghp_agents.model.lease_record import Log
from ghp_agents.model.names import Actor
from ghp_agents.services.covering import Ground
from ghp_agents.workspace import Workspace

TITLE = "Two leases overlap: "  # how the question about two of them begins


class Conflict(NamedTuple):
    """Two leases of different holders; the earlier one decides edits."""

    earlier: Hold
    later: Hold
    place: str  # what both have
    question: Escalation | None = None  # by which a person decides; asked by the later one's clone


def find(
    ws: Workspace, holds: Sequence[Hold], logs: Sequence[Log], asked: Sequence[Escalation]
) -> list[Conflict]:
    """The conflicts among `holds`, which are in the order in which they count."""
    clones = {log.id: log.request.clone for log in logs}
    if len({clones.get(hold.id) for hold in holds}) < 2:
        return []  # one clone grants nothing twice
    ground = Ground(ws)
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
    """The last that was asked about the two, by the names that its text has for them."""
    names = f"({earlier.short})", f"({later.short})"
    about = [
        each
        for each in asked
        if each.question.text.startswith(TITLE) and all(x in each.question.text for x in names)
    ]
    return about[-1] if about else None
