"""The decision for all agents at once."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ghp_agents.claims import decision
from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import Issue
from ghp_agents.jobs import room
from ghp_agents.jobs.dispatch_plan import (
    DEAD,
    NO_ROOM,
    NOBODY_ABLE,
    WAITS_FOR_DEAD,
    Assignment,
    Limits,
    doubled,
    plan,
)
from ghp_agents.jobs.explanation import Agent
from ghp_agents.locks.lock import Lock
from tests.support.thorough import count

ONCE = Limits()
NAMES = ("worker-1", "worker-2", "worker-3")


def issue(number: int, **fields: object) -> Issue:
    return Issue(f"{number:08x}", IssueNumber(number), f"Issue {number}")._replace(**fields)  # type: ignore[arg-type]


def agent(name: str, *capabilities: str, **fields: object) -> Agent:
    result = Agent(Candidate(name, 1, "", capabilities), "active")
    return result._replace(**fields)  # type: ignore[arg-type]


def planned(
    issues: list[Issue], agents: list[Agent], given: dict[int, str] | None = None,
    limits: Limits = ONCE, done: tuple[Issue, ...] = (),
) -> tuple[list[tuple[int, str, str]], dict[str, int]]:  # fmt: skip
    board = Board(issues, done=lambda: done)
    result = plan(board, agents, given or {}, limits)
    return [(x.issue.number, x.to, x.why) for x in result.assignments], dict(result.waiting)


def test_the_most_urgent_goes_to_who_has_the_least_and_the_rest_waits() -> None:
    issues = [
        issue(1, priority="low"),
        issue(2, priority="high"),
        issue(3, priority="high", body="## Due\n\n2026-12-31"),
        issue(4, labels=("epic",)),
        issue(5, blocked_by=(1,)),
    ]
    agents = [agent("worker-1", holds=("#9",)), agent("worker-2")]
    assert planned(issues, agents) == (
        [(3, "worker-2", "priority high, due 2026-12-31, its issue 1 of 1")],
        {"waiting for an agent with room": 2, "blocked by another issue": 1,
         "split into other issues": 1},
    )  # fmt: skip
    assert [x[:2] for x in planned(issues, agents, limits=Limits(2))[0]] == [
        (3, "worker-2"), (2, "worker-1"), (1, "worker-2"),
    ]  # fmt: skip


def test_what_a_dead_agent_has_is_no_work_in_progress() -> None:
    claim = Lock("issue/1", "worker-1", 1, 1, Timestamp("2026-01-01"), "n")
    person = Lock("issue/3", "Ann", 1, 0, Timestamp("2026-01-01"), "n")
    issues = [issue(1), issue(2, assignees=("worker-1",)), issue(3)]
    gone = agent("worker-1", liveness="dead")
    board = Board(issues, {1: claim, 3: person})
    assert dict(plan(board, [gone], {}, ONCE).waiting) == {DEAD: 1, WAITS_FOR_DEAD: 1}
    alive = Board(issues, {1: claim, 3: person}, {"issue/1"})
    assert dict(plan(alive, [agent("worker-1")], {}, ONCE).waiting) == {}


def test_of_two_dispatches_the_last_one_counts() -> None:
    both = issue(1, assignees=("worker-1", "worker-2"))
    by_hand = issue(2, assignees=("worker-1", "worker-3"))
    chosen = {1: ["worker-2", "worker-1"], 2: ["worker-1"]}
    assert [*doubled([both, by_hand], chosen)] == [
        Assignment(both, "", "worker-1 got it from another dispatch", ("worker-2",))
    ]


def test_who_knows_an_issues_relations_gets_it() -> None:
    issues = [issue(1), issue(2, parent=7)]
    done = (issue(6, parent=7, state="closed", assignees=("worker-2",)),)
    agents = [agent("worker-1"), agent("worker-2")]
    assert planned(issues, agents, done=done)[0] == [
        (2, "worker-2", "priority medium, it knows 1 of its relations, its issue 1 of 1"),
        (1, "worker-1", "priority medium, its issue 1 of 1"),
    ]


def test_only_agents_that_can_do_it_and_can_act_get_it() -> None:
    issues = [issue(1, labels=("needs:gpu",))]
    cannot = [
        agent("worker-1", "rust"),
        agent("worker-2", "gpu", told_to_stop=True),
        agent("worker-3", "gpu", liveness="dead"),
    ]
    assert planned(issues, cannot) == ([], {NOBODY_ABLE: 1})
    full = [*cannot, agent("worker-4", "gpu", holds=("#2",))]
    assert planned(issues, full) == ([], {NO_ROOM: 1})
    assert planned(issues, [*full, agent("worker-5", "GPU")])[0][0][:2] == (1, "worker-5")


def test_nothing_is_given_out_while_too_many_pull_requests_wait() -> None:
    waits = plan(Board([issue(1)], full=3), [agent("worker-1")], {}, ONCE)
    assert waits == ([], {"waiting until pull requests are merged": 1})


def test_the_queue_of_a_dead_or_stopped_agent_goes_to_others_but_not_what_people_gave() -> None:
    issues = [issue(number, assignees=("worker-1",)) for number in (1, 2)]
    dead = agent("worker-1", liveness="dead")
    given = {1: "worker-1"}
    assert planned(issues, [dead, agent("worker-2")], given)[0] == [
        (1, "worker-2", "worker-1 is dead; priority medium, its issue 1 of 1")
    ]
    stopped = agent("worker-1", told_to_stop=True)
    assert planned(issues, [stopped], given)[0] == [(1, "", "worker-1 was told to stop")]
    assert planned(issues, [dead, agent("worker-2")], {1: "worker-2"})[0] == []


def test_an_agent_with_too_much_loses_the_least_urgent_that_it_was_given() -> None:
    issues = [
        issue(1, assignees=("worker-1",), priority="low"),
        issue(2, assignees=("worker-1",), priority="high"),
    ]
    given = {1: "worker-1", 2: "worker-1"}
    agents = [agent("worker-1"), agent("worker-2")]
    assert planned(issues, agents, given)[0] == [
        (1, "worker-2", "worker-1 has too much; priority low, its issue 1 of 1")
    ]
    assert planned(issues, agents, given, Limits(2))[0] == []
    busy = [agent("worker-1", holds=("#9",))]
    assert planned(issues, busy, given, Limits(2))[0] == [(1, "", "worker-1 has too much")]


NUMBERS, NAME = some.integers(1, 10), some.sampled_from(NAMES)
ISSUE = some.tuples(
    some.sampled_from(["high", "low"]),
    some.sampled_from([None, 50, 51]),
    some.sets(NUMBERS, max_size=1),
    some.sampled_from([(), ("epic",), ("needs:gpu",)]),
    some.sets(NAME, max_size=2).map(lambda names: tuple(sorted(names))),
)
ABLE = some.sampled_from([(), ("gpu",), ("rust",)])
LIVENESS = some.sampled_from(["active", "dead"])
SOME_NAMES = some.dictionaries(NUMBERS, NAME)


@some.composite
def worlds(draw: some.DrawFn) -> tuple[Board, list[Agent], dict[int, str], int]:
    """Ten issues and three agents, of which anything is known."""
    issues = []
    for number in range(1, 11):
        priority, parent, blocked_by, labels, assignees = draw(ISSUE)
        issues.append(
            issue(
                number, priority=priority, parent=parent, labels=labels, assignees=assignees,
                blocked_by=tuple(blocked_by - {number}),
            )
        )  # fmt: skip
    held = {
        number: Lock(f"issue/{number}", name, 1, 1, Timestamp("2026-01-01"), "n")
        for number, name in draw(SOME_NAMES).items()
    }
    board = Board(
        issues, held, {lock.name for lock in held.values()},
        done=lambda: [issue(90, parent=50, assignees=("worker-2",))],
    )  # fmt: skip
    agents = [
        agent(
            name,
            *draw(ABLE),
            liveness=draw(LIVENESS),
            holds=tuple(f"#{number}" for number, lock in held.items() if lock.holder == name),
        )
        for name in NAMES
    ]
    given = draw(SOME_NAMES)
    return board, agents, given, draw(some.integers(1, 3))


@pytest.mark.slow
@settings(max_examples=count(300, sample=100), deadline=None)
@given(worlds())
def test_what_is_given_can_be_claimed_within_the_limits_and_nobody_with_room_starves(
    world: tuple[Board, list[Agent], dict[int, str], int],
) -> None:
    board, agents, earlier, most = world
    dispatch = plan(board, agents, earlier, Limits(most))
    changed = {x.issue.number: (x.to,) if x.to else () for x in dispatch.assignments}
    assert len(changed) == len(dispatch.assignments)
    after = Board(
        [x._replace(assignees=changed.get(x.number, x.assignees)) for x in board.issues],
        board.held, board.living,
    )  # fmt: skip
    load = {
        item.candidate.name: len(item.holds)
        + sum(x.assignees == (item.candidate.name,) and not after.claim_of(x) for x in after.issues)
        for item in agents
    }
    for item in dispatch.assignments:
        receiver = next((x for x in agents if x.candidate.name == item.to), None)
        now = after.by_number[item.issue.number]
        if receiver:
            assert receiver.is_alive
            assert load[item.to] <= most
            assert [*decision.obstacles(after, now, receiver.candidate)] == []
        assert all(earlier[item.issue.number] == name for name in item.was)
    free = [x for x in after.issues if not x.assignees and not after.claim_of(x)]
    with_room = [x for x in agents if x.is_alive and load[x.candidate.name] < most]
    for idle in with_room:
        assert not any(not [*decision.obstacles(after, x, idle.candidate)] for x in free)
    again = plan(
        after, agents, earlier | {n: to[0] for n, to in changed.items() if to}, Limits(most)
    )
    assert again.assignments == []


def without(board: Board, one: Agent, command: str) -> tuple[Board, Agent]:
    """The board and the agent after a command that takes an issue from it."""
    words = shlex.split(command)
    number = int(words[2] if words[1] == "agent-release" else words[3])
    assert words[1] == "agent-release" or words[4:] == ["worker-2", "--remove"]
    issues = [x._replace(assignees=()) if x.number == number else x for x in board.issues]
    held = {n: lock for n, lock in board.held.items() if n != number}
    holds = tuple(name for name in one.holds if name != f"#{number}")
    return Board(issues, held, board.living), one._replace(holds=holds)


@pytest.mark.slow
@settings(max_examples=count(200, sample=70), deadline=None)
@given(worlds(), some.booleans())
def test_an_agent_gets_work_if_it_has_room_and_after_what_is_named_it_has_room(
    world: tuple[Board, list[Agent], dict[int, str], int], must_finish: bool
) -> None:
    board, agents, _, most = world
    own = issue(99, labels=("needs:own",))  # for it alone
    board = Board([*board.issues, own], board.held, board.living)
    one = agents[1]._replace(liveness="active", candidate=Candidate("worker-2", 1, "", ("own",)))

    def gets(board: Board, one: Agent) -> bool:
        team = [agent("worker-1", "rust"), one, agent("worker-3", "rust")]
        return any(x.to == "worker-2" for x in plan(board, team, {}, Limits(most)).assignments)

    space = room.of_agent(board, one, most)._replace(must_finish=must_finish)
    assert gets(board, one) is (space.left > 0)
    commands = room.changes(space, "worker-2")
    if must_finish and len(space.claimed) >= most:
        assert commands == [], "only when it has finished work it has room"
        return
    assert bool(commands) is (space.left < 1)
    for command in commands:
        assert not gets(board, one)
        board, one = without(board, one, command)
    assert gets(board, one)
    assert room.of_agent(board, one, most).left == max(1, space.left)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(worlds())
def test_for_one_idle_agent_it_decides_as_claim_next(
    world: tuple[Board, list[Agent], dict[int, str], int],
) -> None:
    board, agents, _, _ = world
    one = agents[1]._replace(liveness="active", holds=())
    free = [x for x in board.issues if not x.assignees and x.number not in board.held]
    unclaimed = Board(free, done=board.done)
    who = one.candidate
    expected = decision.best(unclaimed, decision.workable(unclaimed, who), who)
    assignments = plan(unclaimed, [one], {}, Limits()).assignments
    assert [x.issue for x in assignments] == ([expected] if expected else [])
