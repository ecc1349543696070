"""A review of a pull request: an approval of one commit, or a request for changes.

The record is `.ghp/reviews/<pull>/<id>.json`; the last one of a reviewer counts.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, NamedTuple

from ghp_agents.core.declared import HIDDEN, decoded, plain
from ghp_agents.core.fields import ID, Line, Text, as_line, dump, parse
from ghp_agents.core.ids import Actor
from ghp_agents.hotpath.quoting import named, visible
from ghp_agents.pulls.pull import Pull, Review
from ghp_agents.state.codec import (
    At,
    By,
    Clock,
    Clone,
    ledger_record,
    order,
    read_files,
)
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/reviews/"
TEXT_LIMIT = 8_000  # characters that are kept
_PATH = re.compile(rf"{re.escape(FOLDER)}([0-9]{{1,9}})/({ID})\.json")
VERDICTS = {"approve": "approved", "request-changes": "requested changes to"}


class ReviewRecord(NamedTuple):
    """A review of a commit of a pull request."""

    pull: Annotated[int, HIDDEN]
    id: Annotated[str, HIDDEN]
    head: Line  # the commit that was reviewed
    verdict: Line  # of VERDICTS
    text: Text
    by: By
    at: At
    clock: Clock
    clone: Clone

    @property
    def review(self) -> Review:
        """The review without its record."""
        return Review(self.by, self.head, self.verdict == "approve", self.text, self.at)

    @property
    def path(self) -> str:
        """The path in the state's tree."""
        return f"{folder_of(self.pull)}{self.id}.json"


def folder_of(pull: int) -> str:
    """Return the folder of a pull request's reviews."""
    return f"{FOLDER}{pull}/"


def encode(entry: ReviewRecord, issue: int | None) -> Record:
    """Return the record for the state store."""
    files = [(entry.path, dump(plain(entry)))]
    text = f"{entry.verdict} {entry.head[:12]}"
    return ledger_record(entry, "pull-review", f"#{entry.pull}", files, issue=issue, text=text)


def read_reviews(files: Mapping[str, bytes]) -> tuple[list[ReviewRecord], list[Problem]]:
    """Read the records, oldest first; an unreadable one is a problem and hides no other."""
    records, problems = read_files(files, _decode, _PATH, what="not a review: ")
    return sorted(records, key=order), problems


def _decode(pull: str, record: str, data: bytes) -> ReviewRecord | None:
    fields = parse(data)
    if as_line(fields.get("verdict"), "verdict") not in VERDICTS:  # of a newer version
        return None
    return decoded(ReviewRecord, fields, pull=int(pull), id=record)


def authors(pull: Pull) -> set[str]:
    """Return the names of those whose own review of a pull request does not count."""
    return {pull.author} | ({pull.sent.by.name} if pull.sent else set())


def missing(reviews: Iterable[Review], pull: Pull) -> str:
    """Return what prevents a merge; empty if it is approved. `reviews` are those of the commit to
    be merged, oldest first; the last one of each reviewer counts."""
    last = _last(reviews, pull)
    against = [review.by for review in last if not review.approves]
    if against:
        return f"{named(against[0].name, against[0].is_person)} requested changes"
    return "" if last else "nobody else has approved this commit"


def requests(reviews: Iterable[Review], pull: Pull, merger: Actor) -> list[Review]:
    """Return the requests for changes that stand against a merge by the person `merger`: those
    after the person's own last approval. `reviews` as for `missing`."""
    return [review for review in _last(reviews, pull, merger) if not review.approves]


def _last(reviews: Iterable[Review], pull: Pull, merger: Actor | None = None) -> Collection[Review]:
    last: dict[Actor, Review] = {}
    for review in reviews:
        if review.by.name in authors(pull):
            continue
        if review.by == merger and review.approves:
            last.clear()
        last[review.by] = review
    return last.values()


def comment(entry: ReviewRecord) -> str:
    """Return the comment for the issue."""
    done = f"{VERDICTS[entry.verdict]} pull request #{entry.pull} at {entry.head[:12]}."
    text = f"\n\n{visible(entry.text)}" if entry.text else ""
    return f"{done[0].upper()}{done[1:]}{text}"
