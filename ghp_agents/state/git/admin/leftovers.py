"""What blocks the next writer: held locks, and files of killed processes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.finding import Finding, info, ok, warning
from ghp_agents.core.ids import count
from ghp_agents.state.git import fold, sync
from ghp_agents.state.git.admin import remove
from ghp_agents.state.git.admin.create import shown
from ghp_agents.state.git.admin.lock_owner import holder
from ghp_agents.state.private_repo import state_path
from ghp_agents.workspace import Workspace

AT_WORK = 60.0  # seconds; younger files may still be in use
TIMEOUT_S = 1.0  # seconds; a fold takes about ten milliseconds


def check_locks(ws: Workspace) -> Iterator[Finding]:
    """Which processes hold a lock for too long."""
    free = True
    for name in (fold.FOLD_LOCK, fold.LOCK, sync.LOCK):
        path = ws.ghp_dir / name
        if not path.is_file():
            continue
        try:
            with files.locked(path, patience=TIMEOUT_S):
                continue
        except LockTimeoutError:
            free = False
            yield _held(path)
        except OSError:
            continue  # the folder's check reports why
    if free:
        yield ok("lock", "No lock file is held.")


def _held(path: Path) -> Finding:
    pid, about = holder(path)
    text = f"{path.name} is held by {about}"
    if path.name == sync.LOCK:
        return info("lock", f"{text}: a sync is under way.", "It ends by itself after `timeout`.")
    remedy = f"If it hangs: kill {pid}" if pid else ("See which git processes run: ps -ef")
    return warning(
        "lock", f"{text} for longer than a commit takes.", f"{remedy} (nothing is lost)."
    )


def check_left_overs(ws: Workspace) -> Iterator[Finding]:
    """What killed processes left behind."""
    paths = left_overs(ws)
    if not paths:
        yield ok("left-over", "Nothing was left behind by killed processes.")
        return
    names = ", ".join(shown(ws, path) for path in paths[:3]) + (", …" if len(paths) > 3 else "")
    text = f"Killed processes left {count(len(paths), 'file')} behind: {names}."
    yield warning("left-over", text, "`ghp agent-doctor --fix` removes them.", fixable=True)


def left_overs(ws: Workspace) -> list[Path]:
    """Ref locks, crash reports and temporary files that are too old to be in use."""
    state = state_path(ws)
    patterns = (
        "*.lock",
        "refs/**/*.lock",
        "fast_import_crash_*",
        "objects/*.tmp",
        "objects/*/tmp_*",
    )
    paths = [path for pattern in patterns for path in state.glob(pattern)]
    paths += ws.ghp_dir.glob(".state.*.tmp")
    paths += ws.common_dir.glob(f"{remove.GRAVE}*")
    for folder in ws.folders:
        for part in fold.TEMPORARY:
            paths += Path(folder, part).glob("*.tmp")
    before = ws.clock.now() - AT_WORK
    return sorted(path for path in paths if _changed_before(path, before))


def _changed_before(path: Path, moment: float) -> bool:
    try:
        return path.lstat().st_mtime < moment
    except OSError:
        return False


def remove_left_overs(ws: Workspace) -> None:
    """Remove them under both locks, which every writer's git process holds."""
    with files.locked_if_possible(ws.ghp_dir / sync.LOCK), fold.state_lock(ws):
        for path in left_overs(ws):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
