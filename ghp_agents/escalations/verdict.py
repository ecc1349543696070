"""A yes or no to a question about merging, or about shared files."""

from ghp_agents.escalations.escalation import Escalation
from ghp_agents.settings import rights

YES, NO = "approve", "refuse"


def persons_verdict(question: Escalation) -> str:
    """YES or NO, as the last one answered who may allow a merge; empty if nobody has."""
    words = [x.text.strip().casefold() for x in question.answers if rights.may_approve_merge(x.by)]
    return next((word for word in reversed(words) if word in (YES, NO)), "")
