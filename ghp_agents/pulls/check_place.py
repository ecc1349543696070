"""The place for checks: a temporary worktree for one commit after another."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core.errors import GhpError
from ghp_agents.git import merge
from ghp_agents.ports import Context
from ghp_agents.pulls.check import tail
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees.folder import worktrees_folder
from ghp_agents.worktrees.provision import provision

LITTER = 3_600.0  # seconds; a temporary worktree that is older is a leftover


class CheckPlace:
    """A worktree that is created when the first commit is checked out in it."""

    def __init__(self, ctx: Context, until: contextlib.ExitStack) -> None:
        self._ws, self._until = ctx.ws, until
        self._parent = worktrees_folder(ctx.ws) / ".merging" / ctx.store.snapshot().clone
        self._home = ctx.ws.main_worktree or ctx.ws.folder
        self._path: Path | None = None

    def at(self, commit: str) -> Path:
        """Check out a commit, and set the worktree up; return its folder. Ignored files that the
        checks of an earlier commit wrote stay, as in anybody's worktree. Raises GhpError."""
        if self._path is None:
            for left in _leftovers(self._ws, self._parent):
                merge.discard(self._home, left)
            self._until.callback(_remove_empty, self._parent, self._parent.parent)
            place = merge.detached(self._home, self._parent, commit)
            self._path = self._until.enter_context(place)
        else:
            merge.switch(self._path, commit)
        _set_up(self._ws, self._path)
        return self._path


@contextlib.contextmanager
def check_place(ctx: Context) -> Iterator[CheckPlace]:
    """A place for checks until the end of the block."""
    with contextlib.ExitStack() as until:
        yield CheckPlace(ctx, until)


def _leftovers(ws: Workspace, scratch: Path) -> list[Path]:
    """List leftovers of killed commands: all of merges, as we hold their lock; else old ones."""
    leftovers = [*scratch.glob("landing-*")]
    for left in ws.ghp_dir.glob("landing-*"):
        with contextlib.suppress(OSError):
            leftovers += [left] if ws.clock.now() - left.stat().st_mtime > LITTER else []
    return leftovers


def _set_up(ws: Workspace, place: Path) -> None:
    done = provision(ws, place, exact=True)
    for missing in done.missing:
        if (ws.root / missing.path / ".git").exists():  # who works here uses it
            raise GhpError(
                missing.why,
                hint="Checks need the submodules of what they check. `agents.submodules`: false "
                "leaves them out.",
            )
    setup = done.setup
    if setup and setup.code:
        raise GhpError(
            f"`{setup.command}` ended with {setup.code}:\n{tail(setup.output)}",
            hint="The set-up command must work in a new worktree for the checks to run.",
        )


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
