"""The laws of the state: whatever clones do in whatever order, nothing said is lost, and all agree.

The same machine drives clones in memory and, shorter, clones in git.
"""

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ghp_agents.state.presence import Presence, position
from tests.contracts.state_store import Field, everything, exchange, say
from tests.state.clones import GitField
from tests.state.test_memory import MemoryField
from tests.support import repos
from tests.support.thorough import count

CLONES = st.integers(0, 2)
AGENTS = st.sampled_from(("worker-1", "worker-2"))


class Clones(RuleBasedStateMachine):
    """Three clones that say, beat, fold and sync in any order, while the remote comes and goes."""

    field: Field
    count: ClassVar[int] = 3

    def __init__(self) -> None:
        super().__init__()
        self.field = self.begin()
        self.said: dict[int, set[str]] = {clone: set() for clone in range(self.count)}
        self.beats: dict[tuple[int, str], int] = {}
        self.away = False
        self.numbers = iter(range(10_000))

    def begin(self) -> Field:
        """Fresh clones."""
        return MemoryField()

    @rule(clone=CLONES, count=st.integers(1, 3))
    def says(self, clone: int, count: int) -> None:
        """A clone commits some records at once."""
        names = [f"{clone}-{next(self.numbers)}" for _ in range(count)]
        say(self.field, self.field.store(clone), *names)
        self.said[clone].update(names)

    @rule(clone=CLONES, agent=AGENTS, moves=st.booleans())
    def beats_(self, clone: int, agent: str, moves: bool) -> None:
        """An agent of a clone beats; each clone has agents of its own, and one that all have."""
        name = f"{agent}-{clone}" if agent == "worker-1" else agent
        seq = self.beats.get((clone, name), 0) + 1
        self.beats[(clone, name)] = seq
        status = "testing" if moves else "idle"
        fields: Presence = {"status": status, "epoch": 1 + clone, "seq": seq, "newer": [clone]}
        self.field.beat(clone, name, fields)

    @rule(clone=CLONES)
    def folds(self, clone: int) -> None:
        """Folding twice changes nothing."""
        store = self.field.store(clone)
        store.fold()
        before = everything(store)
        assert store.fold() == 0
        assert everything(store) == before

    @rule(clone=CLONES, push=st.booleans())
    def syncs(self, clone: int, push: bool) -> None:
        """A sync never loses what a clone knew, and says whether it reached the remote."""
        store = self.field.store(clone)
        before = store.snapshot()
        agents, files = before.agents(), dict(before.files(".ghp/"))
        report = store.sync(push=push)
        assert bool(report.trouble) == self.away
        assert report.fetched == (not self.away)
        after = store.snapshot()
        assert files.items() <= dict(after.files(".ghp/")).items()
        for name, fields in agents.items():
            assert position(after.agents()[name]) >= position(fields)
        assert after.clock >= before.clock

    @rule()
    def the_remote_goes_or_comes(self) -> None:
        """Nobody can reach it, or everybody again."""
        if self.away:
            self.field.mend()
        else:
            self.field.cut()
        self.away = not self.away

    @rule(seconds=st.sampled_from((1, 60, 3_600, -7_200)))
    def time_passes(self, seconds: int) -> None:
        """Or somebody sets the clock back."""
        self.field.clock.wait(seconds)

    @invariant()
    def what_a_clone_said_it_has(self) -> None:
        """At any time, whoever has synced or not."""
        for clone, names in self.said.items():
            has = self.field.store(clone).snapshot().files(".ghp/notes/")
            assert {f".ghp/notes/{name}.md" for name in names} <= has.keys()

    @invariant()
    def the_ledger_is_in_order(self) -> None:
        """By Lamport clock, then by clone; a clone's own entries in the order of their clocks."""
        ledger = self.field.store(0).ledger()
        order = [(entry.clock, entry.clone, entry.id) for entry in ledger]
        assert order == sorted(order)
        assert len(set(order)) == len(order)

    def teardown(self) -> None:
        """After all have synced, all are of one mind, and nothing was lost."""
        if self.away:
            self.field.mend()
        stores = [self.field.store(clone) for clone in range(self.count)]
        exchange(stores)
        states = [everything(store) for store in stores]
        assert states[0] == states[1] == states[2]
        snapshot = stores[0].snapshot()
        names = {f".ghp/notes/{name}.md" for names_of in self.said.values() for name in names_of}
        assert snapshot.files(".ghp/notes/").keys() == names
        assert sorted(e.id for e in stores[0].ledger() if e.event == "note") == sorted(
            name for names_of in self.said.values() for name in names_of
        )
        last: dict[str, tuple[int, int]] = {}
        for (clone, name), seq in self.beats.items():
            last[name] = max(last.get(name, (0, 0)), (1 + clone, seq))
        assert {name: position(fields) for name, fields in snapshot.agents().items()} == last
        assert [store.fold() for store in stores] == [0, 0, 0]
        assert [store.sync().news for store in stores] == [0, 0, 0]


@cache
def templates() -> repos.Templates:
    return repos.make_templates(Path(tempfile.mkdtemp(prefix="ghp-laws-")))


class GitClones(Clones):
    """The same on real git."""

    def begin(self) -> Field:
        """Copies of a remote and of its clones."""
        self.folder = Path(tempfile.mkdtemp(prefix="ghp-laws-"))
        remote = repos.copy_remote(templates(), self.folder / "remote.git")

        def make(count: int) -> list[Path]:
            existing = len(list(self.folder.glob("clone-*")))
            names = [f"clone-{existing + number}" for number in range(count)]
            return [repos.copy_clone(templates(), self.folder / name, remote) for name in names]

        return GitField(remote, make, self.folder)

    def teardown(self) -> None:
        """And nothing stays on the disk."""
        try:
            super().teardown()
        finally:
            shutil.rmtree(self.folder)


@pytest.mark.slow
def test_clones_in_memory_keep_the_laws() -> None:
    run_state_machine_as_test(Clones, settings=settings(max_examples=60, stateful_step_count=40))


def run_in_git(examples: int, steps: int) -> None:
    """Without making a failure smaller: that takes minutes, and memory mostly fails as well."""
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    try:
        run_state_machine_as_test(
            GitClones,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                suppress_health_check=checks,
                phases=phases,
            ),
        )
    finally:
        shutil.rmtree(templates().alone.parent)
        templates.cache_clear()


@pytest.mark.slow
def test_clones_in_git_keep_the_laws() -> None:
    run_in_git(examples=count(20, sample=8), steps=25)
