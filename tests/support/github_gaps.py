"""What GitHub has around issues and emulate lacks or tells otherwise: as little as tests need.

Each answer is judged by GitHub's own description like all others, and `test_github_gaps.py` holds
it beside conversations with the real one.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from tests.support.faults import Asked, Said
from tests.support.github_laws import LEVELS, OLD_NAMES
from tests.support.proxy import DOCS, HERE, Handler

NOT_FOUND = Said(404, {"message": "Not Found", "documentation_url": DOCS, "status": "404"})
ISSUE = r"issues/(\d+)"
LONG_AGO = "2026-01-01T00:00:00Z"
# Fields of an event that GitHub leaves out, where emulate says that they are null.
UNSAID = ("label", "assignee", "assigner", "milestone", "rename")


class Gaps:
    """The issues of one repository, with all that GitHub knows about them."""

    def __init__(self, below: Handler, repository: str, features: set[str]) -> None:
        self.below, self.repository, self.features = below, repository, features
        self._reactions: dict[str, list[dict[str, Any]]] = {}  # by issues/1 or issues/comments/1
        self._parents: dict[int, int] = {}  # number of a child, of its parent
        self._blockers: dict[int, list[int]] = {}
        self._events: dict[int, list[dict[str, Any]]] = {}
        self._stirred: set[int] = set()  # issues whose events are to be asked for again
        self._ids = 1_000_000
        self.edits: dict[int, list[dict[str, Any]]] = {}  # of bodies, oldest first, as GraphQL has

    def level(self, login: str) -> str:
        """What somebody may do in the repository."""
        if login == self.repository.split("/")[0]:
            return "admin"
        response = self.ask("GET", f"collaborators/{login}/permission")
        return str(response.body["role_name"]) if response.status == 200 else "read"

    def author(self, below: str) -> str | None:
        """Who wrote an issue, a comment or a pull request."""
        response = self.ask("GET", below)
        return response.body["user"]["login"] if response.status == 200 else None

    def ask(self, verb: str, below: str, body: Any = None, login: str = "", **query: str) -> Said:
        """Ask emulate about the repository, as its owner or somebody else."""
        owner = self.repository.split("/")[0]
        path = f"/repos/{self.repository}/{below}".rstrip("/")
        return self.below(Asked(login or owner, verb, path, query, body))

    def every(self, below: str, **query: str) -> list[Any]:
        """All there is of a list, over all pages."""
        items: list[Any] = []
        for page in range(1, 1_000):
            response = self.ask("GET", below, per_page="100", page=str(page), **query)
            items += response.body if response.status == 200 else []
            if 'rel="next"' not in response.headers.get("Link", ""):
                break
        return items

    def answer(self, request: Asked, below: str) -> Said:
        """What GitHub says; `below` is the path in the repository."""
        if request.verb != "GET" and (match := re.match(ISSUE, below)):
            self._stirred.add(int(match[1]))
        edited = re.fullmatch(ISSUE, below) if request.verb == "PATCH" else None
        if edited and "body" in request.body:
            return self._edit(request, int(edited[1]), below)
        for verbs, pattern, function in _TABLE:
            match = re.fullmatch(pattern, below)
            if match and request.verb in verbs.split():
                return function(self, request, *match.groups())
        return self.mended(self.below(request), below)

    def _edit(self, request: Asked, number: int, below: str) -> Said:
        """A body is changed; GitHub keeps the texts before, the first of them from then on."""
        before = self.ask("GET", below).body
        response = self.below(request)
        if response.status == 200 and before["body"] != response.body["body"]:
            first = _edit_of(before["user"]["login"], before["created_at"], before["body"])
            history = self.edits.setdefault(number, [first])
            history.append(
                _edit_of(request.login, response.body["updated_at"], response.body["body"])
            )
        return self.mended(response, below)

    def mended(self, response: Said, below: str) -> Said:
        """An answer of emulate with the fields that GitHub has."""
        if response.status >= 300:
            return response
        body = response.body
        for x in body if isinstance(body, list) else [body]:
            if isinstance(x, dict) and "author_association" in x and "reactions" in x:
                self._complete(x)
        return response

    def _complete(self, x: dict[str, Any]) -> None:
        key = x["url"].rpartition(f"{self.repository}/")[2]
        for reaction in self._reactions.get(key, ()):
            x["reactions"][reaction["content"]] += 1
            x["reactions"]["total_count"] += 1
        number = x.get("number")
        if number is None:
            return
        if "sub-issues" in self.features:
            children = [child for child, parent in self._parents.items() if parent == number]
            x["sub_issues_summary"] = {
                "total": len(children), "completed": 0, "percent_completed": 0
            }  # fmt: skip
            if number in self._parents:
                at = f"{HERE}/repos/{self.repository}/issues/{self._parents[number]}"
                x["parent_issue_url"] = at
        if "dependencies" in self.features:
            blocks = sum(number in blockers for blockers in self._blockers.values())
            blocked = len(self._blockers.get(number, ()))
            x["issue_dependencies_summary"] = {
                "blocked_by": blocked, "total_blocked_by": blocked,
                "blocking": blocks, "total_blocking": blocks,
            }  # fmt: skip

    # ------------------------------------------------------------ issues, comments, events

    def create(self, request: Asked) -> Said:
        """Labels and people come one after another, so that an event tells who gave them."""
        asked_for = dict(request.body)
        labels, people = asked_for.pop("labels", None), asked_for.pop("assignees", None)
        if any(self.may_not_be_assigned(login) for login in people or ()):
            return Said(422, {"message": "Validation Failed", "documentation_url": DOCS})
        response = self.below(request._replace(body=asked_for))
        if response.status != 201:
            return response
        at, number = f"issues/{response.body['number']}", response.body["number"]
        self._stirred.add(number)
        if labels:
            self.ask("POST", f"{at}/labels", {"labels": [_name(x) for x in labels]}, request.login)
        if people:
            self.ask("POST", f"{at}/assignees", {"assignees": people}, request.login)
        whole = self.mended(self.ask("GET", at, login=request.login), at)
        return Said(201, whole.body, {"Location": f"{HERE}/repos/{self.repository}/{at}"})

    def assign(self, request: Asked, number: str) -> Said:
        """Who cannot be assigned is left out, and so is all that a stranger wishes."""
        if LEVELS.index(self.level(request.login)) < LEVELS.index("triage"):
            return Said(201, self.mended(self.ask("GET", f"issues/{number}"), "").body)
        wanted = [x for x in request.body["assignees"] if not self.may_not_be_assigned(x)]
        response = self.below(request._replace(body={"assignees": wanted}))
        return self.mended(
            response._replace(status=201) if response.status == 200 else response, ""
        )

    def may_not_be_assigned(self, login: str) -> bool:
        """Who has neither push access nor, for simplicity, any other reason to be."""
        return LEVELS.index(self.level(login)) < LEVELS.index("triage")

    def assignable(self, request: Asked, login: str) -> Said:
        """Whether somebody can be assigned."""
        return NOT_FOUND if self.may_not_be_assigned(login) else Said(204)

    def comments_of(self, request: Asked, number: str) -> Said:
        """The comments of one issue, oldest first; a list that knows `since`."""
        if self.ask("GET", f"issues/{number}").status != 200 and not self._pull(number):
            return NOT_FOUND
        return self._comments(request, self.every(f"issues/{number}/comments"))

    def comments(self, request: Asked) -> Said:
        """The comments of all issues and pull requests."""
        listed = [*self.every("issues", state="all"), *self.every("pulls", state="all")]
        numbers = [x["number"] for x in listed]
        comments = [x for n in numbers for x in self.every(f"issues/{n}/comments")]
        field = "updated_at" if request.query.get("sort") == "updated" else "created_at"
        newest_first = "sort" in request.query and request.query.get("direction") == "desc"
        comments.sort(key=lambda x: (x[field], x["id"]), reverse=newest_first)
        return self._comments(request, comments)

    def _comments(self, request: Asked, comments: list[Any]) -> Said:
        since = request.query.get("since", "")
        fresh = [x for x in comments if x["updated_at"] >= since]
        return self.mended(paged(request, fresh), "")

    def _pull(self, number: str) -> bool:
        return self.ask("GET", f"pulls/{number}").status == 200

    def events_of(self, request: Asked, number: str) -> Said:
        """The events of one issue, oldest first; that it was opened is none."""
        response = self.ask("GET", f"issues/{number}")
        if response.status != 200:
            return response
        return paged(request, [_without_issue(x) for x in self._events_of(int(number))])

    def events(self, request: Asked) -> Said:
        """The events of all issues, newest first."""
        for number in [*self._stirred]:
            self._events_of(number)
        listed = [event for x in self._events.values() for event in x]
        return paged(request, sorted(listed, key=lambda x: -x["id"]))

    def _events_of(self, number: int) -> list[dict[str, Any]]:
        if number in self._stirred or number not in self._events:
            events = self.every(f"issues/{number}/events")
            kept = [_event(x) for x in events if x["event"] not in ("opened", "edited")]
            self._events[number] = kept
            self._stirred.discard(number)
        return self._events[number]

    def permission(self, request: Asked, login: str) -> Said:
        """GitHub's older names of levels; who is no collaborator may read what is public."""
        if self.below(Asked(request.login, "GET", f"/users/{login}", {})).status != 200:
            return NOT_FOUND
        response = self.below(request)
        if response.status != 200:
            user = self.below(Asked(request.login, "GET", f"/users/{login}", {})).body
            return Said(
                200, {"permission": "read", "role_name": "read", "user": _simple(user, "read")}
            )
        role = response.body["role_name"]
        body = {"permission": OLD_NAMES.get(role, role), "role_name": role}
        return Said(200, {**body, "user": _simple(response.body["user"], role)})

    # ------------------------------------------------------------ reactions

    def reactions(self, request: Asked, key: str) -> Said:
        """How people reacted to an issue or a comment; the same twice is once."""
        if "reactions" not in self.features or self.ask("GET", key).status != 200:
            return NOT_FOUND
        listed = self._reactions.setdefault(key, [])
        if request.verb == "GET":
            return paged(request, listed)
        mine = {"user": self._user(request.login), "content": request.body["content"]}
        for x in listed:
            if (x["user"]["login"], x["content"]) == (request.login, mine["content"]):
                return Said(200, x)
        number = self._next()
        reaction = {"id": number, "node_id": f"REA_{number}", **mine, "created_at": LONG_AGO}
        listed.append(reaction)
        return Said(201, reaction)

    def unreact(self, request: Asked, key: str, number: str) -> Said:
        """Take a reaction back."""
        listed = self._reactions.get(key, [])
        self._reactions[key] = [x for x in listed if x["id"] != int(number)]
        return Said(204) if len(self._reactions[key]) < len(listed) else NOT_FOUND

    # ------------------------------------------------------------ sub-issues and dependencies

    def sub_issues(self, request: Asked, number: str) -> Said:
        """The children of an issue; one is named by its database id, not its number."""
        if "sub-issues" not in self.features or self.ask("GET", f"issues/{number}").status != 200:
            return NOT_FOUND
        parent = int(number)
        if request.verb == "GET":
            listed = [child for child, of in self._parents.items() if of == parent]
            return paged(request, [self._issue(x) for x in listed])
        child = self._by_id(request.body["sub_issue_id"])
        if child is None:
            return NOT_FOUND
        if request.verb == "DELETE":
            if self._parents.get(child) != parent:
                return NOT_FOUND
            del self._parents[child]
            return Said(200, self._issue(parent))
        if child in self._parents and not request.body.get("replace_parent"):
            return invalid("Issue may not contain duplicate sub-issues", "sub_issue_id")
        if parent == child or parent in self._descendants(child):
            return invalid("Sub issue may not create a circular dependency", "sub_issue_id")
        self._parents[child] = parent
        return Said(201, self._issue(parent))

    def parent(self, request: Asked, number: str) -> Said:
        """The issue that one is a part of."""
        parent = self._parents.get(int(number))
        return NOT_FOUND if parent is None else Said(200, self._issue(parent))

    def blocked_by(self, request: Asked, number: str) -> Said:
        """What an issue waits for; here too the database id names an issue."""
        if "dependencies" not in self.features or self.ask("GET", f"issues/{number}").status != 200:
            return NOT_FOUND
        listed = self._blockers.setdefault(int(number), [])
        if request.verb == "GET":
            return paged(request, [self._issue(x) for x in listed])
        blocker = self._by_id(request.body["issue_id"])
        if blocker is None:
            return NOT_FOUND
        if blocker in listed or blocker == int(number):
            return invalid("Target issue has already been taken", "issue_id")
        listed.append(blocker)
        return Said(201, self._issue(int(number)))

    def unblock(self, request: Asked, number: str, blocker: str) -> Said:
        """An issue waits no longer for one."""
        issue = self._by_id(int(blocker))
        if issue is None or issue not in self._blockers.get(int(number), ()):
            return NOT_FOUND
        self._blockers[int(number)].remove(issue)
        return Said(200, self._issue(int(number)))

    def blocking(self, request: Asked, number: str) -> Said:
        """What waits for an issue."""
        if "dependencies" not in self.features:
            return NOT_FOUND
        waiting = [who for who, blockers in self._blockers.items() if int(number) in blockers]
        return paged(request, [self._issue(x) for x in waiting])

    def _descendants(self, number: int) -> Iterator[int]:
        for child, parent in self._parents.items():
            if parent == number:
                yield child
                yield from self._descendants(child)

    def _issue(self, number: int) -> Any:
        return self.mended(self.ask("GET", f"issues/{number}"), "").body

    def _by_id(self, identifier: int) -> int | None:
        matches = (x for x in self.every("issues", state="all") if x["id"] == identifier)
        return next((int(x["number"]) for x in matches), None)

    def _user(self, login: str) -> Any:
        return _simple(self.below(Asked(login, "GET", "/user", {})).body)

    def _next(self) -> int:
        self._ids += 1
        return self._ids


def paged(request: Asked, items: list[Any]) -> Said:
    """One page of a list, with the addresses of the others."""
    size, page = int(request.query.get("per_page", "30")), int(request.query.get("page", "1"))
    last = max(1, -(-len(items) // size))
    wanted = {"next": page + 1, "last": last} if page < last else {}
    wanted |= {"first": 1, "prev": page - 1} if page > 1 else {}
    links = [
        f'<{HERE}{request.path}?{urlencode({**request.query, "page": number})}>; rel="{name}"'
        for name, number in wanted.items()
    ]
    headers = {"Link": ", ".join(links)} if links else {}
    return Said(200, items[(page - 1) * size : page * size], headers)


def invalid(message: str, field: str) -> Said:
    """What GitHub says to a request that makes no sense."""
    error = {"resource": "Issue", "code": "custom", "field": field, "message": message}
    return Said(422, {"message": "Validation Failed", "errors": [error], "documentation_url": DOCS})


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """An event as GitHub tells it: who has to do with it, and nothing that has not."""
    fields = {k: v for k, v in event.items() if not (k in UNSAID and v is None)}
    if "assignee" in fields:
        fields["assigner"] = fields["actor"]
    return fields


def _edit_of(login: str, at: str, text: str | None) -> dict[str, Any]:
    return {"editor": {"login": login}, "editedAt": at, "diff": text or ""}


def _without_issue(event: dict[str, Any]) -> dict[str, Any]:
    fields = {k: v for k, v in event.items() if k != "issue"}
    return fields | {"performed_via_github_app": None}


def _simple(user: dict[str, Any], role: str = "") -> dict[str, Any]:
    """A user as others are shown them."""
    kept = {k: v for k, v in user.items() if k in _SIMPLE}
    return kept | ({"role_name": role} if role else {})


def _name(label: Any) -> str:
    return label if isinstance(label, str) else str(label["name"])


_SIMPLE = (
    "avatar_url", "events_url", "followers_url", "following_url", "gists_url", "gravatar_id",
    "html_url", "id", "login", "node_id", "organizations_url", "received_events_url", "repos_url",
    "site_admin", "starred_url", "subscriptions_url", "type", "url", "user_view_type",
)  # fmt: skip
_REACTING = r"(issues/\d+|issues/comments/\d+)/reactions"
_TABLE: tuple[tuple[str, str, Callable[..., Said]], ...] = (
    ("POST", r"issues", Gaps.create),
    ("POST", rf"{ISSUE}/assignees", Gaps.assign),
    ("GET", r"assignees/([^/]+)", Gaps.assignable),
    ("GET", r"collaborators/([^/]+)/permission", Gaps.permission),
    ("GET", r"issues/comments", Gaps.comments),
    ("GET", rf"{ISSUE}/comments", Gaps.comments_of),
    ("GET", r"issues/events", Gaps.events),
    ("GET", rf"{ISSUE}/(?:events|timeline)", Gaps.events_of),
    ("GET POST", _REACTING, Gaps.reactions),
    ("DELETE", rf"{_REACTING}/(\d+)", Gaps.unreact),
    ("GET POST", rf"{ISSUE}/sub_issues", Gaps.sub_issues),
    ("DELETE", rf"{ISSUE}/sub_issue", Gaps.sub_issues),
    ("GET", rf"{ISSUE}/parent", Gaps.parent),
    ("GET POST", rf"{ISSUE}/dependencies/blocked_by", Gaps.blocked_by),
    ("DELETE", rf"{ISSUE}/dependencies/blocked_by/(\d+)", Gaps.unblock),
    ("GET", rf"{ISSUE}/dependencies/blocking", Gaps.blocking),
)
