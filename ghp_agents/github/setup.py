"""Files that GitHub reads from a repository: forms, a pull request template, a workflow.

They are written into the worktree, for its owner to commit. Each begins with a line that holds a
digest of the rest. If the digest matches, the file is unchanged: a newer version replaces it, and
uninstalling removes it. Any other file belongs to the user.
"""

import difflib
import re
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError, NotSetUpError, RefusedError
from ghp_agents.core.ids import digest
from ghp_agents.core.templates import render_folder
from ghp_agents.github import action_ref
from ghp_agents.issues.issue import DEFAULT_PRIORITY, PRIORITIES
from ghp_agents.state.admin_port import Step
from ghp_agents.workspace import Workspace

TEMPLATES = "github"
FOLDER = ".github"
# Where our files may be, including those of older versions.
WORKFLOW = f"{FOLDER}/workflows/agents.yml"
PLACES = ("ISSUE_TEMPLATE/*.yml", "PULL_REQUEST_TEMPLATE/*.md", "workflows/*.yml")
NOTE = "ghp agent-init --github"
_FIRST = re.compile(rf"(?:#|<!--) Made by `{NOTE}` \(([0-9a-f]{{12}})\)[^\n]*\n(.*)\Z", re.DOTALL)
_ANY_ACTION = "owner/name@commit"  # the paths do not depend on it
_LOGIN = re.compile(r"@?([A-Za-z0-9](?:-?[A-Za-z0-9])*)")


class KeptFile(NamedTuple):
    """A user's file at the path of one of ours."""

    path: str  # from the top of the worktree
    change: str  # a unified diff from it to ours


class SetupPlan(NamedTuple):
    """The steps to take, and the files that stay."""

    steps: tuple[Step, ...]
    kept: tuple[KeptFile, ...]


def to_write(ws: Workspace, named: str = "") -> SetupPlan:
    """The files still to write, with the action `named` as `owner/name@commit`, else this
    installation's. Raises GhpError if one cannot be written; then none is."""
    top = _top(ws)
    steps: list[Step] = []
    kept: list[KeptFile] = []
    for path, text in wanted(ws, named or action_ref.address()).items():
        place = top / path
        _refuse_elsewhere(place, top)
        before = user_file.read(place)
        existing = None if before is None else _text(before)
        if existing == text:
            continue
        if existing is None or is_ours(existing):
            act = partial(user_file.rewrite, place, before, text.encode())
            steps.append(Step("write", "Wrote", path, act))
        else:
            kept.append(KeptFile(path, _change(path, existing, text)))
    return SetupPlan(tuple(steps), tuple(kept))


def to_take(ws: Workspace) -> SetupPlan:
    """The files to remove: those that are unchanged."""
    top = _top(ws)
    generated = wanted(ws, _ANY_ACTION)
    steps: list[Step] = []
    kept: list[KeptFile] = []
    for path in sorted({*generated, *_present(top)}):
        content = user_file.read(top / path)
        if content is None:
            continue
        if is_ours(_text(content)):
            act = partial(_remove_unchanged, top, path, content)
            steps.append(Step("remove", "Removed", path, act))
        elif path in generated or _FIRST.match(_text(content)):
            kept.append(KeptFile(path, ""))
    return SetupPlan(tuple(steps), tuple(kept))


def wanted(ws: Workspace, action: str) -> dict[str, str]:
    """All files of this version, by path from the top of the worktree.

    Without an action there is no workflow: a package installed by name alone could be anybody's.
    """
    texts = render_folder(TEMPLATES, _values(ws) | {"action": action})
    files = {f"{FOLDER}/{path}": marked(path, text) for path, text in texts.items()}
    return files if action else {path: files[path] for path in files if path != WORKFLOW}


def lacks_workflow(ws: Workspace) -> bool:
    """Whether there is no sweep workflow, or only one from an older version that installs this
    program by name."""
    content = user_file.read(_top(ws) / WORKFLOW)
    return content is None or (is_ours(_text(content)) and b'"ghp-agents' in content)


def marked(path: str, text: str) -> str:
    """A text with the line that marks it as ours."""
    says = (
        f"Made by `{NOTE}` ({digest(text)}). Change it as you like: "
        "then it is yours, and is neither replaced nor removed."
    )
    line = f"<!-- {says} -->" if path.endswith(".md") else f"# {says}"
    return f"{line}\n{text}"


def is_ours(text: str) -> bool:
    """Whether a file is unchanged since some version of this program wrote it."""
    header = _FIRST.match(text)
    return header is not None and digest(header[2]) == header[1]


def _values(ws: Workspace) -> dict[str, Any]:
    settings = ws.settings
    people = [login[1] for name in settings.escalate_to if (login := _LOGIN.fullmatch(name))]
    return {
        "priorities": PRIORITIES,
        "default_priority": PRIORITIES.index(DEFAULT_PRIORITY),
        "needs_human": _quoted(settings.needs_human_label),
        "people": people,
    }


def _quoted(text: str) -> str:
    """A text as a YAML value."""
    return (
        text if re.fullmatch(r"[a-z][a-z:-]*[a-z]", text) else "'" + text.replace("'", "''") + "'"
    )


def _top(ws: Workspace) -> Path:
    if ws.place.toplevel is None:
        raise NotSetUpError(
            f"{ws.git_dir} has no worktree to write to.",
            hint="Run this in a clone, and commit the files there.",
        )
    return Path(ws.place.toplevel)


def _refuse_elsewhere(place: Path, top: Path) -> None:
    if not place.resolve().is_relative_to(top.resolve()):
        raise RefusedError(
            f"{place} is a link to {place.resolve()}, outside the worktree.",
            hint="Check that link; GitHub reads only files in the repository.",
        )


def _present(top: Path) -> list[str]:
    paths = [path for pattern in PLACES for path in (top / FOLDER).glob(pattern)]
    return [path.relative_to(top).as_posix() for path in paths if path.is_file()]


def _text(content: bytes) -> str:
    """A file's text as in the repository: git may have converted its line ends here."""
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def _change(path: str, before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    return "\n".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm=""))


def _remove_unchanged(top: Path, path: str, content: bytes) -> None:
    if user_file.read(top / path) != content:
        raise GhpError(
            f"Another process just wrote {path}; it was not changed.",
            hint="Run the command again.",
        )
    user_file.delete(top / path, top)
