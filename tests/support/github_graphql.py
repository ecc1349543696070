"""What only GraphQL answers: drafts, who edited a body, how many issues there are, who asks."""

import re
from typing import TYPE_CHECKING, Any

from tests.support.faults import Asked, Said

if TYPE_CHECKING:
    from tests.support.github_pulls import Pulls

_DRAFTS = {"markPullRequestReadyForReview": False, "convertPullRequestToDraft": True}


def answer(pulls: "Pulls", request: Asked) -> Said:
    """The two things about pull requests that only GraphQL can do, and who is asking."""
    query, values = request.body["query"], request.body.get("variables") or {}
    if "viewer" in query:
        return Said(200, {"data": {"viewer": {"login": request.login}}})
    if "issues { totalCount }" in query:
        issues = pulls.gaps.every("issues", state="all")
        number = sum("pull_request" not in issue for issue in issues)
        return Said(200, {"data": {"repository": {"issues": {"totalCount": number}}}})
    if pulls.queue and (queued := pulls.queue.answer(query, values)):
        return queued
    if "body-edits" in pulls.gaps.features and "issue(number:" in query:
        return _edits(pulls, query)
    for mutation, draft in _DRAFTS.items():
        if mutation in query:
            node = next((str(value) for value in _leaves(values)), "") or _quoted(query)
            return _set_draft(pulls, request, mutation, node, draft)
    return Said(200, {"errors": [{"type": "undefinedField", "message": "no such field"}]})


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
