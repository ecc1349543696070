"""What people see without this program: a file in the main worktree, and a branch on the remote."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.ids import one_line
from ghp_agents.git import exclude
from ghp_agents.git import process as git
from ghp_agents.hotpath import own_file
from ghp_agents.ports import Snapshot
from ghp_agents.state import presence
from ghp_agents.state.git.fast_import import NewCommit, import_commits
from ghp_agents.state.join import SyncReport
from ghp_agents.state.presence import Agents
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.state.remote import Pushed, PushOutcome, Remote, coordination_remote, exchange, push
from ghp_agents.workspace import Workspace

BRANCH = "refs/heads/ghp-state"
PUBLISHED = "refs/ghp/published"
EXCLUDE = "/.ghp/agent-status.json"
MARK = "<!-- ghp-agents: published state, generated -->"


def write_view(ws: Workspace, snapshot: Snapshot) -> bool:
    """Write the joined document into the main worktree, kept out of git; whether it was written.

    Not where the settings turn it off, where there is no main worktree, and never over a file that
    is tracked: that one is the user's.
    """
    root = ws.main_worktree
    if not ws.settings.view or root is None or not root.is_dir():
        return False
    if (root / presence.PATH).parent.is_symlink():
        return False  # it could lead anywhere: what is checked out may be a stranger's
    try:
        if is_tracked(root):
            return False
        exclude.add(ws.common_dir, EXCLUDE)
        content = presence.encode(snapshot.agents())
        path = root / presence.PATH
        if not path.exists() or path.read_bytes() != content:
            _replace(ws, path, content)
    except OSError:
        return False  # a view is a convenience; the state is elsewhere
    return True


def _replace(ws: Workspace, path: Path, content: bytes) -> None:
    # Not written beside the view: what a killed process left there would be in the person's way.
    fresh = ws.cache_dir / f"view.{files.random_hex(4)}.tmp"
    path.parent.mkdir(exist_ok=True)
    files.write_atomically(fresh, content, mode=own_file.LIKE_GIT)
    try:
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def remove_view(ws: Workspace) -> list[Path]:
    """Take the view and its line in `info/exclude` away; what was removed."""
    removed: list[Path] = []
    root = ws.main_worktree
    if root and (root / presence.PATH).exists() and not is_tracked(root):
        (root / presence.PATH).unlink()
        removed.append(root / presence.PATH)
        with contextlib.suppress(OSError):
            (root / ".ghp").rmdir()  # only if it is empty: it may hold the user's configuration
    excluding = exclude.remove(ws.common_dir, EXCLUDE)
    return [*removed, *([excluding] if excluding else [])]


def is_tracked(root: Path) -> bool:
    """Whether the view's place holds a file of the user's (or cannot be told not to)."""
    shown = git.run(["ls-files", "--", presence.PATH], cwd=root)
    return shown.code != 0 or bool(shown.text)


def is_excluded(ws: Workspace) -> bool:
    """Whether `info/exclude` has the view's line."""
    return exclude.has(ws.common_dir, EXCLUDE)


def publish(
    ws: Workspace,
    repository: StateRepository,
    agents: Agents,
    notes: Mapping[str, bytes],
    report: SyncReport,
) -> SyncReport:
    """Push the joined presence and the notes as the branch `ghp-state`. Many may publish: the last
    one is right."""
    remote = coordination_remote(ws)
    assert remote is not None
    documents = {presence.PATH: presence.encode(agents), **notes}
    for _ in range(4):
        head = fetch_published(ws, repository, remote)
        if head and not is_ours(repository, head):
            trouble = (
                f"the remote has a branch {BRANCH.removeprefix('refs/heads/')} that is not ours"
            )
            return report._replace(trouble=trouble, permanent=True)
        if head and _has_all(repository, head, documents):
            return report._replace(notes=(*report.notes, "the published branch is up to date"))
        try:
            pushed = _push_published(ws, repository, remote, head, documents, agents)
        except StateMovedError:
            continue
        if pushed.answer is PushOutcome.DONE:
            name = BRANCH.removeprefix("refs/heads/")
            return report._replace(notes=(*report.notes, f"published as branch {name}"))
        if pushed.answer is not PushOutcome.MOVED:
            refused = pushed.answer is PushOutcome.REFUSED
            return report._replace(trouble=pushed.words, permanent=refused)
    return report._replace(trouble="others published again and again; try again later")


def _push_published(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    head: str | None,
    documents: Mapping[str, bytes],
    agents: Agents,
) -> Pushed:
    page = _page(agents, str(_date(ws)))
    content = {**documents, "README.md": page}
    commit = NewCommit("Published state\n", content, None, ws.clock.now())
    import_commits(repository, PUBLISHED, head, [commit], ws.clock.now())
    made = repository.check("rev-parse", PUBLISHED).text
    absolute = Remote(remote.name, "")
    return push(ws, repository, absolute, [f"{made}:{BRANCH}"], expected={BRANCH: head or ""})


def fetch_published(ws: Workspace, repository: StateRepository, remote: Remote) -> str | None:
    """The commit of the remote's branch, brought here; None if it has none."""
    args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-filter"]
    args += ["--no-auto-maintenance", remote.name, f"+{BRANCH}:{PUBLISHED}"]
    fetched = exchange(ws, repository, remote, args)
    if fetched.code != 0:
        repository.run("update-ref", "-d", PUBLISHED)
        return None
    return repository.check("rev-parse", PUBLISHED).text


def is_ours(repository: StateRepository, head: str) -> bool:
    """Whether a published branch was made by this program."""
    page = _blob(repository, f"{head}:README.md")
    return page is not None and page.startswith(MARK.encode())


def _has_all(repository: StateRepository, head: str, documents: Mapping[str, bytes]) -> bool:
    """Whether a commit has the documents as they are now. None is ever taken away: what is
    forgotten is written over."""
    with repository.objects() as reader:
        found = reader.read([f"{head}:{path}" for path in documents])
    contents = documents.values()
    return all(
        one is not None and one.content == content
        for one, content in zip(found, contents, strict=True)
    )


def _blob(repository: StateRepository, name: str) -> bytes | None:
    shown = repository.run("cat-file", "blob", name)
    return shown.out if shown.code == 0 else None


def _date(ws: Workspace) -> str:
    from ghp_agents.core.clock import to_text

    return to_text(ws.clock.now())


def _page(agents: Agents, when: str) -> bytes:
    lines = [MARK, "# Agents", "", f"As of {when}; generated, do not edit.", ""]
    lines += ["| agent | status | issue | last action | last beat |", "|---|---|---|---|---|"]
    for name in sorted(agents):
        said = agents[name]
        cells = (
            name,
            said.get("status"),
            said.get("issue"),
            said.get("lastAction"),
            said.get("timestamp"),
        )
        lines.append("| " + " | ".join(_cell(value) for value in cells) + " |")
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _cell(value: object) -> str:
    text = one_line("" if value is None else str(value), 120)
    return "".join("\\" + char if char in "|<>[]`*_!\\" else char for char in text)
