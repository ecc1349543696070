"""What only GraphQL answers: drafts, who edited a body, how many issues there are, who asks."""

import re
from typing import TYPE_CHECKING, Any

from tests.support.faults import Asked, Said
from tests.support.twins.hub import IssueHub

if TYPE_CHECKING:
    from tests.support.github_pulls import Pulls

_DRAFTS = {"markPullRequestReadyForReview": False, "convertPullRequestToDraft": True}


def answer(pulls: "Pulls", request: Asked) -> Said:
    """The two things about pull requests that only GraphQL can do, and who is asking."""
    query, values = request.body["query"], request.body.get("variables") or {}
    if "viewer" in query:
        return Said(200, {"data": {"viewer": {"login": request.login}}})
    if "issues { totalCount }" in query:
        return Said(200, {"data": {"repository": {"issues": {"totalCount": _count(pulls)}}}})
    if "oldest: issues(" in query:
        return _whole_list(pulls, values)
    if pulls.queue and (queued := pulls.queue.answer(query, values)):
        return queued
    if "body-edits" in pulls.gaps.features and "issue(number:" in query:
        return _edits(pulls, query)
    for mutation, draft in _DRAFTS.items():
        if mutation in query:
            node = next((str(value) for value in _leaves(values)), "") or _quoted(query)
            return _set_draft(pulls, request, mutation, node, draft)
    return Said(200, {"errors": [{"type": "undefinedField", "message": "no such field"}]})


def _count(pulls: "Pulls") -> int:
    """How many issues there are, without pull requests."""
    upstream = pulls.gaps.below
    if isinstance(upstream, IssueHub):
        return upstream.count
    issues = pulls.gaps.every("issues", state="all")
    return sum("pull_request" not in issue for issue in issues)


def _whole_list(pulls: "Pulls", values: dict[str, Any]) -> Said:
    """A page of the oldest and one of the newest issues; their cursors are numbers of pages."""
    if not {"sub-issues", "dependencies"} <= pulls.gaps.features:
        return Said(200, {"errors": [{"type": "undefinedField", "message": "no such field"}]})
    home = pulls.gaps.repository
    place: dict[str, Any] = {"nameWithOwner": home}
    parts = (("latest", None, "desc", "updated"), ("oldest", values["old"], "asc", "created"),
             ("newest", values["new"], "desc", "created"))  # fmt: skip
    for part, cursor, direction, sort in parts:
        page = 1 + int(cursor or 0)
        shown = {"per_page": "1" if part == "latest" else "100", "page": str(page), "state": "all"}
        said = pulls.gaps.ask("GET", "issues", sort=sort, direction=direction, **shown)
        listed = pulls.gaps.mended(said, "issues").body
        ends = {"endCursor": str(page), "hasNextPage": 'rel="next"' in said.headers.get("Link", "")}
        nodes = [_node(issue, home) for issue in listed if "pull_request" not in issue]
        place[part] = {"totalCount": _count(pulls), "pageInfo": ends, "nodes": nodes}
    return Said(200, {"data": {"repository": place}})


def _node(issue: dict[str, Any], home: str) -> dict[str, Any]:
    """An issue as GraphQL has it; accounts of apps have no suffix there."""
    login, at = issue["user"]["login"], issue.get("parent_issue_url")
    kind = "Bot" if login.endswith("[bot]") else "User"
    waits = issue["issue_dependencies_summary"]["total_blocked_by"]
    above = at and {"number": int(at.rpartition("/")[2]), "repository": {"nameWithOwner": home}}
    return {
        "number": issue["number"], "databaseId": issue["id"], "title": issue["title"],
        "body": issue["body"] or "", "state": issue["state"].upper(), "parent": above,
        "createdAt": issue["created_at"], "updatedAt": issue["updated_at"],
        "author": {"__typename": kind, "login": login.removesuffix("[bot]")},
        "labels": {"nodes": [{"name": label["name"]} for label in issue["labels"]]},
        "assignees": {"nodes": [{"login": one["login"]} for one in issue["assignees"]]},
        "comments": {"totalCount": issue["comments"]}, "blockedBy": {"totalCount": waits},
    }  # fmt: skip


def _edits(pulls: "Pulls", query: str) -> Said:
    """Who changed the bodies of issues, the newest change first."""
    body: dict[str, Any] = {}
    for number in map(int, re.findall(r"issue\(number: (\d+)\)", query)):
        edits = pulls.gaps.edits.get(number, [])
        last = edits[-1] if edits else {"editedAt": None, "editor": None}
        body[f"i{number}"] = {
            "lastEditedAt": last["editedAt"],
            "editor": last["editor"],
            "userContentEdits": {"totalCount": len(edits), "nodes": edits[::-1]},
        }
    return Said(200, {"data": {"repository": body}})


def _set_draft(pulls: "Pulls", request: Asked, mutation: str, node: str, draft: bool) -> Said:
    open_ones = {x["node_id"]: x for x in pulls.gaps.every("pulls", state="all")}
    if node not in open_ones:
        why = f"Could not resolve to a node with the global id of '{node}'"
        return Said(
            200, {"data": {mutation: None}, "errors": [{"type": "NOT_FOUND", "message": why}]}
        )
    number = open_ones[node]["number"]
    pulls.gaps.ask("PATCH", f"pulls/{number}", {"draft": draft}, request.login)
    pull = {"isDraft": draft, "number": number, "id": node}
    return Said(200, {"data": {mutation: {"pullRequest": pull}}})


def _leaves(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [leaf for x in node.values() for leaf in _leaves(x)]
    return [node]


def _quoted(query: str) -> str:
    match = re.search(r'pullRequestId:\s*"([^"]+)"', query)
    return match[1] if match else ""
