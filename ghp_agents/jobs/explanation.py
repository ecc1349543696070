"""Why an issue is not being worked on, and why an agent is idle: rule by rule, with the command
that changes it."""

from collections.abc import Sequence
from shlex import quote
from typing import Annotated, NamedTuple

from ghp_agents.claims import decision
from ghp_agents.claims.claim import is_mine
from ghp_agents.claims.decision import Board, Candidate, ClaimRule, Obstacle
from ghp_agents.core.declared import NULL, WORD, Name
from ghp_agents.core.ids import listed
from ghp_agents.hotpath.quoting import LINE_LIMIT, file, named, phrase, seen_line
from ghp_agents.issues.issue import Issue, short
from ghp_agents.presence import start_command
from ghp_agents.presence.liveness import Liveness, standing
from ghp_agents.presence.start_command import NEXT

ANYBODY = Candidate("", 0)  # can do everything and is assigned to nothing
MET = {
    ClaimRule.BLOCKED: "It waits for no open issue.",
    ClaimRule.PERSON: "It does not wait for a person.",
    ClaimRule.SPLIT: "It is not an epic.",
    ClaimRule.TAKEN: "Nobody else has claimed it.",
    ClaimRule.ASSIGNED: "It is assigned to nobody else.",
    ClaimRule.UNABLE: "No agent lacks a capability for it.",
    ClaimRule.ASKED: "Agents have not failed at it too often.",
    ClaimRule.LEFT: "No person answered that agents should leave it.",
    ClaimRule.GAVE_UP: "It did not fail at it.",
    ClaimRule.STOPPED: "No person stopped it.",
    ClaimRule.OUTSIDE: "Agents are allowed to take it.",
    ClaimRule.SPENT: "No budget is used up.",
    ClaimRule.REVIEW: "Not too many pull requests are open.",
}
OF_AGENT = (
    ClaimRule.ASSIGNED,
    ClaimRule.UNABLE,
    ClaimRule.GAVE_UP,
    ClaimRule.SPENT,
    ClaimRule.REVIEW,
)  # rules that differ between agents
SHOWN = 20  # issues that are named in one line


class RuleStep(NamedTuple):
    """One rule of the decision."""

    rule: Annotated[ClaimRule, WORD]
    is_met: Annotated[bool, Name("met")]
    words: Annotated[str, Name("text")]
    change: Annotated[str, NULL] = (
        ""  # the command after which the rule is met; none that harms others' work
    )


class Agent(NamedTuple):
    """An agent that could work on issues, and what keeps it from every issue."""

    candidate: Candidate
    liveness: str
    told_to_stop: bool = False
    holds: tuple[str, ...] = ()  # issues that it has claimed
    has_no_client: bool = False  # its client has ended
    passed_over: str = ""  # why a dispatch gives it nothing, though it is alive
    kind: str = ""  # of its client

    def starting(self, issue: int | str = NEXT) -> str:
        """The command that lets it work on an issue, by default on the next one."""
        return start_command.of_agent(issue, self.candidate.name, self.kind)

    @property
    def is_alive(self) -> bool:
        """Whether it lives, as far as all clones know."""
        return self.liveness in ("active", "stale")

    @property
    def words(self) -> str:
        """Whether it is at work, as the end of a sentence."""
        return standing(Liveness(self.liveness), has_no_client=self.has_no_client)

    @property
    def no_dispatch(self) -> str:
        """Why a dispatch gives it nothing, whatever it has; empty if it may."""
        if not self.is_alive or self.has_no_client:
            return self.words
        return "it was told to stop" if self.told_to_stop else self.passed_over

    @property
    def has_ended(self) -> bool:
        """Whether nothing works for it, though it may have claims."""
        return self.has_no_client or self.liveness == Liveness.STOPPED

    @property
    def is_healthy(self) -> bool:
        """Whether it continues with what it has claimed, as far as this clone knows."""
        return self.liveness == "active" and self.can_act

    @property
    def can_act(self) -> bool:
        """Whether something works for it that may claim issues."""
        return self.is_alive and not self.has_no_client and not self.told_to_stop


class Turn(NamedTuple):
    """What one agent could do with one issue."""

    agent: Agent
    steps: tuple[RuleStep, ...]  # the rules that are not met
    before: tuple[str, ...] = ()  # the issues that it would do first; at most SHOWN
    more: int = 0  # and how many others

    @property
    def can(self) -> bool:
        """Whether `agent-claim` would give it the issue."""
        return not self.steps and self.agent.can_act


class KeptBack(NamedTuple):
    """Issues that one rule keeps from an agent."""

    rule: Annotated[ClaimRule, WORD]
    issues: tuple[str, ...]


def trace(board: Board, issue: Issue, who: Candidate = ANYBODY) -> list[RuleStep]:
    """All rules for an open issue, in the order in which they are asked."""
    against = {obstacle.rule: obstacle for obstacle in decision.obstacles(board, issue, who)}
    rules = [rule for rule in ClaimRule if who.name or rule not in OF_AGENT]
    return [
        _step(board, issue, against[rule], who)
        if rule in against
        else RuleStep(rule, True, _met(board, issue, rule, who))
        for rule in rules
    ]


def turns(board: Board, issue: Issue, agents: Sequence[Agent]) -> list[Turn]:
    """What each agent could do with an issue: first those that can, those with it first in turn."""
    turns: list[Turn] = []
    for agent in agents:
        who = agent.candidate
        steps = tuple(step for step in trace(board, issue, who) if not step.is_met)
        before = [] if steps else _before(board, issue, who)
        names = tuple(map(short, before[:SHOWN]))
        turns.append(Turn(agent, steps, names, len(before) - len(names)))
    return sorted(turns, key=lambda turn: (not turn.can, len(turn.before) + turn.more))


def _before(board: Board, issue: Issue, who: Candidate) -> list[Issue]:
    """The workable issues that somebody would do before this one, the next first."""
    ordered = sorted(
        decision.workable(board, who), key=lambda issue: decision.rank(board, issue, who)
    )
    return ordered[: [candidate.id for candidate in ordered].index(issue.id)]


def kept_back(board: Board, who: Candidate) -> list[KeptBack]:
    """The open issues that somebody has not claimed and cannot claim, by the first rule that
    forbids it."""
    by_rule: dict[ClaimRule, list[str]] = {}
    for issue in board.issues:
        lock = board.claim_of(issue)
        mine = lock is not None and is_mine(lock, who.name, who.epoch, who.clone)
        first = None if mine else next(decision.obstacles(board, issue, who), None)
        if first:
            by_rule.setdefault(first.rule, []).append(short(issue))
    return [KeptBack(rule, tuple(by_rule[rule])) for rule in ClaimRule if rule in by_rule]


def _met(board: Board, issue: Issue, rule: ClaimRule, who: Candidate) -> str:
    lock = board.claim_of(issue) if rule is ClaimRule.TAKEN else None
    if lock is None or is_mine(lock, who.name, who.epoch, who.clone):
        return MET[rule]
    holder = named(lock.holder or "", lock.is_person)
    return f"{holder} has claimed it, but is no longer at work; others may take it over."


_ENDED = {
    ClaimRule.LEFT: "It is left to a person: that is the answer to {}.",
    ClaimRule.GAVE_UP: "Its runs at it failed, so another agent must continue.",
}


def _step(board: Board, issue: Issue, obstacle: Obstacle, who: Candidate) -> RuleStep:
    number = issue.number
    names = obstacle.names
    words, change = "", ""
    match obstacle.rule:
        case ClaimRule.BLOCKED:
            words = f"It waits until this is closed: {_blockers(board, issue)}."
            blockers = " ".join(f"--by {name.removeprefix('#')}" for name in names)
            change = f"agent-issue block {number} {blockers} --remove"
        case ClaimRule.PERSON:
            words = f"It waits for a person: it has the label {file(names[0])}."
            change = f"agent-issue edit {number} --remove-label {_shell_word(names[0])}"
        case ClaimRule.SPLIT:
            words = "It is an epic, so agents work on its parts."
            change = f"agent-issue edit {number} --remove-label {names[0]}"
        case ClaimRule.TAKEN:
            lock = board.claim_of(issue)
            words = f"{named(names[0], bool(lock and lock.is_person))} has claimed it."
            to = f" --to {who.name}" if who.name else ""
            change = f"agent-release {number}{to}" if lock and lock.name in board.loose else ""
        case ClaimRule.ASSIGNED:
            words = f"It is assigned to {', '.join(map(named, names))}."
            change = f"agent-issue assign {number} {who.name}"
        case ClaimRule.UNABLE:
            words = f"It requires {', '.join(map(file, names))}."
            change = f"agent-whoami --as {who.name} " + " ".join(
                f"--capability {_shell_word(name)}" for name in names
            )
        case ClaimRule.ASKED:
            words = (
                f"Agents could not finish it, and {file(names[0])} asks a person how to continue."
            )
            change = f"agent-answer {file(names[0])} TEXT"
        case ClaimRule.LEFT | ClaimRule.GAVE_UP:
            words = _ENDED[obstacle.rule].format(*map(file, names))
            change = f"agent-issue assign {number} {who.name or 'AGENT'}"
        case ClaimRule.STOPPED | ClaimRule.OUTSIDE:
            is_stopped = obstacle.rule is ClaimRule.STOPPED
            opened = f"{phrase(issue.author)} opened it without write access."
            words = "A person's comment stopped it." if is_stopped else opened
            change = f"agent-issue assign {number} {who.name or 'AGENT'}"
        case ClaimRule.SPENT:
            words = (
                f"The budget is used up: {names[0]}. You can still claim the issue by its number."
            )
            change = f"agent-claim {number} --as {who.name}"
        case ClaimRule.REVIEW:
            words = f"{names[0]} pull requests are open: `agents.openPulls` allows no new work."
            change = f"agent-issue assign {number} {who.name}"
    return RuleStep(obstacle.rule, False, words, change and f"ghp {change}")


def _shell_word(text: str) -> str:
    """Others' text as one word of a command that is safe to paste into a shell."""
    return quote(seen_line(text, LINE_LIMIT))


def _blockers(board: Board, issue: Issue) -> str:
    """The open issues that it waits for, and who has each."""
    blockers: dict[str, str] = {}
    for number in issue.blocked_by:
        blocker = board.by_number.get(number)
        if blocker is None:
            continue
        lock = board.claim_of(blocker)
        holder = named(lock.holder or "", lock.is_person) if lock else "nobody"
        blockers[short(blocker)] = f"{short(blocker)} {phrase(blocker.title, 60)} ({holder} has it)"
    return listed([*blockers.values()], SHOWN)
