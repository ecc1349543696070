"""The fast path of an edit check: it must cost little more than starting Python.

It uses the compiled policy, this clone's presence files and its implicit leases. What these cannot
decide is left to the slow path, `guard/evaluate.py`, which has the same rules.
"""

from ghp_agents.hotpath import (
    alive,
    heartbeat,
    ignored_files,
    implicit_leases,
    locate,
    own_file,
    own_name,
    policy,
    policy_cache,
    presence_file,
)
from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.policy import EditRequest, Rule, UnsureError, Verdict
from ghp_agents.hotpath.policy_stamp import Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.implicit_leases import ImplicitLease
    from ghp_agents.hotpath.locate import Location
    from ghp_agents.hotpath.policy_cache import Book


def quick(
    place: "Location",
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    agent: str,
    path: str,
    now: float,
    content: "Callable[[], bytes | Mapping[str, bytes] | None] | None" = None,
    here: str = "",
) -> Verdict | None:
    """Whether `agent` may edit `path` (relative to the top of the worktree `place`) now; if so, it
    gets an implicit lease. None: only the slow path can tell.

    `content` is called if an agent in another worktree edits the file: it returns the file as it
    will be, None if it is deleted, the new files if it is moved to one of them. It raises
    UndecidedError if that is unknown. `here` is the git folder of the worktree that the session
    stands in.
    """
    if not policy_cache.is_plain(path) or not place.toplevel:
        return None
    sources = Sources(place, folders, environ)
    book = policy_cache.load(sources)
    presence = presence_file.newest(folders, agent)
    if book is None or presence is None or agent in book["elsewhere"]:
        return None
    if policy_cache.may_have_expired(book, now):
        return None
    edit = Edit(place, folders, environ, agent, path, content, here)
    try:
        verdict = _decided(edit, book, presence, now)
    except (UnsureError, OSError):
        return None
    # Leasing writes first and then looks for edits. Here the order is reversed, so of two
    # concurrent processes at least one sees the other.
    if verdict.is_refused or not book["implicitLeases"] or policy_cache.is_current(sources, book):
        return verdict
    key = policy_cache.key_of(book, path)
    mine = implicit_leases.find(folders, key, place.git_dir)
    if mine is not None and mine.since == heartbeat.to_text(now):  # leased just now
        implicit_leases.drop(folders, agent, key, place.git_dir)
    return None


@dataclass
class Edit:
    """The edit to decide about."""

    place: "Location"
    folders: "Sequence[str]"
    environ: "Mapping[str, str]"
    agent: str
    path: str
    content: "Callable[[], bytes | Mapping[str, bytes] | None] | None"
    here: str


def first_here(others: "Sequence[ImplicitLease]", git_dir: str) -> "tuple[str, str] | None":
    """Who of them edits the path in this worktree, and since when."""
    for lease in others:
        if lease.is_in(git_dir):
            return lease.agent, lease.since
    return None


def rivals(
    folders: "Sequence[str]",
    agent: str,
    key: str,
    git_dir: str,
    now: float,
    limits: "tuple[float, float]",
) -> "list[ImplicitLease]":
    """The leases of the others that edit a path, except those that `agent` has overridden and
    those whose holder has overridden the agent's lease."""
    leases = editors(folders, agent, key, git_dir, now, limits)
    if not leases:
        return []
    from ghp_agents.hotpath import overrides

    mine = implicit_leases.find(folders, key, git_dir)
    if mine and not implicit_leases.is_active(folders, mine, now, *limits):
        mine = None  # of an earlier life
    return [
        lease
        for lease in leases
        if not overrides.allows(folders, agent, key, git_dir, lease)
        and not (mine and overrides.allows(folders, lease.agent, key, lease.git_dir, mine))
    ]


def editors(
    folders: "Sequence[str]",
    agent: str,
    key: str,
    git_dir: str,
    now: float,
    limits: "tuple[float, float]",
) -> "list[ImplicitLease]":
    """The leases of the other living agents that edit a path: that of this worktree first."""
    here = implicit_leases.find(folders, key, git_dir)
    leases = [here] if here and implicit_leases.is_active(folders, here, now, *limits) else []
    leases += implicit_leases.elsewhere(folders, key, git_dir, now, limits)
    return [lease for lease in leases if lease.agent != agent]


def _is_overridden(
    folders: "Sequence[str]", agent: str, key: str, git_dir: str, holder: str
) -> bool:
    """Whether the agent has overridden the lease of `holder` in this worktree."""
    from ghp_agents.hotpath import overrides

    return overrides.allows_holder(folders, agent, key, git_dir, holder)


def by_last_rules(edit: "Edit", now: float) -> Verdict | None:
    """The decision if the state could not be read, or not in time. What was last known as another's
    lease or claim is refused, whether or not its holder is alive. None without a compiled policy:
    nothing is known."""
    folders, agent, path = edit.folders, edit.agent, edit.path
    book = policy_cache.read_stale(own_file.home_folder(edit.place.common_dir, edit.environ))
    if book is None:
        return None
    now_text = heartbeat.to_text(now)
    presence = presence_file.newest(folders, agent)
    own = own_name.left_worktree(edit.place, agent, edit.here, presence)
    case = EditRequest(
        agent, False, now, now_text, lives=lambda rule: not policy.is_assigned(rule),
        presence=presence, own_worktree=own,
    )  # fmt: skip
    verdict = policy.decide(book, path, case)
    if verdict.is_refused:
        verdict.why += " The state could not be read now, so this is the last known state."
    return verdict


def _decided(edit: Edit, book: "Book", presence: "Mapping[str, Any]", now: float) -> Verdict:
    limits = (book["deadAfter"], book["goneAfter"])
    place, folders, agent, path = edit.place, edit.folders, edit.agent, edit.path
    key = policy_cache.key_of(book, path)
    where = folders, agent, key, place.git_dir

    def lives(rule: Rule) -> bool:
        if policy.is_assigned(rule) and rule.holder not in book["elsewhere"]:
            return alive.lives(folders, rule.holder, now, *limits) or False  # False: never seen
        return rule.is_person or _lives(book, folders, rule.holder, rule.epoch, now)

    others = rivals(*where, now, limits) if book["implicitLeases"] else []
    case = EditRequest(
        agent,
        is_person=False,
        now=now,
        now_text=heartbeat.to_text(now),
        lives=lives,
        presence=presence,
        touch=first_here(others, place.git_dir),
        conflict=_conflict(edit, [x for x in others if not x.is_in(place.git_dir)]),
        worktree_of=own_name.worktree_of(place.git_dir, agent, folders, now, limits),
        own_worktree=own_name.left_worktree(place, agent, edit.here, presence),
        reported=_reported(edit, book, key, now),
        branch=lambda: locate.branch(place.git_dir),
    )
    verdict = policy.decide(book, path, case)
    if verdict.is_refused or not book["implicitLeases"]:
        return _spare_unleasable(verdict, book, path, case, edit.environ, place.toplevel or "")
    epoch = presence["epoch"]
    rival = implicit_leases.take_lease(folders, agent, epoch, key, place.git_dir, now, *limits)
    if rival is not None and not _is_overridden(*where, rival):
        # It was leased in between.
        others = rivals(*where, now, limits)
        case.touch = first_here(others, place.git_dir) or (rival, heartbeat.to_text(now))
        verdict = policy.decide(book, path, case)
        return _spare_unleasable(verdict, book, path, case, edit.environ, place.toplevel or "")
    return verdict


def _conflict(
    edit: Edit, others: "Sequence[ImplicitLease]"
) -> "Callable[[], Verdict | None] | None":
    """The check against editors in other worktrees, which is made at most once."""
    if not others:
        return None
    cached: list[Verdict | None] = []

    def check() -> Verdict | None:
        from ghp_agents.hotpath import merge_check

        if not cached:
            where = edit.place, edit.folders, edit.environ, edit.agent, edit.path
            cached.append(merge_check.before_edit(*where, others, edit.content))
        return cached[0]

    return check


def _reported(
    edit: Edit, book: "Book", key: str, now: float
) -> "Callable[[], Verdict | None] | None":
    """The check against changes in other clones, which is made at most once."""
    if key not in book["changes"]:
        return None
    cached: list[Verdict | None] = []

    def check() -> Verdict | None:
        from ghp_agents.hotpath import clash_check

        if not cached:
            where = edit.place, edit.folders, edit.environ, book, edit.agent, edit.path
            cached.append(clash_check.before_edit(*where, now, edit.content))
        return cached[0]

    return check


def _spare_unleasable(
    verdict: Verdict,
    book: "Book",
    path: str,
    case: EditRequest,
    environ: "Mapping[str, str]",
    toplevel: str,
) -> Verdict:
    """The verdict; a refusal is dropped for files that cannot be leased."""
    if verdict.kind not in policy.OF_LEASES or not ignored_files.is_exempt(toplevel, path, environ):
        return verdict
    case.is_exempt = True
    return policy.decide(book, path, case)


def _lives(book: "Book", folders: "Sequence[str]", holder: str, epoch: int, now: float) -> bool:
    """Whether the holder of a lease or claim is alive, if its presence file here can tell."""
    if holder in book["elsewhere"]:
        raise UnsureError
    newest = alive.newest_presence(folders, holder)
    lives = alive.lives(folders, holder, now, book["deadAfter"], book["goneAfter"])
    if newest is None or lives is None or newest[0]["epoch"] < epoch:
        raise UnsureError  # it is in another clone, or was when it claimed
    return lives
