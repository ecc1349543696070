"""Who may do what on GitHub: emulate lets everybody do nearly everything on a public repository."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.support.faults import Asked, Said
from tests.support.proxy import DOCS

LEVELS = ("none", "read", "triage", "write", "maintain", "admin")
# What GitHub's older name for a level is, in the field `permission`.
OLD_NAMES = {"triage": "read", "maintain": "write"}


class Law(NamedTuple):
    """Who may do something: from a level on, and perhaps whoever wrote it."""

    verbs: str
    path: str  # below the repository
    level: str
    also_author: bool = False


# The first that fits decides. What is in none of them takes an admin.
LAWS = (
    Law("GET", r".*", "read"),
    Law("POST", r"issues", "read"),
    Law("POST", r"issues/\d+/comments", "read"),
    Law("POST|DELETE", r"issues/(comments/)?\d+/reactions.*", "read"),
    Law("PATCH|DELETE", r"issues/comments/\d+", "write", also_author=True),
    Law("PATCH", r"issues/\d+", "triage", also_author=True),
    Law("POST|DELETE", r"issues/\d+/assignees", "read"),  # of strangers nothing comes of it
    Law("POST|PUT|DELETE", r"issues/\d+/labels.*", "triage"),
    Law("POST|PATCH|DELETE", r"issues/\d+/(sub_issues?|dependencies).*", "triage"),
    Law("PATCH", r"pulls/\d+", "write", also_author=True),
    Law(
        "POST|PUT|PATCH|DELETE",
        r"(issues/\d+/lock|labels|milestones|pulls|git|contents).*",
        "write",
    ),
    Law("POST|PATCH", r"(check-runs|statuses|pulls|dispatches).*", "write"),
)


def refusal(
    request: Asked, below: str, level: str, author: Callable[[], str | None]
) -> Said | None:
    """Why GitHub would not do this; `below` is the path in the repository. None: it would."""
    law = next(
        (
            law
            for law in LAWS
            if re.fullmatch(law.verbs, request.verb) and re.fullmatch(law.path, below)
        ),
        Law(request.verb, below, "admin"),
    )
    if level == "none":
        return Said(404, {"message": "Not Found", "documentation_url": DOCS, "status": "404"})
    if LEVELS.index(level) >= LEVELS.index(law.level):
        return None
    if law.also_author and author() == request.login:
        return None
    subject = "issues" if below.startswith(("issues", "labels")) else "contents"
    return Said(
        403,
        {
            "message": "Must have admin rights to Repository.",
            "documentation_url": DOCS,
            "status": "403",
        },
        {"X-Accepted-GitHub-Permissions": f"{subject}=write"},
    )


def without_what_strangers_may_not(request: Asked, level: str) -> Asked:
    """Labels, people and milestones that GitHub drops without a word."""
    if LEVELS.index(level) >= LEVELS.index("write") or not isinstance(request.body, dict):
        return request
    if request.path.endswith(("/labels", "/assignees")):
        return request  # who may not do that is told so, or it is dropped there
    dropped: dict[str, Any] = {
        "labels": None,
        "assignees": None,
        "assignee": None,
        "milestone": None,
    }
    return request._replace(body={k: v for k, v in request.body.items() if k not in dropped})
