"""Whether a person is at work here, or an agent's session."""

from collections.abc import Mapping

from ghp_agents.hotpath import heartbeat as pulse

OVERRIDE = "GHP_PERSON"  # "1": a person, though the environment has an agent's variables


def agent_here(environ: Mapping[str, str]) -> str | None:
    """The variable by which this is an agent's session; None where a person is at work.

    It cannot be proved: whoever runs as a person's user can say to be that person.
    """
    if environ.get(OVERRIDE) == "1":
        return None
    names = ("GHP_AGENT", *(name for _, name in pulse.SESSION_VARIABLES))
    return next((name for name in names if environ.get(name)), None)
