"""The workflow files: those on main, and those that come with this program.

Only what is on main counts, for its maintainers decide who is asked for what. A file of a worktree
has no effect, and no link is followed.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ghp_agents.consent.templates import TreeFile, entries
from ghp_agents.core.errors import GhpError, NotFoundError
from ghp_agents.core.ids import one_line
from ghp_agents.core.json_file import object_file
from ghp_agents.core.templates import shipped
from ghp_agents.git import process as git
from ghp_agents.presence import start_command
from ghp_agents.state.known_branches import main_commit
from ghp_agents.workflows.workflow import LARGEST, Workflow, parse
from ghp_agents.workspace import Workspace

FOLDER = ".ghp/workflows/"
SUFFIX = ".md"
MOST = 100  # files on main that are read
CACHE = "workflows.json"
UNREAD = "\0"  # no text begins so


class KnownWorkflows(NamedTuple):
    """The workflows by name, and for each file that is wrong the reason."""

    workflows: Mapping[str, Workflow]
    problems: Mapping[str, str] = {}


def known(ws: Workspace) -> KnownWorkflows:
    """All workflows; one on main replaces the one of this name that comes with this program."""
    texts = {name: (text, True) for name, text in _shipped().items()}
    texts |= {name: (text, False) for name, text in of_main(ws).items()}
    workflows: dict[str, Workflow] = {}
    problems: dict[str, str] = {}
    for name, (text, is_shipped) in sorted(texts.items()):
        if text.startswith(UNREAD):
            problems[name] = text.removeprefix(UNREAD)
            continue
        try:
            workflows[name] = parse(text.encode(), name, is_shipped=is_shipped)
        except (ValueError, GhpError) as error:
            problems[name] = one_line(str(error), 300).rstrip(".")
    return KnownWorkflows(workflows, problems)


def find(ws: Workspace, available: KnownWorkflows, name: str) -> Workflow:
    """A workflow by its name. Raises NotFoundError, and GhpError if its file is wrong."""
    if name in available.problems:
        raise GhpError(
            f"{FOLDER}{name}{SUFFIX} cannot be used: {available.problems[name]}.",
            hint="Fix it on main; `docs/workflows.md` shows its form.",
        )
    if name not in available.workflows:
        others = (
            f"Choose one of {', '.join(available.workflows)}, or add {FOLDER}NAME{SUFFIX} to main."
        )
        number = name.removeprefix("#")
        raise NotFoundError(
            f"There is no workflow {one_line(name, 40)!r}.",
            hint=f"To work on an issue: `{start_command.of_reader(ws, number)}`."
            if number.isdigit()
            else others,
        )
    return available.workflows[name]


def text(ws: Workspace, name: str) -> str:
    """The file of a workflow as it is. Raises NotFoundError."""
    texts = {**_shipped(), **of_main(ws)}
    if name not in texts:
        find(ws, KnownWorkflows(dict.fromkeys(sorted(texts), Workflow(""))), name)
    if texts[name].startswith(UNREAD):
        find(ws, known(ws), name)
    return texts[name]


def of_main(ws: Workspace) -> dict[str, str]:
    """The files on main by name, as text. While main does not move, they come from a cache."""
    tip = main_commit(ws)
    if not tip:
        return {}
    cache = object_file(Path(ws.home_folder, CACHE))
    content = cache.read()
    if content.get("main") != tip:
        content = {"main": tip, "files": _read(ws)}
        cache.write(content)
    files = content.get("files")
    return {str(x): str(y) for x, y in files.items()} if isinstance(files, dict) else {}


def _read(ws: Workspace) -> dict[str, str]:
    """The texts by name; for a file that is not read, UNREAD and the reason."""
    files = [x for x in entries(ws, FOLDER) if x.path.endswith(SUFFIX)]
    return {PurePosixPath(x.path).stem: _text(ws, x) for x in files[:MOST]}


def _text(ws: Workspace, entry: TreeFile) -> str:
    if not entry.is_file:
        return f"{UNREAD}it is a link or a folder, not a file"
    if entry.size > LARGEST:
        return f"{UNREAD}it has more than {LARGEST} bytes"
    blob = git.check(["cat-file", "blob", entry.oid], cwd=ws.folder)
    return blob.out.decode("utf-8", "replace")


def _shipped() -> dict[str, str]:
    folder = shipped(Path(__file__).parents[1]) / "workflows"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
