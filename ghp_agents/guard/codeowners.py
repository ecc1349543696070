"""CODEOWNERS: the patterns of paths that do and do not belong to given owners.

The last matching line counts. A line is like one of `.gitignore`, but `!` and `[…]` are not
supported, and `folder/*` means only the files directly in the folder.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import spelled

_WORDS = re.compile(r"(?:\\.|[^\s\\])+")


class OwnersLine(NamedTuple):
    """One parsed line."""

    pattern: str  # relative to the repository's root
    owners: tuple[str, ...]  # empty: no owner, despite earlier lines
    only_here: bool = False  # only files directly in the folder


def parse_owners(text: str) -> list[OwnersLine]:
    """The lines of a file, in their order. Invalid lines are skipped, as hosts do."""
    lines: list[OwnersLine] = []
    for line in text.splitlines():
        words = _WORDS.findall(_without_comment(line))
        if not words or words[0].startswith(("[", "^[", "!")):
            continue  # a section header of GitLab, or invalid on all hosts
        pattern = words[0].replace("[", r"\[").replace("]", r"\]")
        try:
            root = spelled(pattern)
        except UsageError:
            continue
        only_here = pattern.endswith("/*") and not pattern.endswith("**/*")
        lines.append(OwnersLine(root, tuple(words[1:]), only_here))
    return lines


def owned(lines: list[OwnersLine], owners: Collection[str]) -> list[tuple[OwnersLine, bool]]:
    """All lines, each with whether it names one of `owners`; empty if no line does."""
    wanted = {owner.casefold() for owner in owners}
    pairs = [(line, any(x.casefold() in wanted for x in line.owners)) for line in lines]
    return pairs if any(is_owned for _, is_owned in pairs) else []


def _without_comment(line: str) -> str:
    return re.split(r"(?:^|(?<=\s))#", line, maxsplit=1)[0]
