"""The doctor's checks of this machine: git, Python, the repository, the repository."""

import platform
from collections.abc import Iterator

from ghp_agents.core.finding import Finding, error, ok
from ghp_agents.git import process as git
from ghp_agents.workspace import Workspace


def check_git() -> Iterator[Finding]:
    """Check that git is new enough."""
    version = git.version()
    shown, needed = (".".join(map(str, numbers)) for numbers in (version, git.MINIMUM_VERSION))
    if version < git.MINIMUM_VERSION:
        yield error("git", f"git {shown} is too old.", f"Install git {needed} or newer.")
    else:
        yield ok("git", f"git {shown}")


def check_python() -> Iterator[Finding]:
    """Report the versions of Python and of this program."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        ours = version("ghp-agents")
    except PackageNotFoundError:
        ours = "not installed"
    yield ok("python", f"Python {platform.python_version()}, ghp-agents {ours}")


def check_repository(ws: Workspace) -> Iterator[Finding]:
    """Report the kind of repository."""
    args = ["rev-parse", "--is-bare-repository", "--is-shallow-repository", "--show-object-format"]
    shown = git.run(args, cwd=ws.folder)
    if shown.code != 0:
        raise git.failure(args, shown)
    bare, shallow, form = shown.text.splitlines()
    kinds = [
        "bare" if bare == "true" else "main worktree" if ws.place.git_dir == ws.place.common_dir
        else "linked worktree",
        *([] if form == "sha1" else [form]),
        *(["shallow"] if shallow == "true" else []),
        *(["partial"] if _is_partial(ws) else []),
    ]  # fmt: skip
    yield ok("repository", f"{ws.folder}: {', '.join(kinds)}")


def _is_partial(ws: Workspace) -> bool:
    args = ["config", "--get-regexp", r"^remote\..*\.(promisor|partialclonefilter)$"]
    return bool(git.run(args, cwd=ws.folder).text)
