"""Rewrites what this clone has committed and not sent yet, without some of it.

Each commit keeps its change, message, author and other parents. Nobody else has seen these commits,
so nothing is taken back.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ghp_agents.core.ids import Actor, one_line
from ghp_agents.git.objects import ObjectReader
from ghp_agents.git.tree_changes import TreeChange, changes
from ghp_agents.state import ledger, presence
from ghp_agents.state.git import settled
from ghp_agents.state.git.read import timestamp
from ghp_agents.state.new_commits import NewCommit, write_commits
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.state.record import Record

_AUTHOR = re.compile(r"(.+) <[^<>]*@(agents|people)\.invalid> (\d+) ")


class StateCommit(NamedTuple):
    """A commit of this clone, with what it changes."""

    oid: str
    parents: tuple[str, ...]
    author: Actor | None
    said_at: int  # seconds
    message: str
    changes: tuple[TreeChange, ...]

    @property
    def oids(self) -> tuple[str, ...]:
        """Its own id, and those of the files that it adds."""
        return (self.oid, *(change.new for change in self.changes if change.new))

    @property
    def is_presence(self) -> bool:
        """Whether it only replaces presence."""
        return {change.path for change in self.changes} == {presence.PATH}

    @property
    def is_observation(self) -> bool:
        """Whether it says what can be seen again, such as the issues of another place."""
        return f"\nEvent: {ledger.PRESENCE}\n" in f"{self.message}\n"

    @property
    def is_compaction(self) -> bool:
        """Whether settled records left the tip with it."""
        return self.message.startswith(settled.SUBJECT)


def unsent(repository: StateRepository, head: str) -> list[StateCommit]:
    """This clone's commits that the remote lacks, oldest first. Raises GitError."""
    sent = repository.commit_at(repository.sent_ref)
    span = [head, f"^{sent}"] if sent else [head]
    listed = repository.check("rev-list", "--first-parent", "--reverse", *span, "--")
    oids = listed.text.split()
    with repository.objects() as reader:
        raw = [commit.content if commit else b"" for commit in reader.read(oids)]
        before = reader.read([sent])[0] if sent else None
    empty = _empty_tree(len(head))
    trees = [_tree(before.content) if before else empty, *map(_tree, raw)]
    changed = changes(repository, list(pairwise(trees)))
    return [_commit(*facts) for facts in zip(oids, raw, changed, strict=True)]


def _empty_tree(length: int) -> str:
    return (hashlib.sha1 if length == 40 else hashlib.sha256)(b"tree 0\0").hexdigest()


def _tree(commit: bytes) -> str:
    return commit[5 : commit.index(b"\n")].decode()


def _commit(oid: str, raw: bytes, changed: Sequence[TreeChange]) -> StateCommit:
    header, _, message = raw.decode("utf-8", "replace").partition("\n\n")
    fields = [line.partition(" ")[::2] for line in header.splitlines()]
    parents = tuple(value for key, value in fields if key == "parent")
    author = next(value for key, value in fields if key == "author")
    match = _AUTHOR.match(author)
    actor = Actor(match.group(1), match.group(2) == "people") if match else None
    return StateCommit(oid, parents, actor, int(author.split(" ")[-2]), message, tuple(changed))


def record_of(repository: StateRepository, commit: StateCommit) -> Record | None:
    """The record that a commit added; None if it is something else."""
    entries = ledger.entries(commit.oid, timestamp(str(commit.said_at)), commit.message)
    if not entries or entries[0].event == ledger.PRESENCE or len(commit.parents) > 1:
        return None
    entry = entries[0]
    with repository.objects() as reader:
        contents = reader.read([change.new for change in commit.changes if change.new])
    paths = (change.path for change in commit.changes if change.new)
    files = [(path, blob.content) for path, blob in zip(paths, contents, strict=True) if blob]
    return Record(
        entry.event, entry.by, entry.object, entry.id, entry.at,
        entry.clock, tuple(files), entry.issue, entry.generation, entry.text, entry.cause,
        entry.via,
    )  # fmt: skip


def actions_of(repository: StateRepository, commit: StateCommit) -> frozenset[str]:
    """The actions in a presence that a commit changed."""
    (change,) = commit.changes
    before, after = (_agents(repository, oid) for oid in (change.old, change.new))
    texts = (
        str(it.get("lastAction") or "") for name, it in after.items() if before.get(name) != it
    )
    return frozenset(filter(None, texts))


def _agents(repository: StateRepository, oid: str) -> presence.Agents:
    if not oid:
        return {}
    with repository.objects() as reader:
        (document,) = reader.read([oid])
    return presence.decode(document.content)[0] if document else {}


def rewrite(
    repository: StateRepository,
    onto: str | None,
    commits: Sequence[StateCommit],
    now: float,
    *,
    without: Collection[str] = (),
    actions: Collection[str] = (),
    first: Sequence[NewCommit] = (),
) -> str | None:
    """Write `commits` on top of `onto`, after `first`, without some commits and without the texts
    of some actions. Returns the last one. Raises GitError, OSError."""
    left = {commit.parents[-1] for commit in commits if commit.oid in without}
    with repository.objects() as reader:
        new = [*first, *_new(reader, commits, without, left, actions)]
    return write_commits(repository, onto, new, now) if new else onto


def _new(
    reader: ObjectReader,
    commits: Sequence[StateCommit],
    without: Collection[str],
    left: Collection[str],
    actions: Collection[str],
) -> Iterator[NewCommit]:
    for commit in commits:
        if commit.oid in without:
            continue
        kept = {change.path: change.new for change in commit.changes if change.new}
        files: dict[str, bytes] = {}
        if actions and presence.PATH in kept:
            (blob,) = reader.read([kept.pop(presence.PATH)])
            files[presence.PATH] = without_actions(blob.content if blob else b"{}", actions)
        if left and settled.PATH in kept:
            (blob,) = reader.read([kept.pop(settled.PATH)])
            named = settled.decode(blob.content if blob else b"")
            files[settled.PATH] = settled.encode(oid for oid in named if oid not in left)
        message = commit.message
        for action in actions:
            message = message.replace(f" {one_line(action, 120)}\n", " \n")
        gone = tuple(change.path for change in commit.changes if not change.new)
        yield NewCommit(
            message, files, commit.author, commit.said_at, commit.parents[1:],
            tuple(kept.items()), gone,
        )  # fmt: skip


def without_actions(document: bytes, actions: Collection[str]) -> bytes:
    """A presence document without the texts of some actions."""
    agents, others = presence.decode(document)
    cleared = {
        name: {**record, "lastAction": ""} if record.get("lastAction") in actions else record
        for name, record in agents.items()
    }
    return presence.encode(cleared, others)
