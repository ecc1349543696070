"""Names of rights."""

PREFIX = "issue/"


def claim_name(issue: int) -> str:
    """The name of the right to an issue."""
    return f"{PREFIX}{issue}"


def claimed_issue(name: str) -> int | None:
    """The issue that a right is to; None for a right to something else."""
    word = name.removeprefix(PREFIX)
    return int(word) if word != name and word.isascii() and word.isdigit() else None
