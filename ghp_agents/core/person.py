"""Whether a person runs this command, or an agent's session."""

from collections.abc import Mapping

from ghp_agents.hotpath import calling_client, heartbeat


def agent_here(environ: Mapping[str, str]) -> str | None:
    """What marks an agent's session: a variable, or the client that runs it; None for a person.

    This is no proof: anyone with the person's user account can pretend to be that person.
    """
    if environ.get(heartbeat.PERSON) == "1":
        return None
    marks = [name for _, name in (*heartbeat.SESSION_VARIABLES, *calling_client.MARKS)]
    if variable := next(filter(environ.get, ("GHP_AGENT", *marks)), None):
        return variable
    client = calling_client.session(environ)
    return f"its parent process, {client[0]}," if client else None
