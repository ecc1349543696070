"""Updates the mirror: one conditional request if nothing changed."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ghp_agents.core.ids import one_line
from ghp_agents.github.api.errors import GoneError, HubError, MissingError, NoAnswerError
from ghp_agents.github.api.repository import PAGE
from ghp_agents.github.api.responses import failed
from ghp_agents.github.tracker import mirror as mirror_file
from ghp_agents.github.tracker import outsiders, trust, whole_list
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue, is_pull, kept
from ghp_agents.github.tracker.mirror import Mirror, RefreshState
from ghp_agents.workspace import Workspace

LOOKS = (1.0, 3.0, 10.0)  # seconds before each new look for what may be shown late
FRESH = 5.0  # seconds for which a list is reused
LAG = 15.0  # seconds that reads may be behind our own writes
MOST_OUTSIDERS = 10  # accounts, two requests each; and issues, one request each
_COUNT = (
    "query($owner: String!, $name: String!) "
    "{ repository(owner: $owner, name: $name) { issues { totalCount } } }"
)
WHOLE = 6 * 3_600.0  # seconds between full reads, which detect deleted issues


def current(context: TrackerContext) -> Mirror:
    """The issues now; if GitHub is unreachable, as of the last read.

    Raises UnknownError if they were never read.
    """
    mirror = context.mirror()
    check = mirror_file.checked(context.ws, context.repository)
    now = context.ws.clock.now()
    if mirror and 0 <= now - check.at < FRESH:
        return mirror
    try:
        return _read(context, mirror, check, now)
    except NoAnswerError:
        if mirror:
            return mirror
        raise


def forget(ws: Workspace, repository: str) -> None:
    """Make the next list send a request, however soon it is. `repository` is `host/owner/name`."""
    check = mirror_file.checked(ws, repository)
    if check.at:
        at = min(check.at, ws.clock.now() - FRESH)
        mirror_file.note_check(ws, repository, check._replace(at=at))


def _read(
    context: TrackerContext, mirror: Mirror | None, check: RefreshState, now: float
) -> Mirror:
    is_whole = mirror is None or not 0 <= now - check.whole_at < WHOLE
    listed, cursor, page = _pages(context, check if mirror else RefreshState())
    is_listed = mirror is None or (is_whole and not _is_complete(context, mirror, listed))
    if is_listed and mirror:
        listed, cursor, page = _pages(context, RefreshState())
    if listed and not context.hub.moved_to and not _is_named_so(context, listed[-1]):
        context.hub.present_name()  # for the notes of a sync
    fresh, unread = _parse_readable(raw for raw in listed if not is_pull(raw))
    mirrored = mirror.issues if mirror else {}
    changed = [issue for issue in fresh if _is_news(issue, mirrored.get(issue.number), now)]
    numbers = {issue.number for issue in fresh}
    gone = mirrored.keys() - numbers - unread.keys() if is_listed else set[int]()
    old_unread = (
        {} if is_listed else {n: why for n, why in context.hub.unread.items() if n not in numbers}
    )
    vouched = outsiders.looked_up(context, trust.with_trust(context, changed, mirrored), mirrored)
    new_numbers = {issue.number for issue in changed}
    same = [issue for n, issue in mirrored.items() if n not in new_numbers | gone]
    due = [issue for issue in same if trust.is_due(issue, now)]
    vouched += outsiders.looked_up(context, trust.with_trust(context, due, mirrored), mirrored)
    if is_whole:  # write permissions can change while no issue does
        same = [issue for issue in same if issue not in due]
        same = same if is_listed else in_turn(same, now)
        vouched += outsiders.looked_up(context, same, mirrored)
    new = mirror_file.keep(context.ws, context.repository, context.viewer, vouched, gone=gone)
    note = RefreshState(cursor, page, now, now if is_whole else check.whole_at)
    mirror_file.note_check(context.ws, context.repository, note)
    context.hub.note_unread({**old_unread, **unread})
    return new


def in_turn(issues: Sequence[MirroredIssue], now: float) -> list[MirroredIssue]:
    """The issues whose authors are looked up again: all of those who may write. Other authors, and
    their issues with labels or assignees, take turns: each costs requests, and there may be
    thousands."""
    others = sorted({x.author for x in issues if x.state == "open" and not x.by_writer})
    round_, turn = divmod(int(now // WHOLE), _turns(others))
    authors = {*others[turn :: _turns(others)]}
    chosen = [x for x in issues if x.state == "open" and not x.by_writer and x.author in authors]
    given = [x.number for x in chosen if x.labels or x.assignees]
    waits = {*given} - {*given[round_ % _turns(given) :: _turns(given)]}
    again = {x.number for x in chosen} - waits
    return [issue for issue in issues if issue.by_writer or issue.number in again]


def _turns(entries: Sequence[object]) -> int:
    """After how many turns of MOST_OUTSIDERS each of them had one."""
    return max(1, -(-len(entries) // MOST_OUTSIDERS))


def _is_complete(
    context: TrackerContext, mirror: Mirror, listed: Iterable[Mapping[str, Any]]
) -> bool:
    """Whether no issue was deleted since the last full read: GitHub counts as many as are known.
    That is one request where a full read takes one for each hundred issues. An issue that could not
    be read has to be listed again: it may be readable now, unchanged."""
    if context.hub.unread:
        return False
    new = {raw.get("number") for raw in listed if not is_pull(raw)}
    owner, _, name = context.hub.repository.partition("/")
    try:
        answer = context.hub.graphql(_COUNT, {"owner": owner, "name": name})
        count = answer["repository"]["issues"]["totalCount"]
    except (HubError, NoAnswerError, KeyError, TypeError):
        return False
    return bool(count == len({*mirror.issues} | new))


def _parse_readable(
    issues: Iterable[Mapping[str, Any]],
) -> tuple[list[MirroredIssue], dict[int, str]]:
    """The parsed issues; of the others the numbers and the reasons. One bad issue does not hide the
    rest."""
    parsed: list[MirroredIssue] = []
    unread: dict[int, str] = {}
    for raw in issues:
        try:
            parsed.append(kept(raw))
        except ValueError as error:
            number = raw.get("number")
            unread[number if isinstance(number, int) else 0] = one_line(str(error), 200)
    return parsed, unread


def _pages(context: TrackerContext, check: RefreshState) -> tuple[list[dict[str, Any]], str, int]:
    """All changes since the last read, each issue once, and how far that got."""
    hub, since = context.hub, check.cursor
    if check.page > 1 and not hub.page_of_changes("issues", since, check.page, state="all")[1]:
        return [], since, check.page  # changes come last
    if since:
        listed, last, page = hub.changes("issues", since, state="all")
    else:
        listed, last, page = hub.changes("issues", since, pages=1, state="all")
    if not since and len(listed) == PAGE:  # there are more
        if whole := whole_list.read(hub):
            listed, last = whole
        more, last, page = hub.changes("issues", last, state="all")
        listed += more
    return list({str(raw.get("id")): raw for raw in listed}.values()), last, page


def _is_news(issue: MirroredIssue, previous: MirroredIssue | None, now: float) -> bool:
    return not _same(issue, previous) and (
        previous is None or not is_outdated(issue, previous, now)
    )


def _same(issue: MirroredIssue, previous: MirroredIssue | None) -> bool:
    """Whether GitHub's data is unchanged; our own findings are ignored."""
    return previous is not None and issue == previous.bare


def one(context: TrackerContext, number: int, given: Iterable[str] = ()) -> MirroredIssue:
    """One issue as it is now, stored in the mirror. `given` are agents that we just assigned.

    Raises MissingError; GoneError if it was deleted or moved to another repository.
    """
    mirror = context.mirror()
    mirrored = mirror.issues if mirror else {}
    try:
        fetched = kept(
            _fetch_known(context, number) if number in mirrored else _fetch(context, number)
        )
    except ValueError as error:
        raise failed(f"GitHub's data of #{number} cannot be read ({error})") from None
    except (MissingError, GoneError):
        if number in mirrored:
            mirror_file.keep(context.ws, context.repository, "", (), gone={number})
        raise
    previous = mirrored.get(number)
    if previous and is_outdated(fetched, previous, context.ws.clock.now()):
        return previous
    is_same = previous is not None and _same(fetched, previous) and not given
    if previous and is_same and previous.by_writer is not None and not _lacks_blockers(previous):
        return previous
    return _keep(context, fetched, given, mirror)


def written(
    context: TrackerContext, issue: MirroredIssue, given: Iterable[str] = ()
) -> MirroredIssue:
    """An issue as GitHub answered to our write, stored in the mirror."""
    now_written = issue._replace(written_at=context.ws.clock.now())
    return _keep(context, now_written, given, context.mirror())


def dated(
    context: TrackerContext, issue: MirroredIssue, given: Iterable[str] = ()
) -> MirroredIssue:
    """An issue that we wrote with the time of its change, which not all answers name; as it is, if
    GitHub does not show the change yet."""
    try:
        read = kept(_fetch(context, issue.number))
    except (ValueError, HubError, NoAnswerError):
        return issue
    if is_outdated(read, issue, context.ws.clock.now()):
        return issue
    return _keep(context, read, given, context.mirror())


def _keep(
    context: TrackerContext, issue: MirroredIssue, given: Iterable[str], mirror: Mirror | None
) -> MirroredIssue:
    """The issue with what was verified, stored in the mirror if there is one."""
    mirrored = mirror.issues if mirror else {}
    trusted = trust.with_trust(context, [issue], mirrored, given)
    vouched = outsiders.looked_up(context, trusted, mirrored, closed=True)[0]
    if _lacks_blockers(vouched):
        with suppress(MissingError, GoneError):
            vouched = trust.with_blockers(context, vouched)
    if mirror:
        mirror_file.keep(context.ws, context.repository, context.viewer, [vouched])
    return vouched


def is_outdated(read: MirroredIssue, previous: MirroredIssue, now: float) -> bool:
    """Whether a read of an issue is older than our copy: reads may lag behind writes.

    Answers about labels contain no time, and two changes may share a second. So for some seconds
    after our own write, a read with the same second does not count.
    """
    if read.id != previous.id or _same(read, previous):
        return False
    is_recent = 0 <= now - previous.written_at < LAG
    return read.updated_at < previous.updated_at or (
        is_recent and read.updated_at == previous.updated_at
    )


def _lacks_blockers(issue: MirroredIssue) -> bool:
    """Whether it is a closed issue with blockers that were never requested."""
    return bool(issue.waits) and issue.state == "closed" and not issue.blockers


def _fetch_known(context: TrackerContext, number: int) -> dict[str, Any]:
    """An issue that was there before: it counts as deleted only after some looks."""
    for rest in LOOKS:
        try:
            return _fetch(context, number)
        except MissingError:
            context.hub.pause(rest)
    return _fetch(context, number)


def _fetch(context: TrackerContext, number: int) -> dict[str, Any]:
    raw: dict[str, Any] = context.hub.get(f"issues/{number}").body
    if is_pull(raw):
        raise MissingError(
            f"#{number} is a pull request.", hint=f"Show it: `ghp agent-pull show {number}`."
        )
    if raw.get("number") != number or not _is_here(context, raw):
        raise GoneError(
            f"#{number} was moved to {raw.get('html_url', 'another repository')}.",
            hint="`ghp agent-issues --all` lists the issues of this repository.",
        )
    return raw


def _is_here(context: TrackerContext, raw: dict[str, Any]) -> bool:
    """Whether the issue is in this repository, which may have been renamed. A moved issue can have
    the same number in its new repository."""
    if _is_named_so(context, raw):
        return True
    name, moved_to = _repository_of(raw).casefold(), (context.hub.moved_to or "").casefold()
    return name == moved_to or name == context.hub.present_name().casefold()


def _is_named_so(context: TrackerContext, raw: dict[str, Any]) -> bool:
    """Whether the issue's repository has the name that this clone uses, or GitHub names none."""
    return _repository_of(raw).casefold() in ("", context.hub.repository.casefold())


def _repository_of(raw: dict[str, Any]) -> str:
    return str(raw.get("repository_url") or "").rpartition("/repos/")[2]
