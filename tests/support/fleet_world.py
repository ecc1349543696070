"""The world of a simulated fleet: chance, time, what fails, and what each clone has heard."""

import hashlib
import random

from ghp_agents.claims import claim
from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.jobs.explanation import Agent
from ghp_agents.locks.lock import Lock
from tests.support.fleet_parts import (
    DEAD_AFTER,
    Clone,
    LawError,
    Run,
    Size,
    make_clone,
    make_issue,
)


class FleetWorld:
    """The world of a fleet: what happens to it, and what each clone knows."""

    def __init__(self, seed: int, size: Size) -> None:
        self.chance = random.Random(seed)
        self.size = size
        self.now = self.looks = self.starts = self.deaths = self.questions = 0
        self.issues = {
            number: make_issue(self.chance, number) for number in range(1, size.jobs + 1)
        }
        self.poisoned = {number for number in self.issues if self.chance.random() < 0.01}
        self.claims: dict[int, Lock] = {}  # those that are held
        self.generations = dict.fromkeys(self.issues, 0)
        self.asked: dict[int, str] = {}
        self.gave_up: dict[int, str] = {}  # what the locks say of free issues
        self.handed_over: dict[int, str] = {}  # what the locks' histories say
        self.given: dict[int, str] = {}  # the notes of dispatches
        self.done: dict[int, str] = {}
        self.news_at: dict[str, int] = {}
        self.clones = [
            make_clone(self.chance, number, size.agents) for number in range(size.clones)
        ]
        self.home = {agent: clone for clone in self.clones for agent in clone.capabilities}
        self.processes: dict[int, list[Run]] = {}  # that live, by issue
        self._left_alone: dict[str, int] = {}  # ticks in which an agent did not begin its work
        self._history = hashlib.sha256()

    @property
    def is_over(self) -> bool:
        """Whether all work is done, and all runs are settled."""
        return not self.issues and not any(clone.live for clone in self.clones)

    @property
    def history(self) -> str:
        """A digest of all that was done."""
        return self._history.hexdigest()

    def _note(self, *what: object) -> None:
        self._history.update(f"{self.now} {what}\n".encode())

    # ---------------------------------------------------------------- what happens

    def _is_supervised(self, clone: Clone) -> bool:
        return self.now >= max(clone.off_until, clone.unsupervised_until)

    def _is_connected(self, clone: Clone) -> bool:
        return self._is_supervised(clone) and self.now >= clone.cut_off_until

    def _trouble(self) -> None:
        chance = self.chance
        for clone in self.clones:
            if chance.random() < 0.002:
                clone.off_until = self.now + chance.choice([2, 30, 150])
                self._die(*clone.live.values())
            if chance.random() < 0.005:
                clone.unsupervised_until = self.now + chance.choice([1, 20, 150])
            if chance.random() < 0.005:
                clone.cut_off_until = self.now + chance.choice([1, 20, 150])
            if clone.live and chance.random() < 0.3:
                self._die(clone.live[chance.choice([*clone.live])])

    def _die(self, *runs: Run) -> None:
        for run in runs:
            self.deaths += run.lives
            self._end(run)

    def _end(self, run: Run) -> None:
        if run.lives:
            run.lives = False
            self.processes[run.issue].remove(run)

    def _work(self, clone: Clone) -> None:
        """Clients work also without a supervisor, and wait for the network with their result."""
        is_cut_off = self.now < clone.cut_off_until
        for run in clone.live.values():
            if not run.lives:
                continue
            run.age += 1
            stalls = run.age >= run.stalls_at
            run.silent = run.silent + 1 if stalls else 0
            run.turns += not stalls and run.age % 3 == 0
            if run.age >= run.needs and not stalls and (run.fails or not is_cut_off):
                run.has_result = not run.fails and self._finish(clone, run)
                self._end(run)

    def _finish(self, clone: Clone, run: Run) -> bool:
        """Close the issue; refused to those who lost the claim."""
        lock = self.claims.get(run.issue)
        if lock is None or not claim.is_mine(lock, run.agent, 1, clone.name):
            return False
        if run.issue in self.done:
            raise LawError(f"#{run.issue} was done by {self.done[run.issue]} and {run.agent}")
        self.done[run.issue] = run.agent
        del self.issues[run.issue], self.claims[run.issue]
        self._note("done", run.issue, run.agent)
        return True

    def _answer(self) -> None:
        """A person mends what agents could not do, and lets them try again."""
        for issue in [number for number in self.asked if self.chance.random() < 0.05]:
            del self.asked[issue]
            self.poisoned.discard(issue)

    # -------------------------------------------------------------- what is known

    def _sync(self, clone: Clone) -> None:
        self.news_at[clone.name] = self.now
        clone.news_at = dict(self.news_at)
        clone.claims = dict(self.claims)
        held = clone.claims.values()
        clone.living = {lock.name for lock in held if self._lives(clone, lock.holder)}
        clone.board = Board(
            [*self.issues.values()], clone.claims, clone.living, dict(self.asked),
            gave_up=dict(self.gave_up),
        )  # fmt: skip
        clone.given = {}
        for issue in self.issues.values():
            for name in issue.assignees:
                if name in clone.capabilities:
                    clone.given.setdefault(name, []).append(issue)

    def _lives(self, clone: Clone, agent: str | None) -> bool:
        """Whether an agent lives, as far as a clone knows."""
        home = self.home[agent or ""]
        return home is clone or self.now - clone.news_at.get(home.name, 0) < DEAD_AFTER

    def _holds(self, clone: Clone, agent: str, issue: int) -> bool:
        lock = clone.claims.get(issue)
        return lock is not None and claim.is_mine(lock, agent, 1, clone.name)

    def _agents(self, clone: Clone) -> list[Agent]:
        holds: dict[str, list[str]] = {}
        for number, lock in clone.claims.items():
            holds.setdefault(lock.holder or "", []).append(f"#{number}")
        return [
            Agent(
                Candidate(name, 1, home.name, home.capabilities[name]),
                "active" if self._lives(clone, name) else "dead",
                holds=tuple(holds.get(name, ())),
            )
            for name, home in self.home.items()
        ]
