"""The local pull requests of a snapshot."""

import pytest

from ghp_agents.pulls import local_pulls
from tests.support.repos import Restored
from tests.support.road import Road, with_pull


@pytest.mark.slow
def test_they_are_read_once_for_the_same_records(restored: Restored) -> None:
    store = Road(restored(with_pull).repo).house("lead").store
    (pull,) = local_pulls.read_all(store.snapshot())
    assert (pull.pull.number, pull.numbers) == (2, (2,))
    assert local_pulls.read_all(store.snapshot()) is local_pulls.read_all(store.snapshot())
