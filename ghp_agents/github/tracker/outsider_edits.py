"""Edits of a body by people without write permission, after the issue was assigned.

Only the author and people with write permission can edit a body. Only GraphQL tells who did, and
the earlier texts. A server without it is asked again after a week; until then the text that this
clone knew when the issue was assigned stays.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ghp_agents.github.api.errors import ForbiddenError, HubError, InvalidError
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import NOBODY, MirroredIssue
from ghp_agents.github.tracker.trust import earlier, login_of, trusted

EDITS = "body-edits"  # the feature of a server
AT_ONCE = 50  # issues in one question
_LAST = "i{0}: issue(number: {0}) {{ lastEditedAt editor {{ __typename login }} }}"
_ALL = """i{0}: issue(number: {0}) {{
  userContentEdits(last: 100) {{
    totalCount nodes {{ editedAt editor {{ __typename login }} diff }} }} }}"""

Answers = Mapping[int, Mapping[str, Any]]


def looked_up(
    context: TrackerContext, read: Sequence[MirroredIssue], mirrored: Mapping[int, MirroredIssue]
) -> list[MirroredIssue]:
    """The issues; assigned issues of outsiders get their text at the assignment. Sends requests."""
    given = [issue for issue in read if issue.given_at]
    last = _ask(context, _LAST, [issue.number for issue in given])
    edited = {issue.number: _with_edits(context, issue, mirrored, last) for issue in given}
    return [edited.get(issue.number, _without_edits(issue)) for issue in read]


def _without_edits(issue: MirroredIssue) -> MirroredIssue:
    return issue._replace(vouched=False, shown=None, edited_at="")


def _with_edits(
    context: TrackerContext,
    issue: MirroredIssue,
    mirrored: Mapping[int, MirroredIssue],
    last: Answers | None,
) -> MirroredIssue:
    before = earlier(issue, mirrored)
    previous = before if before and before.given_at else None
    if last is None or issue.number not in last:
        return _as_known(issue, previous, issue.updated_at)
    edited_at = str(last[issue.number].get("lastEditedAt") or "")
    editor = _editor(last[issue.number])
    if edited_at and editor and trusted(context, editor):
        return _without_edits(issue)._replace(vouched=True)
    if edited_at < issue.given_at:
        return _without_edits(issue)
    text = _text_when_given(context, issue)
    if text is None:
        return _as_known(issue, previous, edited_at)
    return _without_edits(issue)._replace(shown=text, edited_at=edited_at)


def _as_known(issue: MirroredIssue, previous: MirroredIssue | None, at: str) -> MirroredIssue:
    """Without a body's history: keep what this clone knew of it."""
    if previous is None:
        return _without_edits(issue)
    if previous.body == issue.body:
        return issue._replace(
            vouched=previous.vouched, shown=previous.shown, edited_at=previous.edited_at
        )
    text = previous.body if previous.shown is None else previous.shown
    return _without_edits(issue)._replace(shown=text, edited_at=at)


def _text_when_given(context: TrackerContext, issue: MirroredIssue) -> str | None:
    """The last text that existed when the issue was assigned, or that somebody with write
    permission saved; None if GitHub does not tell."""
    answer = _ask(context, _ALL, [issue.number]) or {}
    history = (answer.get(issue.number) or {}).get("userContentEdits") or {}
    nodes = [node for node in history.get("nodes") or () if isinstance(node, dict)]
    nodes.reverse()  # GitHub lists the newest first, and edits of one second must keep their order
    nodes.sort(key=lambda node: str(node.get("editedAt") or ""))
    whole = history.get("totalCount") == len(nodes)  # the first text is the original
    text: object = None
    for number, node in enumerate(nodes):
        early = (whole and not number) or str(node.get("editedAt") or "") < issue.given_at
        if early or trusted(context, _editor(node) or NOBODY):
            text = node.get("diff")
    return text.replace("\r\n", "\n") if isinstance(text, str) else None


def _editor(edit: Mapping[str, Any]) -> str:
    """The account that saved a text, as REST spells it."""
    editor = edit.get("editor") or {}
    bot = "[bot]" if editor.get("__typename") == "Bot" else ""
    return f"{login}{bot}" if (login := login_of(editor)) else ""


def _ask(context: TrackerContext, question: str, numbers: Sequence[int]) -> Answers | None:
    """GraphQL's answer for each issue; None if the server cannot tell."""
    if not numbers or context.hub.has(EDITS) is False:
        return None
    owner, _, name = context.hub.repository.partition("/")
    answers: dict[int, Mapping[str, Any]] = {}
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        parts = "\n".join(question.format(number) for number in some)
        query = "query($owner: String!, $name: String!) {\n"
        query += f"repository(owner: $owner, name: $name) {{\n{parts}\n}} }}"
        try:
            data = context.hub.graphql(query, {"owner": owner, "name": name})
        except InvalidError:
            context.hub.learned(EDITS, False)
            return None
        except (ForbiddenError, HubError):
            return None
        data = (data or {}).get("repository") or {}
        answers |= {n: answer for n in some if isinstance(answer := data.get(f"i{n}"), dict)}
    return answers
