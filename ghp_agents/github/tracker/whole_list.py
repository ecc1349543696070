"""All issues of a large repository by GraphQL: twice as many for a request as a list by REST has.

A request reads a page of the oldest and a page of the newest issues, until both meet. GraphQL also
has a budget of its own, which nothing else needs.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.github.api.repository import GitHubRepository

MOST_REQUESTS = 500
_QUERY = """query($owner: String!, $name: String!, $old: String, $new: String) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    latest: issues(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { updatedAt } }
    oldest: issues(first: 100, after: $old, orderBy: {field: CREATED_AT, direction: ASC})
      { ...page }
    newest: issues(first: 100, after: $new, orderBy: {field: CREATED_AT, direction: DESC})
      { ...page }
  }
}
fragment page on IssueConnection {
  totalCount pageInfo { endCursor hasNextPage }
  nodes {
    number databaseId title body state createdAt updatedAt
    author { __typename login }
    labels(first: 100) { nodes { name } }
    assignees(first: 100) { nodes { login } }
    comments { totalCount }
    parent { number repository { nameWithOwner } }
    blockedBy(first: 1) { totalCount }
  }
}"""


class WholeList(NamedTuple):
    """All issues as REST lists them, and the time of the last change before they were read."""

    issues: list[dict[str, Any]]
    since: str


def read(hub: GitHubRepository) -> WholeList | None:
    """All issues; None if the server does not tell them this way. What changes meanwhile has a
    later time than `since`."""
    try:
        return _read(hub)
    except (GhpError, KeyError, TypeError, ValueError, AttributeError):
        return None  # REST lists them, or says why it cannot


def _read(hub: GitHubRepository) -> WholeList | None:
    owner, _, name = hub.repository.partition("/")
    issues: dict[int, dict[str, Any]] = {}
    since, total, old, new = "", 0, None, None
    for _ in range(MOST_REQUESTS):
        variables = {"owner": owner, "name": name, "old": old, "new": new}
        place = hub.graphql(_QUERY, variables)["repository"]
        since = since or str(place["latest"]["nodes"][0]["updatedAt"])
        total = total or int(place["oldest"]["totalCount"])  # later ones come after `since`
        nodes = [*place["oldest"]["nodes"], *place["newest"]["nodes"]]
        issues |= {int(x["number"]): _as_listed(x, str(place["nameWithOwner"])) for x in nodes}
        ends = [place[part]["pageInfo"] for part in ("oldest", "newest")]
        # Issues of one second may have any order, so an overlap alone does not tell that both met.
        if len(issues) >= total or not all(end["hasNextPage"] for end in ends):
            return WholeList([*issues.values()], since)
        old, new = (str(end["endCursor"]) for end in ends)
    return None


def _as_listed(node: Mapping[str, Any], repository: str) -> dict[str, Any]:
    """An issue as REST has it, as far as `mapping.kept` reads it."""
    parent, author = node["parent"], node["author"]  # None: the account was deleted
    bot = "[bot]" if author and author["__typename"] == "Bot" else ""
    return {
        "number": node["number"], "id": node["databaseId"], "title": node["title"],
        "body": node["body"], "state": str(node["state"]).lower(),
        "labels": node["labels"]["nodes"], "assignees": node["assignees"]["nodes"],
        "user": author and {"login": f"{author['login']}{bot}"},
        "created_at": node["createdAt"], "updated_at": node["updatedAt"],
        "comments": node["comments"]["totalCount"], "repository_url": _url(repository),
        "parent_issue_url": parent and (
            f"{_url(parent['repository']['nameWithOwner'])}/issues/{parent['number']}"
        ),
        "issue_dependencies_summary": {"total_blocked_by": node["blockedBy"]["totalCount"]},
    }  # fmt: skip


def _url(repository: str) -> str:
    return f"https://api.github.com/repos/{repository}"
