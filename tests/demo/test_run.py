"""The demo says why it failed, and what to do, once."""

from ghp_agents.demo.run import failure
from ghp_agents.demo.sandbox import AGAIN

LOG = f"""\
✓ Claimed #1.
Error: `ghp agent-finish` exited with 1, not 0: Error: The remote is gone.
Hint: Check it.
Hint: {AGAIN}
"""


def test_the_hint_of_an_agent_that_failed_is_not_repeated() -> None:
    error = failure("worker-1", LOG)
    assert (str(error), error.hint) == (
        "worker-1 failed: ✓ Claimed #1.\n"
        "Error: `ghp agent-finish` exited with 1, not 0: Error: The remote is gone.\n"
        "Hint: Check it.",
        AGAIN,
    )
