"""Comments on GitHub: read through a cache, and posted only once."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ghp_agents.core import files
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.ids import Actor
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github import marker as github_marker
from ghp_agents.github.api.errors import HubError, MissingError, NoAnswerError, UnreachableError
from ghp_agents.github.tracker import body as github_body
from ghp_agents.github.tracker import mapping, trust
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredComment, MirroredIssue
from ghp_agents.issues.issue import Comment

FOLDER = "hub/comments"  # in the folder of caches
_LOCK = "hub/comments.lock"
_FILES = 300  # issues whose comments are kept
_PAGE = 100
_ACCOUNTS = 50  # looked up at once for write permission; others count as without it


def of(context: TrackerContext, issue: MirroredIssue) -> tuple[Comment, ...]:
    """An issue's comments, oldest first; the cached ones if GitHub is unreachable. Sends a request.
    Raises UnknownError if none are cached."""
    if not issue.comments:
        return ()
    try:
        return mapping.comments(_read(context, issue.number, issue.comments))
    except NoAnswerError:
        kept = _file(context, issue.number).read()
        if kept is None:
            raise
        return mapping.comments(kept)


def kept(context: TrackerContext, issue: MirroredIssue) -> tuple[Comment, ...]:
    """An issue's comments as last read; sends a request only if they were never read."""
    cached = _file(context, issue.number).read() if issue.comments else ()
    return of(context, issue) if cached is None else mapping.comments(cached)


def remembered(context: TrackerContext, issue: MirroredIssue) -> tuple[Comment, ...]:
    """An issue's cached comments; sends no request."""
    return mapping.comments(cached(context, issue))


def cached(context: TrackerContext, issue: MirroredIssue) -> Sequence[MirroredComment]:
    """An issue's comments as they were last read; sends no request."""
    return _file(context, issue.number).read() or ()


def say(
    context: TrackerContext, issue: MirroredIssue, text: str, by: Actor, marker: str = ""
) -> Comment:
    """Post a comment; with `marker`, return an existing comment that has it."""
    with ExitStack() as stack:
        if marker:
            _lock_comments(context, stack)
            existing = _with_marker(_read(context, issue.number), github_marker.once(marker))
            if existing:
                return mapping.comment(existing[0]._replace(by_writer=True))[0]
        posted = _post(context, issue.number, text, by, marker)
        first = _remove_duplicate(context, issue.number, posted, marker) if marker else posted
    return mapping.comment(first._replace(believed=True, by_writer=True))[0]


def _lock_comments(context: TrackerContext, stack: ExitStack) -> None:
    """Let one process at a time look and post. It saves work: see `_remove_duplicate`."""
    with suppress(OSError, LockTimeoutError):
        (context.ws.cache_dir / "hub").mkdir(parents=True, exist_ok=True)
        stack.enter_context(files.locked_for_long(context.ws.cache_dir / _LOCK))


def _post(
    context: TrackerContext, number: int, text: str, by: Actor, marker: str
) -> MirroredComment:
    mark = github_marker.mark(files.random_hex(6), by, marker, context.account)
    body = github_body.fitting("comment", github_marker.signed(text, mark))

    def find_existing() -> Any | None:
        return next(
            (raw for raw in _list(context, number) if github_marker.id_of(raw) == mark.id), None
        )

    path = f"issues/{number}/comments"
    posted = context.hub.write("POST", path, {"body": body}, find_existing=find_existing)
    return mapping.mirror_comment(posted)


def _remove_duplicate(
    context: TrackerContext, number: int, mine: MirroredComment, marker: str
) -> MirroredComment:
    """If two clones posted the same comment, the clone that came second deletes its own."""
    first = _with_marker(_read(context, number), github_marker.once(marker))
    if not first or first[0].id >= mine.id:
        return mine
    with suppress(HubError, NoAnswerError):  # readers merge the two
        context.hub.write("DELETE", f"issues/comments/{mine.id}")
    return first[0]


def _with_marker(comments: Sequence[MirroredComment], once: str) -> list[MirroredComment]:
    """Trusted comments with this marker, oldest first."""
    marked = [(comment, mapping.comment(comment)[1]) for comment in comments]
    return [comment for comment, mark in marked if mark and mark.once == once]


def _read(context: TrackerContext, number: int, count: int | None = None) -> list[MirroredComment]:
    """All comments. Of a long list only new ones are requested, if the `count` is right then."""
    previous = _file(context, number).read() or ()
    listed: list[Any] = []
    if count is not None and len(previous) >= _PAGE:
        latest = max(comment.updated_at for comment in previous)
        listed = _list(context, number, since=latest)
    fresh = {comment.id: comment for comment in (*previous, *_parse_readable(listed))}
    if not listed or len(fresh) != count:
        listed = _list(context, number)
        fresh = {comment.id: comment for comment in _parse_readable(listed)}
    earlier = {comment.id: comment for comment in previous}
    read = [
        comment._replace(believed=trust.believed(context, comment, earlier.get(identity)))
        for identity, comment in sorted(fresh.items())
    ]
    read = _with_authors(context, read)
    if read != list(previous) or not previous:
        _store(context, number, read)
    return read


def _list(context: TrackerContext, number: int, **params: str) -> list[Any]:
    try:
        return context.hub.get_all(f"issues/{number}/comments", **params)
    except MissingError as error:  # no final answer: the issue was found before
        raise UnreachableError(
            f"GitHub does not find the comments of #{number}: {error}",
            hint="Try again; a question is also sent by the next `ghp agent-sync`.",
        ) from None


def _parse_readable(listed: Iterable[Any]) -> Iterator[MirroredComment]:
    """The comments that can be parsed; the others are skipped."""
    for raw in listed:
        with suppress(ValueError):
            yield mapping.mirror_comment(raw)


def _with_authors(
    context: TrackerContext, read: Sequence[MirroredComment]
) -> list[MirroredComment]:
    """The comments with whether their authors may write; the latest authors are looked up first."""
    latest = list(dict.fromkeys(comment.author for comment in reversed(read)))[:_ACCOUNTS]
    may = {author: trust.trusted(context, author) for author in latest}
    return [comment._replace(by_writer=may.get(comment.author, False)) for comment in read]


def _path(context: TrackerContext, number: int) -> Path:
    return context.ws.cache_dir / FOLDER / f"{number}.json"


def _file(context: TrackerContext, number: int) -> JsonFile[list[MirroredComment] | None]:
    def decode(data: Any) -> list[MirroredComment] | None:
        same = data["repository"] == context.repository
        if not same or data["fields"] != [*MirroredComment._fields]:
            return None
        return [MirroredComment(*row) for row in data["comments"]]

    return JsonFile(_path(context, number), decode, lambda: None)


def _store(context: TrackerContext, number: int, read: Sequence[MirroredComment]) -> None:
    data = {
        "repository": context.repository,
        "fields": [*MirroredComment._fields],
        "comments": [list(comment) for comment in read],
    }
    _file(context, number).write(data)
    with suppress(OSError):
        _prune(_path(context, number).parent)


def _prune(folder: Path) -> None:
    files = [*folder.glob("*.json")]
    if len(files) > _FILES:
        by_age = sorted(files, key=lambda path: path.stat().st_mtime)
        for path in by_age[: len(files) - _FILES * 2 // 3]:
            path.unlink(missing_ok=True)
