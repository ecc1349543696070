"""Converts GitHub's JSON of an issue to what the mirror keeps, and that to our issue.

Anybody who can reach a form controls bodies, labels and names. They count only as text, except for
what `MirroredIssue.believed` and `MirroredIssue.proven` confirm; the caller sets these.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.ids import IssueNumber, Timestamp, one_line
from ghp_agents.github import labels as github_label
from ghp_agents.github import marker as github_marker
from ghp_agents.github.accounts import Names
from ghp_agents.github.labels import SIGNS, agent_of, is_priority
from ghp_agents.github.marker import Mark
from ghp_agents.github.tracker import body as github_body
from ghp_agents.github.tracker.body import BodyParts
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues.body_sections import section
from ghp_agents.issues.issue import DEFAULT_PRIORITY, NAME_LIMIT, PRIORITIES, Comment, Issue

NOBODY = "ghost"  # GitHub's own name for an account that was deleted
_ISSUE_URL = re.compile(r"/repos/([^/]+/[^/]+)/issues/(\d+)$")


class MirroredIssue(NamedTuple):
    """What the mirror keeps of an issue on GitHub."""

    number: int
    id: int  # the database id, which native relations use
    title: str
    body: str
    state: str
    labels: tuple[str, ...]
    assignees: tuple[str, ...]  # accounts
    author: str  # an account
    created_at: str
    updated_at: str
    comments: int = 0
    parent: int | None = None  # from a native relation
    waits: int | None = None  # number of native blockers; None: not supported by the server
    blockers: tuple[int, ...] = ()  # the native blockers in this repository
    believed: bool = False  # the author may write, so the hidden line counts
    proven: tuple[str, ...] = ()  # lower-case labels and @accounts set by somebody with permission
    asked_at: str = ""  # `updated_at` at the last search for proofs
    by_writer: bool | None = None  # whether the author may write; None: unknown
    given_at: str = ""  # when somebody with write permission first assigned or labelled it
    vouched: bool = False  # somebody with write permission saved the current body
    shown: str | None = None  # the body before an edit without permission; None: unchanged
    edited_at: str = ""  # time of that edit
    by_author: tuple[str, ...] = ()  # of `proven`: the author's word alone, for lack of an event
    event_missing: tuple[float, ...] = ()  # when an event was first and last found missing
    written_at: float = 0.0  # when this clone last wrote it

    @property
    def counts(self) -> bool:
        """Whether the fields in the body count."""
        return self.by_writer is not False or self.vouched

    @property
    def is_offered(self) -> bool:
        """Whether somebody with write permission created it or assigned it."""
        return self.by_writer is not False or bool(self.given_at)

    @property
    def bare(self) -> "MirroredIssue":
        """Only what GitHub's JSON says, without our own findings."""
        return self._replace(
            believed=False, proven=(), asked_at="", blockers=(), by_writer=None, given_at="",
            vouched=False, shown=None, edited_at="", by_author=(), event_missing=(), written_at=0.0,
        )  # fmt: skip


class MirroredComment(NamedTuple):
    """What the cache keeps of a comment."""

    id: int
    author: str
    is_person: bool
    at: str
    updated_at: str
    body: str
    believed: bool = False
    by_writer: bool = False


def is_pull(raw: Mapping[str, Any]) -> bool:
    """Whether an entry of GitHub's issue list is a pull request."""
    return bool(raw.get("pull_request"))


def kept(raw: Mapping[str, Any]) -> MirroredIssue:
    """Parse GitHub's JSON of an issue. Raises ValueError if it is no issue."""
    try:
        return MirroredIssue(
            number=int(raw["number"]),
            id=int(raw["id"]),
            title=_text(raw["title"]),
            body=_text(raw.get("body")).replace("\r\n", "\n"),
            state="closed" if raw["state"] == "closed" else "open",
            labels=tuple(label_name(label) for label in raw.get("labels") or ()),
            assignees=tuple(_login(account) for account in raw.get("assignees") or ()),
            author=_login(raw.get("user")),
            created_at=one_line(_text(raw["created_at"]), 40),
            updated_at=one_line(_text(raw["updated_at"]), 40),
            comments=int(raw.get("comments") or 0),
            parent=number_in(raw.get("parent_issue_url"), raw.get("repository_url")),
            waits=_waits(raw.get("issue_dependencies_summary")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a GitHub issue: {error!r}") from None


def mirror_comment(raw: Mapping[str, Any]) -> MirroredComment:
    """Parse GitHub's JSON of a comment. Raises ValueError."""
    try:
        return MirroredComment(
            id=int(raw["id"]),
            author=_login(raw.get("user")),
            is_person=(raw.get("user") or {}).get("type", "User") == "User",
            at=one_line(_text(raw["created_at"]), 40),
            updated_at=one_line(_text(raw["updated_at"]), 40),
            body=_text(raw.get("body")).replace("\r\n", "\n"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a GitHub comment: {error!r}") from None


def number_in(url: object, repository_url: object) -> int | None:
    """The number of the issue at this URL, if it is in the same repository."""
    place = _ISSUE_URL.search(url) if isinstance(url, str) else None
    if place is None:
        return None
    same = isinstance(repository_url, str) and repository_url.endswith(f"/repos/{place[1]}")
    return int(place[2]) if same else None


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError("a text has the wrong type")
    # JSON may contain a lone surrogate, which cannot be encoded.
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def label_name(label: object) -> str:
    """The name of a label, from GitHub's JSON. Raises TypeError."""
    name = label.get("name") if isinstance(label, Mapping) else label
    return one_line(_text(name), 100)


def _login(account: Any) -> str:
    return one_line(_text((account or {}).get("login") or NOBODY), NAME_LIMIT)


def _waits(summary: Any) -> int | None:
    if not isinstance(summary, Mapping):
        return None
    return max(int(summary.get("total_blocked_by") or 0), int(summary.get("blocked_by") or 0))


def read(entry: MirroredIssue) -> tuple[str, Mark | None]:
    """The body without the hidden line, and that line's mark if it is trusted."""
    return github_marker.split_marker(entry.body) if entry.believed else (entry.body, None)


def issue(entry: MirroredIssue, names: Names, signs: Iterable[str] = SIGNS) -> Issue:
    """Convert to our issue. `signs` are labels that begin like an agent's label but name no
    agent."""
    text, mark = read(entry)
    parts = github_body.read_relations(text) if entry.counts else BodyParts(_as_given(entry, text))
    agents = {label: agent_of(label, signs) for label in entry.labels}
    counted = {label for label, agent in agents.items() if agent and label.lower() in entry.proven}
    parent = entry.parent or parts.parent
    return Issue(
        id=mark.id if mark else own_id(entry),
        number=IssueNumber(entry.number),
        title=one_line(entry.title, len(entry.title) + 1),
        body=parts.text,
        state=entry.state,
        labels=tuple(sorted({x for x in entry.labels if x not in counted and not is_priority(x)})),
        assignees=_assignees(entry, {str(agents[label]) for label in counted}, names),
        blocked_by=tuple(sorted({*map(IssueNumber, entry.blockers), *parts.blocked_by})),
        parent=IssueNumber(parent) if parent else None,
        priority=github_label.priority_of(entry.labels) or form_priority(entry, parts.text),
        author=mark.by if mark and mark.by else entry.author,
        created_at=Timestamp(entry.created_at),
        updated_at=Timestamp(entry.updated_at),
        by_writer=entry.by_writer is not False,
        offered=entry.is_offered,
        fields_count=entry.counts,
        edited_at=entry.edited_at,
        metadata=parts.metadata,
    )


def _as_given(entry: MirroredIssue, text: str) -> str:
    """The text as assigned, before its author edited it without write permission."""
    return (text if entry.shown is None else entry.shown).strip("\n")


def own_id(entry: MirroredIssue) -> str:
    """The id of an issue that this program did not create."""
    return f"g{entry.id:x}"


def issues(
    entries: Iterable[MirroredIssue], names: Names, signs: Iterable[str] = SIGNS
) -> list[Issue]:
    """The issues, oldest first. If a copied body makes two ids equal, the older issue keeps the
    id."""
    converted_issues: list[Issue] = []
    ids: set[str] = set()
    for entry in sorted(entries, key=lambda entry: entry.number):
        converted = issue(entry, names, signs)
        converted_issues.append(
            converted._replace(id=own_id(entry)) if converted.id in ids else converted
        )
        ids.add(converted.id)
    return converted_issues


def unproven(entry: MirroredIssue, names: Names, signs: Iterable[str] = SIGNS) -> list[str]:
    """Lower-case labels and @accounts that would assign an agent, but whose origin is not verified
    yet."""
    keys = [label.lower() for label in entry.labels if agent_of(label, signs)]
    keys += [_at(login) for login in entry.assignees if is_name(names.person(login))]
    return [key for key in dict.fromkeys(keys) if key not in entry.proven]


def form_priority(entry: MirroredIssue, text: str) -> str:
    """The priority in the body, if its fields count."""
    return priority_in(text) if entry.counts else DEFAULT_PRIORITY


def priority_in(text: str) -> str:
    """The priority in a form's answer; the default if there is none."""
    answer = section(text, "Priority").strip().casefold() if "riority" in text.lower() else ""
    return answer if answer in PRIORITIES else DEFAULT_PRIORITY


def _assignees(entry: MirroredIssue, agents: set[str], names: Names) -> tuple[str, ...]:
    theirs = {(names.login(agent) or "").casefold() for agent in agents}
    assigned = set(agents)
    for login in entry.assignees:
        if login.casefold() in theirs:
            continue  # the account of an agent that a label names
        name = names.person(login)
        assigned.add(f"@{login}" if is_name(name) and _at(login) not in entry.proven else name)
    return tuple(sorted(assigned))


def _at(login: str) -> str:
    return f"@{login.lower()}"


def comments(entries: Sequence[MirroredComment]) -> tuple[Comment, ...]:
    """Convert comments. Duplicates with one marker count once: two clones posted them without
    knowing of each other. The status comment is left out."""
    distinct: list[Comment] = []
    once: set[str] = {github_marker.once(github_marker.STATE)}
    for entry in sorted(entries, key=lambda entry: entry.id):
        converted, mark = comment(entry)
        if mark and mark.once and mark.once in once:
            continue
        once |= {mark.once} if mark else set()
        distinct.append(converted)
    return tuple(distinct)


def comment(entry: MirroredComment) -> tuple[Comment, Mark | None]:
    """Convert a comment; also return its hidden line if that is trusted."""
    text, mark = github_marker.split_marker(entry.body) if entry.believed else (entry.body, None)
    at = Timestamp(entry.at)
    if mark is None or not mark.by:
        identity = mark.id if mark else f"c{entry.id:x}"
        return Comment(identity, entry.author, at, text, entry.is_person, entry.by_writer), mark
    return Comment(mark.id, mark.by, at, text, mark.is_person, entry.by_writer), mark
