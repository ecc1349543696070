"""The trace of the decision: doing exactly what it names makes an issue workable."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ghp_agents.budgets.budget import UsedUp
from ghp_agents.claims import decision
from ghp_agents.claims.claim import is_mine
from ghp_agents.claims.decision import Board, Candidate, ClaimRule
from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import Issue
from ghp_agents.jobs import explanation
from ghp_agents.jobs.explanation import Agent, KeptBack
from ghp_agents.locks.lock import Lock
from tests.support.thorough import count

OVER = UsedUp("day", "usd", 5.0, 4.0)
NAMES = ("worker-1", "worker-2", "worker-3")
LABELS = ("epic", "agent:needs-human", "needs:gpu", "needs:rust", "bug")
numbers = some.integers(1, 6).map(IssueNumber)


@some.composite
def boards(draw: some.DrawFn) -> Board:
    """Six issues, of which anything is known."""
    issues = [
        Issue(
            f"{number:08x}",
            IssueNumber(number),
            f"Issue {number}",
            blocked_by=tuple(sorted(draw(some.sets(numbers, max_size=2)) - {number})),
            labels=tuple(sorted(draw(some.sets(some.sampled_from(LABELS), max_size=3)))),
            assignees=tuple(sorted(draw(some.sets(some.sampled_from(NAMES), max_size=2)))),
            offered=draw(some.booleans()),
            priority=draw(some.sampled_from(["high", "low"])),
        )
        for number in range(1, 7)
    ]
    held = {
        int(number): Lock(
            f"issue/{number}", name, 1, draw(some.integers(0, 2)), Timestamp("2026-01-01"), "n"
        )
        for number, name in draw(some.dictionaries(numbers, some.sampled_from(NAMES))).items()
    }
    return Board(
        issues, held, {x.name for x in held.values() if draw(some.booleans())},
        {int(number): "E-1" for number in draw(some.sets(numbers, max_size=1))},
        draw(some.sets(numbers, max_size=2)), draw(some.sets(numbers, max_size=2)),
        gave_up={
            int(number): name
            for number, name in draw(some.dictionaries(numbers, some.sampled_from(NAMES))).items()
        },
        spent={x: OVER for x in draw(some.sets(some.sampled_from(["", "worker-1"])))},
        full=draw(some.sampled_from([0, 3])),
        left={int(number): "E-2" for number in draw(some.sets(numbers, max_size=1))},
        loose={x.name for x in held.values() if draw(some.booleans())},
    )  # fmt: skip


def changed(board: Board, who: Candidate, rule: ClaimRule, command: str) -> tuple[Board, Candidate]:
    """The board and the agent after a command; each does only what its words say."""
    fields = {name: getattr(board, name) for name in Board.__dataclass_fields__}
    words = shlex.split(command)
    assert words[0] == "ghp"
    verb, words = words[1], words[2:]
    if verb == "agent-whoami":
        assert words[:2] == ["--as", who.name]
        added = tuple(word for word in words[2:] if word != "--capability")
        return board, who._replace(capabilities=who.capabilities + added)
    if verb == "agent-answer":
        fields["last_resorts"] = {
            n: name for n, name in board.last_resorts.items() if name != words[0]
        }
        return Board(**fields), who
    number = int(words[0] if verb in ("agent-release", "agent-claim") else words[1])
    issue = board.by_number[IssueNumber(number)]
    if verb == "agent-release":
        holder = board.held[number].holder
        assert words[1:] == ["--to", who.name]
        mine = board.held[number]._replace(holder=who.name, epoch=who.epoch, clone=who.clone)
        fields["held"] = {**board.held, number: mine}
        left = tuple(name for name in issue.assignees if name != holder)
        issue = issue._replace(assignees=(*left, who.name))
    elif verb == "agent-claim":
        assert words[1:] == ["--as", who.name]
        mine = Lock(f"issue/{number}", who.name, 1, who.epoch, Timestamp("2026-01-01"), who.clone)
        before = board.held[number].holder if number in board.held else ""
        fields["held"] = {**board.held, number: mine}
        left = tuple(name for name in issue.assignees if name != before)
        issue = issue._replace(assignees=(*left, who.name))
    elif words[0] == "block":
        removed = {int(word) for word in words[2:] if word.isdigit()}
        issue = issue._replace(blocked_by=tuple(set(issue.blocked_by) - removed))
    elif words[0] == "edit":
        assert words[2] == "--remove-label"
        issue = issue._replace(labels=tuple(x for x in issue.labels if x != words[3]))
    elif words[0] == "assign":
        offered = issue.offered or rule is ClaimRule.OUTSIDE  # a maintainer assigns it
        issue = issue._replace(assignees=(*issue.assignees, words[2]), offered=offered)
    fields["issues"] = [issue if other.number == number else other for other in board.issues]
    return Board(**fields), who


@pytest.mark.slow
@settings(max_examples=count(300, sample=100), deadline=None)
@given(boards(), numbers, some.sampled_from([(), ("rust",), ("rust", "gpu")]))
def test_doing_exactly_what_is_named_makes_the_issue_workable(
    board: Board, number: IssueNumber, capabilities: tuple[str, ...]
) -> None:
    who = Candidate("worker-1", 1, "", capabilities)
    steps = explanation.trace(board, board.by_number[number], who)
    assert [step.rule for step in steps] == [*ClaimRule]
    left = [step.rule for step in steps if not step.is_met and not step.change]
    claim = board.claim_of(board.by_number[number])
    is_taken = (
        claim is not None
        and claim.name in board.living - board.loose
        and not is_mine(claim, who.name, who.epoch, who.clone)
    )
    assert left == [ClaimRule.TAKEN] * is_taken, "only healthy work of another is left alone"
    assert not any(step.change for step in steps if step.is_met)
    for step in steps:
        if step.change:
            board, who = changed(board, who, step.rule, step.change)
    obstacles = decision.obstacles(board, board.by_number[number], who)
    assert {obstacle.rule for obstacle in obstacles} <= {*left}


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(boards(), numbers)
def test_each_single_change_meets_its_rule_and_breaks_no_other(
    board: Board, number: IssueNumber
) -> None:
    who = Candidate("worker-1", 1, "", ("rust",))
    steps = explanation.trace(board, board.by_number[number], who)
    unmet = {step.rule for step in steps if not step.is_met}
    for step in steps:
        if step.change:
            after, then = changed(board, who, step.rule, step.change)
            left = {x.rule for x in decision.obstacles(after, after.by_number[number], then)}
            assert step.rule not in left
            assert left <= unmet


@pytest.mark.slow
@given(boards())
def test_an_agents_explanation_counts_every_open_issue_once(board: Board) -> None:
    who = Candidate("worker-1", 1, "", ("rust",))
    kept = [name for group in explanation.kept_back(board, who) for name in group.issues]
    able = [f"#{issue.number}" for issue in decision.workable(board, who)]
    claims = ((issue, board.claim_of(issue)) for issue in board.issues)
    own = [f"#{x.number}" for x, lease in claims if lease and is_mine(lease, "worker-1", 1, "")]
    assert len(kept) == len({*kept} - {*able} - {*own})
    assert sorted({*kept, *able, *own}) == [f"#{number}" for number in range(1, 7)]


def test_agents_that_can_come_first_and_say_what_they_would_do_before() -> None:
    issues = [
        Issue("0a", IssueNumber(1), "First", priority="high"),
        Issue("0b", IssueNumber(2), "Second", labels=("needs:gpu",)),
    ]
    agents = [
        Agent(Candidate("worker-1", 1, "", ("rust",)), "active"),
        Agent(Candidate("worker-2"), "active"),
        Agent(Candidate("worker-3"), "active", told_to_stop=True),
    ]
    turns = explanation.turns(Board(issues), issues[1], agents)
    assert [(x.agent.candidate.name, x.can, x.before) for x in turns] == [
        ("worker-2", True, ("#1",)),
        ("worker-1", False, ()),
        ("worker-3", False, ("#1",)),
    ]
    assert [step.words for step in turns[1].steps] == ["It requires gpu."]
    assert explanation.kept_back(Board(issues), agents[0].candidate) == [
        KeptBack(ClaimRule.UNABLE, ("#2",))
    ]


def test_capabilities_of_others_are_safe_words_of_a_shell() -> None:
    hostile = "x$(touch /tmp/a); `reboot` 'b"
    board = Board([Issue("1", IssueNumber(1), "One", labels=(f"needs:{hostile}",), offered=True)])
    who = Candidate("worker-1", capabilities=("rust",))
    [step] = [x for x in explanation.trace(board, board.issues[0], who) if not x.is_met]
    assert shlex.split(step.change)[-2:] == ["--capability", hostile]
