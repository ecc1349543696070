"""Who does what next: the rules that keep an issue from an agent, and the order of what is left.

`agent-claim --next` asks it for one agent, `agent-dispatch` and the sweep for all, and
`agent-explain` prints its trace. Pure.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from ghp_agents.budgets import budget
from ghp_agents.budgets.budget import UsedUp
from ghp_agents.claims import affinity
from ghp_agents.claims.claim import is_mine
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.capabilities import missing
from ghp_agents.issues.dependencies import EPIC, NEEDS_HUMAN, has_label
from ghp_agents.issues.issue import Issue, short
from ghp_agents.issues.order import precedence
from ghp_agents.locks.lock import Lock

NO_NAMES: frozenset[str] = frozenset()


class ClaimRule(StrEnum):
    """What keeps an issue from an agent, in the order in which the rules are asked."""

    BLOCKED = "blocked"  # an issue that it waits for is open
    PERSON = "person"  # its label says that it waits for a person
    SPLIT = "split"  # an epic: its parts are the work
    TAKEN = "taken"  # somebody alive has claimed it
    ASSIGNED = "assigned"  # to others
    UNABLE = "unable"  # it requires capabilities that the agent lacks
    ASKED = "asked"  # agents died on it, and a person is asked how to go on
    LEFT = "left"  # a person wants no agent to continue with it
    GAVE_UP = "gave-up"  # the agent failed at it, so another is to go on
    STOPPED = "stopped"  # by a person's comment
    OUTSIDE = "outside"  # nobody with write access offered it
    SPENT = "spent"  # a budget that it would use is used up
    REVIEW = "review"  # too many pull requests wait for a review


class Obstacle(NamedTuple):
    """A rule that forbids it, and the names that it is about: issues, a label, agents, a question,
    capabilities, a budget."""

    rule: ClaimRule
    names: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """Somebody who could work on an issue."""

    name: str
    epoch: int = 1  # 0 for a person
    clone: str = ""
    capabilities: tuple[str, ...] = ()  # none declared: all

    @property
    def is_person(self) -> bool:
        """Whether it is a person, who can do everything."""
        return self.epoch == 0


@dataclass(frozen=True)
class Board:
    """The open issues, and the facts that decide who may have them."""

    issues: Sequence[Issue]  # open ones with a title, oldest first
    held: Mapping[int, Lock] = field(default_factory=dict)  # the known claims
    living: Set[str] = NO_NAMES  # locks whose holders live, or stopped a moment ago
    last_resorts: Mapping[int, str] = field(default_factory=dict)  # open questions, by issue
    stopped: Set[int] = frozenset()
    given: Set[int] = frozenset()  # a person assigned them to agents by a comment
    person_label: str = NEEDS_HUMAN
    done: Callable[[], Sequence[Issue]] = tuple  # closed ones, read only if they matter
    gave_up: Mapping[int, str] = field(default_factory=dict)  # who handed it over, by issue
    spent: Mapping[str, UsedUp] = field(default_factory=dict)  # the budgets that are used up
    full: int = 0  # the open pull requests, if they are as many as is allowed
    left: Mapping[int, str] = field(default_factory=dict)  # left to people, each by a question
    loose: Set[str] = NO_NAMES  # locks of claims that can be released without harm to work

    @cached_property
    def by_number(self) -> Mapping[IssueNumber, Issue]:
        """The open issues by all of their numbers."""
        return {number: issue for issue in self.issues for number in issue.numbers}

    @cached_property
    def experience(self) -> Mapping[str, affinity.Relations]:
        """What the assignees of closed issues know, by name."""
        done: dict[str, list[Issue]] = {}
        for issue in self.done():
            for name in issue.assignees:
                done.setdefault(name, []).append(issue)
        return {name: affinity.experience(issues) for name, issues in done.items()}

    @cached_property
    def knowers(self) -> Mapping[int | str, Sequence[str]]:
        """The names of those who know a relation, by the relation."""
        knowers: dict[int | str, list[str]] = {}
        for name, relations in self.experience.items():
            for relation in relations:
                knowers.setdefault(relation, []).append(name)
        return knowers

    def claim_of(self, issue: Issue) -> Lock | None:
        """The known claim of an issue."""
        return next((self.held[number] for number in issue.numbers if number in self.held), None)


def obstacles(board: Board, issue: Issue, who: Candidate) -> Iterator[Obstacle]:
    """The rules that keep an open issue from somebody; nothing if it is workable."""
    lock = board.claim_of(issue)
    mine = lock is not None and is_mine(lock, who.name, who.epoch, who.clone)
    blockers = [board.by_number[n] for n in issue.blocked_by if n in board.by_number]
    if blockers:
        yield Obstacle(ClaimRule.BLOCKED, tuple(dict.fromkeys(map(short, blockers))))
    if has_label(issue, board.person_label):
        yield Obstacle(ClaimRule.PERSON, (board.person_label,))
    if has_label(issue, EPIC) and not mine:
        yield Obstacle(ClaimRule.SPLIT, (EPIC,))
    if lock and not mine and lock.name in board.living:
        yield Obstacle(ClaimRule.TAKEN, (lock.holder or "",))
    others = tuple(name for name in issue.assignees if lock is None or name != lock.holder)
    if others and who.name not in issue.assignees:
        yield Obstacle(ClaimRule.ASSIGNED, others)
    lacks = () if who.is_person else missing(issue, who.capabilities)
    if lacks:
        yield Obstacle(ClaimRule.UNABLE, tuple(lacks))
    if not mine:
        yield from _of_questions(board, issue, who)
    if who.name not in issue.assignees and handed_over_by(board, issue) == who.name:
        yield Obstacle(ClaimRule.GAVE_UP)
    if not board.stopped.isdisjoint(issue.numbers) and who.name not in issue.assignees:
        yield Obstacle(ClaimRule.STOPPED)
    if not (issue.offered or mine or not board.given.isdisjoint(issue.numbers)):
        yield Obstacle(ClaimRule.OUTSIDE)
    if not (who.is_person or mine):
        yield from _limits(board, issue, who)


def _of_questions(board: Board, issue: Issue, who: Candidate) -> Iterator[Obstacle]:
    """What an open question to a person keeps from everybody, and its answer from agents."""
    is_free = (who.is_person and who.name != "") or who.name in issue.assignees
    for rule, names in ((ClaimRule.ASKED, board.last_resorts), (ClaimRule.LEFT, board.left)):
        question = next((names[n] for n in issue.numbers if n in names), None)
        if question is not None and not (rule is ClaimRule.LEFT and is_free):
            yield Obstacle(rule, (question,))


def _limits(board: Board, issue: Issue, who: Candidate) -> Iterator[Obstacle]:
    """What keeps an agent from any issue that it has not begun."""
    over = budget.of(board.spent, who.name)
    if over:
        yield Obstacle(ClaimRule.SPENT, (over.words,))
    if board.full and who.name not in issue.assignees:
        yield Obstacle(ClaimRule.REVIEW, (str(board.full),))


def handed_over_by(board: Board, issue: Issue) -> str | None:
    """The agent that failed at a free issue, and left it to others."""
    return next((board.gave_up[n] for n in issue.numbers if n in board.gave_up), None)


class Rank(NamedTuple):
    """The order of workable issues for one agent: the least is next."""

    whose: int  # 0: claimed by me, 1 and 2: critical, 3 and 4: the rest; assigned to me, free
    urgency: int
    due: str
    strangeness: int = 0  # minus how many of its relations I know from earlier work


def rank(board: Board, issue: Issue, who: Candidate) -> Rank:
    """The place of a workable issue in the order for somebody; with equal ones the oldest wins."""
    return first_rank(board, issue, who)._replace(strangeness=-nearness(board, issue, who.name))


def first_rank(board: Board, issue: Issue, who: Candidate) -> Rank:
    """The rank without earlier work, for which closed issues must be read."""
    lock = board.claim_of(issue)
    mine = lock is not None and is_mine(lock, who.name, who.epoch, who.clone)
    return Rank(*precedence(issue, who.name, is_mine=mine))


def nearness(board: Board, issue: Issue, name: str) -> int:
    """How many of an issue's relations somebody knows from earlier work."""
    relations = affinity.relations(issue)
    return len(relations & board.experience.get(name, frozenset())) if relations else 0


def nearest(board: Board, issue: Issue) -> Counter[str]:
    """The `nearness` of everybody who knows one of an issue's relations."""
    relations = affinity.relations(issue)
    return Counter(name for relation in relations for name in board.knowers.get(relation, ()))


def workable(board: Board, who: Candidate) -> list[Issue]:
    """The issues that somebody can claim now, oldest first."""
    return [issue for issue in board.issues if next(obstacles(board, issue, who), None) is None]


def best(board: Board, issues: Sequence[Issue], who: Candidate) -> Issue | None:
    """The next one of workable issues, which come oldest first; None without any."""
    ranks = [first_rank(board, issue, who) for issue in issues]
    least = min(ranks, default=None)
    equal = [issue for issue, rank in zip(issues, ranks, strict=True) if rank == least]
    if len(equal) < 2:
        return equal[0] if equal else None
    return min(equal, key=lambda issue: -nearness(board, issue, who.name))
