"""When a remote's branch was last fetched, by the times of the files that git writes then."""

from collections.abc import Iterator
from pathlib import Path

from ghp_agents.git.default_branch import REMOTES


def fetched_at(common_dir: Path, remote: str, branch: str) -> float | None:
    """The time of the last fetch, pull, push or clone that brought the branch, in seconds since the
    epoch; None if git left no trace. A fetch without FETCH_HEAD counts only if the branch moved."""
    logs = (common_dir / f"logs/{REMOTES}{remote}/{name}" for name in (branch, "HEAD"))
    heads = (path for path in _fetch_heads(common_dir) if _has(path, branch))
    return max((time for path in (*logs, *heads) if (time := _time(path))), default=None)


def _fetch_heads(common_dir: Path) -> Iterator[Path]:
    """Each worktree has its own."""
    yield common_dir / "FETCH_HEAD"
    yield from (common_dir / "worktrees").glob("*/FETCH_HEAD")


def _has(path: Path, branch: str) -> bool:
    try:
        with path.open("rb") as lines:
            return f"\tbranch '{branch}' of ".encode() in lines.read(1_000_000)
    except OSError:
        return False


def _time(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
