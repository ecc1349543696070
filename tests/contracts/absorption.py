"""What becomes of a clone that another absorbs. A test class inherits it with the state store's."""

from ghp_agents.core.ids import CloneId
from ghp_agents.ports import StateStore
from ghp_agents.state.join import Absorption, Tip
from tests.contracts.state_store import ADA, HOUR, Field, everything, exchange, notes, say, told


def tip_of(store: StateStore, other: StateStore) -> Tip:
    """Where another clone's history ends, as it is known here."""
    clone = other.snapshot().clone
    return next(tip for tip in store.snapshot().tips() if tip.clone == clone)


def joined(store: StateStore) -> object:
    """All that is said, without who keeps it."""
    snapshot = store.snapshot()
    ledger = [entry for entry in store.ledger() if entry.event != "absorb"]
    return snapshot.agents(), dict(snapshot.files(".ghp/")), ledger


class AbsorptionContract:
    """Inherit, and give a fixture `field`."""

    def test_nothing_is_lost_and_the_other_clone_is_no_more(self, field: Field) -> None:
        one, other, third = (field.store(number) for number in range(3))
        say(field, one, "a")
        say(field, other, "b")
        field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": 2})
        field.beat(1, "worker-1", {"status": "idle", "epoch": 1, "seq": 1})
        field.beat(1, "worker-2", {"status": "done", "epoch": 3, "seq": 4})
        exchange([one, other, third])
        before, gone = joined(third), other.snapshot().clone
        assert one.absorb_clones([tip_of(one, other)], ADA) == Absorption((gone,))
        third.sync()
        assert joined(one) == joined(third) == before
        assert gone not in {tip.clone for tip in third.snapshot().tips()}
        assert ("absorb", gone) in told(third)

    def test_absorbing_twice_is_absorbing_once(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        say(field, other, "b")
        exchange([one, other])
        tip = tip_of(one, other)
        one.absorb_clones([tip], ADA)
        before = everything(one)
        again = one.absorb_clones([tip], ADA)
        assert again.absorbed == ()
        assert everything(one) == before

    def test_a_clone_that_spoke_meanwhile_is_left_alone(self, field: Field) -> None:
        one, other, third = (field.store(number) for number in range(3))
        say(field, other, "b")
        exchange([one, other])
        tip = tip_of(one, other)
        say(field, other, "c")
        other.sync()
        assert one.absorb_clones([tip], ADA) == Absorption(
            left=((tip.clone, "it was active again"),)
        )
        third.sync()
        assert sorted(notes(third)) == [".ghp/notes/b.md", ".ghp/notes/c.md"]
        assert tip.clone in {tip.clone for tip in third.snapshot().tips()}

    def test_a_clone_that_comes_back_goes_on_where_it_was(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        say(field, other, "b")
        exchange([one, other])
        one.absorb_clones([tip_of(one, other)], ADA)
        say(field, other, "c")
        exchange([one, other])
        assert joined(one) == joined(other)
        events = [("absorb", other.snapshot().clone), ("note", "N-b"), ("note", "N-c")]
        assert sorted(told(one)) == events  # the last two were said without knowing of each other

    def test_out_of_reach_nothing_is_taken_off_and_the_next_time_does_it(
        self, field: Field
    ) -> None:
        one, other, third = (field.store(number) for number in range(3))
        say(field, other, "b")
        exchange([one, other])
        tip = tip_of(one, other)
        field.cut()
        ((clone, why),) = one.absorb_clones([tip], ADA).left
        assert (clone, bool(why)) == (tip.clone, True)
        field.mend()
        assert one.absorb_clones([tip], ADA) == Absorption((tip.clone,))
        third.sync()
        assert sorted(notes(third)) == [".ghp/notes/b.md"]

    def test_the_past_stays_as_it_was(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        start = field.clock.now()
        say(field, one, "a")
        field.clock.wait(HOUR)
        say(field, other, "b")
        field.beat(1, "worker-2", {"status": "done", "epoch": 3, "seq": 4})
        exchange([one, other])
        field.clock.wait(HOUR)
        say(field, one, "c")
        one.sync()
        field.clock.wait(HOUR)
        times = [start + half * HOUR / 2 for half in range(-1, 6)]
        before = [(notes(one, at), one.snapshot(at).agents()) for at in times]
        one.absorb_clones([tip_of(one, other)], ADA)
        assert [(notes(one, at), one.snapshot(at).agents()) for at in times] == before

    def test_a_clone_goes_on_under_anothers_id(self, field: Field) -> None:
        one, fresh, third = (field.store(number) for number in range(3))
        say(field, one, "a")
        one.sync()
        fresh.sync()
        name = one.snapshot().clone
        fresh.use_clone_id(name)
        assert fresh.snapshot().clone == name
        say(field, fresh, "b")
        assert fresh.sync().pushed
        third.sync()
        assert [tip.clone for tip in third.snapshot().tips()] == [name]
        assert sorted(notes(third)) == [".ghp/notes/a.md", ".ghp/notes/b.md"]

    def test_what_was_said_before_under_another_id_is_said_under_the_new_one(
        self, field: Field
    ) -> None:
        one, fresh, third = (field.store(number) for number in range(3))
        say(field, one, "a")
        say(field, fresh, "b")
        exchange([one, fresh])
        former = tip_of(one, fresh)
        before = joined(one)
        fresh.use_clone_id(one.snapshot().clone)
        assert fresh.absorb_clones([former], ADA) == Absorption((former.clone,))
        third.sync()
        assert joined(third) == before
        assert [tip.clone for tip in third.snapshot().tips()] == [one.snapshot().clone]

    def test_an_id_that_nobody_has_can_be_taken(self, field: Field) -> None:
        store = field.store(0)
        say(field, store, "a")
        store.use_clone_id(CloneId("abcdef012345"))
        assert store.snapshot().clone == "abcdef012345"
        assert notes(store) == {".ghp/notes/a.md": b"a"}
