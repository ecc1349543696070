"""Rights in memory keep the contract; services are tested with them."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given

from tests.contracts.lock_service import STEPS, RemoteLockContract, Steps, play
from tests.support.clock import ManualClock
from tests.support.twins.locks import Board, MemoryLocks


@dataclass
class MemoryField:
    """Rivals around one board."""

    clock: ManualClock = field(default_factory=ManualClock)
    board: Board = field(default_factory=Board)

    def locks(self) -> MemoryLocks:
        """One more rival."""
        return MemoryLocks(self.clock, self.board)

    def cut(self) -> None:
        """The board is out of reach."""
        self.board.reachable = False

    def mend(self) -> None:
        """The board can be reached again."""
        self.board.reachable = True

    def forget(self, name: str) -> None:
        """The board loses a right, and has an older state of the others."""
        del self.board.leases[name], self.board.histories[name]
        for other, history in self.board.histories.items():
            self.board.leases[other] = history[0]
            del history[1:]

    def break_after_write(self) -> None:
        """The next change happens, and nobody hears of it."""
        self.board.breaks_after_write = True


class TestMemoryLocks(RemoteLockContract):
    crowd = 24

    @pytest.fixture
    def field(self) -> MemoryField:
        return MemoryField()


@given(STEPS)
def test_a_right_goes_as_one_chain_whatever_the_rivals_do(steps: Steps) -> None:
    play(MemoryField(), steps)


def test_lock_services_without_a_common_board_do_not_know_of_each_other() -> None:
    one, two = MemoryLocks(ManualClock()), MemoryLocks(ManualClock())
    one.acquire("trunk", "worker-1", expected=None)
    assert two.read("trunk") is None
