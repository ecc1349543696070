"""What people see without this program: a file in the main worktree, and a branch on the remote."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.json_file import object_file
from ghp_agents.git import clone_files, exclude
from ghp_agents.git import process as git
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.hotpath import own_file
from ghp_agents.ports import Snapshot
from ghp_agents.state import presence
from ghp_agents.state.coordination import Remote, coordination_remote
from ghp_agents.state.git.throttle import REFUSED_PAUSE
from ghp_agents.state.join import SyncReport
from ghp_agents.state.new_commits import NewCommit, add_commits
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.state.remote import Pushed, PushOutcome, exchange, push
from ghp_agents.workspace import Workspace

BRANCH = "refs/heads/ghp-state"
PUBLISHED = "refs/ghp/published"
EXCLUDE = "/.ghp/agent-status.json"
FIRST_PAGE = "README.md"
REFUSED = "publication-refused.json"
_NAME = BRANCH.removeprefix("refs/heads/")
_TO_END_THIS = (
    f"Take {_NAME} out of the remote's rules, or switch publishing off: "
    '"agents": {"publish": false} in .ghp/config.json.'
)
MARK = "<!-- ghp-agents: published state, generated -->"


def write_view(ws: Workspace, snapshot: Snapshot) -> bool:
    """Write the joined presence into the main worktree, hidden from git; returns whether it was
    written.

    Not if the settings disable it or there is no main worktree. A tracked file is the user's and is
    never overwritten.
    """
    root = ws.main_worktree
    if not ws.settings.view or root is None or not root.is_dir():
        return False
    if (root / presence.PATH).parent.is_symlink():
        return False  # a link could lead anywhere: a stranger may have committed it
    try:
        if is_tracked(root):
            return False
        exclude.add(ws.common_dir, EXCLUDE)
        content = presence.encode(snapshot.agents())
        path = root / presence.PATH
        if not path.exists() or path.read_bytes() != content:
            _replace(ws, path, content)
    except OSError:
        return False  # the view is optional; the state is elsewhere
    return True


def _replace(ws: Workspace, path: Path, content: bytes) -> None:
    # Not next to the view: a killed process would leave the file in the user's way.
    fresh = ws.cache_dir / f"view.{files.random_hex(4)}.tmp"
    path.parent.mkdir(exist_ok=True)
    files.write_atomically(fresh, content, mode=own_file.LIKE_GIT)
    try:
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def remove_view(ws: Workspace) -> list[Path]:
    """Remove the view and its line in `info/exclude`; returns what was removed."""
    removed: list[Path] = []
    root = ws.main_worktree
    if root and (root / presence.PATH).exists() and not is_tracked(root):
        (root / presence.PATH).unlink()
        removed.append(root / presence.PATH)
        with contextlib.suppress(OSError):
            (root / ".ghp").rmdir()  # only if empty: it may contain the user's configuration
    excluding = exclude.remove(ws.common_dir, EXCLUDE)
    return [*removed, *([excluding] if excluding else [])]


def is_tracked(root: Path) -> bool:
    """Whether the user's git tracks the view's path (also if git cannot tell)."""
    with contextlib.suppress(UnreadableRefsError):
        if not clone_files.may_be_tracked(root, presence.PATH):
            return False
    shown = git.run(["ls-files", "--", presence.PATH], cwd=root)
    return shown.code != 0 or bool(shown.text)


def is_excluded(ws: Workspace) -> bool:
    """Whether `info/exclude` has the view's line."""
    return exclude.has(ws.common_dir, EXCLUDE)


def publish(
    ws: Workspace,
    repository: StateRepository,
    render: Callable[[], Mapping[str, bytes]],
    report: SyncReport,
    *,
    create: bool,
) -> SyncReport:
    """Push documents as the branch `ghp-state`; one of them is `README.md`. If several publish,
    the last push is right. Without `create`, only if the remote has the branch already, and has
    not refused it within the last hour."""
    remote = coordination_remote(ws)
    assert remote is not None
    if not create and _was_refused(ws):
        return _impossible(report, "the remote refused it less than an hour ago", is_asked=False)
    documents: Mapping[str, bytes] = {}
    for _ in range(4):
        head = fetch_published(ws, repository, remote)
        if head is None and not create:
            return report
        if head and not is_ours(repository, head):
            why = f"the remote has a branch {_NAME} that ghp-agents did not create"
            return _impossible(report, why, is_asked=create)
        documents = documents or _marked(render())
        if head and _has_all(repository, head, documents):
            return report._replace(notes=(*report.notes, "The published branch is up to date."))
        try:
            pushed = _push_published(ws, repository, remote, head, documents)
        except StateMovedError:
            continue
        if pushed.answer is PushOutcome.DONE:
            (ws.cache_dir / REFUSED).unlink(missing_ok=True)
            return report._replace(notes=(*report.notes, f"Published as branch {_NAME}."))
        if pushed.answer is PushOutcome.REFUSED:
            object_file(ws.cache_dir / REFUSED).write({"at": ws.clock.now()})
            return _impossible(report, pushed.words, is_asked=create)
        if pushed.answer is not PushOutcome.MOVED:
            return report._replace(trouble=pushed.words)
    return report._replace(trouble="others kept publishing; try again later")


def _was_refused(ws: Workspace) -> bool:
    """Whether the remote refused the branch within the last hour."""
    at = object_file(ws.cache_dir / REFUSED).read().get("at")
    return isinstance(at, int | float) and 0 <= ws.clock.now() - at < REFUSED_PAUSE


def _impossible(report: SyncReport, why: str, *, is_asked: bool) -> SyncReport:
    """The report if a rule forbids the pages. They only show the state, so this is an error only
    for the command that asked for them."""
    if is_asked:
        return report._replace(
            trouble=why, permanent=True, notes=(*report.notes, f"Not published. {_TO_END_THIS}")
        )
    return report._replace(
        notes=(*report.notes, f"Not published: {why.rstrip('.')}. {_TO_END_THIS}")
    )


def _marked(documents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The documents, with the mark by which the branch is recognized."""
    return {**documents, FIRST_PAGE: f"{MARK}\n".encode() + documents[FIRST_PAGE]}


def _push_published(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    head: str | None,
    documents: Mapping[str, bytes],
) -> Pushed:
    commit = NewCommit("Published state\n", documents, None, ws.clock.now())
    created = add_commits(repository, PUBLISHED, head, [commit], ws.clock.now())
    absolute = Remote(remote.name, "")
    return push(ws, repository, absolute, [f"{created}:{BRANCH}"], expected={BRANCH: head or ""})


def fetch_published(ws: Workspace, repository: StateRepository, remote: Remote) -> str | None:
    """Fetch the remote's branch and return its commit; None if there is none."""
    args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-filter"]
    args += ["--no-auto-maintenance", remote.name, f"+{BRANCH}:{PUBLISHED}"]
    fetched = exchange(ws, repository, remote, args)
    if fetched.code != 0:
        repository.run("update-ref", "-d", PUBLISHED)
        return None
    return repository.commit_at(PUBLISHED)


def is_ours(repository: StateRepository, head: str) -> bool:
    """Whether this program created a published branch."""
    with repository.objects() as reader:  # the process that reads all other objects
        (page,) = reader.read([f"{head}:{FIRST_PAGE}"])
    return page is not None and page.content.startswith(MARK.encode())


def _has_all(repository: StateRepository, head: str, documents: Mapping[str, bytes]) -> bool:
    """Whether a commit has the current documents. Documents are never deleted, only overwritten."""
    with repository.objects() as reader:
        blobs = reader.read([f"{head}:{path}" for path in documents])
    contents = documents.values()
    return all(
        blob is not None and blob.content == content
        for blob, content in zip(blobs, contents, strict=True)
    )
