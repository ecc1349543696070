"""Bringing the mirror up to date: one conditional request where nothing changed.

Issues are asked for from the last change that is known on, oldest change first, and each further
page from the last change of the one before. So an issue that changes meanwhile is met again at the
end, and none is missed by a page that moved.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ghp_agents.core.ids import one_line
from ghp_agents.github.api.errors import GoneError, MissingError, NoAnswerError
from ghp_agents.github.api.responses import failed
from ghp_agents.github.tracker import mirror as kept_mirror
from ghp_agents.github.tracker import outsiders
from ghp_agents.github.tracker import trust as proofs
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue, is_pull, kept
from ghp_agents.github.tracker.mirror import Mirror, RefreshState

PER_PAGE = 100
FRESH = 5.0  # seconds for which a list is not asked for again
WHOLE = 6 * 3_600.0  # seconds after which all is read again, to miss what was deleted


def current(source: TrackerContext) -> Mirror:
    """The issues as they are now; as they were when GitHub was last reached, if it cannot be.

    Raises UnknownError when it cannot be and was not yet.
    """
    mirror = source.mirror()
    check = kept_mirror.checked(source.ws, source.repository)
    now = source.ws.clock.now()
    if mirror and 0 <= now - check.at < FRESH:
        return mirror
    try:
        return _read(source, mirror, check, now)
    except NoAnswerError:
        if mirror:
            return mirror
        raise


def forget(source: TrackerContext) -> None:
    """The next list asks, however soon it is."""
    check = kept_mirror.checked(source.ws, source.repository)
    if check.at:
        at = min(check.at, source.ws.clock.now() - FRESH)
        kept_mirror.note_check(source.ws, source.repository, check._replace(at=at))


def _read(source: TrackerContext, mirror: Mirror | None, check: RefreshState, now: float) -> Mirror:
    is_whole = mirror is None or not 0 <= now - check.whole_at < WHOLE
    told, cursor, page = _pages(source, RefreshState() if is_whole else check)
    fresh, unread = _readable(each for each in told if not is_pull(each))
    known = mirror.issues if mirror else {}
    changed = [each for each in fresh if not _same(each, known.get(each.number))]
    there = {each.number for each in fresh}
    gone = known.keys() - there - unread.keys() if is_whole else set[int]()
    had = {} if is_whole else {n: why for n, why in source.hub.unread.items() if n not in there}
    vouched = outsiders.looked_up(source, proofs.with_trust(source, changed, known), known)
    if is_whole:  # who may write can change without a change of any issue
        same = [
            each for n, each in known.items() if n in there.difference(e.number for e in changed)
        ]
        vouched += outsiders.looked_up(source, same, known)
    new = kept_mirror.keep(source.ws, source.repository, source.viewer, vouched, gone=gone)
    note = RefreshState(cursor, page, now, now if is_whole else check.whole_at)
    kept_mirror.note_check(source.ws, source.repository, note)
    source.hub.note_unread({**had, **unread})
    return new


def _readable(told: Iterable[Mapping[str, Any]]) -> tuple[list[MirroredIssue], dict[int, str]]:
    """What can be read; of the rest the numbers, and why not. It is no reason to know nothing."""
    found: list[MirroredIssue] = []
    unread: dict[int, str] = {}
    for each in told:
        try:
            found.append(kept(each))
        except ValueError as error:
            number = each.get("number")
            unread[number if isinstance(number, int) else 0] = one_line(str(error), 200)
    return found, unread


def _pages(source: TrackerContext, check: RefreshState) -> tuple[list[dict[str, Any]], str, int]:
    """All that changed since it was read last, each once, and how far that got."""
    since, page = check.cursor, 1
    if check.page > 1 and not _page(source, since, check.page)[1]:
        return [], since, check.page  # whatever changes comes last
    found: dict[str, dict[str, Any]] = {}
    while True:
        more, _ = _page(source, since, page)
        found |= {str(each.get("id")): each for each in more}
        last = max((str(each.get("updated_at") or "") for each in more), default=since)
        if len(more) < PER_PAGE:
            break
        page = 1 if last > since else page + 1  # more than a page changed in one second
        since = max(since, last)
    if page > 1 and not more:
        page -= 1  # an empty page stays empty when something moves to the end of the one before
    return list(found.values()), max(since, last), page if last <= since else 1


def _page(source: TrackerContext, since: str, page: int) -> tuple[Sequence[dict[str, Any]], bool]:
    """One page, and whether it is another than the last time."""
    params: dict[str, str | int] = {"since": since} if since else {}
    params |= {"page": page} if page > 1 else {}
    answer = source.hub.get(
        "issues", state="all", sort="updated", direction="asc", per_page=PER_PAGE, **params
    )
    return [each for each in answer.body if isinstance(each, dict)], answer.fresh


def _same(told: MirroredIssue, known: MirroredIssue | None) -> bool:
    """Whether GitHub tells what is known; what was found out beside it is not looked at."""
    return known is not None and told == known.bare


def one(source: TrackerContext, number: int, given: Iterable[str] = ()) -> MirroredIssue:
    """One issue as it is now, kept in the mirror. `given` are agents that we just assigned.

    Raises MissingError, and GoneError for one that was deleted or moved to another repository.
    """
    mirror = source.mirror()
    known = mirror.issues if mirror else {}
    try:
        told = kept(_told(source, number))
    except ValueError as error:
        raise failed(f"GitHub tells #{number} in a way that cannot be read ({error})") from None
    except (MissingError, GoneError):
        if number in known:
            kept_mirror.keep(source.ws, source.repository, "", (), gone={number})
        raise
    had = known.get(number)
    is_known = had is not None and had.by_writer is not None and not _is_unread(had)
    if had and is_known and _same(told, had) and not given:
        return had
    found = proofs.with_trust(source, [told], known, given)
    vouched = outsiders.looked_up(source, found, known, closed=True)[0]
    if _is_unread(vouched):
        with suppress(MissingError, GoneError):
            vouched = proofs.with_blockers(source, vouched)
    if mirror:
        kept_mirror.keep(source.ws, source.repository, source.viewer, [vouched])
    return vouched


def _is_unread(told: MirroredIssue) -> bool:
    """Whether it is a closed issue that waited for others, of which nobody has asked."""
    return bool(told.waits) and told.state == "closed" and not told.blockers


def _told(source: TrackerContext, number: int) -> dict[str, Any]:
    told: dict[str, Any] = source.hub.get(f"issues/{number}").body
    if is_pull(told):
        raise MissingError(
            f"#{number} is a pull request.", hint="`ghp agent-issues --all` lists the issues."
        )
    if told.get("number") != number or not _is_here(source, told):
        raise GoneError(
            f"#{number} was moved to {told.get('html_url', 'another repository')}.",
            hint="`ghp agent-issues --all` lists the issues that are here.",
        )
    return told


def _is_here(source: TrackerContext, told: dict[str, Any]) -> bool:
    """Whether it is an issue of this repository, which may have another name by now. One that was
    moved can have the same number where it is."""
    url = str(told.get("repository_url") or "")
    _, _, name = url.rpartition("/repos/")
    if not name or name.casefold() == source.hub.repository.casefold():
        return True
    return name.casefold() == str(source.hub.get("").body.get("full_name")).casefold()
