"""What a branch and a worktree for an issue are called, as upstream GHP would call them."""

import re
from collections.abc import Collection, Iterable

from ghp_agents.core.ids import digest, issue_of_branch, slug

PATTERN = "agent/{user}/{number}-{title}"
LIMIT = 60  # of a whole branch, as upstream has it
TITLE_LIMIT = 50
AGENT_LIMIT = 30  # so that there is room for a title
FOLDER_LIMIT = 35
UNTITLED = "issue"  # for a title without a single letter of a-z; a number needs what follows it

_FIELD = re.compile(r"\{(user|number|title|repo)\}")
_BAD = re.compile(r"[^A-Za-z0-9._/-]+")


def branch_name(
    agent: str, number: int, title: str, pattern: str | None = None, repo: str = ""
) -> str:
    """The branch on which `agent` works on an issue.

    `pattern` is upstream's `branchPattern`. One from which nobody could tell the issue again is
    not used: other commands find the issue by the branch's name.
    """
    for wanted in (pattern, PATTERN):
        if wanted and "{number}" in wanted:
            made = _filled(wanted, _user(agent), number, title, repo)
            if _is_branch(made) and issue_of_branch(made) == number:
                return made
    # An agent whose name begins with digits looks like an issue itself.
    return _filled(PATTERN, f"as-{_user(agent)}", number, title, repo)


def _user(agent: str) -> str:
    """The agent in its branch; two long names stay two."""
    if len(agent) <= AGENT_LIMIT:
        return agent
    return f"{agent[: AGENT_LIMIT - 5].rstrip('._-')}-{digest(agent, length=4)}"


def _filled(pattern: str, user: str, number: int, title: str, repo: str) -> str:
    values = {"user": user, "number": str(number), "repo": slug(repo, TITLE_LIMIT)}
    bare = _FIELD.sub(lambda found: values.get(found[1], ""), pattern)
    values["title"] = slug(title, max(1, min(TITLE_LIMIT, LIMIT - len(bare)))) or UNTITLED
    whole = _FIELD.sub(lambda found: values[found[1]], pattern)
    return _BAD.sub("-", whole).rstrip("-./")


def _is_branch(name: str) -> bool:
    """Whether git takes it, by its rules for what can be in it now."""
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
    """The folder of a worktree for an issue: `12-parse-files`."""
    return f"{number}-{slug(title, FOLDER_LIMIT) or UNTITLED}"


def repository_name(address: str | None, folder: str) -> str:
    """What the repository is called: the last part of its address, else of its folder."""
    said = re.split(r"[/:\\]", (address or "").rstrip("/").removesuffix(".git").rstrip("/"))[-1]
    name = _BAD.sub("-", said or folder).replace("/", "-").strip(".-")
    return name or "repository"


def of_issue(
    branches: Iterable[str], number: int, agent: str, also: Collection[str] = ()
) -> str | None:
    """The branch on which agents worked on an issue before, one's own before those of others.

    `also` are branches that agents said to be on. Another branch, which happens to have the
    number, is a person's.
    """
    mine = (f"agent/{_user(agent)}/", f"agent/as-{_user(agent)}/")
    found = [
        name
        for name in branches
        if name in also or (name.startswith("agent/") and issue_of_branch(name) == number)
    ]
    return min(found, key=lambda name: (not name.startswith(mine), name), default=None)
