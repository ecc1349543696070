"""The twin of emulate: GitHub's issues, comments, labels and pull requests of one repository.

It needs no node, its time is whatever `now` says, and all that it knows can be pickled, so a test
can ask it how things stood a while ago (`replicas.py`). What emulate lacks, this lacks too: the
rest is in `github_gaps.py` and `github_pulls.py`.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from tests.support.faults import Asked, Said
from tests.support.github_gaps import NOT_FOUND, paged
from tests.support.proxy import HERE
from tests.support.twins.hub_shapes import Row, no_reactions, repository, user

PERMISSIONS = {"pull": "read", "push": "write"}
TEXTS = ("title", "body", "state", "state_reason", "base", "draft")


Table = tuple[tuple[str, str, Callable[..., Said]], ...]


class IssueHub:
    """One repository. `now` is the time of the next request, in seconds since the epoch."""

    def __init__(self, logins: Iterable[str]) -> None:
        self.now = 0.0
        self.logins = [*logins]
        self.repository = ""
        self._level: dict[str, str] = {}
        self._issues: dict[int, Row] = {}  # pull requests too: they have a head
        self._comments: dict[int, Row] = {}
        self._labels: dict[str, Row] = {}  # by the name in small letters
        self._events: list[Row] = []
        self._checks: dict[int, Row] = {}

    def __call__(self, request: Asked) -> Said:
        """What it answers."""
        for verb, pattern, function in self.table:
            match = re.fullmatch(pattern.replace("REPO", "/repos/[^/]+/[^/]+"), request.path)
            if match and verb == request.verb:
                response: Said = function(self, request, *match.groups())
                return response
        return NOT_FOUND

    @property
    def table(self) -> Table:
        """What can be asked."""
        return ISSUES

    def close(self) -> None:
        """Nothing is open."""

    @property
    def _at(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now))

    @property
    def _home(self) -> str:
        return f"{HERE}/repos/{self.repository}"

    # ------------------------------------------------------------ the repository, people

    def _make(self, request: Asked) -> Said:
        self.repository = f"{request.login}/{request.body['name']}"
        self._level[request.login] = "admin"
        return Said(201, repository(self.repository))

    def _home_of_all(self, request: Asked) -> Said:
        return Said(200, repository(self.repository))

    def _me(self, request: Asked) -> Said:
        return self._user(request, request.login)

    def _user(self, request: Asked, login: str) -> Said:
        if login not in self.logins:
            return NOT_FOUND
        nothing = dict.fromkeys(("company", "location", "email", "hireable", "bio", "blog"))
        numbers = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
        times = {"created_at": self._at, "updated_at": self._at}
        return Said(200, {**user(login), "name": login.title(), **nothing, **numbers, **times})

    def _grant(self, request: Asked, login: str) -> Said:
        permission = request.body["permission"]
        self._level[login] = PERMISSIONS.get(permission, permission)
        return Said(204)

    def _permission(self, request: Asked, login: str) -> Said:
        level = self._level.get(login)
        if level is None:
            return NOT_FOUND
        return Said(200, {"permission": level, "role_name": level, "user": user(login)})

    # ------------------------------------------------------------ issues

    def _create(self, request: Asked) -> Said:
        row = self._begun(request)
        self._note(row, request.login, "opened")
        return Said(201, self._issue(row))

    def _begun(self, request: Asked) -> Row:
        row = {
            "number": 1 + len(self._issues), "login": request.login, "labels": [], "assignees": [],
            "title": request.body["title"], "body": request.body.get("body"), "state": "open",
            "state_reason": None, "created_at": self._at, "updated_at": self._at,
            "closed_at": None, "closed_by": None, "draft": bool(request.body.get("draft")),
        }  # fmt: skip
        self._issues[row["number"]] = row
        return row

    def _listed(self, request: Asked) -> Said:
        query = request.query
        state, since = query.get("state", "open"), query.get("since", "")
        labels = {*query.get("labels", "").lower().split(",")} - {""}
        rows = [
            row
            for row in self._issues.values()
            if "head" not in row
            and state in ("all", row["state"])
            and row["updated_at"] >= since
            and labels <= {*row["labels"]}
        ]
        page = paged(request, in_order(rows, query))
        return page._replace(body=[self._issue(row) for row in page.body])

    @property
    def count(self) -> int:
        """How many issues there are, without pull requests."""
        return sum("head" not in row for row in self._issues.values())

    def fill(self, rows: Iterable[Row]) -> None:
        """Have issues with these fields, all at once and as if they had long been there."""
        for fields in rows:
            row = self._begun(Asked(fields["login"], "POST", "", {}, {"title": fields["title"]}))
            row |= fields

    def _one(self, request: Asked, number: str) -> Said:
        row = self._issues.get(int(number))
        return Said(200, self._issue(row)) if row and "head" not in row else NOT_FOUND

    def _change(self, request: Asked, number: str) -> Said:
        row = self._issues.get(int(number))
        if row is None:
            return NOT_FOUND
        self._set_texts(row, request)
        if "labels" in request.body:
            self._set_labels(row, request.login, request.body["labels"])
        if "assignees" in request.body:
            self._set_people(row, request.login, request.body["assignees"])
        return Said(200, self._issue(row))

    def _set_texts(self, row: Row, request: Asked) -> None:
        before = row["state"]
        row |= {name: request.body[name] for name in TEXTS if name in request.body}
        row["updated_at"] = self._at
        if row["state"] == before:
            return
        is_closed = row["state"] == "closed"
        reason = (request.body.get("state_reason") or "completed") if is_closed else "reopened"
        row["state_reason"] = reason
        row["closed_at"] = self._at if is_closed else None
        row["closed_by"] = request.login if is_closed else None
        self._note(row, request.login, "closed" if is_closed else "reopened")

    def _issue(self, row: Row) -> Row:
        at = f"{self._home}/issues/{row['number']}"
        return self._common(row) | {
            "url": at, "repository_url": self._home, "labels_url": f"{at}/labels{{/name}}",
            "comments_url": f"{at}/comments", "events_url": f"{at}/events",
            "timeline_url": f"{at}/timeline", "node_id": f"I_{row['number']}",
            "html_url": f"{HERE}/{self.repository}/issues/{row['number']}",
            "state_reason": row["state_reason"], "active_lock_reason": None,
            "closed_by": user(row["closed_by"]) if row["closed_by"] else None,
            "reactions": no_reactions(at), "performed_via_github_app": None,
            "comments": self._count(row["number"]),
        }  # fmt: skip

    def _common(self, row: Row) -> Row:
        people = [user(login) for login in row["assignees"]]
        kept = ("number", "title", "body", "state", "created_at", "updated_at", "closed_at")
        return {name: row[name] for name in kept} | {
            "id": 1_000 + row["number"], "user": user(row["login"]), "locked": False,
            "labels": [self._label(name) for name in row["labels"]], "milestone": None,
            "assignee": people[0] if people else None, "assignees": people,
            "author_association": self._association(row["login"]),
        }  # fmt: skip

    def _association(self, login: str) -> str:
        if login == self.repository.split("/")[0]:
            return "OWNER"
        return "COLLABORATOR" if login in self._level else "NONE"

    def _count(self, number: int) -> int:
        return sum(x["number"] == number for x in self._comments.values())

    # ------------------------------------------------------------ events

    def _note(self, row: Row, login: str, event: str, **about: Any) -> None:
        entry = {
            "number": row["number"],
            "actor": login,
            "event": event,
            "created_at": self._at,
        }
        self._events.append({"id": 1 + len(self._events), **entry, **about})
        row["updated_at"] = self._at

    def _events_of(self, request: Asked, number: str) -> Said:
        if int(number) not in self._issues:
            return NOT_FOUND
        events = [self._event(x) for x in self._events if x["number"] == int(number)]
        return paged(request, events)

    def _event(self, row: Row) -> Row:
        nothing = dict.fromkeys(
            ("commit_id", "commit_url", "label", "assignee", "milestone", "rename")
        )
        fields = nothing | {name: value for name, value in row.items() if name != "number"}
        if fields["assignee"]:
            fields["assignee"] = user(fields["assignee"])
        url = f"{self._home}/issues/events/{row['id']}"
        issue = self._issue(self._issues[row["number"]])
        mine = {"url": url, "node_id": f"E_{row['id']}", "actor": user(row["actor"])}
        return fields | mine | {"issue": issue}

    # ------------------------------------------------------------ labels and people of an issue

    def _set_labels(self, row: Row, login: str, wanted: Iterable[Any]) -> None:
        names = [x if isinstance(x, str) else x["name"] for x in wanted]
        keys = [*dict.fromkeys(name.lower() for name in names)]
        for name in names:
            if name.lower() not in self._labels:
                self._new_label(name, "ededed", None)
        for gone in [key for key in row["labels"] if key not in keys]:
            self._note(row, login, "unlabeled", label=self._brief(gone))
        for new in [key for key in keys if key not in row["labels"]]:
            self._note(row, login, "labeled", label=self._brief(new))
        row["labels"] = keys

    def _set_people(self, row: Row, login: str, wanted: Iterable[str]) -> None:
        people = [*dict.fromkeys(wanted)]
        for gone in [x for x in row["assignees"] if x not in people]:
            self._note(row, login, "unassigned", assignee=gone)
        for new in [x for x in people if x not in row["assignees"]]:
            self._note(row, login, "assigned", assignee=new)
        row["assignees"] = people

    def _labels_of(self, request: Asked, number: str) -> Said:
        row = self._issues.get(int(number))
        if row is None:
            return NOT_FOUND
        if request.verb != "GET":
            before = row["labels"] if request.verb == "POST" else []
            wanted = request.body["labels"] if isinstance(request.body, dict) else request.body
            self._set_labels(row, request.login, [*before, *wanted])
        return Said(200, [self._label(name) for name in row["labels"]])

    def _unlabel(self, request: Asked, number: str, name: str) -> Said:
        row, key = self._issues.get(int(number)), unquote(name).lower()
        if row is None or key not in row["labels"]:
            return NOT_FOUND
        self._set_labels(row, request.login, [x for x in row["labels"] if x != key])
        return Said(200, [self._label(x) for x in row["labels"]])

    def _people_of(self, request: Asked, number: str) -> Said:
        row = self._issues.get(int(number))
        if row is None:
            return NOT_FOUND
        named = request.body["assignees"]
        before = row["assignees"]
        people = (
            [*before, *named] if request.verb == "POST" else [x for x in before if x not in named]
        )
        self._set_people(row, request.login, people)
        return Said(201 if request.verb == "POST" else 200, self._issue(row))

    def _label(self, key: str) -> Row:
        row = self._labels[key]
        at = f"{self._home}/labels/{quote(row['name'], safe='')}"
        return {**row, "node_id": f"L_{row['id']}", "url": at, "default": False}

    def _brief(self, key: str) -> Row:
        return {name: self._labels[key][name] for name in ("name", "color")}

    def _new_label(self, name: str, color: str, description: str | None) -> None:
        label = {"name": name, "color": color, "description": description}
        self._labels[name.lower()] = {"id": 1 + len(self._labels), **label}

    def _labels_listed(self, request: Asked) -> Said:
        return paged(request, [self._label(key) for key in sorted(self._labels)])

    def _label_made(self, request: Asked) -> Said:
        body = request.body
        if body["name"].lower() in self._labels:
            error = {"resource": "Label", "code": "already_exists", "field": "name"}
            return Said(422, {"message": "Validation Failed", "errors": [error]})
        self._new_label(body["name"], body.get("color", "ededed"), body.get("description"))
        return Said(201, self._label(body["name"].lower()))

    def _label_one(self, request: Asked, name: str) -> Said:
        key = unquote(name).lower()
        return Said(200, self._label(key)) if key in self._labels else NOT_FOUND

    # ------------------------------------------------------------ comments

    def _say(self, request: Asked, number: str) -> Said:
        row = self._issues.get(int(number))
        if row is None:
            return NOT_FOUND
        comment = {
            "id": 1 + max(self._comments, default=0), "number": int(number), "login": request.login,
            "body": request.body["body"], "created_at": self._at, "updated_at": self._at,
        }  # fmt: skip
        self._comments[comment["id"]] = comment
        row["updated_at"] = self._at
        return Said(201, self._comment(comment))

    def _said(self, request: Asked, number: str) -> Said:
        if int(number) not in self._issues:
            return NOT_FOUND
        comments = [x for x in self._comments.values() if x["number"] == int(number)]
        return paged(request, [self._comment(x) for x in comments])

    def _one_said(self, request: Asked, number: str) -> Said:
        comment = self._comments.get(int(number))
        if comment is None:
            return NOT_FOUND
        if request.verb == "DELETE":
            del self._comments[int(number)]
        elif request.verb == "PATCH":
            comment |= {"body": request.body["body"], "updated_at": self._at}
        if request.verb != "GET":
            self._issues[comment["number"]]["updated_at"] = self._at
        return Said(204) if request.verb == "DELETE" else Said(200, self._comment(comment))

    def _comment(self, row: Row) -> Row:
        at = f"{self._home}/issues/comments/{row['id']}"
        page = f"{HERE}/{self.repository}/issues/{row['number']}#issuecomment-{row['id']}"
        kept = {name: row[name] for name in ("id", "body", "created_at", "updated_at")}
        return kept | {
            "url": at, "html_url": page, "issue_url": f"{self._home}/issues/{row['number']}",
            "node_id": f"C_{row['id']}", "user": user(row["login"]), "reactions": no_reactions(at),
            "author_association": self._association(row["login"]),
            "performed_via_github_app": None,
        }  # fmt: skip


def in_order(rows: Iterable[Row], query: Mapping[str, str]) -> list[Row]:
    """Rows as a list of GitHub has them."""
    field = "updated_at" if query.get("sort") == "updated" else "created_at"
    newest_first = query.get("direction", "desc") == "desc"
    return sorted(rows, key=lambda row: (row[field], row["number"]), reverse=newest_first)


_ISSUE = r"REPO/issues/(\d+)"
ISSUES: Table = (
    ("POST", "/user/repos", IssueHub._make),
    ("GET", "REPO", IssueHub._home_of_all),
    ("GET", "/user", IssueHub._me),
    ("GET", "/users/([^/]+)", IssueHub._user),
    ("PUT", "REPO/collaborators/([^/]+)", IssueHub._grant),
    ("GET", "REPO/collaborators/([^/]+)/permission", IssueHub._permission),
    ("POST", "REPO/issues", IssueHub._create),
    ("GET", "REPO/issues", IssueHub._listed),
    ("GET", _ISSUE, IssueHub._one),
    ("PATCH", _ISSUE, IssueHub._change),
    ("GET", rf"{_ISSUE}/events", IssueHub._events_of),
    *((verb, rf"{_ISSUE}/labels", IssueHub._labels_of) for verb in ("GET", "POST", "PUT")),
    ("DELETE", rf"{_ISSUE}/labels/(.+)", IssueHub._unlabel),
    *((verb, rf"{_ISSUE}/assignees", IssueHub._people_of) for verb in ("POST", "DELETE")),
    ("GET", "REPO/labels", IssueHub._labels_listed),
    ("POST", "REPO/labels", IssueHub._label_made),
    ("GET", "REPO/labels/(.+)", IssueHub._label_one),
    ("POST", rf"{_ISSUE}/comments", IssueHub._say),
    ("GET", rf"{_ISSUE}/comments", IssueHub._said),
    *(
        (verb, r"REPO/issues/comments/(\d+)", IssueHub._one_said)
        for verb in ("GET", "PATCH", "DELETE")
    ),
)
