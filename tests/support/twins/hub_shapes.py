"""How GitHub shows accounts and repositories: all the fields that its description asks for."""

from functools import cache
from typing import Any

from tests.support.github_gaps import LONG_AGO
from tests.support.proxy import HERE

Row = dict[str, Any]


@cache
def user(login: str) -> Row:
    """An account."""
    at = f"{HERE}/users/{login}"
    parts = ("followers", "subscriptions", "repos", "received_events")
    return {
        "login": login, "id": sum(login.encode()), "node_id": f"U_{login}", "url": at,
        "avatar_url": f"{HERE}/avatars/u/{login}", "gravatar_id": "", "type": "User",
        "html_url": f"{HERE}/{login}", **{f"{part}_url": f"{at}/{part}" for part in parts},
        "following_url": f"{at}/following{{/other_user}}", "gists_url": f"{at}/gists{{/gist_id}}",
        "starred_url": f"{at}/starred{{/owner}}{{/repo}}", "organizations_url": f"{at}/orgs",
        "events_url": f"{at}/events{{/privacy}}", "site_admin": False, "user_view_type": "public",
    }  # fmt: skip


@cache
def repository(full_name: str) -> Row:
    """A repository, of which only the name counts."""
    owner, _, name = full_name.partition("/")
    at, page, long_ago = f"{HERE}/repos/{full_name}", f"{HERE}/{full_name}", LONG_AGO
    parts = (
        "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits",
        "compare", "contents", "contributors", "deployments", "downloads", "events", "forks",
        "git_commits", "git_refs", "git_tags", "hooks", "issue_comment", "issue_events", "issues",
        "keys", "labels", "languages", "merges", "milestones", "notifications", "pulls",
        "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams",
        "trees",
    )  # fmt: skip
    counts = ("forks", "forks_count", "open_issues", "open_issues_count", "size", "watchers",
              "watchers_count", "stargazers_count")  # fmt: skip
    yes = ("has_issues", "has_projects", "has_downloads", "has_wiki", "allow_forking",
           "allow_rebase_merge", "allow_squash_merge", "allow_merge_commit")  # fmt: skip
    no = ("private", "fork", "has_pages", "has_discussions", "archived", "disabled", "is_template",
          "allow_auto_merge", "delete_branch_on_merge")  # fmt: skip
    rights = dict.fromkeys(("admin", "maintain", "push", "triage", "pull"), True)
    nothing = ("description", "homepage", "mirror_url", "license", "language")
    return {
        "id": 1, "node_id": "R_1", "name": name, "full_name": full_name, "owner": user(owner),
        "html_url": page, "url": at, **{f"{part}_url": f"{at}/{part}" for part in parts},
        **dict.fromkeys(nothing), **dict.fromkeys(counts, 0), **dict.fromkeys(yes, True),
        **dict.fromkeys(no, False), **dict.fromkeys(("created_at", "updated_at"), long_ago),
        "pushed_at": long_ago, "git_url": f"git://test.invalid/{full_name}.git", "topics": [],
        "ssh_url": f"git@test.invalid:{full_name}.git", "clone_url": f"{page}.git",
        "svn_url": page, "visibility": "public", "default_branch": "main", "permissions": rights,
    }  # fmt: skip


def no_reactions(at: str) -> Row:
    """Where the reactions to something are, and that there are none."""
    kinds = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes", "total_count")
    return {"url": f"{at}/reactions", **dict.fromkeys(kinds, 0)}
