"""Maps people and agents here to accounts on GitHub.

An agent has no account, so it is a label; if the configuration gives it an account, that is
assigned, too. A person is an account: `@ada`. The person who works here is known by git's name here
and by the token's account on GitHub.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.heartbeat import is_name

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}|[A-Za-z0-9_-]{0,60})(?:\[bot\])?")
WORKFLOWS = "github-actions[bot]"  # the repository's own; people's logins have no brackets
_NOBODY: Mapping[str, str] = {}


class Names(NamedTuple):
    """Who is who."""

    accounts: Mapping[str, str] = _NOBODY  # login by name of agent or person
    viewer: str = ""  # the token's account
    myself: str = ""  # the person who works here

    def login(self, name: str) -> str | None:
        """The account of a name; None for an agent without one. Raises UsageError for a person
        whose account is unknown."""
        given = self.accounts.get(name)
        if given:
            return given.removeprefix("@")
        if is_name(name):
            return None
        if name == self.myself and self.viewer:
            return self.viewer
        login = name.removeprefix("@")
        if not _LOGIN.fullmatch(login):
            raise UsageError(
                f"{one_line(name, 40)!r} is not a GitHub account, and no account is configured "
                "for it.",
                hint='Use @login, or set the account in .ghp/config.json: {"agents": '
                '{"accounts": {"Ada Example": "ada"}}}.',
            )
        return login

    def person(self, login: str) -> str:
        """The name of an assigned account."""
        mine = [name for name, account in self.accounts.items() if _same(account, login)]
        people = [name for name in mine if not is_name(name)]
        if len(people) == 1 or len(mine) == 1:
            return (people or mine)[0]
        if self.myself and not is_name(self.myself) and not mine and _same(login, self.viewer):
            return self.myself
        return f"@{login}"


def _same(login: str, other: str) -> bool:
    return login.removeprefix("@").casefold() == other.casefold()
