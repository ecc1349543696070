"""Sweeps in tests: who sweeps, what can be seen of it, and processes that are killed half-way."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.handoffs import evidence
from ghp_agents.handoffs.evidence import EvidenceTopic
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.issues.local import LocalTracker
from ghp_agents.leases.world import read_all
from ghp_agents.sweep.service import SweepResult, sweep
from tests.support.claimants import Claimant
from tests.support.context import make_context
from tests.support.git import refs

_SILENCE = re.compile(r" for [0-9]+ min")
STALE = 700.0  # seconds of silence
DAY = 86_400.0


def run(one: Claimant, **how: Any) -> SweepResult:
    """`agent-sweep` in somebody's clone."""
    return sweep(one.parts, **how)


def kinds(swept: SweepResult) -> list[tuple[str, bool]]:
    """What was to be done, and whether it was."""
    return [(type(outcome.act).__name__, outcome.done) for outcome in swept.outcomes]


def texts(swept: SweepResult) -> list[str]:
    """What was done, in words."""
    return [outcome.text for outcome in swept.outcomes]


def comments(one: Claimant, number: int = 1) -> list[str]:
    """What was said on an issue, without the markers."""
    return [comment.body.partition("\n\n<!--")[0] for comment in one.tracker.get(number).comments]


def handoffs(one: Claimant, number: int = 1) -> list[Handoff]:
    """What was handed over of an issue."""
    issue = one.tracker.get(number)
    about = EvidenceTopic(one.ws.actor(), issue.number, issue)
    return evidence.handoffs_about(one.store.snapshot(), about)[0]


def questions(one: Claimant) -> list[Escalation]:
    """What people are asked."""
    return escalation.questions(one.parts.world)


def everything(one: Claimant) -> object:
    """All that a sweep could change, here and on the remote, but the right to sweep."""
    snapshot = one.store.snapshot()
    rights = [lease for lease in one.locks.list() if lease.name != "sweeper"]
    return snapshot.agents(), dict(snapshot.files(".ghp/")), one.store.ledger(), rights


def outcome(one: Claimant, remote: Path) -> object:
    """What a sweep came to, whatever way it took: without ids, times and who said it."""
    issues = one.tracker.list(closed=True)
    by_issue = {
        issue.number: (issue.state, issue.labels, issue.assignees, comments(one, issue.number))
        for issue in issues
    }
    rights = {x.name: (x.holder, x.generation) for x in one.locks.list() if x.name != "sweeper"}
    open_leases = [log.holder.name for log in read_all(one.store.snapshot())[0] if log.is_open]
    handed = {issue.number: [item.note for item in handoffs(one, issue.number)] for issue in issues}
    open_questions = [item.question for item in questions(one)]
    events = sorted(
        (entry.event, entry.object, entry.text)
        for entry in one.store.ledger()
        if entry.event in ("release", "handoff", "lease-release", "absorb")
    )
    clones = sorted(refs(remote, "refs/ghp/clone"))
    return (
        without_ids(by_issue),
        rights,
        open_leases,
        handed,
        open_questions,
        _texts(events),
        clones,
    )


def without_ids(document: dict[Any, Any]) -> dict[Any, Any]:
    """Comments name handoffs, whose ids are drawn, and times: who is killed is waited for."""
    return {
        number: (*rest, [_SILENCE.sub("", text.partition(" The handoff ")[0]) for text in words])
        for number, (*rest, words) in document.items()
    }


def _texts(events: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    return [(event, text) for event, _, text in events]


# ------------------------------------------------------------------------- being killed


class Killed(BaseException):
    """The process ends here; nothing of it runs any more."""


class Doom:
    """Ends a process before or after its n-th write, counted over all its parts."""

    WRITES = frozenset(
        ("commit", "acquire", "release", "change", "comment", "absorb", "adopt", "publish", "sync")
    )

    def __init__(self, at: int, *, after: bool) -> None:
        self.at = at
        self.after = after
        self.count = 0
        self.is_over = False

    def guarded(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, if the process still lives."""

        def act(*args: Any, **words: Any) -> Any:
            if self.is_over:
                raise Killed
            self.count += 1
            mine = self.count == self.at
            if mine and not self.after:
                self.is_over = True
                raise Killed
            answer = call(*args, **words)
            if mine or self.is_over:
                self.is_over = True
                raise Killed
            return answer

        return act


class Doomed:
    """A part of a process that is going to be killed."""

    def __init__(self, part: object, doom: Doom) -> None:
        self._part = part
        self._doom = doom

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        return self._doom.guarded(value) if name in Doom.WRITES else value


def run_doomed(one: Claimant, at: int, *, after: bool, **how: Any) -> bool:
    """Sweep, and be killed at the n-th write; whether it came to that."""
    doom = Doom(at, after=after)
    store: Any = Doomed(one.store, doom)
    locks: Any = Doomed(one.locks, doom)
    tracker: Any = Doomed(LocalTracker(one.ws, store, locks), doom)
    try:
        sweep(make_context(one.ws, store, locks, tracker), **how)
    except Killed:
        return True
    return False


class Rival:
    """A part that lets somebody else act just before the first call of a kind."""

    def __init__(self, part: object, name: str, act: Callable[[], object]) -> None:
        self._part = part
        self._name = name
        self._act: Callable[[], object] | None = act

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        if name == self._name and self._act:
            act, self._act = self._act, None
            act()
        return value
