"""The queue: all that is ready is merged in batches, whatever fails, moves or dies meanwhile."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.pulls.check import Check
from ghp_agents.pulls.merging import merge, merge_queue, unfinished_merges
from ghp_agents.pulls.merging.merge import Merged, Outcome
from ghp_agents.pulls.merging.merge_batch import Passed
from ghp_agents.pulls.merging.send_back import SentBack
from ghp_agents.pulls.run_checks import Tell
from tests.support.git import commit, git, refs
from tests.support.repos import Restored
from tests.support.road import Road, with_issue, with_shared_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


@pytest.fixture
def shared(restored: Restored) -> Road:
    return Road(restored(with_shared_issue).clones[0])


def fill(road: Road, *files: Mapping[str, str]) -> list[int]:
    """A finished pull request with each of these; returns the numbers of their issues."""
    numbers = [1, *(road.issue(f"Issue {n}").number for n in range(1, len(files)))]
    for name, (number, changes) in enumerate(zip(numbers, files, strict=True), start=1):
        road.done(f"worker-{name}", number, changes)
    return numbers


def runs(folder: Path) -> str:
    """A check that fails for files named `bad-*` and notes each of its runs."""
    return f"echo run >> {folder.parent}/runs; ! ls bad-* 2> /dev/null"


def count(folder: Path) -> int:
    """How often the check ran."""
    path = folder.parent / "runs"
    return len(path.read_text().splitlines()) if path.exists() else 0


def kinds(outcomes: Sequence[object]) -> list[str]:
    """What became of each."""
    return [type(outcome).__name__ for outcome in outcomes]


# ------------------------------------------------------------------------------ one batch


@pytest.mark.slow
@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_batch_is_checked_once_and_moves_main_once(road: Road, method: str) -> None:
    road.configure({"checks": [runs(road.folder)], "mergeMethod": method})
    fill(road, {"a.txt": "one\n"}, {"b.txt": "two\n"}, {"c.txt": "three\n"})
    before = len(git(road.folder, "reflog", "main").splitlines())
    done = count(road.folder)
    outcomes = road.queue()
    assert kinds(outcomes) == ["Merged", "Merged", "Merged"]
    assert count(road.folder) == done + 1
    assert len(git(road.folder, "reflog", "main").splitlines()) == before + 1
    assert {"a.txt", "b.txt", "c.txt"} <= {*road.trunk}
    tracker = road.house("@me").tracker
    assert [tracker.get(n).state for n in (1, 2, 3)] == ["closed"] * 3
    assert outcomes[-1].pull.merged_as == road.tip


@pytest.mark.slow
def test_each_pull_request_is_a_merge_of_its_own_with_its_own_paths(shared: Road) -> None:
    fill(shared, {"a.txt": "one\n"}, {"b.txt": "two\n"})
    first, second = (one.pull for one in shared.queue())
    assert git(shared.folder, "log", "-2", "--first-parent", "--format=%H", shared.tip).split() == [
        second.merged_as,
        first.merged_as,
    ]
    assert (first.paths, second.paths) == (("a.txt",), ("b.txt",))


@pytest.mark.slow
def test_the_size_of_a_batch_is_a_setting(road: Road) -> None:
    road.configure({"checks": [runs(road.folder)], "mergeBatch": 2})
    fill(road, *({f"{n}.txt": "new\n"} for n in range(5)))
    done = count(road.folder)
    assert kinds(road.queue()) == ["Merged"] * 5
    assert count(road.folder) == done + 3


@pytest.mark.slow
def test_what_conflicts_with_the_batch_waits_for_the_next_one(road: Road) -> None:
    road.configure({"checks": ["true"]})
    fill(road, {"a.txt": "one\n"}, {"a.txt": "two\n"}, {"c.txt": "three\n"})
    outcomes = road.queue()
    assert [(type(x).__name__, x.pull.issue) for x in outcomes] == [
        ("Merged", 1),
        ("Merged", 3),
        ("SentBack", 2),  # it conflicts with main now
    ]


# ------------------------------------------------------------------------------- red ones


@pytest.mark.slow
def test_one_red_among_sixteen_goes_back_alone_after_six_runs(road: Road) -> None:
    files = [{f"{n}.txt": "new\n"} for n in range(16)]
    fill(road, *files[:6], {"bad-7": "\n"}, *files[7:])
    road.configure({"checks": [runs(road.folder)], "mergeBatch": 16})
    outcomes = road.queue()
    assert sorted(kinds(outcomes)) == ["Merged"] * 15 + ["SentBack"]
    assert count(road.folder) <= 6
    assert "bad-7" not in road.trunk
    back = outcomes[-1]
    assert isinstance(back, SentBack)
    assert (back.pull.issue, back.returned.reason, back.returned.agent) == (7, "checks", "worker-7")
    assert "bad-7" in back.returned.text
    assert "Checked together with #17, #18" in back.returned.text


@pytest.mark.slow
def test_three_red_ones_go_back_and_thirteen_are_merged(road: Road) -> None:
    red = (2, 9, 16)
    fill(road, *({f"bad-{n}" if n in red else f"{n}.txt": "new\n"} for n in range(1, 17)))
    road.configure({"checks": [runs(road.folder)]})
    outcomes = road.queue()
    assert sorted(kinds(outcomes)) == ["Merged"] * 13 + ["SentBack"] * 3
    assert {x.pull.issue for x in outcomes if isinstance(x, SentBack)} == {*red}


@pytest.mark.slow
def test_what_went_back_is_passed_over_until_something_moves(road: Road) -> None:
    fill(road, {"a.txt": "one\n"}, {"bad-2": "two\n"})
    road.configure({"checks": [runs(road.folder)]})
    assert kinds(road.queue()) == ["Merged", "SentBack"]
    ran = count(road.folder)
    (passed,) = road.queue()
    assert isinstance(passed, Passed)
    assert (passed.pull.issue, count(road.folder)) == (2, ran)


@pytest.mark.slow
def test_a_check_that_fails_once_sends_nobody_back(road: Road) -> None:
    fill(road, {"a.txt": "one\n"}, {"b.txt": "two\n"})
    once = road.folder.parent / "once"
    road.configure({"checks": [f"test -e {once} || {{ touch {once}; exit 1; }}"]})
    assert kinds(road.queue()) == ["Merged", "Merged"]


# ----------------------------------------------------------------------- moved and killed


@pytest.mark.slow
def test_it_says_what_is_checked_again_and_what_failed(road: Road) -> None:
    fill(road, {"a.txt": "one\n"}, {"bad-2": "two\n"})
    road.configure({"checks": ["! test -e bad-2"]})
    lines: list[str] = []
    first, second = (outcome.pull.number for outcome in queue(road, lines.append))
    together = f"#{first} and #{second} together"
    assert [line for line in lines if not line.startswith("Running ")] == [
        f"Checking {together}.",
        f"{together}: `! test -e bad-2` failed with 1.",
        f"Checking {together} again.",
        f"{together}: `! test -e bad-2` failed with 1.",
    ]


@pytest.mark.slow
def test_where_main_itself_fails_nobody_is_sent_back(road: Road) -> None:
    road.configure({"checks": [runs(road.folder)]})
    fill(road, {"a.txt": "one\n"}, {"b.txt": "two\n"})
    road.put({"bad-main": "x\n"})
    output = road.folder / ".git/ghp/checks/main.txt"
    failed = Check(runs(road.folder), 1).line
    why = f"On main itself, {failed}, so no pull request is sent back for it."
    outcomes = road.queue()
    assert kinds(outcomes) == ["Passed", "Passed"]
    assert {(one.why, one.hint) for one in outcomes if isinstance(one, Passed)} == {
        (why, f"Repair main first. The output is in {output}.")
    }
    merger, before = road.merger(), count(road.folder)
    assert kinds([*merge_queue.merge_queue(merger)]) == ["Passed", "Passed"]
    once = count(road.folder)
    assert kinds([*merge_queue.merge_queue(merger)]) == ["Passed", "Passed"]
    assert count(road.folder) == once > before  # nothing has changed
    with pytest.raises(RefusedError, match="On main itself"):
        road.merge(1, "@me")
    git(road.folder, "rm", "--quiet", "bad-main")
    git(road.folder, "commit", "--quiet", "--message", "Repair")
    assert kinds(road.queue()) == ["Merged", "Merged"]


def queue(road: Road, tell: Tell) -> list[Outcome | Passed]:
    """The queue, which tells what it does."""
    merger = merge.merger(road.house("lead"), cwd=road.folder, tell=tell)
    return list(merge_queue.merge_queue(merger))


@pytest.mark.slow
def test_a_branch_that_moves_during_the_check_is_checked_again(road: Road) -> None:
    fill(road, {"a.txt": "one\n"}, {"b.txt": "two\n"})
    road.configure({"checks": [runs(road.folder)]})
    lines: list[str] = []

    def tell(text: str) -> None:
        if text.startswith("Running") and len(lines) < 2:
            road.put({"c.txt": "theirs\n"})
        lines.append(text)

    assert kinds(queue(road, tell)) == ["Merged", "Merged"]
    assert [line for line in lines if "again" in line] == [
        "Cannot merge #3: main has moved since it was checked. Checking it again."
    ]
    assert {"a.txt", "b.txt", "c.txt"} <= {*road.trunk}
    assert count(road.folder) == 2


@pytest.mark.slow
def test_killed_before_the_records_the_next_one_completes_them(road: Road) -> None:
    fill(road, {"a.txt": "one\n"}, {"b.txt": "two\n"})
    state = road.folder / ".git/ghp/state.git"
    before = refs(state, "refs/ghp/clone")
    assert kinds(road.queue()) == ["Merged", "Merged"]
    tip = road.tip
    for ref, was in before.items():  # no record was written
        git(state, "update-ref", ref, was)
    again = road.queue()
    assert [(type(x), x.before) for x in again if isinstance(x, Merged)] == [(Merged, True)] * 2
    assert road.tip == tip
    tracker = road.house("@me").tracker
    assert [tracker.get(n).state for n in (1, 2)] == ["closed", "closed"]


@pytest.mark.slow
def test_killed_before_the_clean_up_the_next_one_completes_it(road: Road) -> None:
    fill(road, {"a.txt": "one\n"}, {"b.txt": "two\n"}, {"c.txt": "three\n"})
    house = road.house("lead")
    unfinished_merges.note(house.ws, [4, 5, 6])
    for pull in house.forge.list()[:2]:
        house.forge.merge(pull.number, house.ws.actor(), head=pull.head)
    again = road.queue()
    assert [(x.pull.number, x.before) for x in again if isinstance(x, Merged)] == [
        (4, True),
        (5, True),
        (6, False),
    ]
    house = road.house("@me")
    assert [house.tracker.get(n).state for n in (1, 2, 3)] == ["closed"] * 3
    assert [len(house.tracker.get(n).comments) for n in (1, 2, 3)] == [1, 1, 1]
    assert unfinished_merges.read(house.ws) == []
    assert road.queue() == []


@pytest.mark.slow
def test_one_that_may_not_be_merged_does_not_stop_the_others(road: Road) -> None:
    fill(road, {"a.txt": "one\n"}, {"b.txt": "two\n"}, {"c.txt": "three\n"})
    branch = "agent/worker-2/2-issue-1"
    git(road.folder, "worktree", "remove", "--force", str(road.place(branch)))
    git(road.folder, "branch", "--quiet", "-D", branch)
    outcomes = road.queue()
    assert [(type(x).__name__, x.pull.issue) for x in outcomes] == [
        ("Passed", 2),
        ("Merged", 1),
        ("Merged", 3),
    ]


# ----------------------------------------------------------------------------- the whole


@pytest.mark.slow
def test_the_queue_merges_all_that_are_ready_and_is_held_up_by_none(road: Road) -> None:
    for number in range(2, 6):
        road.issue(f"Issue {number}")
    numbers = [issue.number for issue in road.house("@me").tracker.list()]
    road.done("worker-1", numbers[0], {"a.txt": "one\n"})
    road.done("worker-2", numbers[1], {"a.txt": "two\n"})  # conflicts with the first
    place = road.start("worker-3", numbers[2]).path
    commit(place, {"c.txt": "three\n"})
    road.finish("worker-3", place, draft=True)
    road.done("worker-4", numbers[3], {"d.txt": "four\n"})
    outcomes = road.queue()
    assert [type(one).__name__ for one in outcomes] == ["Merged", "Merged", "SentBack"]
    assert road.trunk == ["README.md", "a.txt", "d.txt"]
    assert [(type(one), one.pull.issue) for one in road.queue()] == [(Passed, numbers[1])]
    road.put({"README.md": "changed\n"})
    (back,) = road.queue()
    assert isinstance(back, SentBack)
    assert back.round == 1  # the agent has not tried again


@pytest.mark.slow
def test_an_empty_queue_takes_no_right(road: Road) -> None:
    assert road.queue() == []
    assert road.house("@me").locks.read("trunk") is None


# ------------------------------------------------------------------------------ serving it


@pytest.mark.slow
def test_it_is_served_again_when_something_changes(road: Road) -> None:
    fill(road, {"a.txt": "one\n"})
    rounds = iter(merge_queue.watch_queue(road.merger(), lambda: None))
    assert kinds(next(rounds)) == ["Merged"]
    number = road.issue("Another").number
    road.done("worker-2", number, {"b.txt": "two\n"})
    began = road.clock.now()
    assert kinds(next(rounds)) == ["Merged"]
    assert road.clock.now() - began == merge_queue.PAUSE
    lock = road.house("@me").locks.read("trunk")
    assert lock is not None
    assert lock.holder is None


@pytest.mark.slow
def test_nothing_is_tried_again_while_nothing_changes_and_no_reason_is_repeated(
    road: Road,
) -> None:
    fill(road, {"bad-1": "one\n"})
    road.configure({"checks": [runs(road.folder)]})
    merger = merge.merger(road.house("lead"), cwd=road.folder)
    rounds = iter(merge_queue.watch_queue(merger, lambda: None))
    assert kinds(next(rounds)) == ["SentBack"]
    began, ran = road.clock.now(), count(road.folder)
    assert kinds(next(rounds)) == ["Passed"]  # it says once that it waits
    assert road.clock.now() - began >= merge_queue.RETRY
    assert kinds(next(rounds)) == []
    assert count(road.folder) == ran


@pytest.mark.slow
def test_while_somebody_else_merges_it_waits(road: Road) -> None:
    fill(road, {"a.txt": "one\n"})
    other = road.house("other").locks.acquire("trunk", "@ann", expected=None, reason="merges #9")
    lines: list[str] = []
    merger = merge.merger(road.house("lead"), cwd=road.folder, tell=lines.append, unchecked=True)
    rounds = iter(merge_queue.watch_queue(merger, lambda: None))
    assert next(rounds) == []
    assert "has been merging since" in lines[0]
    road.house("other").locks.release("trunk", expected=other)
    assert kinds(next(rounds)) == ["Merged"]
