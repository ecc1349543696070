"""Checks the private repository's integrity and size, and repairs it."""

from collections.abc import Iterator

from ghp_agents.core.finding import Finding, error, info, ok
from ghp_agents.core.ids import CloneId
from ghp_agents.git import process as git
from ghp_agents.state.git import fold, repack
from ghp_agents.state.git.admin.create import shown
from ghp_agents.state.private_repo import (
    CLONE_REFS,
    StateRepository,
    find_repository,
    rename_clone,
    state_path,
)
from ghp_agents.workspace import Workspace

_ASIDE = "state.git.aside-"


def check_state(ws: Workspace) -> Iterator[Finding]:
    """Whether the private repository is intact."""
    path = state_path(ws)
    repository = find_repository(ws)
    if repository is None and path.exists():
        text = f"{shown(ws, path)} is incomplete: it does not name its clone."
        yield error(
            "state", text, "`ghp agent-doctor --fix` restores or replaces it.", fixable=True
        )
    elif repository:
        result = _fsck(repository)
        if result.code:  # what a writer adds meanwhile looks like damage: look while nobody writes
            with fold.state_lock(ws):
                result = _fsck(repository)
        if result.code == 0:
            yield ok("state", f"{shown(ws, path)} is intact; this clone is {repository.clone}.")
        else:
            lines = [line for line in result.err.splitlines() if not line.startswith("notice:")]
            yield error(
                "state",
                f"{shown(ws, path)} is damaged: {lines[0] if lines else 'git fsck fails'}.",
                f"Keep it and start again: mv {path} {path}.damaged, then `ghp agent-sync`; it "
                "restores all that was sent.",
            )
    for aside in sorted(ws.ghp_dir.glob(f"{_ASIDE}*")):
        text = f"{shown(ws, aside)} was moved aside because it was incomplete."
        yield info("state-aside", text, f"When nothing is missing: rm -r {aside}")


def _fsck(repository: StateRepository) -> git.Result:
    return repository.run("fsck", "--no-dangling", "--no-progress", "--no-reflogs")


def mend_state(ws: Workspace) -> None:
    """Restore the private repository's clone id; set the repository aside if the id is unknown."""
    path = state_path(ws)
    with fold.state_lock(ws):
        if find_repository(ws) or not path.exists():
            return
        form = ["for-each-ref", "--format=%(refname)", CLONE_REFS]
        shown = git.run(form, cwd=ws.common_dir, git_dir=path)
        clones = shown.text.splitlines() if shown.code == 0 else []
        if len(clones) == 1:
            clone = CloneId(clones[0].removeprefix(CLONE_REFS))
            rename_clone(StateRepository(path, ws.common_dir, clone, ws.kept), clone)
        else:
            path.rename(path.with_name(f"{_ASIDE}{int(ws.clock.now())}"))


def check_growth(ws: Workspace) -> Iterator[Finding]:
    """How large the private repository is."""
    repository = find_repository(ws)
    if repository is None:
        return
    lines = repository.check("count-objects", "-v").text.splitlines()
    count = {key: int(value) for key, value in (line.split(": ") for line in lines)}
    total, size = count["count"] + count["in-pack"], count["size"] + count["size-pack"]
    text = f"The private repository has {total} objects ({count['count']} loose) in {size} kB"
    if repack.needed(repository):
        yield info(
            "growth", f"{text}; it should be packed.", "The next sync packs it.", fixable=True
        )
    else:
        yield ok("growth", f"{text}.")


def pack(ws: Workspace) -> None:
    """Pack the private repository unless another process is using it."""
    repository = find_repository(ws)
    if repository:
        repack.run(ws, repository)
