"""The files that declare tasks: `.ghp/tasks/NAME.md` on main, then Claude Code's commands there.

Only what is on main counts: its maintainers decide what runs. No link is followed.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

from ghp_agents.consent.templates import TreeFile, entries
from ghp_agents.core.errors import GhpError, NotFoundError
from ghp_agents.core.ids import one_line
from ghp_agents.git import process as git
from ghp_agents.runs import task
from ghp_agents.runs.task import TaskFile
from ghp_agents.workspace import Workspace

FOLDERS = (".ghp/tasks/", ".claude/commands/")
SUFFIX = ".md"
LARGEST = 100_000  # bytes
MOST = 200  # files


def known(ws: Workspace) -> Mapping[str, TreeFile]:
    """The files by the task's name. Raises GitError."""
    files: dict[str, TreeFile] = {}
    for folder in FOLDERS:
        for entry in entries(ws, folder)[:MOST]:
            if entry.is_file and entry.path.endswith(SUFFIX):
                files.setdefault(PurePosixPath(entry.path).stem, entry)
    return files


def read(ws: Workspace, name: str) -> TaskFile:
    """A declared task. Raises NotFoundError, GhpError if its file is wrong."""
    files = known(ws)
    if name not in files:
        names = ", ".join(sorted(files)[:20])
        hint = f"It declares {names}." if names else f"Add {FOLDERS[0]}NAME{SUFFIX} to main."
        raise NotFoundError(f"Main declares no task {one_line(name, 40)!r}.", hint=hint)
    path, size = files[name].path, files[name].size
    try:
        if size > LARGEST:
            raise ValueError(f"it has more than {LARGEST} bytes")
        data = git.check(["cat-file", "blob", files[name].oid], cwd=ws.folder).out
        return task.parse(name, data)
    except ValueError as error:
        raise GhpError(
            f"{path} on main declares no task: {error}.",
            hint="Fix it on main; `docs/tasks.md` shows its form.",
        ) from None
