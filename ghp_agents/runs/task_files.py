"""The files that declare tasks: `.ghp/tasks/NAME.md` on main, then Claude Code's commands there.

Only what is on main counts, and what runs only if a person agreed to the file in this clone, as to
other commands. No link is followed.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

from ghp_agents.consent import service as trust
from ghp_agents.consent.templates import TreeFile, entries
from ghp_agents.core.errors import GhpError, NotFoundError, RefusedError
from ghp_agents.core.ids import one_line
from ghp_agents.git import process as git
from ghp_agents.runs import task
from ghp_agents.runs.task import TaskFile
from ghp_agents.settings import consent
from ghp_agents.settings.consent import FILES_MOST, TASKS
from ghp_agents.state.known_branches import main_commit
from ghp_agents.workspace import Workspace

SUFFIX = ".md"
LARGEST = 100_000  # bytes


def known(ws: Workspace) -> Mapping[str, TreeFile]:
    """The files by the task's name. Raises GitError."""
    files: dict[str, TreeFile] = {}
    for folder in TASKS:
        for entry in entries(ws, folder)[:FILES_MOST]:
            if entry.is_file and entry.path.endswith(SUFFIX):
                files.setdefault(PurePosixPath(entry.path).stem, entry)
    return files


def read(ws: Workspace, name: str) -> TaskFile:
    """A declared task. Raises NotFoundError, GhpError if its file is wrong, RefusedError if it says
    what runs and nobody agreed to it."""
    files = known(ws)
    if name not in files:
        names = ", ".join(sorted(files)[:20])
        hint = f"It declares {names}." if names else f"Add {TASKS[0]}NAME{SUFFIX} to main."
        raise NotFoundError(f"Main declares no task {one_line(name, 40)!r}.", hint=hint)
    path, size = files[name].path, files[name].size
    try:
        if size > LARGEST:
            raise ValueError(f"it has more than {LARGEST} bytes")
        data = git.check(["cat-file", "blob", files[name].oid], cwd=ws.folder).out
        declared, text = task.parse(name, data), data.decode("utf-8")
    except ValueError as error:
        raise GhpError(
            f"{path} on main declares no task: {error}.",
            hint="Fix it on main; `docs/tasks.md` shows its form.",
        ) from None
    is_open = bool(declared.run) or consent.is_task_to_approve(consent.plain_text(text))
    if is_open and not trust.covers(ws, main_commit(ws), path, text):
        raise RefusedError(
            f"The task {name} was not started: nobody has approved {path} on main in this clone.",
            hint=consent.HINT,
        )
    return declared
