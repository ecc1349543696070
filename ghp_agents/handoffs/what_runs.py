"""What a change does to programs that run by themselves: settings of agents' clients, hooks, build
servers, and our own cards and settings."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple

from ghp_agents.cards import read_cards, widening
from ghp_agents.core.file_names import plain
from ghp_agents.core.ids import listed
from ghp_agents.git import branch_range, changed_paths
from ghp_agents.git import process as git
from ghp_agents.handoffs.tool_files import configures_tools, makes_run

LISTED = 5
LINK = "120000"


class WhatRuns(NamedTuple):
    """The changed files that make something run, or instruct agents; what cards give."""

    running: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()  # a sentence for each agent that may do more

    @property
    def words(self) -> str:
        """What changes, for people; empty if nothing does."""
        parts = [f"files that make programs run: {_some(self.running)}"] if self.running else []
        parts += [f"instructions of agents: {_some(self.instructions)}"][: len(self.instructions)]
        parts += [f"cards: {listed([*self.wider], LISTED)}"] if self.wider else []
        return "; ".join(parts)


def of_branch(folder: Path, base: str, head: str) -> WhatRuns:
    """What a branch changes since it left `base`. Both commits must be here. Raises GitError."""
    added = branch_range.between(folder, base, head)
    if len(added.forks) == 1:
        return look(folder, added.paths, added.forks[0], head)
    forks = added.forks or (base,)  # several, if both merged each other
    return together(look(folder, changed_paths.differing(folder, x, head), x, head) for x in forks)


def of_merge(folder: Path, commit: str, paths: Sequence[str] = ()) -> WhatRuns:
    """What a commit of main changed, compared with main before it. `paths` are known to be changed,
    too: a fast-forward brings several commits, and this clone may lack the commit."""
    before = f"{commit}^1"
    try:
        changed = [*changed_paths.differing(folder, before, commit), *paths]
        return look(folder, dict.fromkeys(changed), before, commit)
    except git.GitError:
        return _by_name(paths)


def together(some: Iterable[WhatRuns]) -> WhatRuns:
    """Several findings as one."""
    columns = zip(*some, strict=True)
    return WhatRuns(*(tuple(dict.fromkeys(chain(*column))) for column in columns))


def look(folder: Path, paths: Iterable[str], before: str, after: str) -> WhatRuns:
    """What changed `paths` mean between two commits. Raises GitError."""
    paths = [*paths]
    linked = _linked(folder, before) if paths else ()
    kinds = _by_name(paths, linked)
    wider: list[str] = []
    if any(makes_run(path) for path in kinds.running):
        cards = (read_cards.read(folder, commit, _nobody) for commit in (before, after))
        wider = widening.widened(*cards)
    return kinds._replace(wider=tuple(wider))


def _by_name(paths: Sequence[str], linked: Sequence[str] = ()) -> WhatRuns:
    running = [path for path in paths if makes_run(path) or _is_below(path, linked)]
    instructions = [path for path in paths if configures_tools(path) and path not in running]
    return WhatRuns(tuple(running), tuple(instructions))


def _nobody(_path: str, _text: str) -> bool:
    return False


def _linked(folder: Path, commit: str) -> Sequence[str]:
    """The files and folders to which links with the names of such files lead."""
    files = changed_paths.all_in(folder, commit)
    links = [(x.oid, x.path) for x in files if x.mode == LINK and makes_run(x.path)]
    return [
        normpath(join(dirname(path), git.check(["cat-file", "blob", oid], cwd=folder).text))
        for oid, path in links
    ]


def _is_below(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _some(paths: Sequence[str]) -> str:
    return listed([plain(path) for path in paths], LISTED)
