"""Comments on GitHub: read with what is kept of them, and said once."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ghp_agents.core import files
from ghp_agents.core.errors import UsageError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.ids import Actor
from ghp_agents.github import marker as github_marker
from ghp_agents.github.api.errors import HubError, NoAnswerError
from ghp_agents.github.marker import BEGIN
from ghp_agents.github.tracker import mapping as github_issue
from ghp_agents.github.tracker import trust as proofs
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredComment, MirroredIssue
from ghp_agents.issues.issue import BODY_LIMIT, Comment

FOLDER = "hub/comments"  # in the folder of caches
_LOCK = "hub/comments.lock"
_FILES = 300  # issues whose comments are kept
_PAGE = 100
_ACCOUNTS = 50  # of whom it is asked at once whether they may write; the others count as if not


def of(source: TrackerContext, issue: MirroredIssue) -> tuple[Comment, ...]:
    """What was said about an issue, oldest first. Asks; where GitHub cannot be reached, what is
    kept. Raises UnknownError where nothing is."""
    if not issue.comments:
        return ()
    try:
        return github_issue.comments(_read(source, issue.number, issue.comments))
    except NoAnswerError:
        kept = _load(source, issue.number)
        if kept is None:
            raise
        return github_issue.comments(kept)


def kept(source: TrackerContext, issue: MirroredIssue) -> tuple[Comment, ...]:
    """What was said about an issue, as it was read last; asks only if it never was."""
    known = _load(source, issue.number) if issue.comments else ()
    return of(source, issue) if known is None else github_issue.comments(known)


def remembered(source: TrackerContext, issue: MirroredIssue) -> tuple[Comment, ...]:
    """What was said about an issue, as far as it is kept; asks nobody."""
    return github_issue.comments(_load(source, issue.number) or ())


def say(
    source: TrackerContext, issue: MirroredIssue, text: str, by: Actor, marker: str = ""
) -> Comment:
    """Say something; with `marker`, what was said under it already is the answer."""
    with ExitStack() as stack:
        if marker:
            _take_turns(source, stack)
            had = _once(_read(source, issue.number), github_marker.once(marker))
            if had:
                return github_issue.comment(had[0]._replace(by_writer=True))[0]
        told = _post(source, issue.number, text, by, marker)
        first = _alone(source, issue.number, told, marker) if marker else told
    return github_issue.comment(first._replace(believed=True, by_writer=True))[0]


def _take_turns(source: TrackerContext, stack: ExitStack) -> None:
    """Let one process after another look and say. It saves work: see `_alone`."""
    with suppress(OSError, LockTimeoutError):
        (source.ws.cache_dir / "hub").mkdir(parents=True, exist_ok=True)
        stack.enter_context(files.locked(source.ws.cache_dir / _LOCK))


def _post(
    source: TrackerContext, number: int, text: str, by: Actor, marker: str
) -> MirroredComment:
    mark = github_marker.mark(files.random_hex(6), by, marker)
    body = github_marker.signed(text, mark)
    if len(body) > BODY_LIMIT:
        raise UsageError(
            f"The comment has {len(body)} characters with what this program adds to it; GitHub "
            f"takes {BODY_LIMIT}.",
            hint="Put the long part into a file of the repository and name it here.",
        )

    def there() -> Any | None:
        told = source.hub.get_all(f"issues/{number}/comments")
        return next((each for each in told if _id_of(each) == mark.id), None)

    path = f"issues/{number}/comments"
    return github_issue.said(source.hub.write("POST", path, {"body": body}, there=there))


def _id_of(told: Any) -> str:
    _, mark = github_marker.split_marker(str(told.get("body") or ""))
    return mark.id if mark else ""


def _alone(
    source: TrackerContext, number: int, mine: MirroredComment, marker: str
) -> MirroredComment:
    """Of two clones that said the same at once, the one that came second takes it back."""
    first = _once(_read(source, number), github_marker.once(marker))
    if not first or first[0].id >= mine.id:
        return mine
    with suppress(HubError, NoAnswerError):  # who reads them takes the two for one
        source.hub.write("DELETE", f"issues/comments/{mine.id}")
    return first[0]


def _once(told: Sequence[MirroredComment], once: str) -> list[MirroredComment]:
    """What was said under a marker by who may, oldest first."""
    marked = [(each, github_issue.comment(each)[1]) for each in told]
    return [each for each, mark in marked if mark and mark.once == once]


# ------------------------------------------------------------------------------- reading


def _read(source: TrackerContext, number: int, count: int | None = None) -> list[MirroredComment]:
    """All comments. Of a long talk only what is new is asked for, if that makes the `count`."""
    had = _load(source, number) or ()
    path = f"issues/{number}/comments"
    told: list[Any] = []
    if count is not None and len(had) >= _PAGE:
        told = source.hub.get_all(path, since=max(each.updated_at for each in had))
    fresh = {each.id: each for each in (*had, *_readable(told))}
    if not told or len(fresh) != count:
        told = source.hub.get_all(path)
        fresh = {each.id: each for each in _readable(told)}
    known = {each.id: each for each in had}
    read = [_believed(source, fresh[each], known.get(each)) for each in sorted(fresh)]
    read = _with_authors(source, read)
    if read != list(had) or not had:
        _store(source, number, read)
    return read


def _readable(told: Iterable[Any]) -> Iterator[MirroredComment]:
    """What can be read of comments. One that cannot is left out: the others are no worse."""
    for each in told:
        with suppress(ValueError):
            yield github_issue.said(each)


def _believed(
    source: TrackerContext, told: MirroredComment, known: MirroredComment | None
) -> MirroredComment:
    if BEGIN not in told.body:
        return told._replace(believed=False)
    if known and (known.body, known.author) == (told.body, told.author):
        return told._replace(believed=known.believed)
    return told._replace(believed=proofs.trusted(source, told.author))


def _with_authors(source: TrackerContext, read: Sequence[MirroredComment]) -> list[MirroredComment]:
    """The comments with whether their authors may write; who spoke last is asked about first."""
    latest = list(dict.fromkeys(each.author for each in reversed(read)))[:_ACCOUNTS]
    may = {author: proofs.trusted(source, author) for author in latest}
    return [each._replace(by_writer=may.get(each.author, False)) for each in read]


def _path(source: TrackerContext, number: int) -> Path:
    return source.ws.cache_dir / FOLDER / f"{number}.json"


def _load(source: TrackerContext, number: int) -> list[MirroredComment] | None:
    try:
        told = json.loads(_path(source, number).read_bytes())
        if told["repository"] != source.repository or told["fields"] != [*MirroredComment._fields]:
            return None
        return [MirroredComment(*row) for row in told["comments"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _store(source: TrackerContext, number: int, read: Sequence[MirroredComment]) -> None:
    told = {
        "repository": source.repository,
        "fields": [*MirroredComment._fields],
        "comments": [list(each) for each in read],
    }
    path = _path(source, number)
    with suppress(OSError):
        files.write_atomically(path, json.dumps(told, separators=(",", ":")).encode())
        _prune(path.parent)


def _prune(folder: Path) -> None:
    known = [*folder.glob("*.json")]
    if len(known) > _FILES:
        by_age = sorted(known, key=lambda path: path.stat().st_mtime)
        for path in by_age[: len(known) - _FILES * 2 // 3]:
            path.unlink(missing_ok=True)
