"""Names of locks."""

PREFIX = "issue/"
INBOX = "inbox/"  # who does what a group was asked
AGENTS = "agent/"  # in which clone an agent of this name lives


def claim_name(issue: int) -> str:
    """The name of the lock on an issue."""
    return f"{PREFIX}{issue}"


def claimed_issue(name: str) -> int | None:
    """The issue that a lock is for; None for other locks."""
    word = name.removeprefix(PREFIX)
    return int(word) if word != name and word.isascii() and word.isdigit() else None
