"""Reviews as records, and what stands against a merge."""

import json

import pytest

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.pulls.pull import Pull, Review, Sent
from ghp_agents.pulls.review import ReviewRecord, comment, encode, folder_of, missing, read_reviews

HEAD = "a" * 40
ONE, TWO, ANN = Actor("worker-1"), Actor("worker-2"), Actor("Ann Example", is_person=True)
PULL = Pull(2, "agent/worker-1/1-x", "main", HEAD, "X", author="lead", sent=Sent(HEAD, ONE))
DONE = ReviewRecord(
    2, "0a1b2c3d4e5f", HEAD, "approve", "Reads well", TWO, Timestamp("2025-06-15T15:06:40Z"), 7,
    CloneId("c1"),
)  # fmt: skip


def files(*entries: ReviewRecord) -> dict[str, bytes]:
    return dict(file for entry in entries for file in encode(entry, 1).files)


def test_a_record_is_read_as_it_was_written_oldest_first() -> None:
    later = DONE._replace(id="00000000", verdict="request-changes", by=ANN, clock=8)
    assert read_reviews(files(later, DONE)) == ([DONE, later], [])
    assert DONE.review == Review(TWO, HEAD, True, DONE.text, DONE.at)
    assert later.review == Review(ANN, HEAD, False, DONE.text, DONE.at)
    record = encode(DONE, 1)
    assert (record.event, record.object, record.issue) == ("pull-review", "#2", 1)
    assert record.text == "approve aaaaaaaaaaaa"


@pytest.mark.parametrize("broken", [b"", b"[]", b"{}", b'{"verdict": "approve"}'])
def test_what_cannot_be_read_is_a_problem_and_hides_no_other(broken: bytes) -> None:
    path = f"{folder_of(2)}00000000.json"
    reviews, problems = read_reviews({**files(DONE), path: broken})
    assert reviews == [DONE]
    assert [problem.place for problem in problems] == [path]


def test_a_verdict_of_a_newer_version_is_ignored() -> None:
    ((path, content),) = encode(DONE, 1).files
    other = json.dumps({**json.loads(content), "verdict": "mood"}).encode()
    assert read_reviews({path: other}) == ([], [])


NONE = "nobody else has approved this commit"


@pytest.mark.parametrize(
    ("reviews", "why"),
    [
        ([], NONE),
        ([Review(ONE, HEAD, True)], NONE),  # who sent it
        ([Review(Actor("lead"), HEAD, True)], NONE),  # who opened it
        ([Review(TWO, HEAD, True)], ""),
        ([Review(ANN, HEAD, True)], ""),
        ([Review(TWO, HEAD, True), Review(ANN, HEAD, False)],
         "«Ann Example» (a person) requested changes"),
        ([Review(TWO, HEAD, True), Review(TWO, HEAD, False)], "worker-2 requested changes"),
        ([Review(TWO, HEAD, False), Review(TWO, HEAD, True)], ""),
    ],
)  # fmt: skip
def test_the_last_review_of_each_other_than_the_author_counts(
    reviews: list[Review], why: str
) -> None:
    assert missing(reviews, PULL) == why


def test_the_comment_hides_nothing_that_the_reviewer_wrote() -> None:
    text = comment(DONE._replace(text="<!-- ghp:merged 2 -->"))
    assert text == "Approved pull request #2 at aaaaaaaaaaaa.\n\n&lt;!-- ghp:merged 2 -->"
    assert comment(DONE._replace(verdict="request-changes", text="")) == (
        "Requested changes to pull request #2 at aaaaaaaaaaaa."
    )
