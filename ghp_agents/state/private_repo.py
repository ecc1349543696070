"""The private repository in the user's git folder: created once, shared by all worktrees.

The user's `git gc`, hooks, reflogs, shallow and partial clone settings do not affect it. (Measured:
state in the user's own object store does not survive a concurrent `gc --prune=now`.) Its
configuration includes the user's, so that remotes and credentials work.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files, moment
from ghp_agents.core.ids import CloneId
from ghp_agents.core.moment import Kept
from ghp_agents.git import loose
from ghp_agents.git import process as git
from ghp_agents.git.objects import ObjectReader
from ghp_agents.git.refs import UnreadableRefsError, read_one, read_refs, swap_ref
from ghp_agents.state import observed
from ghp_agents.workspace import Workspace

_OUR_REFS = "refs/ghp/"
CLONE_REFS = "refs/ghp/clone/"  # only our own; one writer
SEEN_REFS = "refs/ghp/seen/"  # each clone as last fetched, including ours
LEASE_REFS = "refs/ghp/lease/"  # locks that are decided in this clone
SEEN_LEASE_REFS = "refs/ghp/seen-lease/"  # locks as last fetched
COMMITTER = "ghp-agents <ghp-agents@invalid>"  # of our commits; git needs no user name
_CLONE_FILE = "ghp-clone"
_PLACE_FILE = "ghp-place"  # where this repository is, and its folder's inode

# Git's messages when the ref has moved, or another process is moving it. "Cannot lock" is not
# enough: it may also mean a full disk or a read-only folder.
_MOVED = ("but expected", "reference already exists", ".lock': File exists", "unable to resolve")

# In a partial clone git would fetch missing objects from the remote. Here all objects are present,
# and local commands must not wait for a network.
_LOCAL_ONLY = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}

# Each with its reason. The user's values are included before and must not affect us.
_CONFIG = """\
[include]
\tpath = ../../config
[core]
\tbare = true
\thooksPath = /dev/null
\tlogAllRefUpdates = false
\tfilesRefLockTimeout = 2000
\tpackedRefsTimeout = 2000
\tfsync = committed,derived-metadata,reference
\tfsyncMethod = batch
\tcompression = 1
\tsharedRepository = false
[gc]
\tauto = 0
\tautoDetach = false
[maintenance]
\tauto = false
[receive]
\tautogc = false
[fetch]
\twriteCommitGraph = false
\tfsckObjects = false
[transfer]
\tfsckObjects = false
[push]
\tgpgSign = false
\tfollowTags = false
"""


_SHA1 = "[core]\n\trepositoryformatversion = 0\n"
_SHA256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"


class RepositoryDamagedError(git.GitError):
    """The private repository cannot be used in its present state."""


class StateRepository(NamedTuple):
    """The private repository of a clone."""

    path: Path
    folder: Path  # git's working folder; relative remote addresses start here
    clone: CloneId
    kept: Kept  # what is known of it in this moment
    main: Path | None = None  # of a temporary folder: the repository that has its objects

    @property
    def ref(self) -> str:
        """The ref with all commits of this clone."""
        return CLONE_REFS + self.clone

    @property
    def sent_ref(self) -> str:
        """The ref with those of its commits that the remote has."""
        return SEEN_REFS + self.clone

    def unsent_span(self) -> list[str]:
        """This clone's commits that the remote lacks, as arguments of git; empty if there are
        none."""
        refs = self.refs(self.ref, self.sent_ref)  # no process is needed
        head, sent = refs.get(self.ref), refs.get(self.sent_ref)
        if head is None or head == sent:
            return []
        return [head, f"^{sent}"] if sent else [head]

    def commits_between(self, later: str, earlier: str | None) -> list[bytes] | None:
        """See `loose.commits_between`."""
        return loose.commits_between(f"{self.main or self.path}/objects", later, earlier)

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        timeout: float = git.LOCAL_PATIENCE,
        keep_open: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
    ) -> git.Result:
        """Run git on the private repository, whatever its exit code; without network."""
        return git.run(
            args,
            cwd=self.folder,
            git_dir=self.path,
            stdin=stdin,
            timeout=timeout,
            keep_open=keep_open,
            env={**_LOCAL_ONLY, **(env or {})},
        )

    def check(self, *args: str, stdin: bytes | None = None) -> git.Result:
        """Like `run`. Raises GitError unless git exits with 0."""
        result = self.run(*args, stdin=stdin)
        if result.code != 0:
            raise git.failure(args, result)
        return result

    def objects(self, *, largest: int | None = None) -> AbstractContextManager[ObjectReader]:
        """Read many objects, through at most one process; see `loose.read_objects`."""
        return loose.read_objects(self.main or self.path, _LOCAL_ONLY, largest=largest)

    def new_objects(self) -> loose.NewObjects:
        """Objects to write."""
        folder = self.main or self.path
        return loose.NewObjects(f"{folder}/objects", 64 if _is_sha256(folder) else 40)

    def point(self, ref: str, new: str, old: str | None, keep_open: Sequence[int] = ()) -> bool:
        """Move `ref` to `new` if it still is at `old` (None: if it does not exist). Returns whether
        it moved. Raises GitError."""
        with suppress(UnreadableRefsError, OSError):
            return self._note_move(ref, new, swap_ref(self.path, ref, old, new))
        args = ["update-ref", ref, new, old or ""]
        result = self.run(*args, keep_open=keep_open)
        if result.code != 0 and not any(sign in result.err for sign in _MOVED):
            raise git.failure(args, result)
        return result.code == 0

    def refs(self, *prefixes: str) -> dict[str, str]:
        """The refs whose names begin with one of the prefixes, with their objects. All of ours are
        listed once in a moment. Raises GitError."""
        if self.main:  # a temporary folder has refs of its own
            return self._list_refs(*prefixes)
        return {name: oid for name, oid in self._every().items() if name.startswith(prefixes)}

    def _every(self) -> dict[str, str]:
        return self.kept.get(self.path, lambda: self._list_refs(_OUR_REFS))

    def notice_rivals(self) -> None:
        """End the moment if another process of this clone has committed in it."""
        with suppress(UnreadableRefsError):
            if read_one(self.path, self.ref) == self._every().get(self.ref):
                return
        moment.end()

    def _note_move(self, ref: str, new: str, has_moved: bool) -> bool:
        """Note an own change of a ref, after which the others are still known. Returns
        `has_moved`."""
        every = self._every()
        moment.end()
        if has_moved and not self.main:
            self.kept.put(self.path, dict(sorted({**every, ref: new}.items())))
        return has_moved

    def _list_refs(self, *prefixes: str) -> dict[str, str]:
        try:
            return read_refs(self.path, *prefixes)
        except UnreadableRefsError:
            folders = [prefix.rpartition("/")[0] for prefix in prefixes]
            shown = self.check("for-each-ref", "--format=%(refname) %(objectname)", *folders)
            pairs = [line.split(" ") for line in shown.text.splitlines()]
            return {name: oid for name, oid in pairs if name.startswith(prefixes)}

    def commit_at(self, ref: str) -> str | None:
        """The commit at a ref; None if there is none. Raises GitError."""
        with self.objects() as reader:
            (commit,) = reader.read([ref])
        return commit.oid if commit and commit.kind == "commit" else None

    def with_clone(self, clone: CloneId) -> "StateRepository":
        """The same repository under another clone id."""
        return self._replace(clone=clone)


def state_path(ws: Workspace) -> Path:
    """The path of the private repository, even if it does not exist."""
    return ws.ghp_dir / "state.git"


def find_repository(ws: Workspace) -> StateRepository | None:
    """The private repository, if it exists."""
    return ws.kept.get(find_repository, lambda: _find(ws))


def _find(ws: Workspace) -> StateRepository | None:
    path = state_path(ws)
    try:
        clone = (path / _CLONE_FILE).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    if not (clone.isascii() and clone.isalnum()):  # it becomes part of a ref
        return None
    repository = StateRepository(path, _run_folder(ws), CloneId(clone), ws.kept)
    return _split_from_original(ws, repository) if _is_copy(repository) else repository


def open_repository(ws: Workspace) -> StateRepository:
    """The private repository; creates it if needed. Concurrent first commands create one.

    Raises GitError, or OSError if nothing can be written.
    """
    existing = find_repository(ws)
    if existing:
        _record_place(existing.path)
        return existing
    path = state_path(ws)
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep_unfinished(ws)
    fresh = path.with_name(f".state.{files.random_hex(4)}.tmp")
    try:
        _make(ws, fresh)
        # A folder cannot replace one with content: the first process wins.
        fresh.replace(path)
    except OSError:
        if not path.exists():
            raise
    finally:
        _remove(fresh)
        moment.end()
    created = find_repository(ws)
    if not created:
        raise RepositoryDamagedError(
            f"{path} is incomplete or was not created by ghp-agents; it was left unchanged.",
            hint="Run `ghp agent-doctor --fix`.",
        )
    return created


def sweep_unfinished(ws: Workspace) -> None:
    """Remove what killed first commands left, once it is too old to be in use."""
    for left in state_path(ws).parent.glob(".state.*.tmp"):
        try:
            if ws.clock.now() - left.stat().st_mtime > 60:
                _remove(left)
        except OSError:
            continue


def _remove(folder: Path) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def new_clone_id() -> CloneId:
    """A new clone id; random, because a copied folder needs another."""
    return CloneId(files.random_hex(6))


def rename_clone(repository: StateRepository, clone: CloneId) -> StateRepository:
    """Give the clone another id."""
    files.write_durably(repository.path / _CLONE_FILE, f"{clone}\n".encode())
    moment.end()
    return repository.with_clone(clone)


def _place_of(folder: Path, path: Path) -> bytes:
    """The content of the place file for a repository in `folder` that is known as `path`."""
    return b"%d %s\n" % (folder.stat().st_ino, os.fsencode(path))


def _record_place(path: Path) -> None:
    """Record where the repository is, if it was moved or an older version created it."""
    with suppress(OSError):
        place = _place_of(path, path)
        if not (path / _PLACE_FILE).exists() or (path / _PLACE_FILE).read_bytes() != place:
            files.write_atomically(path / _PLACE_FILE, place)


def _is_copy(repository: StateRepository) -> bool:
    """Whether the folder is a copy, with the original still in place. A moved folder keeps its
    inode, or left nothing behind."""
    path = repository.path
    try:
        number, _, place = (path / _PLACE_FILE).read_bytes().strip().partition(b" ")
        if int(number) == path.stat().st_ino:
            return False
        original = Path(os.fsdecode(place))
        clone = (original / _CLONE_FILE).read_text(encoding="ascii").strip()
        return original.stat().st_ino == int(number) and clone == repository.clone
    except (OSError, ValueError):
        return False


def _split_from_original(ws: Workspace, repository: StateRepository) -> StateRepository:
    """Give a copied clone an id of its own; the original's agents do not belong to it. All records
    are kept. If nothing can be written, it stays as it is."""
    try:
        with files.locked_if_possible(ws.ghp_dir / "part.lock"):
            if not _is_copy(repository):
                clone = (repository.path / _CLONE_FILE).read_text(encoding="ascii").strip()
                return repository.with_clone(CloneId(clone))
            return split_off(ws, repository)
    except (OSError, git.GitError, files.LockTimeoutError):
        return repository


def split_off(ws: Workspace, repository: StateRepository) -> StateRepository:
    """Give the clone a new id, with all records of the old one. Raises GitError, OSError."""
    renamed = repository.with_clone(new_clone_id())
    head = repository.commit_at(repository.ref)
    if head:
        repository.check("update-ref", renamed.ref, head, "")
    observed.forget(ws.cache_dir)
    rename_clone(repository, renamed.clone)
    _record_place(repository.path)
    if head:
        repository.check("update-ref", "-d", repository.ref, head)
    return renamed


def _make(ws: Workspace, path: Path) -> None:
    # As `git init --bare`, but without git: this is in the way of the first command.
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (path / folder).mkdir(parents=True)
    (path / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    config = _CONFIG + (_SHA256 if _is_sha256(ws.common_dir) else _SHA1)
    (path / "config").write_text(config, encoding="ascii")
    (path / _CLONE_FILE).write_text(f"{new_clone_id()}\n", encoding="ascii")
    (path / _PLACE_FILE).write_bytes(_place_of(path, state_path(ws)))


def _is_sha256(git_dir: Path) -> bool:
    """Whether a repository's objects have names of 64 digits. Git reads it from this file only."""
    config = (git_dir / "config").read_text(encoding="utf-8", errors="replace")
    return "objectformat=sha256" in "".join(config.lower().split())


def _run_folder(ws: Workspace) -> Path:
    """Where relative remote addresses start: the same folder for all worktrees of the clone."""
    folder = ws.main_worktree or _odd_main_worktree(ws)
    return folder if folder.is_dir() else ws.common_dir


def _odd_main_worktree(ws: Workspace) -> Path:
    """The main worktree if the git folder is outside of it (a submodule), or if there is none."""
    args = ["config", "--get-regexp", r"^core\.(bare|worktree)$"]
    shown = git.run(args, cwd=ws.common_dir, git_dir=ws.common_dir)
    settings = dict(line.partition(" ")[::2] for line in shown.text.splitlines())
    if "core.worktree" in settings:
        return Path(os.path.normpath(ws.common_dir / settings["core.worktree"]))
    return ws.common_dir if settings.get("core.bare") == "true" else ws.folder


def descend(repository: StateRepository, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of commits (later, earlier) in which the later one descends from, or equals, the
    earlier one. No two pairs share a history. Raises GitError."""
    changed = {pair for pair in pairs if repository.commits_between(*pair) is None}
    if not changed:
        return [*pairs]
    words = "".join(f"{later}\n^{earlier}\n" for later, earlier in changed)
    listed = repository.check("rev-list", "--parents", "--stdin", stdin=words.encode())
    parents = {word for line in listed.text.splitlines() for word in line.split()[1:]}
    return [pair for pair in pairs if pair not in changed or pair[1] in parents]


def heal(repository: StateRepository, ref: str, held: Sequence[int]) -> None:
    """Remove a killed writer's lock of `ref`, if we hold the lock that writers inherit: a live
    writer would still hold it."""
    if not held:
        return
    (repository.path / f"{ref}.lock").unlink(missing_ok=True)
    for crash in repository.path.glob("fast_import_crash_*"):
        crash.unlink(missing_ok=True)
