"""A review that is asked for by a message, in two clones: its verdict is on the pull request."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git
from tests.support.repos import Restored, Site
from tests.support.road import Road, merged

Clones = Callable[[int], list[Path]]
Pair = tuple[Road, Road]
REQUIRED = "#2 needs an approval by another agent or a person, and {}."


def opened(site: Site) -> None:
    """worker-1, who has a pull request for #1 in its clone, and worker-2 in another clone."""
    one, two = map(Road, site.make_clones())
    for road, name in ((one, "worker-1"), (two, "worker-2")):
        who = f"agent-whoami --set {name}"
        succeed(road.folder, who, "agent-heartbeat", "agent-sync", clock=road.clock)
    one.configure({"review": "required"})
    git(two.folder, "pull", "--quiet")
    one.issue("Parse files")
    one.done("worker-1", 1, {"a.txt": "one\n"})
    exchange(one, two)


@pytest.fixture
def pair(restored: Restored) -> Pair:
    one, two = map(Road, restored(opened).clones)
    return one, two


def exchange(*roads: Road) -> None:
    for road in (*roads, *roads[:-1]):
        road.sync()


def run(road: Road, *words: str) -> tuple[int, str, str]:
    done = invoke(words, road.folder, clock=road.clock)
    return done.code, done.out, re.sub(r"(?<!M-)\b[0-9a-f]{12}\b", "COMMIT", done.err)


def asked(pair: Pair, *more: str) -> str:
    """The id of a review of #1 that worker-1 asks worker-2 for; worker-2 knows of it."""
    words = ("worker-2", "Review the parser", "--kind", "review", "--issue", "1", *more)
    code, out, err = run(pair[0], "agent-send", *words)
    assert code == 0, err
    exchange(*pair)
    return out.strip()


def refusal(road: Road) -> str:
    with pytest.raises(RefusedError) as caught:
        road.merge(1)
    return str(caught.value)


@pytest.mark.slow
def test_an_approval_by_message_is_one_of_the_pull_request_in_both_clones(pair: Pair) -> None:
    one, two = pair
    name = asked(pair)
    head = one.house("@me").forge.get(2).head
    news = run(two, "agent-status")[1]
    assert f"Review {name} by agent worker-1 about #1, pull request #2 at {head[:12]}:" in news
    assert f"`ghp agent-inbox done {name} --verdict approve|changes --result TEXT`" in news
    assert refusal(one) == REQUIRED.format("nobody else has approved this commit")
    done = ("agent-inbox", "done", name, "--verdict", "approve", "--result", "Reads well")
    assert run(two, *done) == (
        0, "",
        f"✓ Completed {name} from worker-1: Review the parser\nYou approved #2 at COMMIT.\n",
    )  # fmt: skip
    exchange(two, one)
    assert run(one, "agent-status")[1].endswith(
        f"agent worker-2 has approved #2 at {head[:12]}, as asked by your {name} "
        "«Review the parser»:\n> Reads well\n"
    )
    merged(one.merge(1))


@pytest.mark.slow
def test_a_request_for_changes_holds_the_merge_and_its_author_reads_it_once(pair: Pair) -> None:
    one, two = pair
    name = asked(pair)
    words = ("agent-inbox", "done", name, "--verdict", "changes")
    assert run(two, *words) == (
        2, "", "Error: Say what should change.\nHint: Add --result TEXT.\n",
    )  # fmt: skip
    assert run(two, *words, "--result", "Add a test")[0] == 0
    assert run(two, *words, "--result", "Add a test") == (
        0, "", f"{name} was reported before.\nYou requested changes to #2 at COMMIT.\n",
    )  # fmt: skip
    exchange(two, one)
    assert run(one, "agent-status")[1].count("Add a test") == 1
    assert refusal(one) == REQUIRED.format("worker-2 requested changes")
    comments = one.house("@me").tracker.get(1).comments
    assert [x.author for x in comments if "Add a test" in x.body] == ["worker-2"]


@pytest.mark.slow
def test_a_verdict_is_about_the_commit_that_was_to_be_reviewed(pair: Pair) -> None:
    one, two = pair
    name = asked(pair)
    place = one.start("worker-1").path
    commit(place, {"b.txt": "two\n"})
    one.finish("worker-1", place)
    exchange(*pair)
    done = run(two, "agent-inbox", "done", name, "--verdict", "approve")
    assert done[2].endswith(
        "Warning: #2 has other commits by now. The verdict is about COMMIT, as asked.\n"
    )
    exchange(two, one)
    assert refusal(one) == REQUIRED.format("nobody else has approved this commit")


@pytest.mark.slow
def test_nobody_approves_its_own_work_by_a_message(pair: Pair) -> None:
    one, _ = pair
    words = ("worker-1", "Review", "--kind", "review", "--issue", "1", "--as", "@me")
    name = run(one, "agent-send", *words)[1].strip()
    code, _, err = run(one, "agent-inbox", "done", name, "--verdict", "approve")
    assert (code, err.splitlines()[0]) == (3, "Error: #2 is your own work.")
    assert refusal(one) == REQUIRED.format("nobody else has approved this commit")


@pytest.mark.slow
def test_a_verdict_without_a_pull_request_is_told_to_the_sender_only(pair: Pair) -> None:
    one, two = pair
    one.issue("Print files")
    words = ("worker-2", "Review", "--kind", "review", "--issue", "3")
    code, name, err = run(one, "agent-send", *words)
    note = "The review names no pull request: There is no pull request for #3."
    assert (code, err.splitlines()[1]) == (0, f"Warning: {note}")
    exchange(*pair)
    done = run(two, "agent-inbox", "done", name.strip(), "--verdict", "approve")
    assert done[2].splitlines()[1] == f"Warning: {note} Only its sender gets the verdict."
    exchange(two, one)
    assert (
        f"agent worker-2 has approved your {name.strip()} «Review»."
        in (run(one, "agent-status")[1])
    )


@pytest.mark.slow
def test_only_a_review_has_a_verdict(pair: Pair) -> None:
    one, two = pair
    name = run(one, "agent-send", "worker-2", "Why?", "--kind", "question")[1].strip()
    exchange(*pair)
    done = ("agent-inbox", "done", name, "--result", "Because", "--verdict", "approve")
    assert run(two, *done) == (
        2, "", f"Error: {name} asks for no review: it is a question.\nHint: Leave out --verdict.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_a_review_is_not_done_without_a_verdict(pair: Pair) -> None:
    two = pair[1]
    name = asked(pair)
    assert run(two, "agent-inbox", "done", name, "--result", "Reads well") == (
        2,
        "",
        f"Error: {name} asks for a review, and the verdict is missing.\n"
        f"Hint: Approve: `ghp agent-inbox done {name} --verdict approve`. "
        f"Request changes: `ghp agent-inbox done {name} --verdict changes --result TEXT`. "
        f"To decline: `ghp agent-inbox fail {name} --reason TEXT`.\n",
    )
    assert run(two, "agent-inbox", "fail", name, "--reason", "No time")[0] == 0


@pytest.mark.slow
def test_who_reviews_the_pull_request_answers_the_message_too(pair: Pair) -> None:
    one, two = pair
    name = asked(pair)
    done = run(two, "agent-review", "2", "--request-changes", "Add a test")
    assert done == (0, "", "✓ You requested changes to #2 at COMMIT.\n")
    assert run(two, "agent-inbox")[1] == ""
    exchange(two, one)
    news = run(one, "agent-status")[1]
    assert f"as asked by your {name} «Review the parser»:\n> Add a test\n" in news
    assert news.count("Add a test") == 1
    assert refusal(one) == REQUIRED.format("worker-2 requested changes")
    assert run(two, "agent-review", "2", "--approve")[0] == 0
    exchange(two, one)
    merged(one.merge(1))


@pytest.mark.slow
def test_one_of_a_topic_reviews_what_was_announced(pair: Pair) -> None:
    one, two = pair
    succeed(two.folder, "agent-subscribe code.review_requested", "agent-sync")
    exchange(*pair)
    payload = '{"files": ["a.txt"], "commits": ["HEAD"]}'
    words = ("@code.review_requested", "Please", "--issue", "1", "--payload", payload)
    name = run(one, "agent-send", *words)[1].strip()
    exchange(*pair)
    assert run(two, "agent-inbox", "done", name, "--verdict", "approve")[0] == 0
    exchange(two, one)
    merged(one.merge(1))


@pytest.mark.slow
def test_a_message_that_cannot_be_claimed_now_holds_no_review_back(pair: Pair) -> None:
    one, two = pair
    succeed(two.folder, "agent-subscribe code.review_requested", "agent-sync")
    exchange(*pair)
    payload = '{"files": ["a.txt"], "commits": ["HEAD"]}'
    words = ("@code.review_requested", "Please", "--issue", "1", "--payload", payload)
    name = run(one, "agent-send", *words)[1].strip()
    exchange(*pair)
    remote = Path(git(two.folder, "remote", "get-url", "origin").strip())
    away = remote.rename(remote.with_name("away"))
    code, _, err = run(two, "agent-review", "2", "--approve")
    away.rename(remote)
    assert (code, "You approved #2 at COMMIT." in err) == (0, True), err
    assert name[:6] in run(two, "agent-inbox")[1]
    exchange(two, one)
    merged(one.merge(1))
