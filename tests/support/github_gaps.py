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
        said = self.ask("GET", f"collaborators/{login}/permission")
        return str(said.body["role_name"]) if said.status == 200 else "read"

    def author(self, below: str) -> str | None:
        """Who wrote an issue, a comment or a pull request."""
        said = self.ask("GET", below)
        return said.body["user"]["login"] if said.status == 200 else None

    def ask(self, verb: str, below: str, body: Any = None, login: str = "", **query: str) -> Said:
        """Ask emulate about the repository, as its owner or somebody else."""
        owner = self.repository.split("/")[0]
        path = f"/repos/{self.repository}/{below}".rstrip("/")
        return self.below(Asked(login or owner, verb, path, query, body))

    def every(self, below: str, **query: str) -> list[Any]:
        """All there is of a list, over all pages."""
        found: list[Any] = []
        for page in range(1, 1_000):
            said = self.ask("GET", below, per_page="100", page=str(page), **query)
            found += said.body if said.status == 200 else []
            if 'rel="next"' not in said.headers.get("Link", ""):
                break
        return found

    def answer(self, asked: Asked, below: str) -> Said:
        """What GitHub says; `below` is the path in the repository."""
        if asked.verb != "GET" and (match := re.match(ISSUE, below)):
            self._stirred.add(int(match[1]))
        edited = re.fullmatch(ISSUE, below) if asked.verb == "PATCH" else None
        if edited and "body" in asked.body:
            return self._edit(asked, int(edited[1]), below)
        for verbs, pattern, function in _TABLE:
            match = re.fullmatch(pattern, below)
            if match and asked.verb in verbs.split():
                return function(self, asked, *match.groups())
        return self.mended(self.below(asked), below)

    def _edit(self, asked: Asked, number: int, below: str) -> Said:
        """A body is changed; GitHub keeps the texts before, the first of them from then on."""
        before = self.ask("GET", below).body
        said = self.below(asked)
        if said.status == 200 and before["body"] != said.body["body"]:
            first = _edit_of(before["user"]["login"], before["created_at"], before["body"])
            history = self.edits.setdefault(number, [first])
            history.append(_edit_of(asked.login, said.body["updated_at"], said.body["body"]))
        return self.mended(said, below)

    def mended(self, said: Said, below: str) -> Said:
        """An answer of emulate with the fields that GitHub has."""
        if said.status >= 300:
            return said
        body = said.body
        for each in body if isinstance(body, list) else [body]:
            if isinstance(each, dict) and "author_association" in each and "reactions" in each:
                self._complete(each)
        return said

    def _complete(self, each: dict[str, Any]) -> None:
        key = each["url"].rpartition(f"{self.repository}/")[2]
        for reaction in self._reactions.get(key, ()):
            each["reactions"][reaction["content"]] += 1
            each["reactions"]["total_count"] += 1
        number = each.get("number")
        if number is None:
            return
        if "sub-issues" in self.features:
            children = [child for child, parent in self._parents.items() if parent == number]
            each["sub_issues_summary"] = {
                "total": len(children), "completed": 0, "percent_completed": 0
            }  # fmt: skip
            if number in self._parents:
                at = f"{HERE}/repos/{self.repository}/issues/{self._parents[number]}"
                each["parent_issue_url"] = at
        if "dependencies" in self.features:
            blocks = sum(number in blockers for blockers in self._blockers.values())
            blocked = len(self._blockers.get(number, ()))
            each["issue_dependencies_summary"] = {
                "blocked_by": blocked, "total_blocked_by": blocked,
                "blocking": blocks, "total_blocking": blocks,
            }  # fmt: skip

    # ------------------------------------------------------------ issues, comments, events

    def create(self, asked: Asked) -> Said:
        """Labels and people come one after another, so that an event tells who gave them."""
        asked_for = dict(asked.body)
        labels, people = asked_for.pop("labels", None), asked_for.pop("assignees", None)
        if any(self.may_not_be_assigned(login) for login in people or ()):
            return Said(422, {"message": "Validation Failed", "documentation_url": DOCS})
        said = self.below(asked._replace(body=asked_for))
        if said.status != 201:
            return said
        at, number = f"issues/{said.body['number']}", said.body["number"]
        self._stirred.add(number)
        if labels:
            self.ask(
                "POST", f"{at}/labels", {"labels": [_name(each) for each in labels]}, asked.login
            )
        if people:
            self.ask("POST", f"{at}/assignees", {"assignees": people}, asked.login)
        whole = self.mended(self.ask("GET", at, login=asked.login), at)
        return Said(201, whole.body, {"Location": f"{HERE}/repos/{self.repository}/{at}"})

    def assign(self, asked: Asked, number: str) -> Said:
        """Who cannot be assigned is left out, and so is all that a stranger wishes."""
        if LEVELS.index(self.level(asked.login)) < LEVELS.index("triage"):
            return Said(201, self.mended(self.ask("GET", f"issues/{number}"), "").body)
        wanted = [each for each in asked.body["assignees"] if not self.may_not_be_assigned(each)]
        said = self.below(asked._replace(body={"assignees": wanted}))
        return self.mended(said._replace(status=201) if said.status == 200 else said, "")

    def may_not_be_assigned(self, login: str) -> bool:
        """Who has neither push access nor, for simplicity, any other reason to be."""
        return LEVELS.index(self.level(login)) < LEVELS.index("triage")

    def assignable(self, asked: Asked, login: str) -> Said:
        """Whether somebody can be assigned."""
        return NOT_FOUND if self.may_not_be_assigned(login) else Said(204)

    def comments_of(self, asked: Asked, number: str) -> Said:
        """The comments of one issue, oldest first; a list that knows `since`."""
        if self.ask("GET", f"issues/{number}").status != 200 and not self._pull(number):
            return NOT_FOUND
        return self._comments(asked, self.every(f"issues/{number}/comments"))

    def comments(self, asked: Asked) -> Said:
        """The comments of all issues and pull requests."""
        listed = [*self.every("issues", state="all"), *self.every("pulls", state="all")]
        numbers = [each["number"] for each in listed]
        found = [each for n in numbers for each in self.every(f"issues/{n}/comments")]
        field = "updated_at" if asked.query.get("sort") == "updated" else "created_at"
        newest_first = "sort" in asked.query and asked.query.get("direction") == "desc"
        found.sort(key=lambda each: (each[field], each["id"]), reverse=newest_first)
        return self._comments(asked, found)

    def _comments(self, asked: Asked, found: list[Any]) -> Said:
        since = asked.query.get("since", "")
        fresh = [each for each in found if each["updated_at"] >= since]
        return self.mended(paged(asked, fresh), "")

    def _pull(self, number: str) -> bool:
        return self.ask("GET", f"pulls/{number}").status == 200

    def events_of(self, asked: Asked, number: str) -> Said:
        """The events of one issue, oldest first; that it was opened is none."""
        said = self.ask("GET", f"issues/{number}")
        if said.status != 200:
            return said
        return paged(asked, [_without_issue(each) for each in self._events_of(int(number))])

    def events(self, asked: Asked) -> Said:
        """The events of all issues, newest first."""
        for number in [*self._stirred]:
            self._events_of(number)
        listed = [event for each in self._events.values() for event in each]
        return paged(asked, sorted(listed, key=lambda each: -each["id"]))

    def _events_of(self, number: int) -> list[dict[str, Any]]:
        if number in self._stirred or number not in self._events:
            found = self.every(f"issues/{number}/events")
            kept = [_event(each) for each in found if each["event"] not in ("opened", "edited")]
            self._events[number] = kept
            self._stirred.discard(number)
        return self._events[number]

    def permission(self, asked: Asked, login: str) -> Said:
        """GitHub's older names of levels; who is no collaborator may read what is public."""
        if self.below(Asked(asked.login, "GET", f"/users/{login}", {})).status != 200:
            return NOT_FOUND
        said = self.below(asked)
        if said.status != 200:
            user = self.below(Asked(asked.login, "GET", f"/users/{login}", {})).body
            return Said(
                200, {"permission": "read", "role_name": "read", "user": _simple(user, "read")}
            )
        role = said.body["role_name"]
        told = {"permission": OLD_NAMES.get(role, role), "role_name": role}
        return Said(200, {**told, "user": _simple(said.body["user"], role)})

    # ------------------------------------------------------------ reactions

    def reactions(self, asked: Asked, key: str) -> Said:
        """How people reacted to an issue or a comment; the same twice is once."""
        if "reactions" not in self.features or self.ask("GET", key).status != 200:
            return NOT_FOUND
        listed = self._reactions.setdefault(key, [])
        if asked.verb == "GET":
            return paged(asked, listed)
        mine = {"user": self._user(asked.login), "content": asked.body["content"]}
        for each in listed:
            if (each["user"]["login"], each["content"]) == (asked.login, mine["content"]):
                return Said(200, each)
        number = self._next()
        made = {"id": number, "node_id": f"REA_{number}", **mine, "created_at": LONG_AGO}
        listed.append(made)
        return Said(201, made)

    def unreact(self, asked: Asked, key: str, number: str) -> Said:
        """Take a reaction back."""
        listed = self._reactions.get(key, [])
        self._reactions[key] = [each for each in listed if each["id"] != int(number)]
        return Said(204) if len(self._reactions[key]) < len(listed) else NOT_FOUND

    # ------------------------------------------------------------ sub-issues and dependencies

    def sub_issues(self, asked: Asked, number: str) -> Said:
        """The children of an issue; one is named by its database id, not its number."""
        if "sub-issues" not in self.features or self.ask("GET", f"issues/{number}").status != 200:
            return NOT_FOUND
        parent = int(number)
        if asked.verb == "GET":
            listed = [child for child, of in self._parents.items() if of == parent]
            return paged(asked, [self._issue(each) for each in listed])
        child = self._by_id(asked.body["sub_issue_id"])
        if child is None:
            return NOT_FOUND
        if asked.verb == "DELETE":
            if self._parents.get(child) != parent:
                return NOT_FOUND
            del self._parents[child]
            return Said(200, self._issue(parent))
        if child in self._parents and not asked.body.get("replace_parent"):
            return invalid("Issue may not contain duplicate sub-issues", "sub_issue_id")
        if parent == child or parent in self._descendants(child):
            return invalid("Sub issue may not create a circular dependency", "sub_issue_id")
        self._parents[child] = parent
        return Said(201, self._issue(parent))

    def parent(self, asked: Asked, number: str) -> Said:
        """The issue that one is a part of."""
        parent = self._parents.get(int(number))
        return NOT_FOUND if parent is None else Said(200, self._issue(parent))

    def blocked_by(self, asked: Asked, number: str) -> Said:
        """What an issue waits for; here too the database id names an issue."""
        if "dependencies" not in self.features or self.ask("GET", f"issues/{number}").status != 200:
            return NOT_FOUND
        listed = self._blockers.setdefault(int(number), [])
        if asked.verb == "GET":
            return paged(asked, [self._issue(each) for each in listed])
        blocker = self._by_id(asked.body["issue_id"])
        if blocker is None:
            return NOT_FOUND
        if blocker in listed or blocker == int(number):
            return invalid("Target issue has already been taken", "issue_id")
        listed.append(blocker)
        return Said(201, self._issue(int(number)))

    def unblock(self, asked: Asked, number: str, blocker: str) -> Said:
        """An issue waits no longer for one."""
        found = self._by_id(int(blocker))
        if found is None or found not in self._blockers.get(int(number), ()):
            return NOT_FOUND
        self._blockers[int(number)].remove(found)
        return Said(200, self._issue(int(number)))

    def blocking(self, asked: Asked, number: str) -> Said:
        """What waits for an issue."""
        if "dependencies" not in self.features:
            return NOT_FOUND
        waiting = [who for who, blockers in self._blockers.items() if int(number) in blockers]
        return paged(asked, [self._issue(each) for each in waiting])

    def _descendants(self, number: int) -> Iterator[int]:
        for child, parent in self._parents.items():
            if parent == number:
                yield child
                yield from self._descendants(child)

    def _issue(self, number: int) -> Any:
        return self.mended(self.ask("GET", f"issues/{number}"), "").body

    def _by_id(self, identifier: int) -> int | None:
        found = (each for each in self.every("issues", state="all") if each["id"] == identifier)
        return next((int(each["number"]) for each in found), None)

    def _user(self, login: str) -> Any:
        return _simple(self.below(Asked(login, "GET", "/user", {})).body)

    def _next(self) -> int:
        self._ids += 1
        return self._ids


def paged(asked: Asked, found: list[Any]) -> Said:
    """One page of a list, with the addresses of the others."""
    size, page = int(asked.query.get("per_page", "30")), int(asked.query.get("page", "1"))
    last = max(1, -(-len(found) // size))
    wanted = {"next": page + 1, "last": last} if page < last else {}
    wanted |= {"first": 1, "prev": page - 1} if page > 1 else {}
    links = [
        f'<{HERE}{asked.path}?{urlencode({**asked.query, "page": number})}>; rel="{name}"'
        for name, number in wanted.items()
    ]
    headers = {"Link": ", ".join(links)} if links else {}
    return Said(200, found[(page - 1) * size : page * size], headers)


def invalid(message: str, field: str) -> Said:
    """What GitHub says to a request that makes no sense."""
    error = {"resource": "Issue", "code": "custom", "field": field, "message": message}
    return Said(422, {"message": "Validation Failed", "errors": [error], "documentation_url": DOCS})


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """An event as GitHub tells it: who has to do with it, and nothing that has not."""
    told = {k: v for k, v in event.items() if not (k in UNSAID and v is None)}
    if "assignee" in told:
        told["assigner"] = told["actor"]
    return told


def _edit_of(login: str, at: str, text: str | None) -> dict[str, Any]:
    return {"editor": {"login": login}, "editedAt": at, "diff": text or ""}


def _without_issue(event: dict[str, Any]) -> dict[str, Any]:
    told = {k: v for k, v in event.items() if k != "issue"}
    return told | {"performed_via_github_app": None}


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
