"""Upkeep of the private repository: our own packing, under our own locks, never git's `gc`."""

from collections.abc import Sequence

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.state.git import fold, sync
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.workspace import Workspace

LOOSE_LIMIT = 2_000  # objects; some 8 MB in blocks of 4 KiB
SAMPLE = "17"  # one of 256 folders, as `git gc --auto` does it
PACK_LIMIT = 20
# What is packed already keeps its deltas, so the time goes with the news. Git compares objects of
# like sizes, not neighbours in time, so the window is wide: it takes a quarter off ten agents'
# history. The limit of memory keeps it short for the long documents of many agents.
# What nothing points to is kept (-A): a fold may be about to point to what a killed one has left.
# Bitmaps speed up what a server does; our loose objects are compressed for speed, packs for size.
_REPACK = (
    "-c pack.compression=9 repack -A -d -q --no-write-bitmap-index"
    " --depth=50 --window=250 --window-memory=4m"
)
PATIENCE = 120.0  # seconds for one of its commands
AGAIN_AFTER = 600.0  # seconds; what did not work, or not help, is not tried with every fold


def needed(repository: StateRepository) -> bool:
    """Whether there are many loose objects or packs; a look at two folders."""
    loose = sum(1 for _ in (repository.path / "objects" / SAMPLE).glob("?*"))
    packs = sum(1 for _ in (repository.path / "objects" / "pack").glob("*.pack"))
    return loose * 256 > LOOSE_LIMIT or packs > PACK_LIMIT


def after_fold(ws: Workspace, repository: StateRepository) -> None:
    """Do what is needed, unless that was tried just now."""
    stamp = ws.cache_dir / "upkeep"
    now = ws.clock.now()
    if not needed(repository) or 0 <= now - fold.stamped(stamp) < AGAIN_AFTER:
        return
    fold.stamp(stamp, now)
    run(ws, repository)


def run(ws: Workspace, repository: StateRepository) -> bool:
    """Pack everything, if nobody else is at work; whether it was done.

    Folds go on while it packs, which takes seconds and touches neither refs nor what is new. What
    removes objects or touches refs takes milliseconds, and has both locks.
    """
    try:
        with files.locked(ws.ghp_dir / sync.LOCK, patience=0.1) as fetching:
            if not _done(repository, [_REPACK, "prune-packed -q"], [fetching]):
                return False
            with files.locked(ws.ghp_dir / fold.LOCK) as writing:
                last = ["prune --expire=2.hours.ago", "pack-refs --all"]
                return _done(repository, last, [fetching, writing])
    except (GhpError, OSError):
        return False  # another time; `agent-doctor` shows what grows


def _done(repository: StateRepository, commands: Sequence[str], held: Sequence[int]) -> bool:
    return all(
        repository.run(*command.split(), timeout=PATIENCE, keep_open=held).code == 0
        for command in commands
    )
