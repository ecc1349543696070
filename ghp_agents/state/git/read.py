"""Reads the state: the clones' tips, and the join of their records."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ghp_agents.core.clock import to_text
from ghp_agents.core.fields import LARGEST
from ghp_agents.core.ids import UNNAMED, CloneId, Timestamp
from ghp_agents.core.schema_version import UPDATE, UnknownSchemaError, unversioned
from ghp_agents.git import process as git
from ghp_agents.git.objects import Object, ObjectReader, tree_entries
from ghp_agents.state import presence
from ghp_agents.state.git import copied_clone, live_presence, outbox, settled, stamps, trees
from ghp_agents.state.join import Tip, join_files
from ghp_agents.state.presence import Agents, Presence
from ghp_agents.state.private_repo import SEEN_REFS, StateRepository
from ghp_agents.state.record import Problem, highest
from ghp_agents.workspace import Workspace


def tips(repository: StateRepository, before: Sequence[Tip] = ()) -> list[Tip]:
    """Every known clone, this one first if it has commits. Raises GitError.

    Of `before`, the tips that did not move are not read again.
    """
    refs = repository.refs(repository.ref, SEEN_REFS)
    own = refs.pop(repository.ref, None)
    clones = ((CloneId(ref.rpartition("/")[2]), oid) for ref, oid in refs.items())
    heads = [(clone, oid) for clone, oid in clones if clone != repository.clone]
    wanted = [(repository.clone, own), *heads] if own else heads
    previous = {(tip.clone, tip.oid): tip for tip in before}
    new = iter(_read_tips(repository, [head for head in wanted if head not in previous]))
    return [previous.get(head) or next(new) for head in wanted]


def _read_tips(repository: StateRepository, heads: Sequence[tuple[CloneId, str]]) -> list[Tip]:
    if not heads:
        return []
    with repository.objects(largest=LARGEST) as reader:
        commits = reader.read([oid for _, oid in heads])
    return [_tip(clone, oid, commit) for (clone, oid), commit in zip(heads, commits, strict=True)]


def _tip(clone: CloneId, oid: str, commit: Object | None) -> Tip:
    if commit is None:
        raise git.GitError(
            f"Commit {oid} of clone {clone} is missing in the private repository.",
            hint="Run `ghp agent-doctor`; it checks the state.",
        )
    header, _, message = commit.content.partition(b"\n\n")
    committer = next((x for x in header.splitlines() if x.startswith(b"committer ")), b"")
    date = committer.rpartition(b"> ")[2].partition(b" ")[0]
    trailers = message.rstrip().rpartition(b"\n\n")[2].splitlines()
    clocks = [line for line in trailers if line.startswith(b"Clock: ")]
    clock = clocks[0].removeprefix(b"Clock: ") if clocks else b""
    return Tip(clone, oid, clock_of(clock.decode("latin-1")), timestamp(date.decode("latin-1")))


def clock_of(text: str) -> int:
    """A commit's clock. Other clones' messages may contain anything; invalid or huge values count
    as none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def timestamp(seconds: str) -> Timestamp:
    """A commit's date; the epoch if it is outside of the calendar."""
    try:
        return Timestamp(to_text(int(seconds or 0)))
    except (ValueError, OverflowError, OSError):
        return Timestamp(to_text(0))


def own_tip(repository: StateRepository, tips: Sequence[Tip]) -> Tip | None:
    """This clone's tip among `tips`."""
    return tips[0] if tips and tips[0].clone == repository.clone else None


def tips_at(repository: StateRepository, tips: Sequence[Tip], at: float) -> list[Tip]:
    """The clones' tips at a time, by each clone's own clock; including clones absorbed later."""
    when = f"@{max(0, int(at))} +0000"  # git accepts no times before 1970
    then: list[Tip] = []
    pending = list(tips)
    visited = {tip.oid for tip in pending}
    while pending:
        tip = pending.pop(0)
        log = ["log", "--first-parent", "--no-show-signature"]
        last = repository.check(*log, "-1", "--format=%H", f"--before={when}", tip.oid).text
        if last:
            then += _read_tips(repository, [(tip.clone, last)])
        merges = ["--merges", "--format=%P", "--invert-grep", f"--grep=^{settled.SUBJECT}"]
        later = repository.check(*log, *merges, f"--after={when}", tip.oid).text
        absorbed = [oid for line in later.splitlines() for oid in line.split(" ")[1:]]
        # Under names of their own: two clones may have last written under the same id.
        pending += [
            Tip(CloneId(oid[:12]), oid, 0, tip.at) for oid in absorbed if oid not in visited
        ]
        visited.update(absorbed)
    return then


class GitSnapshot:
    """The state at one moment. Everything is read on first use."""

    def __init__(
        self,
        ws: Workspace,
        repository: StateRepository | None,
        tips: Sequence[Tip],
        waiting: outbox.Waiting | None = None,
        refused: outbox.Waiting | None = None,
        *,
        past: bool = False,
        known_files: "KnownFiles | None" = None,
        derived: dict[Hashable, Any] | None = None,
    ) -> None:
        self._ws = ws
        self._known_files = KnownFiles() if known_files is None else known_files
        self._repository = repository
        self._tips = list(tips)
        self._waiting = waiting or outbox.Waiting()
        self._refused = refused or outbox.Waiting()
        self._past = past
        self._problems: dict[str, Problem] = {}
        self.derived = {} if derived is None else derived  # what was made of its records

    @property
    def clone(self) -> CloneId:
        """This clone."""
        return self._repository.clone if self._repository else UNNAMED

    @property
    def revision(self) -> str:
        """This clone's commit, and the content of its outbox."""
        return revision(self._own, self._waiting)

    @property
    def clock(self) -> int:
        """The highest clock of all clones' last commits, and of waiting records."""
        waiting = [record.clock for _, record in self._waiting.records]
        return highest(*(tip.clock for tip in self._tips), *waiting)

    def tips(self) -> Sequence[Tip]:
        """Every known clone, this one first."""
        return self._tips

    def agents(self) -> dict[str, Presence]:
        """The newest presence of each agent."""
        clones = {tip.clone: None for tip in self._tips} | {self.clone: None}
        return presence.merge([self.agents_of(clone) for clone in clones])

    def agents_of(self, clone: CloneId) -> Agents:
        """Presence according to one clone."""
        committed = self._documents.get(clone, {})
        if clone != self.clone or self._past:
            return committed
        return presence.merge([committed, self._live.changed]) if self._live.changed else committed

    def beaten(self) -> Mapping[str, float]:
        """When each agent of this clone last sent a heartbeat."""
        if self._past:
            return {}
        return copied_clone.without(self._ws, self._live.beaten, self.agents_of(self.clone))

    def files(self, prefix: str) -> dict[str, bytes]:
        """All records below `prefix`, also settled ones."""
        return _sorted(join_files([self.present(prefix), self.settled([prefix])]))

    def present(self, prefix: str) -> dict[str, bytes]:
        """The records below `prefix` at the clones' tips."""
        many = self._unsent(prefix)
        if self._repository and self._tips:
            below = self._below(self._repository, prefix)
            many += [contents.files for contents in below]
            for tip, contents in zip(self._tips, below, strict=True):
                for path, reason in contents.left_out.items():
                    self._note(tip.clone, path, reason)
        joined = join_files(many)
        for path in (presence.PATH, settled.PATH):  # no records: they are joined otherwise
            joined.pop(path, None)
        return _sorted(joined)

    def settled(self, prefixes: Collection[str]) -> dict[str, bytes]:
        """The records below `prefixes` that left a tip because they are settled."""
        wanted = [prefix for prefix in prefixes if prefix not in self._known_files.settled]
        commits = self._settled_commits
        if wanted and commits and self._repository:
            with self._repository.objects(largest=LARGEST) as reader:
                for prefix in wanted:
                    folder = prefix.strip("/")
                    below = trees.read_below(reader, [f"{oid}:{folder}" for oid in commits], folder)
                    self._known_files.settled[prefix] = join_files(tree.files for tree in below)
                    for path, reason in (x for tree in below for x in tree.left_out.items()):
                        self._note(self.clone, path, reason)
        by_prefix = self._known_files.settled
        return _sorted(join_files(by_prefix.get(prefix, {}) for prefix in prefixes))

    @property
    def _settled_commits(self) -> Sequence[str]:
        """The commits with settled records."""
        if self._known_files.commits is None and self._repository and self._tips:
            with self._repository.objects(largest=LARGEST) as reader:
                self._find_settled(reader)
        return self._known_files.commits or ()

    def _find_settled(self, reader: ObjectReader) -> None:
        """Read which commits have settled records; a missing commit is a problem."""
        if self._known_files.commits is not None:
            return
        commits = settled.read_commits(reader, self._names(reader, settled.PATH))
        self._known_files.commits = list(dict.fromkeys(oid for some in commits for oid in some))
        for tip, some in zip(self._tips, commits, strict=True):
            for oid in settled.missing(reader, some):
                self._note(tip.clone, settled.PATH, f"its commit {oid} is missing")

    def own(self, prefix: str) -> dict[str, bytes]:
        """This clone's own records below `prefix`."""
        many = self._unsent(prefix)
        if self._repository and self._own:
            many.append(self._below(self._repository, prefix)[0].files)  # the first tip is ours
        return join_files(many)

    def writers(self, prefix: str) -> dict[str, frozenset[CloneId]]:
        """The clones on whose refs each record below `prefix` is, whatever the record says."""
        many: dict[str, frozenset[CloneId]] = {}
        if self._repository and self._tips:
            below = self._below(self._repository, prefix)
            for tip, contents in zip(self._tips, below, strict=True):
                for path in contents.files:
                    many[path] = many.get(path, frozenset()) | {tip.clone}
        for unsent in self._unsent(prefix):
            many |= {path: many.get(path, frozenset()) | {self.clone} for path in unsent}
        return many

    def _unsent(self, prefix: str) -> list[Mapping[str, bytes]]:
        """The files below `prefix` of each record without a commit."""
        return [
            {path: data for path, data in record.files if path.startswith(prefix)}
            for _, record in (*self._waiting.records, *self._refused.records)
        ]

    def stamps(self, prefix: str) -> dict[str, str]:
        """The folders directly below `prefix`, each with a stamp of its present files."""
        unsent = (*self._waiting.records, *self._refused.records)
        waiting = [(str(name), path) for name, record in unsent for path, _ in record.files]
        return stamps.folders(self._repository, [x.oid for x in self._tips], waiting, prefix)

    def _below(self, repository: StateRepository, prefix: str) -> "list[trees.Below]":
        if prefix not in self._known_files.present:
            with repository.objects(largest=LARGEST) as reader:
                self._find_settled(reader)  # by the same process
                folder = prefix.strip("/")
                below = trees.read_below(reader, self._names(reader, folder), folder)
            self._known_files.present[prefix] = below
        return self._known_files.present[prefix]

    def _names(self, reader: ObjectReader, path: str) -> list[str]:
        """The name of the object at `path` for each tip; empty where a tip has none. Most folders
        are in no clone: the entries of `.ghp`, which are read once, show that."""
        top, _, rest = path.removeprefix(f"{trees.FOLDER}/").partition("/")
        if top == trees.FOLDER:
            return [f"{tip.oid}:{trees.FOLDER}" for tip in self._tips]
        if self._known_files.top is None:
            roots = reader.read([f"{tip.oid}:{trees.FOLDER}" for tip in self._tips])
            self._known_files.top = [_entries(tree) for tree in roots]
        oids = [names.get(top, "") for names in self._known_files.top]
        return [f"{oid}:{rest}" if oid and rest else oid for oid in oids]

    def problems(self) -> Sequence[Problem]:
        """What could not be read so far."""
        unsent = (*self._waiting.problems, *self._refused.problems)
        looked = () if self._past else (*self._live.problems, *unsent)
        _ = self._documents
        return [*self._problems.values(), *looked]

    @property
    def _own(self) -> Tip | None:
        return own_tip(self._repository, self._tips) if self._repository else None

    @cached_property
    def _live(self) -> live_presence.Live:
        return live_presence.read_live(self._ws, self._documents.get(self.clone, {}))

    @cached_property
    def _documents(self) -> dict[CloneId, Agents]:
        if not self._repository or not self._tips:
            return {}
        with self._repository.objects(largest=LARGEST) as reader:
            blobs = reader.read(self._names(reader, presence.PATH))
        documents: dict[CloneId, Agents] = {}
        for tip, document in zip(self._tips, blobs, strict=True):
            try:
                agents, others = presence.decode(document.content) if document else ({}, {})
            except ValueError as error:
                self._note(tip.clone, presence.PATH, f"cannot be read: {error}")
                agents, others = {}, {}
            try:
                unversioned(others)
            except UnknownSchemaError as error:
                remedy = f"Only the fields that are known here are used. {UPDATE}"
                self._note(tip.clone, presence.PATH, str(error), remedy)
            documents[tip.clone] = agents
        return self._without_leaps(documents)

    def _without_leaps(self, documents: dict[CloneId, Agents]) -> dict[CloneId, Agents]:
        clones = [*documents]
        for name, numbers in presence.leaps([*documents.values()]).items():
            for clone in (clones[number] for number in numbers):
                left = dict(documents[clone])
                epoch = left.pop(name)["epoch"]
                documents[clone] = left
                why = f"{name} has the impossible epoch {epoch}"
                self._note(clone, f"{presence.PATH}#{name}", why)
        return documents

    def _note(self, clone: CloneId, path: str, *words: str) -> None:
        place = f"clone {clone}: {path}"
        self._problems[place] = Problem(place, *words)


def revision(own: Tip | None, waiting: outbox.Waiting) -> str:
    """The value that `commit` compares."""
    return "/".join([own.oid if own else "none", *waiting.names])


class KnownFiles:
    """What was read of some tips, by prefix. Commits never change."""

    def __init__(self) -> None:
        self.top: list[dict[str, str]] | None = None  # the objects in `.ghp` of each tip, by name
        self.present: dict[str, list[trees.Below]] = {}  # what each tip has
        self.commits: list[str] | None = None  # those with settled records
        self.settled: dict[str, dict[str, bytes]] = {}


def _sorted(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: files[path] for path in sorted(files)}


def _entries(tree: Object | None) -> dict[str, str]:
    if tree is None or tree.kind != "tree":
        return {}
    return {entry.name: entry.oid for entry in tree_entries(tree.content, len(tree.oid))}
