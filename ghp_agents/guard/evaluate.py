"""The slow road of the decision: from the state itself, and the rulebook for the fast one.

Both roads decide by the same function on the same kind of book. Here the book is made anew where
the one that is kept is out of date, and who lives is looked up over all clones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property

from ghp_agents.claims import holder_liveness
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.git import ignored_files
from ghp_agents.git import process as git
from ghp_agents.guard import compile_policy
from ghp_agents.hotpath import alive, implicit_leases, policy, policy_cache, policy_stamp
from ghp_agents.hotpath.policy import EditRequest, Rule, Verdict
from ghp_agents.hotpath.policy_stamp import Sources
from ghp_agents.leases import service as lease
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX
from ghp_agents.ports import IssueTracker, LockService, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.policy_cache import Book


def judge(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    agent: AgentName | None,
    paths: Sequence[str],
    *,
    editing: bool = False,
    author: Actor | None = None,
) -> list[Verdict]:
    """What of edits of `paths` (from the top of this worktree) by an agent, or by the person who
    is here, who is never refused and told the rest.

    With `editing` the agent is about to edit: what it may, it has an implicit lease of from here
    on. With `author` it is that one's change that goes to the trunk: whoever edits here now has no
    say. Raises GhpError.
    """
    bench = _Bench(ws, store, leaser, current(ws, store, leaser, tracker), agent, author)
    verdicts = bench.verdicts(paths)
    if not editing or agent is None:
        return verdicts
    taken = [bench.take(each) for each in verdicts]
    if all(each.is_refused for each in taken):
        return taken
    # Who takes a lease looks for edits after it was written. So leases are looked for after an edit
    # was, too: of two at one moment at least one gives way.
    bench = _Bench(ws, store, leaser, current(ws, store, leaser, tracker), agent)
    again = [bench.take(each) for each in bench.verdicts(paths)]
    for before, after in zip(taken, again, strict=True):
        if after.is_refused and not before.is_refused:
            bench.drop(after)
    return again


def current(ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker) -> Book:
    """The rulebook as it is now; it is kept for the next one who asks. Raises GhpError."""
    sources = Sources(ws.place, ws.folders, ws.environ)
    return _loaded(ws, store, sources) or _write(ws, store, leaser, tracker, sources)


def refresh(ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker) -> None:
    """Bring the rulebook up to date, if anybody decides by one here.

    After a sync, and after commands. What is wrong with the state is for the next decision to say:
    that takes the slow road then.
    """
    sources = Sources(ws.place, ws.folders, ws.environ)
    if policy_cache.exists(sources.folders[0]) and _loaded(ws, store, sources) is None:
        with contextlib.suppress(GhpError):
            _write(ws, store, leaser, tracker, sources)


def _loaded(ws: Workspace, store: StateStore, sources: Sources) -> Book | None:
    """The book that is kept, unless a lease in it is over by now: nothing is written then."""
    book = policy_cache.load(sources)
    now = ws.clock.now()
    if book is None or not policy_cache.may_have_expired(book, now):
        return book
    age = store.news_age()
    heard = 0.0 if age is None else now - age
    return None if policy_cache.may_have_expired(book, heard) else book


def _write(
    ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker, sources: Sources
) -> Book:
    taken = policy_stamp.take(sources)
    stamp = taken[1] if taken else None
    book = compile_policy.make(ws, store, leaser, tracker, sources, stamp)
    if taken is None:
        policy_cache.drop(sources.folders[0])
        return book
    try:
        policy_cache.keep(sources.folders[0], *taken, book)
    except OSError:
        policy_cache.drop(sources.folders[0])  # then every decision takes this road
    return book


def _spared(ws: Workspace, verdicts: Sequence[Verdict]) -> set[str]:
    """The paths that are refused, or told, for a lease, and that nobody can lease."""
    top = ws.place.toplevel
    asked = [each.path for each in verdicts if each.kind in policy.OF_LEASES]
    return {*ignored_files.among(top, asked)} if top else set()


class _Bench:
    """Those who judge: what they know, looked up when it first matters."""

    def __init__(
        self,
        ws: Workspace,
        store: StateStore,
        leaser: LockService,
        book: Book,
        agent: AgentName | None,
        author: Actor | None = None,
    ) -> None:
        self._ws = ws
        self._store = store
        self._leaser = leaser
        self._book = book
        self._agent = agent
        self._author = author
        self._now = ws.clock.now()
        self._limits = (float(book["deadAfter"]), float(book["goneAfter"]))

    def verdict(self, path: str, *, is_exempt: bool = False) -> Verdict:
        """What of one path."""
        if not policy_cache.is_plain(path):
            return Verdict(policy.ALLOW, path)  # none of this repository's files
        looks = self._book["implicitLeases"] and self._author is None
        touch = self._touch(path) if looks else None
        return policy.decide(self._book, path, self._case(touch, is_exempt))

    def verdicts(self, paths: Sequence[str]) -> list[Verdict]:
        """What of each path."""
        found = [self.verdict(path) for path in paths]
        spared = _spared(self._ws, found)
        return [
            self.verdict(each.path, is_exempt=True) if each.path in spared else each
            for each in found
        ]

    def drop(self, verdict: Verdict) -> None:
        """Give up the implicit lease of a path, which must not be in the way of who has it."""
        if self._agent:
            key = policy_cache.key_of(self._book, verdict.path)
            implicit_leases.drop(self._ws.folders, self._agent, key)

    def take(self, verdict: Verdict) -> Verdict:
        """The verdict, with an implicit lease if the agent may edit."""
        agent = self._agent
        here = self._ws.presence(agent) if agent else None
        if verdict.is_refused or not (agent and here and self._book["implicitLeases"]):
            return verdict
        if not policy_cache.is_plain(verdict.path):
            return verdict
        key = policy_cache.key_of(self._book, verdict.path)
        try:
            epoch = here["epoch"]
            rival = implicit_leases.take_lease(
                self._ws.folders, agent, epoch, key, self._now, *self._limits
            )
        except OSError:
            return verdict  # nothing can be written here, so nobody can be told
        if rival is None or _spared(self._ws, [Verdict("", verdict.path, policy.IMPLICIT)]):
            return verdict
        touch = self._touch(verdict.path) or (rival, to_text(self._now))
        return policy.decide(self._book, verdict.path, self._case(touch))

    def _case(self, touch: tuple[str, str] | None, is_exempt: bool = False) -> EditRequest:
        return EditRequest(
            self._me.name,
            is_person=self._me.is_person,
            now=self._now,
            now_text=to_text(self._now),
            lives=self._lives,
            presence=None if self._author else self._presence,
            touch=touch,
            worktree_of=None if self._author else self._owner,
            is_exempt=is_exempt,
            is_here=self._author is None and self._is_of_this_clone,
        )

    def _touch(self, path: str) -> tuple[str, str] | None:
        key = policy_cache.key_of(self._book, path)
        return implicit_leases.other(
            self._ws.folders, self._agent or "", key, self._now, self._limits
        )

    def _lives(self, rule: Rule) -> bool:
        if rule.kind == policy.SCOPE:
            sight = self._claims.get(PREFIX + rule.label.removeprefix("#"))
            return sight is not None and sight.lives  # None: given back since the book was made
        return self._holders(Actor(rule.holder, rule.is_person))

    @cached_property
    def _me(self) -> Actor:
        if self._author:
            return self._author
        if self._agent:
            return Actor(self._agent)
        return Actor(git.config(self._ws.folder, "user.name") or "", is_person=True)

    @cached_property
    def _is_of_this_clone(self) -> bool:
        """Whether the agent is; the branch of another clone's is checked here, too."""
        return self._agent is None or self._ws.presence(self._agent) is not None

    @cached_property
    def _presence(self) -> Presence | None:
        if self._agent is None:
            return None
        # Of an agent elsewhere, whose branch is checked here, what its clone has told.
        return self._ws.presence(self._agent) or self._store.snapshot().agents().get(self._agent)

    @cached_property
    def _owner(self) -> str | None:
        git_dir, folders = self._ws.place.git_dir, self._ws.folders
        return alive.worktree_of(git_dir, self._agent or "", folders, self._now, self._limits)

    @cached_property
    def _holders(self) -> lease.Lives:
        return lease.lives_by(presence.list_agents(self._ws, self._store, self._store.snapshot()))

    @cached_property
    def _claims(self) -> dict[str, holder_liveness.HolderView]:
        known: list[Lock] = self._leaser.known(PREFIX)
        return holder_liveness.holders_of(self._ws, self._store, known)
