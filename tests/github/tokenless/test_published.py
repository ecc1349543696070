"""Published issues: as files, bounded, and from hostile ones."""

import json
from typing import Any

import pytest

from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.github.tokenless import place, published
from ghp_agents.github.tokenless.place import Tracker
from ghp_agents.github.tokenless.published import PublishedIssue
from ghp_agents.github.tracker.mapping import MirroredComment, MirroredIssue

AT = "2026-01-02T03:04:05Z"
TRACKER = Tracker("github.com", "acme/widgets", Timestamp(AT), AT, 3, CloneId("a" * 12))
FULL = MirroredIssue(
    17, 99, "Blink", "It blinks.", "open", ("bug", "agent:worker-1"), ("ada",), "eve", AT, AT,
    comments=1, parent=3, waits=1, blockers=(4,), believed=True, proven=("agent:worker-1",),
    asked_at=AT, by_writer=False, given_at=AT, vouched=True, shown="It did.", edited_at=AT,
)  # fmt: skip
SAID = MirroredComment(7, "ada", True, AT, AT, "Faster", believed=True, by_writer=True)


def plain(number: int, **fields: Any) -> PublishedIssue:
    bare = MirroredIssue(number, number, "T", "", "open", (), (), "ada", AT, AT)
    return PublishedIssue(bare._replace(**fields))


def files(tracker: Tracker, *issues: PublishedIssue) -> dict[str, bytes]:
    buckets = {row.issue.number % published.BUCKETS for row in issues}
    contents = [place.tracker_file(tracker)]
    for bucket in buckets:
        inside = [row for row in issues if row.issue.number % published.BUCKETS == bucket]
        contents.append(published.bucket_file(tracker, bucket, inside))
    return dict(contents)


def test_issues_are_read_as_they_were_written() -> None:
    both = {17: PublishedIssue(FULL, (SAID,)), 2: plain(2)}
    read = published.read_published(files(TRACKER, *both.values()))
    assert (read.tracker, read.issues, read.problems) == (TRACKER, both, ())
    assert read.writers == {1: TRACKER.clone, 2: TRACKER.clone}
    assert read.bucket(1) == [both[17]]


def test_of_a_bucket_the_newest_counts() -> None:
    old = files(TRACKER, plain(1, title="Old"), plain(17))
    new = files(TRACKER._replace(clock=4, clone=CloneId("b" * 12)), plain(1, title="New"))
    assert published.read_published(old | new).issues == {1: plain(1, title="New")}


def test_issues_of_another_repository_do_not_count() -> None:
    before = TRACKER._replace(repository="acme/old", clock=2, clone=CloneId("b" * 12))
    assert published.read_published(files(before, plain(5)) | files(TRACKER)).issues == {}


def test_what_cannot_be_read_is_a_problem_and_hides_nothing() -> None:
    contents = files(TRACKER, plain(2))
    path = f".ghp/mirror/{TRACKER.clone}/3.json"
    for wrong in (b"{", b"[]", json.dumps({"repository": TRACKER.place}).encode()):
        read = published.read_published(contents | {path: wrong})
        assert read.issues == {2: plain(2)}
        assert [problem.place for problem in read.problems] == [path]


def test_an_issue_in_a_bucket_that_is_not_its_own_does_not_count() -> None:
    path, data = published.bucket_file(TRACKER, 3, [plain(2)])
    assert published.read_published({**files(TRACKER), path: data}).issues == {}


def test_long_texts_are_cut_and_keep_their_hidden_line() -> None:
    line = '<!-- ghp-agents:{"id":"3f9a12c4d5e6","by":"worker-1"} -->'
    long = plain(1, body="x" * 9_000 + f"\n\n{line}")
    comments = tuple(SAID._replace(id=n, body="y" * 3_000) for n in range(9))
    (row,) = published.bounded([long._replace(comments=comments)], AT).values()
    assert row.issue.body.startswith("x" * published.LONGEST + "\n\n(Cut here.")
    assert row.issue.body.endswith(line)
    assert [comment.id for comment in row.comments] == [4, 5, 6, 7, 8]
    assert {len(comment.body) for comment in row.comments} == {2_000 + len(published._CUT)}


@pytest.mark.slow
def test_all_texts_together_are_bounded_and_the_latest_changes_are_whole() -> None:
    issues = [plain(n, body="x" * 8_000, updated_at=f"2026-01-02T03:{n:02}:05Z") for n in range(60)]
    issues += [plain(n) for n in range(60, 1_200)]
    by_number = published.bounded(issues, AT)
    assert len(by_number) == published.MOST_ISSUES
    assert by_number[59].issue.body == "x" * 8_000
    cut = 1_000 * len(published._CUT)
    assert sum(len(row.issue.body) for row in by_number.values()) <= published.MOST_TEXT + cut


def test_closed_issues_are_published_for_a_week_without_texts() -> None:
    now = "2026-01-10T00:00:00Z"
    lately = plain(1, state="closed", body="B", updated_at="2026-01-09T00:00:00Z")
    long_ago = plain(2, state="closed", updated_at="2026-01-02T00:00:00Z")
    by_number = published.bounded([lately, long_ago], now)
    assert by_number == {1: plain(1, state="closed", updated_at="2026-01-09T00:00:00Z")}


def test_likely_secrets_are_taken_out() -> None:
    secret = "ghp_" + "a1B2" * 9
    texts = plain(1, title=f"T {secret}", body=f"B {secret}", shown=f"S {secret}")
    comments = (SAID._replace(body=f"C {secret}"),)
    by_number = published.bounded([texts._replace(comments=comments)], AT)
    assert secret not in repr(by_number)
