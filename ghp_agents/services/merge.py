"""Merging: one pull request at a time onto the trunk, believed on nothing but evidence.

What would be on the trunk is made and checked first. It comes there only if branch and trunk
still are what was looked at; else it is looked at again.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ghp_agents import branches, landing
from ghp_agents.errors import GhpError, NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.model.check import Check, red, tail
from ghp_agents.model.issue import Issue
from ghp_agents.model.pull import Checks, Pull, PullMovedError, refuse_unready
from ghp_agents.ports import Forge, IssueTracker, Leaser, StateStore
from ghp_agents.remote import Answer
from ghp_agents.services import checking, merge_cleanup, merge_right
from ghp_agents.services.claim_showing import Me, myself
from ghp_agents.services.finish_update import merged as with_trunk
from ghp_agents.services.furnishing import furnish
from ghp_agents.services.merge_return import SentBack, send_back, was_sent_back
from ghp_agents.services.merge_right import Right
from ghp_agents.services.start_place import worktrees_folder
from ghp_agents.workspace import Workspace

ATTEMPTS = 10  # each after the first because branch or trunk moved meanwhile
LITTER = 3_600.0  # seconds after which nobody is at work in a worktree for a moment
Tell = Callable[[str], None]


class Merged(NamedTuple):
    """A pull request that is on the trunk."""

    pull: Pull
    issue: Issue | None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    before: bool = False  # it was already


class Passed(NamedTuple):
    """A pull request of the queue that was not merged now, and not sent back either."""

    pull: Pull
    why: str


Outcome = Merged | SentBack


class Merger(NamedTuple):
    """Who merges, and with what."""

    me: Me
    forge: Forge
    cwd: Path
    tell: Tell

    @property
    def ws(self) -> Workspace:
        """The workspace."""
        return self.me.ws


class _Look(NamedTuple):
    """What is looked at: a head, a trunk, and what the one on the other comes to."""

    head: str
    trunk: str
    candidate: str
    conflicts: tuple[str, ...] = ()
    is_there: bool = False  # on the trunk already: a command was killed before it could say so


def merger(
    ws: Workspace,
    store: StateStore,
    leaser: Leaser,
    tracker: IssueTracker,
    forge: Forge,
    *,
    cwd: Path,
    tell: Tell = lambda _: None,
) -> Merger:
    """The one who merges, in the folder `cwd`. Raises NotSetUpError."""
    return Merger(myself(ws, store, leaser, tracker), forge, cwd, tell)


def merge(who: Merger, reference: str | None, *, patience: float = 0.0) -> Outcome:
    """Merge the pull request that is named by its number or its issue's, or that of the branch
    here; or send it back. Raises RefusedError, NotFoundError, UnknownError."""
    pull = find(who, reference)
    if pull.state == "merged":
        return _cleaned(who, pull, (), before=True)
    refuse_unready(pull)
    with merge_right.held(who.me, f"merges #{pull.number}", patience=patience) as right:
        return _merge(who, right, pull.number)


def merge_queue(who: Merger, *, patience: float = 0.0) -> Iterator[Outcome | Passed]:
    """Merge all that are ready, the oldest first, one after another. What cannot be merged holds
    nobody else up. Raises RefusedError when somebody else merges, UnknownError."""
    pulls = [pull for pull in who.forge.list() if not pull.draft]
    if not pulls:
        return
    with merge_right.held(who.me, "merges the queue", patience=patience) as right:
        for pull in pulls:
            if _is_as_it_was(who, pull):
                yield Passed(pull, "it was sent back, and nothing has changed since")
                continue
            try:
                yield _merge(who, right, pull.number)
            except UnknownError:
                raise
            except RefusedError as refused:
                right.check()
                yield Passed(pull, str(refused))


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


def _merge(who: Merger, right: Right, number: int) -> Outcome:
    for _ in range(ATTEMPTS):
        pull = who.forge.get(number)
        if pull.state == "merged":
            return _cleaned(who, pull, (), before=True)
        refuse_unready(pull)
        look = _look(who, pull)
        if look.conflicts:
            return _back(who, pull, look, "conflict", "\n".join(look.conflicts))
        right.renew(f"checks #{number}")
        checks = () if look.is_there else _check(who, pull, look)
        failed = red(checks)
        if failed:
            text = f"{failed.line}\n{tail(failed.output, limit=6_000, lines=80)}"
            return _back(who, pull, look, "checks", text)
        look = _ready_for_the_host(who, pull, look)
        told = _of_the_host(who, pull._replace(head=look.head))
        if told:
            return _back(who, pull, look, "checks", told)
        right.check()
        try:
            done = who.forge.merge(number, who.me.actor, head=look.head, onto=look.trunk)
        except PullMovedError as moved:
            who.tell(f"{moved} Looking at it again.")
            continue
        return _cleaned(who, done, checks)
    raise UnknownError(
        f"#{number} or the trunk moved {ATTEMPTS} times while it was being merged.",
        hint="Try again when it is quieter.",
    )


def _look(who: Merger, pull: Pull) -> _Look:
    tips = branches.tips(who.ws, pull.branch, pull.base)
    folder, by = who.ws.folder, who.me.name
    head, trunk = tips.get(pull.branch), tips.get(pull.base)
    if trunk is None:
        raise RefusedError(f"There is no branch {pull.base}.", hint="Set `agents.trunk`.")
    if head is None:
        if who.forge.is_local and landing.landed(folder, trunk, pull.head):
            return _Look(pull.head, trunk, trunk, is_there=True)
        raise RefusedError(
            f"{pull.branch}, the branch of #{pull.number}, is not there any more.",
            hint="Push it again, with `ghp agent-finish` in its worktree.",
        )
    if landing.is_ancestor(folder, trunk, head):
        return _Look(head, trunk, head)
    if who.forge.is_local:
        if landing.landed(folder, trunk, head):
            return _Look(head, trunk, trunk, is_there=True)
        method, scratch = who.ws.settings.merge_method, who.ws.ghp_dir
        identity = branches.identity(who.ws, by)
        made = landing.land(folder, scratch, trunk, head, method, "Try", identity)
        return _Look(head, trunk, made.commit, made.conflicts)
    made = with_trunk(who.ws, folder, pull.base, trunk, pull.branch, head, by)
    if made.conflicts:
        return _Look(head, trunk, "", made.conflicts)
    return _Look(head, trunk, made.commit)


def _ready_for_the_host(who: Merger, pull: Pull, look: _Look) -> _Look:
    """A host merges by itself, and checks the branch: so that has the trunk in it first. One that
    has checked it before takes a moment to begin with what is new."""
    if who.forge.is_local or look.candidate == look.head:
        return look
    before = who.forge.checks(pull._replace(head=look.head))
    _bring_up(who, pull, look)
    if before.state != "none" and who.forge.checks(pull._replace(head=look.candidate)) == Checks():
        raise _running(pull)
    return look._replace(head=look.candidate)


def _bring_up(who: Merger, pull: Pull, look: _Look) -> None:
    pushed = branches.push(who.ws, look.candidate, pull.branch, expected=look.head)
    if pushed.answer is Answer.DONE:
        who.tell(f"Brought {pull.branch} up to {pull.base}.")
        return
    if pushed.answer is Answer.UNKNOWN:
        raise UnknownError(
            f"Whether {pull.branch} was pushed is not known: {pushed.words}", hint="Try again."
        )
    raise RefusedError(
        f"{pull.branch} cannot be brought up to {pull.base}: {pushed.words}.",
        hint="It may have moved just now: try again.",
    )


def _check(who: Merger, pull: Pull, look: _Look) -> tuple[Check, ...]:
    """Run the checks on what would be on the trunk, in a worktree for that alone."""
    if not who.ws.settings.checks:
        return ()
    scratch = worktrees_folder(who.ws) / ".merging" / who.me.store.snapshot().clone
    home = who.ws.main_worktree or who.ws.folder
    for left in _litter(who.ws, scratch):
        landing.discard(home, left)
    try:
        with landing.detached(home, scratch, look.candidate) as place:
            _set_up(who.ws, place)
            return checking.run(who.ws, place, pull.branch, who.tell)
    finally:
        _remove_empty(scratch, scratch.parent)


def _litter(ws: Workspace, scratch: Path) -> list[Path]:
    """What killed commands left: of merges all, for we have the right now; of others the old."""
    found = [*scratch.glob("landing-*")]
    for left in ws.ghp_dir.glob("landing-*"):
        with contextlib.suppress(OSError):
            found += [left] if ws.clock.now() - left.stat().st_mtime > LITTER else []
    return found


def _set_up(ws: Workspace, place: Path) -> None:
    setup = furnish(ws, place).setup
    if setup and setup.code:
        raise GhpError(
            f"`{setup.command}` ended with {setup.code}:\n{tail(setup.output)}",
            hint="The set-up command must work in a new worktree for the checks to run.",
        )


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _of_the_host(who: Merger, pull: Pull) -> str:
    """The host's checks that failed, in words; raises RefusedError while they run."""
    checks = who.forge.checks(pull)
    if checks.state == "pending":
        raise _running(pull)
    if checks.state != "red":
        return ""
    return "\n".join(f"{name}: {conclusion}" for name, conclusion in checks.details)


def _running(pull: Pull) -> RefusedError:
    return RefusedError(
        f"The checks of #{pull.number} are still running.",
        hint="Try again when they are done; `ghp agent-merge --queue` passes over it.",
    )


def _back(who: Merger, pull: Pull, look: _Look, reason: str, text: str) -> SentBack:
    return send_back(who.me, pull, head=look.head, trunk=look.trunk, reason=reason, text=text)


def _cleaned(who: Merger, pull: Pull, checks: tuple[Check, ...], *, before: bool = False) -> Merged:
    issue = _issue(who, pull)
    notes = merge_cleanup.clean_up(who.me, pull, issue, who.cwd)
    return Merged(pull, issue, checks, notes, before)


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
