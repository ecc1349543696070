"""An hour of agents at work on a GitHub that enforces its limits, on a clock set by hand.

Each agent claims an issue, reports a new status again and again, and asks one question, which a
person answers on GitHub. Everything happens in the order of its time: what a command waits, the
clock waits, so writes are as far apart as they were.
"""

import heapq
import json
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from tests.support.github import ADMIN, WORKER_1, GitHub
from tests.support.proxy import ENFORCED
from tests.support.story import Actor, Story

STATUSES = ("planning", "implementing", "testing", "blocked")
MINUTE, HOUR = 60.0, 3_600.0


class Crowd(NamedTuple):
    """How many work, and how often each reports."""

    clones: int
    agents: int  # in each clone
    every: float  # seconds between two reports of an agent
    seconds: float = HOUR


class Busiest(NamedTuple):
    """The most writes of an account in any hour and in any minute, and all of them."""

    hour: int
    minute: int
    all: int


class OddHour:
    """The hour of one crowd."""

    def __init__(self, github: GitHub, crowd: Crowd, now: float, **settings: Any) -> None:
        self.github, self.crowd = github, crowd
        self.story = Story(github, now)
        self.began, self._order = now, count()
        github.proxy.limits = ENFORCED
        self.clones = [
            self.story.actor(WORKER_1, f"clone-{n}", **settings) for n in range(crowd.clones)
        ]
        agents = [(clone, n) for clone in self.clones for n in range(crowd.agents)]
        self.agents = [
            clone._replace(agent=f"worker-{number}") for number, (clone, _) in enumerate(agents, 1)
        ]
        self.issues = {agent.agent: github.issue(f"Work {agent.agent}") for agent in self.agents}
        self.questions: dict[str, str] = {}  # by agent
        self._answered: set[str] = set()
        self.status: dict[str, str] = {}  # that each agent reported last
        self.codes: dict[str, int] = {}  # commands that did not end with 0
        self._queue: list[tuple[float, int, Iterator[float]]] = []

    def pass_by(self) -> None:
        """Everything that happens in the hour."""
        for number, agent in enumerate(self.agents):
            self._add(number * self.crowd.every / len(self.agents), self._work(agent, number))
        for number, clone in enumerate(self.clones):
            self._add(5.0 + number, self._sync(clone))
        self._add(30.0, self._answer())
        clock = self.story.clock
        while self._queue:
            at, _, line = heapq.heappop(self._queue)
            clock.pass_by(max(0.0, at - clock.now()))
            rest = next(line, None)
            if rest is not None and at + rest < self.began + self.crowd.seconds:
                self._add(at + rest - self.began, line)

    def settle(self) -> None:
        """The last answers, and everybody sends what was kept back, an hour later."""
        next(self._answer())
        for _ in range(3):
            self.story.clock.pass_by(HOUR)
            for clone in self.clones:
                self.story.try_to(clone, "agent-sync")

    def _add(self, after: float, line: Iterator[float]) -> None:
        heapq.heappush(self._queue, (self.began + after, next(self._order), line))

    def _run(self, who: Actor, *words: str) -> str:
        result = self.story.try_to(who, words)
        if result.code:
            key = f"{words[0]}: {result.code}: {result.err.splitlines()[0]}"
            self.codes[key] = self.codes.get(key, 0) + 1
        return result.out

    def _work(self, agent: Actor, number: int) -> Iterator[float]:
        """One agent: a claim, then a status at each turn, and in between a question."""
        issue = str(self.issues[agent.agent])
        self._run(agent, "agent-claim", issue)
        ask_at = 2 + number % 4
        for turn in count():
            yield self.crowd.every
            if turn == ask_at:
                words = ("agent-escalate", f"Which way, {agent.agent}?", "--issue", issue)
                self.questions[agent.agent] = self._run(agent, *words).strip()
            else:
                self.status[agent.agent] = STATUSES[turn % 4]
                self._run(agent, "agent-heartbeat", "--status", self.status[agent.agent])

    def _sync(self, clone: Actor) -> Iterator[float]:
        """The clone's background: it syncs as often as hosts advise."""
        while True:
            self._run(clone, "agent-sync")
            yield max(MINUTE, self.crowd.every / 2)

    def _answer(self) -> Iterator[float]:
        """A person answers on GitHub what is asked there."""
        while True:
            for agent in sorted(self.questions.keys() - self._answered):
                body = f"/agent answer {self.questions[agent]} Left"
                at = f"issues/{self.issues[agent]}/comments"
                self.github.act(ADMIN, "POST", at, {"body": body})
                self._answered.add(agent)
            yield 5 * MINUTE

    # ------------------------------------------------------------ what must hold

    def busiest(self) -> Busiest:
        """The most writes that one account made."""
        times = [at for login, at in self.github.proxy.written() if login == WORKER_1]
        hour, minute = (
            max(sum(first <= at < first + span for at in times) for first in times)
            for span in (HOUR, MINUTE)
        )
        return Busiest(hour, minute, len(times))

    def limits_hit(self) -> int:
        """How often the server refused because of its limits."""
        return self.story.faults.total()

    def answers(self) -> dict[str, list[str]]:
        """What each agent was answered, by its own clone."""
        texts = {}
        for clone in self.clones:
            for question in json.loads(self._run(clone, "agent-escalations", "--json")):
                texts[question["agent"]] = [reply["text"] for reply in question["answers"]]
        return texts
