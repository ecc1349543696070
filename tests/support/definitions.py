"""Two agents' commits on one base, and the definitions that their merge would lack."""

from collections.abc import Mapping
from pathlib import Path

from ghp_agents.conflicts import definitions
from ghp_agents.conflicts.definitions import ChangedSide, LostDefinition, Pair
from ghp_agents.core.clock import SystemClock
from tests.support.git import commit, git

Files = Mapping[str, str | bytes | None]
PATIENCE = 60.0  # seconds; a busy machine is no finding
EXTRA = "the extra `syntax` is not installed"


def fork(repo: Path, base: Files, mine: Files, theirs: Files) -> Pair:
    """Commit `base`, and on it `mine` of ann and `theirs` of bob; None deletes a file."""
    common = _commit(repo, base)
    sides = []
    for agent, files in (("ann", mine), ("bob", theirs)):
        git(repo, "checkout", "--quiet", "--detach", common)
        sides.append(ChangedSide(agent, _commit(repo, files)))
    git(repo, "checkout", "--quiet", "main")
    return Pair(common, *sides)


def _commit(repo: Path, files: Files) -> str:
    for path in [path for path, content in files.items() if content is None]:
        git(repo, "rm", "--quiet", "--", path)
    return commit(repo, {path: text for path, text in files.items() if text is not None})


def lost(repo: Path, base: Files, mine: Files, theirs: Files) -> list[LostDefinition]:
    """What a merge of ann's and bob's work would lack."""
    pair = fork(repo, base, mine, theirs)
    return definitions.find(repo / ".git", [pair], SystemClock(), seconds=PATIENCE)


def said(repo: Path, base: Files, mine: Files, theirs: Files) -> list[str]:
    """The same, a line each: `helper -> assist: use.py 3`."""
    return [
        f"{x.name} -> {' '.join(filter(None, (x.new_name, x.new_path))) or 'nothing'}: "
        f"{x.used_in} {' '.join(map(str, x.lines))}"
        for x in lost(repo, base, mine, theirs)
    ]
