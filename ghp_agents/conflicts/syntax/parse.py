"""Parsing beside this process, for at most some seconds: hostile source ends the child only."""

import json
import os
import sys
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ghp_agents.conflicts.syntax.facts import SyntaxFacts, from_json
from ghp_agents.conflicts.syntax.languages import LANGUAGES
from ghp_agents.core import child_env, process
from ghp_agents.ports import Clock

SECONDS_PER_FILE = 0.5  # of the processor
MOST_RESTARTS = 3  # files that end the child
MOST_OUTPUT = 32_000_000  # bytes


class Source(NamedTuple):
    """The content of a file, and its language."""

    language: str
    content: bytes


def languages() -> frozenset[str]:
    """The languages whose grammars are installed; none without the extra `syntax`."""
    if find_spec("tree_sitter") is None:
        return frozenset()
    return frozenset(name for name, how in LANGUAGES.items() if find_spec(how.package) is not None)


def read_all(
    sources: Sequence[Source], names: Collection[str], clock: Clock, deadline: float
) -> list[SyntaxFacts | None]:
    """The facts of each file; None where the parser failed, or the deadline passed.

    `deadline` is in seconds of `Clock.interval`.
    """
    facts: list[SyntaxFacts | None] = []
    for _ in range(1 + MOST_RESTARTS):
        left = deadline - clock.interval()[1]
        if len(facts) == len(sources) or left <= 0:
            break
        facts += _read_some(sources[len(facts) :], names, left)
        if len(facts) < len(sources):
            facts.append(None)  # this one ended the child
    return [*facts, *[None] * (len(sources) - len(facts))]


def _read_some(sources: Sequence[Source], names: Collection[str], left: float) -> list[SyntaxFacts]:
    request = {
        "files": [(source.language, len(source.content)) for source in sources],
        "names": sorted(names),
        "seconds": min(SECONDS_PER_FILE, left),
    }
    given = b"".join([json.dumps(request).encode(), b"\n", *(source.content for source in sources)])
    output = process.pipe(
        [sys.executable, "-P", "-m", "ghp_agents.conflicts.syntax.child"],
        given, cwd=Path("/"), env=child_env.for_commands(os.environ), timeout=left,
        most=MOST_OUTPUT,
    )  # fmt: skip
    try:
        return [from_json(json.loads(line)) for line in output.split(b"\n")[:-1]]
    except (ValueError, TypeError):
        return []
