"""The hooks of a person or a project, which our own git calls do not run."""

import os
import re
from pathlib import Path

from ghp_agents.git import plain_config
from ghp_agents.git import process as git

LARGEST = 100_000  # bytes of a hook that are read
_OURS = re.compile(r"^# >>> ghp-agents >>>.*?^# <<< ghp-agents <<<\n", re.M | re.S)
_OF_LFS = re.compile(r"git[ -]lfs")


def configured(top: Path, *, ours: bool = False) -> Path | None:
    """`core.hooksPath` of a worktree, without that of our git calls, and without our own value
    unless `ours`."""
    args = ["config", "-z", "--show-scope", "--show-origin", "--type=path"]
    fields = git.run([*args, "--get-all", "core.hooksPath"], cwd=top).names
    entries = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    values = [
        value
        for scope, origin, value in entries
        if scope != "command" and (ours or not origin.endswith(plain_config.HOOKS_FILE))
    ]
    return Path(values[-1]) if values and values[-1] else None


def pre_push(top: Path, common_dir: Path) -> tuple[Path, str] | None:
    """The hook that a push by hand would run, and its text; None if there is none that does more
    than our block and Git LFS, whose files we send."""
    folder = configured(top)
    folder = common_dir / "hooks" if folder is None else top / folder
    if folder.name == "_" and (folder / "h").exists():  # husky's own scripts run those above
        folder = folder.parent
    path = folder / "pre-push"
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = _OURS.sub("", file.read(LARGEST))
    except OSError:
        return None
    runs = path.parent.name == ".husky" or os.access(path, os.X_OK)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return (path, text) if runs and not all(map(_OF_LFS.search, lines)) else None
