"""Who holds a claim, as the commands ask that only a holder may use."""

from ghp_agents.claims import service as claim
from ghp_agents.core.errors import RefusedError
from tests.support.claimants import Claimant


def holds(one: Claimant) -> bool:
    """Whether the command of a holder of #1 would go on."""
    try:
        claim.verify(one.parts, one.name, 1)
    except RefusedError:
        return False
    return True
