"""CODEOWNERS: which paths belong to chosen owners, as patterns with and without them.

Of several lines the last that matches counts. A line is like one of `.gitignore`, but for `!` and
`[…]`, which it does not know, and for `folder/*`, which means the files right in the folder.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import spelled

_WORDS = re.compile(r"(?:\\.|[^\s\\])+")


class OwnersLine(NamedTuple):
    """What one line says."""

    pattern: str  # as it counts from the repository's root
    owners: tuple[str, ...]  # none: nobody owns it, whatever lines before it say
    only_here: bool = False  # the files right in the folder, none further below


def parse_owners(text: str) -> list[OwnersLine]:
    """The lines of a file, in their order. What is no line of it is left out, as hosts do."""
    found: list[OwnersLine] = []
    for line in text.splitlines():
        words = _WORDS.findall(_without_comment(line))
        if not words or words[0].startswith(("[", "^[", "!")):
            continue  # a section of GitLab's, or what no host takes
        pattern = words[0].replace("[", r"\[").replace("]", r"\]")
        try:
            root = spelled(pattern)
        except UsageError:
            continue
        only_here = pattern.endswith("/*") and not pattern.endswith("**/*")
        found.append(OwnersLine(root, tuple(words[1:]), only_here))
    return found


def owned(lines: list[OwnersLine], owners: Collection[str]) -> list[tuple[OwnersLine, bool]]:
    """The lines that say something about `owners`, each with whether it gives the path to one of
    them; nothing where none does."""
    wanted = {owner.casefold() for owner in owners}
    said = [(line, any(x.casefold() in wanted for x in line.owners)) for line in lines]
    return said if any(mine for _, mine in said) else []


def _without_comment(line: str) -> str:
    return re.split(r"(?:^|(?<=\s))#", line, maxsplit=1)[0]
