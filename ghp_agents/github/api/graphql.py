"""GraphQL, for what REST lacks. Its errors arrive in a response with status 200."""

from collections.abc import Mapping
from typing import Any

from ghp_agents.github.api import errors, responses
from ghp_agents.github.api.errors import HubError
from ghp_agents.github.api.http import graphql_address
from ghp_agents.github.api.session import ApiSession, FindExisting

RESOURCE = "graphql"  # a budget of its own


def query(
    session: ApiSession,
    api: str,
    query: str,
    variables: Mapping[str, Any],
    *,
    find_existing: FindExisting | None = None,
    doubt: bool = False,
) -> Any:
    """The response's `data`. Raises HubError, NoAnswerError."""
    url, body = graphql_address(api), {"query": query, "variables": dict(variables)}
    if not query.lstrip().startswith("mutation"):
        response = session.ask("POST", url, {}, body, RESOURCE).body
        return _data(response)
    look = _wrap_data(find_existing) if find_existing else None
    return _data(
        session.write("POST", url, body, find_existing=look, doubt=doubt, resource=RESOURCE)
    )


def _wrap_data(find_existing: FindExisting) -> FindExisting:
    """`find_existing` returns the data; wrap it like a response, as sending a query returns one."""

    def look() -> Any | None:
        data = find_existing()
        return None if data is None else {"data": data}

    return look


def _data(response: Any) -> Any:
    if not isinstance(response, dict):
        raise responses.failed("GitHub's answer to a GraphQL query has no data")
    if response.get("errors"):
        raise _error(response["errors"])
    return response.get("data")


def _error(raw: Any) -> HubError:
    first = raw[0] if isinstance(raw, list) and raw and isinstance(raw[0], dict) else {}
    message = str(first.get("message", ""))[: responses.LONGEST_WORDS].rstrip(".")
    kind = str(first.get("type", ""))
    text = f"GitHub rejected a GraphQL query: {message or kind or 'no reason given'}."
    hint = (
        f"The token may lack a permission, or the server may lack this feature. {responses.DOCTOR}"
    )
    if kind == "NOT_FOUND":
        return errors.MissingError(text, hint=hint).of(404, message)
    if kind in ("FORBIDDEN", "INSUFFICIENT_SCOPES"):
        return errors.ForbiddenError(text, hint=hint).of(403, message)
    return errors.InvalidError(text, hint=hint).because([kind], usage=False).of(422, message)
