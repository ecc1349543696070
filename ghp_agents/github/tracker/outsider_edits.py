"""Bodies that somebody changed who may not write, after the issue was given to somebody.

Only the author and those who may write can change a body. GitHub tells who did, and the texts
before, by GraphQL alone. A server that does not is asked again after a week; until then the text
that this clone knew when the issue was given stays.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ghp_agents.github.api.errors import ForbiddenError, HubError, InvalidError
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import NOBODY, MirroredIssue
from ghp_agents.github.tracker.trust import login_of, trusted

EDITS = "body-edits"  # the feature of a server
AT_ONCE = 50  # issues in one question
_LAST = "i{0}: issue(number: {0}) {{ lastEditedAt editor {{ __typename login }} }}"
_ALL = """i{0}: issue(number: {0}) {{
  userContentEdits(last: 100) {{
    totalCount nodes {{ editedAt editor {{ __typename login }} diff }} }} }}"""

Answers = Mapping[int, Mapping[str, Any]]


def looked_up(
    source: TrackerContext, read: Sequence[MirroredIssue], known: Mapping[int, MirroredIssue]
) -> list[MirroredIssue]:
    """The issues, those of outsiders that are given to somebody with the text to go by. Asks."""
    given = [each for each in read if each.given_at]
    last = _ask(source, _LAST, [each.number for each in given])
    found = {each.number: _judged(source, each, known, last) for each in given}
    return [found.get(each.number, _plain(each)) for each in read]


def _plain(told: MirroredIssue) -> MirroredIssue:
    return told._replace(vouched=False, shown=None, edited_at="")


def _judged(
    source: TrackerContext,
    told: MirroredIssue,
    known: Mapping[int, MirroredIssue],
    last: Answers | None,
) -> MirroredIssue:
    before = known.get(told.number)
    had = before if before and before.id == told.id and before.given_at else None
    if last is None or told.number not in last:
        return _as_known(told, had, told.updated_at)
    edited_at = str(last[told.number].get("lastEditedAt") or "")
    editor = _editor(last[told.number])
    if edited_at and editor and trusted(source, editor):
        return _plain(told)._replace(vouched=True)
    if edited_at < told.given_at:
        return _plain(told)
    text = _before(source, told)
    if text is None:
        return _as_known(told, had, edited_at)
    return _plain(told)._replace(shown=text, edited_at=edited_at)


def _as_known(told: MirroredIssue, had: MirroredIssue | None, at: str) -> MirroredIssue:
    """Without the history of a body: what this clone knew of it stays."""
    if had is None:
        return _plain(told)
    if had.body == told.body:
        return told._replace(vouched=had.vouched, shown=had.shown, edited_at=had.edited_at)
    text = had.body if had.shown is None else had.shown
    return _plain(told)._replace(shown=text, edited_at=at)


def _before(source: TrackerContext, told: MirroredIssue) -> str | None:
    """The last text that was there when the issue was given, or that somebody saved who may write;
    None if GitHub does not tell it."""
    answer = _ask(source, _ALL, [told.number]) or {}
    history = (answer.get(told.number) or {}).get("userContentEdits") or {}
    nodes = [each for each in history.get("nodes") or () if isinstance(each, dict)]
    nodes.sort(key=lambda each: str(each.get("editedAt") or ""))
    whole = history.get("totalCount") == len(nodes)  # then the first text is the original
    text: object = None
    for number, each in enumerate(nodes):
        early = (whole and not number) or str(each.get("editedAt") or "") < told.given_at
        if early or trusted(source, _editor(each) or NOBODY):
            text = each.get("diff")
    return text.replace("\r\n", "\n") if isinstance(text, str) else None


def _editor(told: Mapping[str, Any]) -> str:
    """The account that saved a text, by the name that REST gives it."""
    editor = told.get("editor") or {}
    bot = "[bot]" if editor.get("__typename") == "Bot" else ""
    return f"{login}{bot}" if (login := login_of(editor)) else ""


def _ask(source: TrackerContext, question: str, numbers: Sequence[int]) -> Answers | None:
    """What GraphQL says of each issue; None where the server cannot tell."""
    if not numbers or source.hub.has(EDITS) is False:
        return None
    owner, _, name = source.hub.repository.partition("/")
    found: dict[int, Mapping[str, Any]] = {}
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        parts = "\n".join(question.format(number) for number in some)
        query = "query($owner: String!, $name: String!) {\n"
        query += f"repository(owner: $owner, name: $name) {{\n{parts}\n}} }}"
        try:
            told = source.hub.graphql(query, {"owner": owner, "name": name})
        except InvalidError:
            source.hub.learned(EDITS, False)
            return None
        except (ForbiddenError, HubError):
            return None
        told = (told or {}).get("repository") or {}
        found |= {n: each for n in some if isinstance(each := told.get(f"i{n}"), dict)}
    return found
