"""An issue whose work has just ended in another clone is not begun again."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.issues import service as issues
from ghp_agents.state.cause import MERGED, Cause
from tests.support.claimants import Claimant


@pytest.mark.slow
def test_what_was_merged_elsewhere_a_moment_ago_is_not_claimed_and_what_is_open_again_is(
    one: Claimant, two: Claimant
) -> None:
    held = one.claim(1).lock
    issues.close(one.parts, "1")
    one.locks.release(held.name, expected=held, cause=Cause(MERGED, "worker-1", "#2"))
    one.sync()
    assert two.tracker.get(1).state == "open", "it has not heard of it"
    with pytest.raises(RefusedError, match="is closed"):
        two.claim(1)
    issues.reopen(one.parts, "1")
    assert one.claim(1).how == "claim"
