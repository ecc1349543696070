"""Whoever is refused hears who has it, since when, and what next."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.issues import service as issues
from tests.support.claimants import THEN, Claimant

Clones = Callable[[int], list[Path]]


@pytest.mark.slow
def test_who_comes_second_is_refused_and_told_who_has_it(one: Claimant, two: Claimant) -> None:
    one.claim(1)  # the other clone has not heard of it
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert str(caught.value) == (
        f"#1 is claimed by worker-1 since {THEN}; this clone has seen no heartbeat of it."
    )
    assert "ghp agent-claim --next" in caught.value.hint
    assert "ghp agent-release 1 --to worker-2" in caught.value.hint
    assert two.in_hand[:2] == (None, None)
    assert two.story(1) == []


@pytest.mark.slow
def test_the_refusal_says_what_the_holder_did_last(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    one.beat(status="testing", lastAction="Ran the\ttests")
    one.sync()
    two.sync()
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert str(caught.value) == (
        f"#1 is claimed by worker-1 since {THEN}; it is active, last: «Ran the tests»."
    )


def test_an_issue_of_others_is_refused_with_their_names(one: Claimant) -> None:
    issues.assign(one.parts, "1", ["worker-2", "Ann Example"])
    with pytest.raises(RefusedError) as caught:
        one.claim(1)
    assert str(caught.value) == "#1 is assigned to «Ann Example», worker-2."
    assert "`ghp agent-issue assign 1 worker-1`" in caught.value.hint
    assert one.locks.list("issue/") == []
    assert one.claim(1, steal=True, reason="They are away").how == "claim"
