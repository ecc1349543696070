"""The issues that clones with a token publish in the state, for clones without one.

`.ghp/mirror/<clone>/tracker.json` says which repository has the issues: a fact of the repository,
whoever reads it. Beside it are buckets with the open issues and those that were closed lately, as
the publisher's mirror has them. A clone replaces its own files; of each bucket the newest counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from ghp_agents.core.declared import plain
from ghp_agents.core.fields import (
    any_list,
    any_text,
    as_line,
    as_text,
    as_whole,
    dump,
    parse,
)
from ghp_agents.core.ids import CloneId, Timestamp, one_line
from ghp_agents.github.tokenless.place import MIRROR, Tracker, decoded, read_tracker
from ghp_agents.github.tracker.mapping import MirroredComment, MirroredIssue
from ghp_agents.state.codec import seconds
from ghp_agents.state.record import Problem, problem_of

BUCKETS = 16
MOST_ISSUES = 1_000
MOST_TEXT = 512_000  # characters of all bodies and comments
LONGEST = 8_000  # characters of one body; the rest is on GitHub
LATEST = 5  # comments of an issue
LONGEST_COMMENT = 2_000
RECENT_S = 7 * 86_400.0  # closed issues are published for so long, without their texts
_CUT = "\n\n(Cut here. The whole text is on GitHub.)"


class PublishedCommentFields(TypedDict):
    """A comment as the publisher read it."""

    id: int
    author: str
    isPerson: bool
    at: str
    updatedAt: str
    body: str
    believed: bool
    byWriter: bool


class PublishedIssueFields(TypedDict, total=False):
    """An issue as the publisher's mirror has it; empty fields are left out."""

    number: int
    id: int
    title: str
    body: str
    state: str
    labels: list[str]
    assignees: list[str]
    author: str
    createdAt: str
    updatedAt: str
    parent: int
    waits: int
    blockers: list[int]
    believed: bool
    proven: list[str]
    askedAt: str
    byWriter: bool | None
    givenAt: str
    vouched: bool
    shown: str
    editedAt: str
    comments: list[PublishedCommentFields]


class BucketFile(TypedDict):
    """The published issues whose numbers have the same remainder."""

    repository: str
    cursor: str
    clock: int
    clone: str
    issues: list[PublishedIssueFields]


class PublishedIssue(NamedTuple):
    """An issue, and its latest comments."""

    issue: MirroredIssue
    comments: tuple[MirroredComment, ...] = ()


class Published(NamedTuple):
    """What the joined state has of GitHub's issues."""

    tracker: Tracker | None = None
    issues: Mapping[int, PublishedIssue] = {}
    writers: Mapping[int, CloneId] = {}
    problems: tuple[Problem, ...] = ()

    def bucket(self, number: int) -> list[PublishedIssue]:
        """The issues of a bucket, by number."""
        return [issue for n, issue in sorted(self.issues.items()) if n % BUCKETS == number]


def read_published(files: Mapping[str, bytes]) -> Published:
    """Everything that was published about the newest tracker."""
    tracker = read_tracker(files)
    problems: list[Problem] = []
    newest: dict[int, tuple[int, CloneId, list[PublishedIssue]]] = {}
    for path, data in files.items():
        name = path.rpartition("/")[2].removesuffix(".json")
        try:
            fields = parse(data)
            if not name.isdecimal():
                decoded(fields)
                continue
            if tracker is None or fields.get("repository") != tracker.place:
                continue  # of a repository that has another name by now
            clock = as_whole(fields.get("clock"), "clock")
            clone = CloneId(as_line(fields.get("clone"), "clone"))
            issues = [_issue(item) for item in any_list(fields.get("issues"))[:MOST_ISSUES]]
        except ValueError as error:
            problems.append(problem_of(path, error, "not a published issue: "))
            continue
        previous = newest.get(int(name))
        if previous is None or previous[:2] < (clock, clone):
            newest[int(name)] = clock, clone, issues
    by_number = {
        issue.issue.number: issue
        for bucket, (_, _, issues) in newest.items()
        for issue in issues
        if issue.issue.number % BUCKETS == bucket
    }
    writers = {bucket: clone for bucket, (_, clone, _) in newest.items()}
    return Published(tracker, by_number, writers, tuple(problems))


def bucket_file(
    tracker: Tracker, bucket: int, issues: Sequence[PublishedIssue]
) -> tuple[str, bytes]:
    """The file of one bucket."""
    fields = {
        "repository": tracker.place,
        "cursor": tracker.cursor,
        "clock": tracker.clock,
        "clone": tracker.clone,
        "issues": [_fields(issue) for issue in issues],
    }
    return f"{MIRROR}{tracker.clone}/{bucket}.json", dump(fields)


def bounded(issues: Iterable[PublishedIssue], cursor: str) -> dict[int, PublishedIssue]:
    """What is published of all issues, by number: bounded, and without likely secrets.

    The most recently changed come first, so their texts are whole.
    """
    from ghp_agents.core.secret_scan import redacted  # slow to load, and only publishers need it

    recent = seconds(Timestamp(cursor)) - RECENT_S
    by_number: dict[int, PublishedIssue] = {}
    left = MOST_TEXT
    by_age = sorted(issues, key=lambda row: (row.issue.updated_at, row.issue.number))
    for row in reversed(by_age):
        closed = row.issue.state == "closed"
        if closed and seconds(Timestamp(row.issue.updated_at)) < recent:
            continue
        if len(by_number) == MOST_ISSUES:
            break
        comments = () if closed else row.comments[-LATEST:]
        body = "" if closed else _cut(row.issue.body, min(LONGEST, left))
        shown = row.issue.shown and _cut(row.issue.shown, min(LONGEST, left))
        kept = row.issue._replace(title=redacted(row.issue.title), body=body, shown=shown)
        short = tuple(
            comment._replace(body=_cut(comment.body, min(LONGEST_COMMENT, left)))
            for comment in comments
        )
        left = max(0, left - len(body) - sum(len(comment.body) for comment in short))
        by_number[kept.number] = PublishedIssue(kept._replace(comments=len(short)), short)
    return by_number


def _cut(text: str, most: int) -> str:
    """A text without likely secrets. If it is too long, its end with the hidden line stays."""
    from ghp_agents.core.secret_scan import redacted

    text = redacted(text)
    if len(text) <= most:
        return text
    begin = text.rfind("<!-- ghp-agents:", max(0, len(text) - 600))
    end = text[begin:] if begin >= 0 else ""
    return text[:most] + _CUT + (f"\n\n{end}" if end else "")


def _fields(row: PublishedIssue) -> dict[str, Any]:
    empty = MirroredIssue(0, 0, "", "", "", (), (), "", "", "")
    default = plain(empty) | {"comments": row.issue.comments}
    fields = {key: value for key, value in plain(row.issue).items() if value != default[key]}
    comments = plain(row.comments)
    return fields | ({"comments": comments} if comments else {})


def _issue(value: Any) -> PublishedIssue:
    if not isinstance(value, dict):
        raise ValueError("an issue is not an object")
    by_writer = value.get("byWriter")
    comments = tuple(_comment(fields) for fields in any_list(value.get("comments"))[:LATEST])
    issue = MirroredIssue(
        number=as_whole(value.get("number"), "number"),
        id=as_whole(value.get("id"), "id"),
        title=_line(value, "title", 1_000),
        body=any_text(value.get("body")),
        state="closed" if value.get("state") == "closed" else "open",
        labels=_lines(value, "labels"),
        assignees=_lines(value, "assignees"),
        author=_line(value, "author", 100),
        created_at=_line(value, "createdAt", 40),
        updated_at=_line(value, "updatedAt", 40),
        comments=len(comments),
        parent=None if value.get("parent") is None else as_whole(value["parent"], "parent"),
        waits=None if value.get("waits") is None else as_whole(value["waits"], "waits"),
        blockers=tuple(as_whole(number, "blockers") for number in any_list(value.get("blockers"))),
        believed=value.get("believed") is True,
        proven=_lines(value, "proven"),
        asked_at=_line(value, "askedAt", 40),
        by_writer=by_writer if isinstance(by_writer, bool) else None,
        given_at=_line(value, "givenAt", 40),
        vouched=value.get("vouched") is True,
        shown=any_text(value["shown"]) if "shown" in value else None,
        edited_at=_line(value, "editedAt", 40),
    )
    return PublishedIssue(issue, comments)


def _comment(value: Any) -> MirroredComment:
    if not isinstance(value, dict):
        raise ValueError("a comment is not an object")
    return MirroredComment(
        id=as_whole(value.get("id"), "id"),
        author=_line(value, "author", 100),
        is_person=value.get("isPerson") is True,
        at=_line(value, "at", 40),
        updated_at=_line(value, "updatedAt", 40),
        body=as_text(value.get("body"), "body"),
        believed=value.get("believed") is True,
        by_writer=value.get("byWriter") is True,
    )


def _line(fields: Mapping[str, Any], name: str, most: int) -> str:
    return one_line(any_text(fields.get(name)), most)


def _lines(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(one_line(any_text(line), 200) for line in any_list(fields.get(name)))
