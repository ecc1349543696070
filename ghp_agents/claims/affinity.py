"""How near an issue is to what an agent has done: its relations to earlier issues and files."""

from collections.abc import Iterable, Set

from ghp_agents.issues.issue import Issue
from ghp_agents.issues.scope import scope

MOST = 500  # earlier issues of one agent that count, the newest
DEPTH = 2  # folders of a path that count: src/lexer of src/lexer/tokens.py

Relations = Set[int | str]


def relations(issue: Issue) -> Relations:
    """The issues that it waited for or is part of, and the folders of its scope."""
    parts: set[int | str] = {*issue.blocked_by}
    if issue.parent is not None:
        parts.add(issue.parent)
    if "scope" in issue.form.casefold():
        parts.update(_folder(pattern) for pattern in scope(issue.form) if pattern[:1] != "!")
    return parts - {""}


def experience(done: Iterable[Issue]) -> Relations:
    """The relations that somebody knows who has done these issues, oldest first."""
    newest = [*done][-MOST:]
    return {part for issue in newest for part in (*issue.numbers, *relations(issue))}


def _folder(pattern: str) -> str:
    """The leading folders of a pattern, up to its first wildcard."""
    parts = [part for part in pattern.split("/")[:-1] if part]
    plain = next((at for at, part in enumerate(parts) if any(c in "*?[" for c in part)), len(parts))
    return "/".join(parts[: min(plain, DEPTH)])
