"""GraphQL, for what REST does not have: its errors come in an answer that says 200."""

from collections.abc import Mapping
from typing import Any

from ghp_agents.github.api import errors
from ghp_agents.github.api import responses as verdict
from ghp_agents.github.api.errors import HubError
from ghp_agents.github.api.http import graphql_address
from ghp_agents.github.api.session import ApiSession, There

RESOURCE = "graphql"  # a budget of its own


def query(
    talk: ApiSession,
    api: str,
    query: str,
    variables: Mapping[str, Any],
    *,
    there: There | None = None,
    doubt: bool = False,
) -> Any:
    """The answer's `data`. Raises HubError, Unanswered."""
    url, body = graphql_address(api), {"query": query, "variables": dict(variables)}
    if not query.lstrip().startswith("mutation"):
        said = talk.ask("POST", url, {}, body, RESOURCE).body
        return _data(said)
    look = _as_answer(there) if there else None
    return _data(talk.write("POST", url, body, there=look, doubt=doubt, resource=RESOURCE))


def _as_answer(there: There) -> There:
    """What `there` finds is the data; it is to look like an answer, as what is sent brings one."""

    def look() -> Any | None:
        found = there()
        return None if found is None else {"data": found}

    return look


def _data(said: Any) -> Any:
    if not isinstance(said, dict):
        raise verdict.failed("GitHub's answer to a question in GraphQL has no data")
    if said.get("errors"):
        raise _error(said["errors"])
    return said.get("data")


def _error(found: Any) -> HubError:
    first = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
    said = str(first.get("message", ""))[: verdict.LONGEST_WORDS].rstrip(".")
    kind = str(first.get("type", ""))
    text = f"GitHub refused a question in GraphQL: {said or kind or 'no reason given'}."
    hint = f"The token may lack a permission, or the server this feature. {verdict.DOCTOR}"
    if kind == "NOT_FOUND":
        return errors.MissingError(text, hint=hint).of(404, said)
    if kind in ("FORBIDDEN", "INSUFFICIENT_SCOPES"):
        return errors.ForbiddenError(text, hint=hint).of(403, said)
    return errors.InvalidError(text, hint=hint).because([kind], usage=False).of(422, said)
