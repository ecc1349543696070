"""The slow path of the edit decision: from the state itself. It also writes the policy cache.

Both paths decide by the same function on the same kind of policy. Here an outdated policy is
compiled again, and liveness is looked up over all clones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

from ghp_agents.claims import holder_liveness
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.git import ignored_files
from ghp_agents.guard import compile_policy
from ghp_agents.hotpath import (
    check_edit,
    clash_check,
    implicit_leases,
    merge_check,
    overrides,
    own_name,
    policy,
    policy_cache,
    policy_stamp,
)
from ghp_agents.hotpath.implicit_leases import ImplicitLease
from ghp_agents.hotpath.policy import EditRequest, Rule, Verdict
from ghp_agents.hotpath.policy_stamp import Sources
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.locks.names import PREFIX
from ghp_agents.ports import Context
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.policy_cache import Book

Content = Callable[[], bytes | Mapping[str, bytes] | None]  # see `check_edit.quick`


def judge(
    ctx: Context,
    agent: AgentName | None,
    paths: Sequence[str],
    *,
    editing: bool = False,
    author: Actor | None = None,
    contents: Mapping[str, Content] | None = None,
    here: str | None = None,
) -> list[Verdict]:
    """The verdicts on edits of `paths` (relative to the worktree's top) by an agent or, with None,
    by the current person, who is warned but never refused.

    With `editing` the agent is about to edit: it gets an implicit lease of each allowed path, and
    `contents` are the files as they will be; see `check_edit.quick`. Otherwise the files count as
    they are. With `author` it is that actor's change on its way to main, so current edits in this
    worktree do not count. `here` is the git folder of the worktree that the session stands in, if
    it is another. Raises GhpError.
    """
    looks = _ConflictLook(ctx.ws, agent, contents if editing else None, editing=editing)
    here = ctx.ws.place.git_dir if here is None else here
    evaluator = _Evaluator(ctx, current(ctx), agent, looks, author, here)
    verdicts = evaluator.verdicts(paths)
    if not editing or agent is None:
        return verdicts
    taken = [evaluator.take(verdict) for verdict in verdicts]
    if all(verdict.is_refused for verdict in taken):
        return taken
    # A lease is written before its holder looks for edits. So an edit is written before this looks
    # for leases again: of two at the same time at least one gives way.
    evaluator = _Evaluator(ctx, current(ctx), agent, looks, here=here)
    again = [evaluator.take(verdict) for verdict in evaluator.verdicts(paths)]
    for before, after in zip(taken, again, strict=True):
        if after.is_refused and not before.is_refused:
            evaluator.drop(after)
    return again


def current(ctx: Context) -> Book:
    """The current policy, from the cache if that is up to date. Raises GhpError."""
    sources = Sources(ctx.ws.place, ctx.ws.folders, ctx.ws.environ)
    return _loaded(ctx, sources) or _write(ctx, sources)


def refresh(ctx: Context) -> None:
    """Update the policy cache, if there is one. Runs after syncs.

    An error in the state is reported by the next decision, which then takes the slow path.
    """
    sources = Sources(ctx.ws.place, ctx.ws.folders, ctx.ws.environ)
    if policy_cache.exists(sources.home) and _loaded(ctx, sources) is None:
        with contextlib.suppress(GhpError):
            _write(ctx, sources)


def _loaded(ctx: Context, sources: Sources) -> Book | None:
    """The cached policy, unless a lease in it may have expired."""
    book = policy_cache.load(sources)
    now = ctx.ws.clock.now()
    if book is None or not policy_cache.may_have_expired(book, now):
        return book
    age = ctx.store.news_age()
    news_at = 0.0 if age is None else now - age
    return None if policy_cache.may_have_expired(book, news_at) else book


def _write(ctx: Context, sources: Sources) -> Book:
    taken = policy_stamp.take_stamp(sources)
    stamp = taken[1] if taken else None
    book = compile_policy.make(ctx, sources, stamp)
    if taken is None:
        policy_cache.drop(sources.home)
        return book
    try:
        policy_cache.keep(sources.home, *taken, book)
    except OSError:
        policy_cache.drop(sources.home)  # then every decision takes the slow path
    return book


def _spared(ws: Workspace, verdicts: Sequence[Verdict]) -> set[str]:
    """The paths with a verdict because of a lease that cannot be leased: git ignores them."""
    top = ws.place.toplevel
    paths = [verdict.path for verdict in verdicts if verdict.kind in policy.OF_LEASES]
    return {*ignored_files.among(top, paths)} if top else set()


class _ConflictLook:
    """Looks for conflicts with editors in other worktrees, at each path once."""

    def __init__(
        self,
        ws: Workspace,
        agent: AgentName | None,
        contents: Mapping[str, Content] | None,
        *,
        editing: bool,
    ) -> None:
        self._ws = ws
        self._agent = agent or ""
        self._contents = contents or {}
        self._editing = editing
        self._known: dict[str, Verdict | None] = {}
        self._reported: dict[str, Verdict | None] = {}

    def at(self, path: str, others: Sequence[ImplicitLease]) -> Verdict | None:
        """The refusal because of a conflict."""
        if path not in self._known and self._ws.place.toplevel:
            where = self._ws.place, self._ws.folders, self._ws.environ, self._agent, path
            self._known[path] = (
                merge_check.before_edit(*where, others, self._contents.get(path))
                if self._editing
                else merge_check.as_it_is(*where, others)
            )
        return self._known.get(path)

    def reported(
        self, book: Book, path: str, now: float, lives: Callable[[str], bool]
    ) -> Verdict | None:
        """The verdict because of what agents of other clones have changed."""
        if path not in self._reported and self._ws.place.toplevel:
            ws = self._ws
            where = ws.place, ws.folders, ws.environ, book, self._agent, path, now
            self._reported[path] = (
                clash_check.before_edit(*where, self._contents.get(path), lives)
                if self._editing
                else clash_check.as_it_is(*where, lives)
            )
        return self._reported.get(path)


class _Evaluator:
    """Evaluates paths; loads facts on first use."""

    def __init__(
        self,
        ctx: Context,
        book: Book,
        agent: AgentName | None,
        looks: _ConflictLook,
        author: Actor | None = None,
        here: str = "",
    ) -> None:
        self._ctx = ctx
        self._here = here
        self._looks = looks
        self._ws = ctx.ws
        self._book = book
        self._agent = agent
        self._author = author
        self._now = ctx.ws.clock.now()
        self._limits = (float(book["deadAfter"]), float(book["goneAfter"]))

    def verdict(self, path: str, *, is_exempt: bool = False) -> Verdict:
        """The verdict on one path."""
        if not policy_cache.is_plain(path):
            return Verdict(policy.ALLOW, path)  # not a file of this repository
        counts = self._book["implicitLeases"] and self._author is None
        others = self._others(path) if counts else []
        return policy.decide(self._book, path, self._case(path, others, is_exempt=is_exempt))

    def verdicts(self, paths: Sequence[str]) -> list[Verdict]:
        """The verdict on each path."""
        verdicts = [self.verdict(path) for path in paths]
        spared = _spared(self._ws, verdicts)
        return [self.verdict(x.path, is_exempt=True) if x.path in spared else x for x in verdicts]

    def drop(self, verdict: Verdict) -> None:
        """Release the implicit lease of a path: it must not block the path's holder."""
        if self._agent:
            key = policy_cache.key_of(self._book, verdict.path)
            implicit_leases.drop(self._ws.folders, self._agent, key, self._ws.place.git_dir)

    def take(self, verdict: Verdict) -> Verdict:
        """The verdict, with an implicit lease if the agent may edit."""
        agent = self._agent
        presence = self._ws.presence(agent) if agent else None
        if verdict.is_refused or not (agent and presence and self._book["implicitLeases"]):
            return verdict
        if not policy_cache.is_plain(verdict.path):
            return verdict
        key = policy_cache.key_of(self._book, verdict.path)
        try:
            epoch = presence["epoch"]
            rival = implicit_leases.take_lease(
                self._ws.folders,
                agent,
                epoch,
                key,
                self._ws.place.git_dir,
                self._now,
                *self._limits,
            )
        except OSError:
            return verdict  # no writable folder: no implicit lease
        if rival is None or _spared(self._ws, [Verdict("", verdict.path, policy.IMPLICIT)]):
            return verdict
        here = self._ws.place.git_dir
        if overrides.allows_holder(self._ws.folders, agent, key, here, rival):
            return verdict
        case = self._case(verdict.path, self._others(verdict.path))
        case.touch = case.touch or (rival, to_text(self._now))
        return policy.decide(self._book, verdict.path, case)

    def _case(
        self, path: str, others: Sequence[ImplicitLease], *, is_exempt: bool = False
    ) -> EditRequest:
        here = self._ws.place.git_dir
        elsewhere = [lease for lease in others if not lease.is_in(here)]
        is_reported = policy_cache.key_of(self._book, path) in self._book["changes"]
        return EditRequest(
            self._me.name,
            is_person=self._me.is_person,
            now=self._now,
            now_text=to_text(self._now),
            lives=self._lives,
            presence=None if self._author else self._presence,
            touch=check_edit.first_here(others, here),
            conflict=partial(self._looks.at, path, elsewhere) if elsewhere else None,
            reported=partial(self._looks.reported, self._book, path, self._now, self._is_seen_alive)
            if is_reported and self._author is None
            else None,
            worktree_of=None if self._author else self._owner,
            own_worktree=None if self._author else self._own_worktree,
            is_exempt=is_exempt,
            is_here=self._author is None and self._is_of_this_clone,
            branch=lambda: self._ws.branch,
        )

    def _others(self, path: str) -> list[ImplicitLease]:
        """The leases of the others that edit a path."""
        where = policy_cache.key_of(self._book, path), self._ws.place.git_dir
        return check_edit.rivals(
            self._ws.folders, self._agent or "", *where, self._now, self._limits
        )

    def _is_seen_alive(self, agent: str) -> bool:
        return self._world.is_seen_alive(agent)

    def _lives(self, rule: Rule) -> bool:
        if policy.is_assigned(rule):
            return self._world.is_seen_alive(rule.holder)
        if rule.kind == policy.SCOPE:
            sight = self._claims.get(PREFIX + rule.label.removeprefix("#"))
            return sight is not None and sight.lives  # None: released since the policy was compiled
        return self._world.lives(Actor(rule.holder, rule.is_person))

    @cached_property
    def _me(self) -> Actor:
        if self._author:
            return self._author
        if self._agent:
            return Actor(self._agent)
        return Actor(self._ws.person or "", is_person=True)

    @cached_property
    def _is_of_this_clone(self) -> bool:
        """Whether the agent lives in this clone; branches of other clones are checked, too."""
        return self._agent is None or self._ws.presence(self._agent) is not None

    @cached_property
    def _presence(self) -> Presence | None:
        if self._agent is None:
            return None
        # For an agent of another clone, use the presence that its clone published.
        return self._ws.presence(self._agent) or self._world.snapshot.agents().get(self._agent)

    @cached_property
    def _owner(self) -> str | None:
        git_dir, folders = self._ws.place.git_dir, self._ws.folders
        return own_name.worktree_of(git_dir, self._agent or "", folders, self._now, self._limits)

    @cached_property
    def _own_worktree(self) -> str | None:
        """The agent's own worktree, if this is none of its."""
        if self._agent is None:
            return None
        place, presence = self._ws.place, self._ws.presence(self._agent)
        return own_name.left_worktree(place, self._agent, self._here, presence)

    @cached_property
    def _world(self) -> LeaseWorld:
        return LeaseWorld(self._ctx)

    @cached_property
    def _claims(self) -> dict[str, holder_liveness.HolderView]:
        return self._world.holders([*self._world.claims.values()])
