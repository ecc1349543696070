"""The doctor names what agents left in their worktrees after they finished."""

import pytest

from ghp_agents.core.finding import warning
from ghp_agents.doctor import left_work
from ghp_agents.hotpath.quoting import path_word
from tests.support.repos import Restored
from tests.support.road import Road, with_pull


@pytest.mark.slow
def test_what_was_left_is_named_with_the_command_that_saves_it(restored: Restored) -> None:
    road = Road(restored(with_pull).repo)
    house = road.house("@me").offline
    assert list(left_work.check(house)) == []
    (road.work / "new.txt").write_text("x\n")
    place = path_word(str(road.work))
    assert list(left_work.check(house)) == [
        warning(
            "left-work",
            f"worker-1 left 1 file in {place}: new.txt: not in #2.",
            "Save it: ghp agent-handoff --issue 1 --as worker-1",
        )
    ]
