"""What set-up leaves in a clone, for tests."""

from pathlib import Path


def ours(clone: Path) -> list[str]:
    """What of ours a clone holds."""
    places = [
        clone / ".git/ghp",
        clone / ".git/ghp-agent",
        *clone.glob(".git/worktrees/*/ghp-agent"),
    ]
    paths = [str(path.relative_to(clone)) for path in [*places, clone / ".ghp"] if path.exists()]
    excluded = "/.ghp/agent-status.json" in (clone / ".git/info/exclude").read_text().splitlines()
    return [*paths, *(["exclude"] if excluded else [])]


def give_exclude(folder: Path) -> None:
    """An exclude file as `git init` makes it for people; the templates of the tests have none."""
    (folder / ".git/info").mkdir(exist_ok=True)
    (folder / ".git/info/exclude").write_text("*.swp\n")
