"""What every state store does. A test class inherits it and says how clones are made."""

import json
from collections.abc import Sequence
from typing import Protocol

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.ports import Snapshot, StateStore
from ghp_agents.state import ledger
from ghp_agents.state.join import SyncReport
from ghp_agents.state.ledger import LedgerEntry, LedgerReader
from ghp_agents.state.presence import Presence
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from tests.state.clones import one_page
from tests.support.clock import ManualClock

HOUR = 3_600.0
WORKER = Actor("worker-1")
ADA = Actor("Ada Lovelace", is_person=True)


class Field(Protocol):
    """Clones around a remote."""

    clock: ManualClock

    def store(self, clone: int) -> StateStore:
        """The state as one more process of a clone sees it; clones count from 0."""

    def beat(self, clone: int, agent: str, fields: Presence) -> None:
        """An agent of a clone says of itself that it is `said`, now."""

    def alone(self) -> StateStore:
        """A clone that has no remote."""

    def cut(self) -> None:
        """Nobody can reach the remote any more."""

    def mend(self) -> None:
        """The remote can be reached again."""


def record(
    field: Field,
    name: str,
    clock: int,
    *,
    event: str = "note",
    actor: Actor = WORKER,
    content: bytes | None = None,
) -> Record:
    """A record of one file, called after `name`."""
    at = Timestamp(to_text(field.clock.now()))
    files = ((f".ghp/notes/{name}.md", content if content is not None else name.encode()),)
    return Record(event, actor, f"N-{name}", name, at, clock, files, issue=7, text=f"About {name}")


def say(field: Field, store: StateStore, *names: str, event: str = "note") -> None:
    """Commit a record for each name, all at once."""

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        clock = snapshot.clock + 1
        return None, [record(field, name, clock, event=event) for name in names]

    transact(store, decide)


def notes(store: StateStore, at: float | None = None) -> dict[str, bytes]:
    """All records of the tests, by path."""
    return dict(store.snapshot(at).files(".ghp/notes/"))


def told(store: StateStore) -> list[tuple[str, str]]:
    """The ledger, in short."""
    return [(entry.event, entry.object) for entry in store.ledger()]


def everything(store: StateStore) -> object:
    """All that a clone knows of the joined state, to compare."""
    snapshot = store.snapshot()
    tips = {(tip.clone, tip.clock, tip.at) for tip in snapshot.tips()}
    return snapshot.agents(), dict(snapshot.files(".ghp/")), store.ledger(), tips, snapshot.clock


def exchange(stores: Sequence[StateStore]) -> list[SyncReport]:
    """Every clone syncs until each has heard of all others."""
    return [store.sync() for store in (*stores, *stores)]


class StateStoreContract:
    """Inherit, and give a fixture `field`."""

    # -------------------------------------------------------------------- nothing yet

    def test_an_untouched_clone_has_an_empty_state(self, field: Field) -> None:
        store = field.store(0)
        snapshot = store.snapshot()
        assert (snapshot.agents(), dict(snapshot.files(".ghp/")), list(snapshot.tips())) == (
            {},
            {},
            [],
        )
        assert (snapshot.clock, list(snapshot.problems()), store.ledger()) == (0, [], [])
        assert dict(snapshot.beaten()) == {}
        assert store.snapshot(0.0).agents() == {}
        assert store.fold() == 0

    # -------------------------------------------------------------------- records

    def test_a_record_is_in_the_state_and_in_the_ledger(self, field: Field) -> None:
        store = field.store(0)
        store.commit([record(field, "a", 1)], expected=store.snapshot().revision)
        clone = store.snapshot().clone
        assert notes(store) == {".ghp/notes/a.md": b"a"}
        (entry,) = store.ledger()
        assert entry == LedgerEntry(
            clock=1,
            clone=clone,
            id="a",
            event="note",
            actor="worker-1",
            object="N-a",
            at=Timestamp("2025-06-15T15:06:40Z"),
            issue=7,
            text="About a",
        )
        (tip,) = store.snapshot().tips()
        assert (tip.clone, tip.clock, tip.at) == (clone, 1, entry.at)

    def test_another_process_of_the_clone_sees_it_at_once(self, field: Field) -> None:
        say(field, field.store(0), "a")
        assert notes(field.store(0)) == {".ghp/notes/a.md": b"a"}
        assert field.store(0).snapshot().revision == field.store(0).snapshot().revision

    def test_who_decided_on_an_older_state_is_told_and_adds_nothing(self, field: Field) -> None:
        store, rival = field.store(0), field.store(0)
        revision = store.snapshot().revision
        say(field, rival, "b")
        with pytest.raises(StateMovedError):
            store.commit([record(field, "a", 1)], expected=revision)
        assert told(store) == [("note", "N-b")]
        assert list(notes(store)) == [".ghp/notes/b.md"]

    def test_a_rival_that_writes_while_one_decides_makes_it_decide_again(
        self, field: Field
    ) -> None:
        store, rival = field.store(0), field.store(0)
        reads: list[list[str]] = []

        def decide(snapshot: Snapshot) -> tuple[int, list[Record]]:
            reads.append(list(snapshot.files(".ghp/notes/")))
            if len(reads) == 1:
                say(field, rival, "b")
            return len(reads), [record(field, "a", snapshot.clock + 1)]

        assert transact(store, decide) == 2
        assert reads == [[], [".ghp/notes/b.md"]]
        assert [(entry.clock, entry.object) for entry in store.ledger()] == [(1, "N-b"), (2, "N-a")]

    def test_a_decision_to_do_nothing_writes_nothing(self, field: Field) -> None:
        store = field.store(0)
        assert transact(store, lambda snapshot: (snapshot.clock, [])) == 0
        assert store.ledger() == []

    def test_records_said_together_stay_in_their_order(self, field: Field) -> None:
        store = field.store(0)
        say(field, store, "z", "a", "m")
        assert [(entry.clock, entry.id) for entry in store.ledger()] == [
            (1, "z"),
            (2, "a"),
            (3, "m"),
        ]
        say(field, store, "b")
        assert store.ledger()[-1].clock == 4
        assert store.snapshot().clock == 4

    def test_a_record_that_has_no_files_is_in_the_ledger(self, field: Field) -> None:
        store = field.store(0)
        at = Timestamp(to_text(field.clock.now()))
        store.commit([Record("sweep", ADA, "#7", "s-1", at, 1, ())], store.snapshot().revision)
        (entry,) = store.ledger()
        assert (entry.event, entry.actor, entry.is_person, entry.id) == (
            "sweep", "Ada Lovelace", True, "s-1",
        )  # fmt: skip

    def test_a_record_beside_others_is_added_with_them(self, field: Field) -> None:
        store = field.store(0)
        beside = record(field, "claim", 0)._replace(files=())
        before = store.snapshot().clock
        with store.commit_with([beside]):
            assert store.ledger() == []
            say(field, store, "a")
        entries = store.ledger()
        assert [entry.id for entry in entries] == ["a", "claim"]
        assert [entry.clock for entry in entries] == [before + 1, before + 2]
        say(field, store, "b")
        assert [entry.id for entry in store.ledger()] == ["a", "claim", "b"]

    def test_a_record_beside_nothing_is_added_alone(self, field: Field) -> None:
        store = field.store(0)
        with store.commit_with([record(field, "claim", 0)]):
            assert store.ledger() == []
        assert [entry.id for entry in store.ledger()] == ["claim"]

    def test_what_fails_adds_nothing_beside(self, field: Field) -> None:
        store = field.store(0)
        with pytest.raises(ZeroDivisionError), store.commit_with([record(field, "claim", 0)]):
            _ = 1 // 0
        say(field, store, "a")
        assert [entry.id for entry in store.ledger()] == ["a"]

    def test_any_bytes_under_any_name_are_kept(self, field: Field) -> None:
        store = field.store(0)
        names = ("with space", "ümlaut", 'quo"te', "a.b", "x" * 120, "deep/er/still", "'", "%41")
        contents = {name: f"{name}\0\r\n\n".encode() + b"\xff" for name in names}

        def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
            clock = snapshot.clock + 1
            return None, [
                record(field, name, clock, content=content) for name, content in contents.items()
            ]

        transact(store, decide)
        assert notes(store) == {f".ghp/notes/{name}.md": contents[name] for name in contents}

    def test_only_what_is_below_a_folder_is_read(self, field: Field) -> None:
        store = field.store(0)
        say(field, store, "1/a", "10/b", "1/c/d")
        below = dict(store.snapshot().files(".ghp/notes/1/"))
        assert below == {".ghp/notes/1/a.md": b"1/a", ".ghp/notes/1/c/d.md": b"1/c/d"}
        assert dict(store.snapshot().files(".ghp/nothing/")) == {}

    def test_the_stamp_of_a_folder_changes_with_its_files_alone(self, field: Field) -> None:
        store = field.store(0)
        assert dict(store.snapshot().stamps(".ghp/notes/")) == {}
        say(field, store, "1/a", "2/b")
        before = store.snapshot().stamps(".ghp/notes/")
        assert list(before) == [".ghp/notes/1/", ".ghp/notes/2/"]
        assert dict(store.snapshot().stamps(".ghp/notes/")) == dict(before)
        say(field, store, "2/c")
        after = store.snapshot().stamps(".ghp/notes/")
        assert after[".ghp/notes/1/"] == before[".ghp/notes/1/"]
        assert after[".ghp/notes/2/"] != before[".ghp/notes/2/"]

    def test_a_snapshot_stays_as_it_was_taken(self, field: Field) -> None:
        store = field.store(0)
        say(field, store, "a")
        snapshot = store.snapshot()
        say(field, field.store(0), "b")
        assert dict(snapshot.files(".ghp/notes/")) == {".ghp/notes/a.md": b"a"}
        assert (snapshot.clock, [tip.clock for tip in snapshot.tips()]) == (1, [1])
        assert snapshot.revision != store.snapshot().revision

    def test_the_lock_can_be_taken_by_who_has_it(self, field: Field) -> None:
        store = field.store(0)
        with store.exclusive(), store.exclusive():
            say(field, store, "a")
            store.fold()
        assert told(store) == [("note", "N-a")]

    # -------------------------------------------------------------------- presence

    def test_a_beat_is_seen_at_once_and_stays_when_it_is_folded(self, field: Field) -> None:
        store = field.store(0)
        fields = {"issue": 7, "status": "testing", "lastAction": "…", "epoch": 1, "seq": 1}
        field.beat(0, "worker-1", fields)
        assert store.snapshot().agents() == {"worker-1": fields}
        assert store.fold() == 1
        assert field.store(0).snapshot().agents() == {"worker-1": fields}
        assert dict(store.snapshot().files(".ghp/")) == {}, "presence is no record"
        assert told(store) == [("presence", "testing")]

    def test_folding_twice_changes_nothing(self, field: Field) -> None:
        store = field.store(0)
        field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": 1})
        say(field, store, "a")
        store.fold()
        before = everything(store)
        assert [field.store(0).fold(), store.fold()] == [0, 0]
        assert everything(store) == before

    def test_the_last_beat_is_folded_however_many_there_were(self, field: Field) -> None:
        store = field.store(0)
        for seq in range(1, 40):
            field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": seq})
            if seq % 3 == 0:
                store.fold()
        store.fold()
        field.store(1).sync()
        store.sync()
        field.store(1).sync()
        assert field.store(1).snapshot().agents()["worker-1"]["seq"] == 39

    def test_an_agent_that_only_beats_is_no_news_in_the_ledger(self, field: Field) -> None:
        store = field.store(0)
        for seq in (1, 2, 3):
            field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": seq})
            store.fold()
        field.beat(0, "worker-1", {"status": "done", "epoch": 1, "seq": 4})
        store.fold()
        assert told(store) == [("presence", "idle"), ("presence", "done")]

    def test_what_stays_on_its_machine_is_never_in_the_state(self, field: Field) -> None:
        store = field.store(0)
        fields = {"status": "idle", "epoch": 1, "seq": 1}
        field.beat(0, "worker-1", {**fields, "local": {"pid": 7}})
        assert store.snapshot().agents() == {"worker-1": fields}
        store.fold()
        assert store.snapshot().agents() == {"worker-1": fields}

    def test_a_field_from_a_newer_version_goes_to_the_other_clones(self, field: Field) -> None:
        fields = {
            "status": "idle",
            "epoch": 1,
            "seq": 1,
            "mood": {"now": ["calm", 1.5, None, True]},
        }
        field.beat(0, "worker-1", fields)
        exchange([field.store(0), field.store(1)])
        assert field.store(1).snapshot().agents() == {"worker-1": fields}

    def test_only_this_clones_agents_beat_here(self, field: Field) -> None:
        field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": 1})
        field.clock.wait(90)
        field.beat(1, "worker-2", {"status": "idle", "epoch": 1, "seq": 1})
        exchange([field.store(0), field.store(1)])
        one, other = field.store(0).snapshot(), field.store(1).snapshot()
        assert one.agents().keys() == other.agents().keys() == {"worker-1", "worker-2"}
        assert dict(one.beaten()) == {"worker-1": field.clock.now() - 90}
        assert dict(other.beaten()) == {"worker-2": field.clock.now()}
        assert one.agents_of(other.clone).keys() == {"worker-2"}

    def test_an_agent_that_moved_to_another_clone_is_told_by_its_epoch(self, field: Field) -> None:
        field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": 50})
        exchange([field.store(0), field.store(1)])
        field.beat(1, "worker-1", {"status": "testing", "epoch": 2, "seq": 1})
        exchange([field.store(0), field.store(1)])
        for clone in (0, 1):
            assert field.store(clone).snapshot().agents()["worker-1"]["status"] == "testing"

    # -------------------------------------------------------------------- other clones

    def test_clones_that_synced_have_one_state(self, field: Field) -> None:
        stores = [field.store(clone) for clone in range(3)]
        for clone, store in enumerate(stores):
            say(field, store, f"from-{clone}")
            field.beat(clone, f"worker-{clone}", {"status": "idle", "epoch": 1, "seq": clone})
        exchange(stores)
        assert everything(stores[0]) == everything(stores[1]) == everything(stores[2])
        assert len(notes(stores[0])) == len(stores[0].snapshot().agents()) == 3
        clones = {store.snapshot().clone for store in stores}
        for store in stores:
            tips = [tip.clone for tip in store.snapshot().tips()]
            assert tips[0] == store.snapshot().clone
            assert set(tips) == clones

    def test_a_sync_says_what_it_did(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        say(field, one, "a")
        first, second = one.sync(), other.sync()
        assert (first.fetched, first.pushed, first.news, first.unsent) == (True, True, 0, 0)
        assert (second.fetched, second.pushed, second.news, second.unsent) == (True, False, 1, 0)
        again = one.sync()
        assert (again.fetched, again.pushed, again.news, again.trouble) == (True, False, 0, None)

    def test_a_sync_that_only_fetches_keeps_what_is_ours_here(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        say(field, one, "a")
        say(field, other, "b")
        other.sync()
        report = one.sync(push=False)
        assert (report.fetched, report.pushed, report.unsent) == (True, False, 1)
        assert len(notes(one)) == 2
        other.sync()
        assert len(notes(other)) == 1
        assert one.sync_status().unsent == 1
        one.sync()
        other.sync()
        assert len(notes(other)) == 2
        assert one.sync_status().unsent == 0

    def test_a_sync_that_only_sends_brings_no_news(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        say(field, one, "a")
        say(field, other, "b")
        other.sync()
        report = one.sync(fetch=False)
        assert (report.fetched, report.pushed, report.news) == (False, True, 0)
        assert (report.unsent, report.trouble) == (0, None)
        assert one.news_at() is None
        assert len(notes(one)) == 1
        other.sync()
        assert len(notes(other)) == 2
        field.cut()
        say(field, one, "c")
        report = one.sync(fetch=False)
        assert (report.pushed, report.unsent, bool(report.trouble)) == (False, 1, True)

    def test_an_unreachable_remote_is_reported_and_everything_is_sent_later(
        self, field: Field
    ) -> None:
        one, other = field.store(0), field.store(1)
        exchange([one, other])
        field.cut()
        say(field, one, "a")
        say(field, one, "b")
        report = one.sync()
        assert (report.fetched, report.pushed, report.unsent) == (False, False, 2)
        assert report.trouble
        assert not report.permanent
        assert len(notes(one)) == 2
        field.mend()
        assert one.sync().pushed
        other.sync()
        assert len(notes(other)) == 2

    def test_a_clone_knows_when_it_last_had_news(self, field: Field) -> None:
        store = field.store(0)
        assert store.news_at() is None
        store.sync()
        heard = field.clock.now()
        assert store.sync_status().news_at == heard
        field.clock.wait(HOUR)
        field.cut()
        store.sync()
        assert store.sync_status().news_at == store.news_at() == heard
        assert store.remote() == store.sync_status().remote
        field.mend()
        store.sync()
        assert store.sync_status().news_at == heard + HOUR

    def test_without_a_remote_everything_stays_here(self, field: Field) -> None:
        store = field.alone()
        assert store.news_at() is None
        say(field, store, "a")
        report = store.sync()
        assert (report.remote, report.fetched, report.pushed, report.trouble) == (
            None, False, False, None,
        )  # fmt: skip
        assert store.sync_status().remote is store.remote() is None
        assert store.publish(one_page).remote is None
        assert told(store) == [("note", "N-a")]

    def test_what_a_clone_itself_keeps_is_told_apart_from_the_join(self, field: Field) -> None:
        mine, theirs = field.store(0), field.store(1)
        say(field, mine, "one")
        say(field, theirs, "two")
        mine.sync()
        theirs.sync()
        mine.sync()
        assert dict(mine.snapshot().own(".ghp/notes/")) == {".ghp/notes/one.md": b"one"}
        assert dict(theirs.snapshot().own(".ghp/notes/")) == {".ghp/notes/two.md": b"two"}
        assert len(notes(mine)) == 2
        assert dict(field.alone().snapshot().own(".ghp/notes/")) == {}

    def test_publishing_changes_nothing_in_the_state(self, field: Field) -> None:
        store = field.store(0)
        field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": 1})
        store.fold()
        before = everything(store)
        assert not store.publish(one_page).trouble
        assert not store.publish(one_page).trouble
        assert not store.publish(one_page, create=False).trouble
        assert everything(store) == before

    # -------------------------------------------------------------------- the order of things

    def test_an_answer_comes_after_its_question_whatever_the_clocks_show(
        self, field: Field
    ) -> None:
        asker, answerer = field.store(0), field.store(1)
        say(field, asker, "question", event="escalate")
        exchange([asker, answerer])
        field.clock.wait(-HOUR)
        say(field, answerer, "answer", event="answer")
        exchange([asker, answerer])
        for store in (asker, answerer):
            assert told(store) == [("escalate", "N-question"), ("answer", "N-answer")]
            question, answer = store.ledger()
            assert question.at > answer.at
            assert question.clock < answer.clock

    def test_what_was_said_at_the_same_time_is_in_one_order_for_all(self, field: Field) -> None:
        stores = [field.store(clone) for clone in range(3)]
        for clone, store in enumerate(stores):
            say(field, store, f"{clone}-first", f"{clone}-second")
        exchange(stores)
        order = [(entry.clock, entry.clone, entry.id) for entry in stores[0].ledger()]
        assert order == sorted(order)
        for store in stores[1:]:
            assert store.ledger() == stores[0].ledger()

    def test_what_happened_since_then_can_be_asked_for(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        say(field, one, "a")
        exchange([one, other])
        then, reader = one.snapshot().tips(), LedgerReader(one)
        assert one.ledger(after=then) == []
        assert [[entry.object for entry in reader.read()] for _ in range(2)] == [["N-a"], []]
        say(field, one, "b")
        say(field, other, "c")
        exchange([one, other])
        new = one.ledger(after=then)
        assert sorted(entry.object for entry in new) == ["N-b", "N-c"]
        assert new == one.ledger()[1:]
        assert one.ledger(after=one.snapshot().tips()) == []
        cursor = ledger.decode_cursor(json.loads(json.dumps(reader.cursor)))
        assert [*reader.read()] == [*LedgerReader(one, cursor).read()] == new

    def test_any_past_state_can_be_read(self, field: Field) -> None:
        one, other = field.store(0), field.store(1)
        start = field.clock.now()
        say(field, one, "a")
        field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": 1})
        one.fold()
        field.clock.wait(HOUR)
        say(field, other, "b")
        exchange([one, other])
        field.clock.wait(HOUR)
        say(field, one, "c")
        field.beat(0, "worker-1", {"status": "done", "epoch": 1, "seq": 2})
        a, b, c = (f".ghp/notes/{name}.md" for name in "abc")
        assert notes(one, start - 1) == {}
        assert list(one.snapshot(start - 1).tips()) == []
        assert notes(one, start) == {a: b"a"}
        assert notes(one, start + HOUR) == {a: b"a", b: b"b"}
        assert notes(one, start + 2 * HOUR) == {a: b"a", b: b"b", c: b"c"}
        then = one.snapshot(start)
        assert then.agents() == {"worker-1": {"status": "idle", "epoch": 1, "seq": 1}}
        assert dict(then.beaten()) == {}
        assert [(tip.clock, tip.at) for tip in then.tips()] == [
            (then.clock, Timestamp(to_text(start)))
        ]

    def test_the_distant_past_and_the_distant_future_can_be_asked_for(self, field: Field) -> None:
        store = field.store(0)
        say(field, store, "a")
        for at in (-6e10, 0.0, 1.0, 99_999_999.0):
            assert notes(store, at) == {}
        assert len(notes(store, 4e9)) == 1
