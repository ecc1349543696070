"""New names that differ only in case from others: one file on macOS and Windows, two for git."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.conflicts.trunk import OnTrunk
from ghp_agents.core.file_names import case_twins
from ghp_agents.git.trial_merge import TrialPlace
from ghp_agents.hotpath.quoting import file

MOST = 20  # warnings


class SpellingWarning(NamedTuple):
    """Names of files or folders that differ only in case; the agents add the first one, or both."""

    agents: tuple[str, ...]
    paths: tuple[str, str]  # as the first one and the other one spell it
    text: str


def find_spellings(
    place: TrialPlace, trunk: str, works: Sequence[OnTrunk], chosen: Iterable[int]
) -> tuple[SpellingWarning, ...]:
    """The warnings for what the `chosen` works add, beside the main branch and the others. Raises
    GitError."""
    mine = [number for number in chosen if works[number].change.added]
    if not mine:
        return ()
    present = {*place.check("ls-tree", "-r", "-z", "--name-only", "--full-tree", trunk).names}
    warnings: dict[frozenset[str], SpellingWarning] = {}
    for number in mine:
        work = works[number]
        for new, other in case_twins(work.change.added, present - work.change.removed):
            text = f"{work.work.name} adds {file(new)}, and there is {file(other)}. {TEXT}"
            key = frozenset((new, other))
            warnings.setdefault(key, SpellingWarning(work.work.agents, (new, other), text))
        for second in (x for n, x in enumerate(works) if n != number):
            for new, other in case_twins(work.change.added, second.change.added, own=False):
                who = f"{work.work.name} adds {file(new)}, and {second.work.name} {file(other)}"
                agents = (*work.work.agents, *second.work.agents)
                key = frozenset((new, other))
                warnings.setdefault(key, SpellingWarning(agents, (new, other), f"{who}. {TEXT}"))
    return tuple([*warnings.values()][:MOST])


TEXT = "On macOS and Windows this is one name. Choose one spelling."
