"""What each sender starts in one sync is bounded; the rest is counted."""

import re
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.state.sender_budget import LISTED, MOST, MOST_IN_ALL, SenderBudget
from tests.state.clones import RECORDS, note
from tests.support.clock import ManualClock
from tests.support.twins.state import MemoryRemote, MemoryStore

OWN = 0
FEW = MOST_IN_ALL // MOST  # senders that do not use up what all have together


def empty() -> SenderBudget:
    return SenderBudget(MemoryStore(ManualClock()).snapshot())


@given(st.lists(st.integers(OWN, LISTED), min_size=MOST + 1, max_size=200))
def test_each_sender_is_bounded_its_order_is_kept_and_the_rest_is_counted(
    wrote: Sequence[int],
) -> None:
    budget, things = empty(), [*enumerate(wrote)]
    now = budget.first("things", things, lambda thing: [f"clone {thing[1]}"] if thing[1] else [])
    left = dict.fromkeys(set(wrote), 0)
    for sender in left:
        mine = [thing for thing in things if thing[1] == sender]
        allowed = len(mine) if sender == OWN else MOST
        assert [thing for thing in now if thing[1] == sender] == mine[:allowed]
        left[sender] = len(mine[allowed:])
    notes = " ".join(budget.notes())
    said = {int(x): int(y) for x, y in re.findall(r"clone (\d+): (\d+) of its things", notes)}
    assert said == {sender: number for sender, number in left.items() if number}


@given(st.lists(st.integers(1, 4 * FEW), min_size=MOST + 1, max_size=300))
def test_all_senders_together_are_bounded_too(wrote: Sequence[int]) -> None:
    now = empty().first("things", wrote, lambda sender: [str(sender)])
    assert len(now) <= MOST_IN_ALL
    assert max(Counter(now).values()) <= MOST


def test_of_many_the_first_of_each_sender_come_first() -> None:
    things = [("eve", number) for number in range(20)] + [("mallory", 0), ("mallory", 1)]
    now = empty().first("things", things, lambda thing: [thing[0]])
    assert now[:4] == [("eve", 0), ("mallory", 0), ("eve", 1), ("mallory", 1)]


def test_a_copy_of_a_record_uses_up_no_budget_of_its_writer() -> None:
    things = [*range(2 * MOST)]  # eve copies the first half, and fills her budget with the rest
    senders = {x: ["eve"] if x < MOST else ["eve", "mallory"] for x in things}
    assert sorted(empty().first("things", things, lambda thing: senders[thing])) == things


def test_the_sender_is_the_clone_whose_ref_has_the_record() -> None:
    clock, remote = ManualClock(), MemoryRemote()
    one, other = (MemoryStore(clock, name, remote) for name in ("one", "other"))
    for store in (one, other):
        event = note(store.snapshot().clone, 1)
        store.commit([event], store.snapshot().revision)
    for store in (one, other, one):
        store.sync()
    budget = SenderBudget(one.snapshot())
    assert budget.writers(f"{RECORDS}one") == ()
    assert [*budget.writers(f"{RECORDS}other")] == ["clone other"]
