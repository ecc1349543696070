"""The person whose account the token belongs to, for the footer of what is written with it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ghp_agents.github.accounts import Names
from ghp_agents.hotpath.heartbeat import is_name

if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository


def person(hub: "GitHubRepository", accounts: Mapping[str, str]) -> str:
    """The person's name or login, without @; empty if unknown, or if it is a program's or an
    agent's account. Sends no request."""
    login = hub.known_viewer
    name = Names(accounts).person(login)
    return "" if is_name(name) or login.endswith("[bot]") else name.removeprefix("@")
