"""Whether a person runs this command, or an agent's session."""

from collections.abc import Mapping

from ghp_agents.hotpath import heartbeat

OVERRIDE = "GHP_PERSON"  # "1": a person, even if the environment has an agent's variables


def agent_here(environ: Mapping[str, str]) -> str | None:
    """The variable that marks an agent's session; None for a person.

    This is no proof: anyone with the person's user account can pretend to be that person.
    """
    if environ.get(OVERRIDE) == "1":
        return None
    names = ("GHP_AGENT", *(name for _, name in heartbeat.SESSION_VARIABLES))
    return next((name for name in names if environ.get(name)), None)
