"""Names of the branch and the worktree for an issue, by the same rules as upstream GHP."""

import re
from collections.abc import Collection, Iterable

from ghp_agents.core.ids import digest, issue_of_branch, slug

PATTERN = "agent/{user}/{number}-{title}"
LIMIT = 60  # characters of the whole name; upstream's limit
TITLE_LIMIT = 50
AGENT_LIMIT = 30  # leaves room for a title
FOLDER_LIMIT = 35
UNTITLED = "issue"  # for a title without any letter a-z: something must follow the number

_FIELD = re.compile(r"\{(user|number|title|repo)\}")
_BAD = re.compile(r"[^A-Za-z0-9._/-]+")


def branch_name(
    agent: str, number: int, title: str, pattern: str | None = None, repo: str = ""
) -> str:
    """Return the branch on which `agent` works on an issue.

    `pattern` is upstream's `branchPattern`. It is ignored if the issue number cannot be read back
    from the name: other commands find the issue by the branch's name.
    """
    for wanted in (pattern, PATTERN):
        if wanted and "{number}" in wanted:
            name = _filled(wanted, _user(agent), number, title, repo)
            if is_branch(name) and issue_of_branch(name) == number:
                return name
    # An agent's name that begins with digits looks like an issue number.
    return _filled(PATTERN, f"as-{_user(agent)}", number, title, repo)


def _user(agent: str) -> str:
    """Return the agent's part of the branch name; long names are shortened and stay distinct."""
    if len(agent) <= AGENT_LIMIT:
        return agent
    return f"{agent[: AGENT_LIMIT - 5].rstrip('._-')}-{digest(agent, length=4)}"


def _filled(pattern: str, user: str, number: int, title: str, repo: str) -> str:
    values = {"user": user, "number": str(number), "repo": slug(repo, TITLE_LIMIT)}
    bare = _FIELD.sub(lambda match: values.get(match[1], ""), pattern)
    values["title"] = slug(title, max(1, min(TITLE_LIMIT, LIMIT - len(bare)))) or UNTITLED
    whole = _FIELD.sub(lambda match: values[match[1]], pattern)
    return _BAD.sub("-", whole).rstrip("-./")


def is_branch(name: str) -> bool:
    """Return whether a name follows git's rules, as far as one with plain characters can break
    them."""
    parts = name.split("/")
    return (
        all(
            part and not part.startswith((".", "-")) and not part.endswith(".lock")
            for part in parts
        )
        and ".." not in name
        and name != "HEAD"
    )


def folder_name(number: int, title: str) -> str:
    """Return the folder name of an issue's worktree: `12-parse-files`."""
    return f"{number}-{slug(title, FOLDER_LIMIT) or UNTITLED}"


def of_issue(
    branches: Iterable[str], number: int, agent: str, also: Collection[str] = ()
) -> str | None:
    """Return the branch on which agents worked on the issue before; the agent's own comes first.

    `also` holds branches that agents reported. Any other branch with the number is a person's.
    """
    mine = (f"agent/{_user(agent)}/", f"agent/as-{_user(agent)}/")
    candidates = [
        name
        for name in branches
        if name in also or (name.startswith("agent/") and issue_of_branch(name) == number)
    ]
    return min(candidates, key=lambda name: (not name.startswith(mine), name), default=None)
