"""A request of a clone without a token for a write on GitHub, and the record of its result.

`.ghp/outgoing/<id>/request.json` is written by the clone without a token, `result.json` beside it
by the clone that sent it. Both travel with the state. Anybody who may push the state can write a
request, so its fields are bounded here, and `authority.py` says what it may ask for.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, NamedTuple, TypedDict

from ghp_agents.core.declared import HIDDEN, OPTIONAL, Read, Written, decoded, plain
from ghp_agents.core.fields import Line, Whole, as_id, as_line, as_text, as_whole, dump, parse
from ghp_agents.core.ids import IssueNumber, one_line
from ghp_agents.core.metadata import as_metadata
from ghp_agents.issues.issue import BODY_LIMIT, NO_CHANGE, PRIORITIES, STATES, IssueChange
from ghp_agents.ports import Snapshot
from ghp_agents.pulls.pull import NewPull
from ghp_agents.state.codec import (
    At,
    By,
    CheckedBy,
    Clock,
    Clone,
    ledger_record,
    order,
    read_files,
    seconds,
)
from ghp_agents.state.join import Settled
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/outgoing/"
COMMENT, CHANGE, CREATE, PULL = "comment", "change", "create", "pull"
KINDS = (COMMENT, CHANGE, CREATE, PULL)
SENT, REFUSED = "sent", "refused"
_REQUEST, _RESULT = "request.json", "result.json"
_NAMES = ("addLabels", "removeLabels", "addAssignees", "removeAssignees")
_NUMBERS = ("addBlockers", "removeBlockers")
_MOST = 100  # elements of a list
_LINE = 300  # characters


class NewPullFields(TypedDict, total=False):
    """The fields of a new pull request."""

    branch: str
    base: str
    head: str
    title: str
    body: str
    issue: int
    draft: bool


def _text(most: int) -> Read:
    return Read(lambda value, name: _bounded(value, name, most))


class WriteRequest(NamedTuple):
    """A write that waits for a clone with a token."""

    id: Annotated[str, HIDDEN]  # it is in what the write leaves on GitHub, so it is sent once
    kind: Line
    clock: Clock
    clone: Clone
    at: At
    by: CheckedBy
    issue: Annotated[Whole, OPTIONAL] = 0  # the number; 0 for a new issue
    body: Annotated[str, _text(BODY_LIMIT), OPTIONAL] = ""  # of a comment
    # Of a comment that is posted once, by any clone.
    marker: Annotated[str, _text(_LINE), OPTIONAL] = ""
    # Also the fields of a new issue.
    change: Annotated[IssueChange, Read(lambda x, _: _change(x)), OPTIONAL] = NO_CHANGE
    pull: Annotated[NewPull | None, Written(lambda pull: pull, NewPullFields), OPTIONAL] = None

    @property
    def says(self) -> str:
        """The write, for people."""
        if self.kind == CREATE:
            return f"the new issue «{one_line(self.change.title or '', 60)}»"
        if self.kind == PULL and self.pull:
            return f"the pull request of {one_line(self.pull.branch, 80)}"
        return f"{'a comment on' if self.kind == COMMENT else 'a change of'} #{self.issue}"


class RequestResult(NamedTuple):
    """What became of such a write."""

    id: Annotated[str, HIDDEN]  # the request's
    by: By
    at: At
    clock: Clock
    clone: Clone
    fate: Line  # sent, refused
    why: Annotated[str, Read(lambda x, name: one_line(as_text(x, name), _LINE))]  # of a refusal
    number: Whole  # of what was created; else 0


class Outgoing(NamedTuple):
    """All requests in their order, and the results by the requests' ids."""

    requests: tuple[WriteRequest, ...] = ()
    results: Mapping[str, RequestResult] = {}
    problems: tuple[Problem, ...] = ()

    @property
    def waiting(self) -> list[WriteRequest]:
        """The requests without a result."""
        return [request for request in self.requests if request.id not in self.results]

    @property
    def refused(self) -> list[tuple[WriteRequest, RequestResult]]:
        """The refused requests."""
        results = ((request, self.results.get(request.id)) for request in self.requests)
        return [
            (request, result) for request, result in results if result and result.fate == REFUSED
        ]

    def pulls(self) -> Iterable[tuple[WriteRequest, RequestResult | None]]:
        """The pull requests that were asked for, oldest first, without refused ones."""
        for request in self.requests:
            result = self.results.get(request.id)
            if request.pull and not (result and result.fate == REFUSED):
                yield request, result


def request_record(request: WriteRequest) -> Record:
    """The request in the state's form."""
    files = [(f"{FOLDER}{request.id}/{_REQUEST}", dump(plain(request)))]
    return ledger_record(
        request, f"github-{request.kind}", f"#{request.issue}", files,
        issue=request.issue or None, text=f"waits for a clone with a token: {request.says}",
    )  # fmt: skip


def result_record(result: RequestResult, request: WriteRequest) -> Record:
    """The result in the state's form."""
    files = [(f"{FOLDER}{result.id}/{_RESULT}", dump(plain(result)))]
    text = f"{result.fate}: {request.says}" + (f": {result.why}" if result.why else "")
    return ledger_record(
        result, f"github-{result.fate}", f"#{request.issue}", files,
        issue=request.issue or None, text=text,
    )  # fmt: skip


def read_outgoing(files: Mapping[str, bytes]) -> Outgoing:
    """The requests and results in files of the state."""
    requests, problems = read_files(_named(files, _REQUEST), _request, what="not a request: ")
    results, others = read_files(_named(files, _RESULT), _result, what="not a result: ")
    ordered = tuple(sorted(requests, key=order))
    return Outgoing(ordered, {result.id: result for result in results}, (*problems, *others))


def outgoing(snapshot: Snapshot) -> Outgoing:
    """The requests and results in a state."""
    return read_outgoing(snapshot.present(FOLDER))


def settled(files: Mapping[str, bytes], before: float) -> list[Settled]:
    """The requests with a result from before a time in seconds."""
    return [
        Settled(
            frozenset({f"{FOLDER}{result.id}/{_REQUEST}"}),
            frozenset({f"{FOLDER}{result.id}/{_RESULT}"}),
        )
        for result in read_outgoing(files).results.values()
        if seconds(result.at) < before
    ]


def _named(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if path.endswith(f"/{name}")}


def _id_in(path: str) -> str:
    return as_id(path.removeprefix(FOLDER).partition("/")[0])


def _request(path: str, data: bytes) -> WriteRequest | None:
    fields = parse(data)
    kind = as_line(fields.get("kind"), "kind")
    if kind not in KINDS:
        return None  # of a newer version
    pull = _pull(fields.get("pull")) if kind == PULL else None
    return decoded(WriteRequest, fields, id=_id_in(path), pull=pull)


def _result(path: str, data: bytes) -> RequestResult:
    return decoded(RequestResult, parse(data), id=_id_in(path))


def _change(value: object) -> IssueChange:
    fields = _object(value, "change")
    given: dict[str, Any] = {
        name: check(fields[name]) for name, check in _TEXTS.items() if name in fields
    }
    given |= {_snake(name): _elements(fields, name, _bounded_line) for name in _NAMES}
    given |= {_snake(name): _elements(fields, name, _number) for name in _NUMBERS}
    if "parent" in fields:
        given["parent"] = _number(fields["parent"])
    return IssueChange(no_parent=fields.get("noParent") is True, **given)


def _pull(value: object) -> NewPull:
    fields = _object(value, "pull")
    branch, base, head, title = (
        _bounded_line(fields.get(name)) for name in ("branch", "base", "head", "title")
    )
    issue = fields.get("issue")
    return NewPull(
        branch, base, head, title, _bounded(fields.get("body", ""), "body", BODY_LIMIT),
        None if issue is None else as_whole(issue, "issue"), fields.get("draft") is True,
    )  # fmt: skip


def _object(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} is not an object")
    return value


def _elements(fields: Mapping[str, Any], name: str, element: Any) -> tuple[Any, ...]:
    listed = fields.get(name, [])
    if not isinstance(listed, list) or len(listed) > _MOST:
        raise ValueError(f"{name!r} is not a list of at most {_MOST}")
    return tuple(element(item) for item in listed)


def _bounded(value: object, name: str, most: int) -> str:
    text = as_text(value, name)
    if len(text) > most:
        raise ValueError(f"{name!r} is longer than {most}")
    return text


def _bounded_line(value: object) -> str:
    return _bounded(as_line(value, "line"), "line", _LINE)


def _one_of(value: object, choices: Collection[str]) -> str:
    if value not in choices:
        raise ValueError(f"{one_line(repr(value), 40)} is unknown")
    return str(value)


def _number(value: object) -> IssueNumber:
    return IssueNumber(as_whole(value, "number"))


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


_TEXTS: Mapping[str, Callable[[object], str]] = {
    "title": _bounded_line,
    "body": lambda value: _bounded(value, "body", BODY_LIMIT),
    "state": lambda value: _one_of(value, STATES),
    "priority": lambda value: _one_of(value, PRIORITIES),
    "metadata": as_metadata,
}
