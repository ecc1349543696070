"""Maintenance of the private repository: our own packing under our own locks, never `git gc`."""

from collections.abc import Sequence

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.state.git import fold, sync
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.workspace import Workspace

LOOSE_LIMIT = 2_000  # objects; some 8 MB in blocks of 4 KiB
SAMPLE = "17"  # one of 256 folders, as in `git gc --auto`
PACK_LIMIT = 20
# Packed objects keep their deltas, so the time goes into new objects. Git compares objects of
# similar size, not age, so the window is wide: that saves a quarter of ten agents' history. The
# memory limit shortens it for the long documents of many agents. Unreachable objects are kept (-A):
# a fold may soon use what a killed one has left. Bitmaps help only servers. Loose objects are
# compressed for speed, packs for size.
_REPACK = (
    "-c pack.compression=9 repack -A -d -q --no-write-bitmap-index"
    " --depth=50 --window=250 --window-memory=4m"
)
TIMEOUT_S = 120.0  # seconds for one git command
AGAIN_AFTER = 600.0  # seconds; after a failure or no gain, folds wait this long


def needed(repository: StateRepository) -> bool:
    """Whether there are many loose objects or packs; reads two folders."""
    loose = sum(1 for _ in (repository.path / "objects" / SAMPLE).glob("?*"))
    packs = sum(1 for _ in (repository.path / "objects" / "pack").glob("*.pack"))
    return loose * 256 > LOOSE_LIMIT or packs > PACK_LIMIT


def after_fold(ws: Workspace, repository: StateRepository) -> None:
    """Pack if needed, unless that was tried recently."""
    stamp = ws.cache_dir / "upkeep"
    now = ws.clock.now()
    if not needed(repository) or 0 <= now - fold.stamped(stamp) < AGAIN_AFTER:
        return
    fold.stamp(stamp, now)
    run(ws, repository)


def run(ws: Workspace, repository: StateRepository) -> bool:
    """Pack everything, unless another process is using the repository; returns whether it did.

    Folds continue during the packing, which takes seconds and touches neither refs nor new objects.
    Steps that remove objects or touch refs take milliseconds and hold both locks.
    """
    try:
        with files.locked(ws.ghp_dir / sync.LOCK, patience=0.1) as fetching:
            if not _done(repository, [_REPACK, "prune-packed -q"], [fetching]):
                return False
            with files.locked(ws.ghp_dir / fold.LOCK) as writing:
                last = ["prune --expire=2.hours.ago", "pack-refs --all"]
                return _done(repository, last, [fetching, writing])
    except (GhpError, OSError):
        return False  # tried again later; `agent-doctor` shows the growth


def _done(repository: StateRepository, commands: Sequence[str], held: Sequence[int]) -> bool:
    return all(
        repository.run(*command.split(), timeout=TIMEOUT_S, keep_open=held).code == 0
        for command in commands
    )
