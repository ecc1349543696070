"""Names of the branch and the worktree for an issue, by the same rules as upstream GHP."""

import re
from collections.abc import Collection, Iterable, Iterator

from ghp_agents.core.ids import AGENT_BRANCHES, digest, issue_of_branch, slug

PATTERN = "agent/{user}/{number}-{title}"
OTHERS = "agents/{user}/{number}-{title}"  # where a branch is called `agent`
FLAT = "{number}-{title}-by-{user}"
ANEW = "agent/{}-anew"  # a person begins an issue again under this name, as our hints say
TRIES = 9  # names that end in a number, where the name itself is taken
LIMIT = 60  # characters of the whole name; upstream's limit
TITLE_LIMIT = 50
AGENT_LIMIT = 30  # leaves room for a title
FOLDER_LIMIT = 35
UNTITLED = "issue"  # for a title without any letter a-z: something must follow the number

_FIELD = re.compile(r"\{(user|number|title|repo)\}")
_BAD = re.compile(r"[^A-Za-z0-9._/-]+")


def names(
    agent: str, number: int, title: str, pattern: str | None = None, repo: str = ""
) -> Iterator[str]:
    """The possible branches on which `agent` works on an issue, the best first.

    `pattern` is upstream's `branchPattern`. It is ignored if the issue number cannot be read back
    from the name: other commands find the issue by the branch's name.
    """
    for wanted in (pattern, PATTERN, OTHERS, FLAT):
        # An agent's name that begins with digits looks like an issue number.
        for user in (_user(agent), f"as-{_user(agent)}"):
            if wanted and "{number}" in wanted:
                name = _filled(wanted, user, number, title, repo)
                if is_branch(name) and issue_of_branch(name) == number:
                    yield name


def free_name(candidates: Iterable[str], taken: Iterable[str]) -> str | None:
    """The first name that git can create beside the branches `taken`, if need be with a number at
    its end; None if there is none. Some file systems ignore the case of names."""
    folded = {name.casefold() for name in taken}
    folders = {folder for name in folded for folder in above(name)}
    for candidate in candidates:
        for number in range(1, TRIES + 1):
            name = candidate if number == 1 else f"{candidate}-{number}"
            plain = name.casefold()
            if plain not in folded | folders and folded.isdisjoint(above(plain)):
                return name
    return None


def above(name: str) -> list[str]:
    """The names that git cannot have as branches beside this one: `a` and `a/b` of `a/b/c`."""
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


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


def of_agents(name: str, number: int) -> str:
    """The agent in the name of a branch for an issue, as the name has it; empty if it is none."""
    prefix = next((prefix for prefix in AGENT_BRANCHES if name.startswith(prefix)), "")
    if not prefix or issue_of_branch(name) != number:
        return ""
    return name.removeprefix(prefix).partition("/")[0].removeprefix("as-")


def best(branches: Iterable[str], agent: str) -> str | None:
    """Of the branches on which agents worked on an issue, the agent's own comes first."""
    mine = tuple(f"{x}{of}{_user(agent)}/" for x in AGENT_BRANCHES for of in ("", "as-"))
    return min(branches, key=lambda name: (not name.startswith(mine), name), default=None)


def in_names(agents: Collection[str]) -> set[str]:
    """How branches name these agents."""
    return {*map(_user, agents)}
