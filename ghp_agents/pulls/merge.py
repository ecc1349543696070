"""Merging: one pull request at a time onto the trunk, believed on nothing but evidence.

What would be on the trunk is made and checked first. It comes there only if branch and trunk
still are what was looked at; else it is looked at again.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import myself
from ghp_agents.core.errors import NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.git import changed_paths as changes
from ghp_agents.git import process as git
from ghp_agents.git import worktree
from ghp_agents.guard import held_paths
from ghp_agents.issues.issue import Issue
from ghp_agents.ports import Forge, IssueTracker, LockService, StateStore
from ghp_agents.pulls import cleanup as merge_cleanup
from ghp_agents.pulls import merge_evidence as merge_proof
from ghp_agents.pulls import merge_lock as merge_right
from ghp_agents.pulls import merge_trial as trial
from ghp_agents.pulls.check import Check, red, tail
from ghp_agents.pulls.merge_lock import MergeLock
from ghp_agents.pulls.merge_trial import Look, Merger, Tell, UncheckedError
from ghp_agents.pulls.pull import Pull, PullMovedError, refuse_unready
from ghp_agents.pulls.send_back import SentBack, send_back, was_sent_back
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace

ATTEMPTS = 10  # each after the first because branch or trunk moved meanwhile


class Merged(NamedTuple):
    """A pull request that is on the trunk."""

    pull: Pull
    issue: Issue | None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    before: bool = False  # it was already
    by: str = ""  # and by whom, as the commit says


class Passed(NamedTuple):
    """A pull request of the queue that was not merged now, and not sent back either."""

    pull: Pull
    why: str


Outcome = Merged | SentBack


def merger(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    forge: Forge,
    *,
    cwd: Path,
    tell: Tell = lambda _: None,
    unchecked: bool = False,
) -> Merger:
    """The one who merges, in the folder `cwd`; `unchecked`: also what nothing checks. Raises
    NotSetUpError."""
    return Merger(myself(ws, store, leaser, tracker), forge, cwd, tell, unchecked)


def merge(who: Merger, reference: str | None, *, patience: float = 0.0) -> Outcome:
    """Merge the pull request that is named by its number or its issue's, or that of the branch
    here; or send it back. Raises RefusedError, NotFoundError, UnknownError."""
    pull = _found(who, reference)
    if pull.state == "merged":
        return _cleaned(who, pull, (), before=True)
    refuse_unready(pull)
    with merge_right.held(who.me, f"merges #{pull.number}", patience=patience) as right:
        return _merge(who, right, pull.number, by_name=True)


def merge_queue(who: Merger, *, patience: float = 0.0) -> Iterator[Outcome | Passed]:
    """Merge all that `agent-finish` sent for who has the issue, the oldest first, one after
    another. What cannot be merged holds nobody else up. Raises RefusedError when somebody else
    merges, UnknownError."""
    pulls = _ready(who) or (_ready(who) if _heard_more(who) else [])
    if not pulls:
        return
    with merge_right.held(who.me, "merges the queue", patience=patience) as right:
        for pull in pulls:
            if _is_as_it_was(who, pull):
                yield Passed(pull, "it was sent back, and nothing has changed since")
                continue
            try:
                yield _merge(who, right, pull.number, by_name=False)
            except (UnknownError, UncheckedError):
                raise
            except RefusedError as refused:
                right.check()
                yield Passed(pull, str(refused))


def _ready(who: Merger) -> list[Pull]:
    return [pull for pull in who.forge.list() if not pull.draft]


def _found(who: Merger, reference: str | None) -> Pull:
    """The pull request that is meant, also one that another clone opened just now."""
    try:
        return find(who, reference)
    except NotFoundError:
        if not _heard_more(who):
            raise
    return find(who, reference)


def _heard_more(who: Merger) -> bool:
    """Before it is said that there is none: what others sent is heard, though it was just asked
    for. A host knows of its pull requests by itself."""
    store = who.me.store
    return who.forge.is_local and bool(store.standing().remote) and store.sync(push=False).fetched


def find(who: Merger, reference: str | None) -> Pull:
    """The pull request that is meant. Raises NotFoundError, UsageError."""
    if reference is None:
        found = who.forge.find(who.ws.branch) if who.ws.branch else None
        if found is None:
            raise UsageError(
                "Name a pull request, or the issue that it is for.",
                hint="`ghp agent-merge 12`, or all that are ready: `ghp agent-merge --queue`.",
            )
        return found
    digits = reference.strip().removeprefix("#")
    if digits.isascii() and digits.isdigit():
        try:
            return who.forge.get(int(digits))
        except NotFoundError:
            pass
    issue = who.me.tracker.get(reference)
    pulls = [pull for pull in who.forge.list(closed=True) if pull.issue in issue.numbers]
    chosen = [pull for pull in pulls if pull.state == "open"] or pulls
    if not chosen:
        raise NotFoundError(
            f"There is no pull request for #{issue.number}.",
            hint="`ghp agent-finish` in the issue's worktree opens one.",
        )
    return chosen[-1]


# ------------------------------------------------------------------------------ one of them


def _merge(who: Merger, right: MergeLock, number: int, *, by_name: bool) -> Outcome:
    for _ in range(ATTEMPTS):
        pull = who.forge.get(number)
        if pull.state == "merged":
            return _cleaned(who, pull, (), before=True)
        refuse_unready(pull)
        tried = trial.try_merge(who, pull)
        if not tried.is_there:
            merge_proof.require(who, pull, tried, by_name=by_name)
        if tried.conflicts:
            return _back(who, pull, tried, "conflict", "\n".join(tried.conflicts))
        notes = _refuse_held(who, pull, tried)
        right.renew(f"checks #{number}")
        checks = () if tried.is_there else trial.check(who, pull, tried)
        failed = red(checks)
        if failed:
            text = f"{failed.line}\n{tail(failed.output, limit=6_000, lines=80)}"
            return _back(who, pull, tried, "checks", text)
        tried = trial.ready_for_the_host(who, pull, tried)
        told = trial.of_the_host(who, pull._replace(head=tried.head))
        if told:
            return _back(who, pull, tried, "checks", told)
        right.check()
        try:
            done = who.forge.merge(number, who.me.actor, head=tried.head, onto=tried.trunk)
        except PullMovedError as moved:
            who.tell(f"{moved} Looking at it again.")
            continue
        cleaned = _cleaned(who, done, checks, before=tried.is_there)
        return cleaned._replace(notes=(*notes, *cleaned.notes))
    raise UnknownError(
        f"#{number} or the trunk moved {ATTEMPTS} times while it was being merged.",
        hint="Try again when it is quieter.",
    )


def _refuse_held(who: Merger, pull: Pull, tried: Look) -> tuple[str, ...]:
    """Refuse what others hold of the paths that would change on the trunk; what a person should
    know of them."""
    if tried.is_there:
        return ()
    me, by = who.me, pull.sent.by if pull.sent else Actor(pull.author, is_person=True)
    paths = changes.differing(who.ws.folder, tried.trunk, tried.candidate)
    return held_paths.refuse(me.ws, me.store, me.leaser, me.tracker, by, paths, by=me.actor)


def _back(who: Merger, pull: Pull, tried: Look, reason: str, text: str) -> SentBack:
    return send_back(who.me, pull, head=tried.head, trunk=tried.trunk, reason=reason, text=text)


def _cleaned(who: Merger, pull: Pull, checks: tuple[Check, ...], *, before: bool = False) -> Merged:
    issue = _issue(who, pull)
    notes = merge_cleanup.clean_up(who.me, pull, issue, who.cwd)
    closed = issue and issue._replace(state="closed")
    return Merged(pull, closed, checks, notes, before, _by(who, pull) if before else "")


def _by(who: Merger, pull: Pull) -> str:
    """Who made the commit by which it came onto the trunk, where that was not one of its own."""
    commit, folder = pull.merged_as, who.ws.folder
    if not commit or commit == pull.head or not worktree.has_commit(folder, commit):
        return ""
    args = ["log", "--no-show-signature", "--max-count=1", "--format=%cn", commit]
    return git.check(args, cwd=folder).text


def _issue(who: Merger, pull: Pull) -> Issue | None:
    if pull.issue is None:
        return None
    try:
        return who.me.tracker.get(pull.issue)
    except NotFoundError:
        return None


def _is_as_it_was(who: Merger, pull: Pull) -> bool:
    tips = branches.tips(who.ws, pull.branch, pull.base)
    head, trunk = tips.get(pull.branch, pull.head), tips.get(pull.base, "")
    return was_sent_back(who.me.store.snapshot(), pull, head, trunk)
