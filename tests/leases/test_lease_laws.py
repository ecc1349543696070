"""Laws of ordinary leases, whatever agents of two clones do and in whatever order."""

import contextlib
import shutil
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghp_agents.core.errors import NotFoundError, RefusedError
from ghp_agents.core.globs import covers, may_meet
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.escalations.service import questions
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.world import read_all as leases_of
from tests.support import repos
from tests.support.leases import FILES, Yard, two_yards

WORDS = ("src/", "src/a.py", "*.py", "docs/", "/*.md", "*", "src/new.py", "./src/b.py")
STEPS = st.tuples(
    st.sampled_from(["take", "take", "take", "strict", "give", "sync", "stop", "come", "later"]),
    st.sampled_from([0, 1]),  # the clone
    st.sampled_from(["ann", "bob", "cyd"]),
    st.sampled_from(WORDS),
)
SEEN = sorted([*FILES, "src/new.py"])


@pytest.fixture(scope="module")
def fields(
    templates: repos.Templates, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], tuple[Yard, Yard]]:
    """New clones of one remote for each run, in the same folders."""
    folder = tmp_path_factory.mktemp("fields")
    remote = repos.copy_remote(templates, folder / "remote.git")
    one, other = (repos.copy_clone(templates, folder / name, remote) for name in ("one", "other"))
    two_yards(one, other)

    def make() -> tuple[Yard, Yard]:
        for clone in (one, other):
            shutil.rmtree(clone / ".git/ghp", ignore_errors=True)
        first, second = two_yards(one, other)
        return first, second

    return make


def rivals(held: list[Hold]) -> list[tuple[Hold, Hold]]:
    """Pairs of leases of two agents that have a file in common."""
    return [
        (one, two)
        for one, two in combinations(held, 2)
        if one.holder != two.holder
        and any(covers(one.patterns, path) and covers(two.patterns, path) for path in SEEN)
    ]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(STEPS, min_size=4, max_size=18))
def test_what_one_clone_grants_never_overlaps_and_what_two_do_is_known_to_both(
    fields: Callable[[], tuple[Yard, Yard]], steps: list[tuple[str, int, str, str]]
) -> None:
    yards = fields()
    epochs = dict.fromkeys(("ann", "bob", "cyd"), 1)
    for verb, clone, who, word in steps:
        yard = yards[clone]
        agent = f"{who}-{clone}"  # an agent lives in one clone
        with contextlib.suppress(RefusedError, NotFoundError):
            _act(yard, verb, agent, word, epochs)
        assert rivals(_made_here(yard)) == []
        assert rivals([hold for hold in yard.listing().held if hold.strict]) == []
    for yard in (*yards, *yards, *yards):
        yard.sync()
    assert _shown(yards[0]) == _shown(yards[1]), "after syncs all clones know the same"
    for one, two in rivals(yards[0].listing().held):
        assert may_meet(one.patterns, two.patterns, SEEN)
        assert len(_questions(yards[0])) > 0, "an overlap is a question"
    ledger = yards[0].store.ledger()
    yards[0].sync()
    assert yards[0].store.ledger() == ledger, "and then nothing more is said"


def _act(yard: Yard, verb: str, agent: str, word: str, epochs: dict[str, int]) -> None:
    if verb in ("take", "strict"):
        yard.take(agent, word, strict=verb == "strict")
    elif verb == "give":
        yard.give(agent, word)
    elif verb == "sync":
        yard.sync()
    elif verb == "later":
        yard.clock.wait(60)
    else:
        name = agent.split("-")[0]
        epochs[name] += 1
        status = "stopped" if verb == "stop" else "implementing"
        yard.beat(agent, status, epoch=epochs[name])


def _made_here(yard: Yard) -> list[Hold]:
    """What is held of what this clone granted."""
    snapshot = yard.store.snapshot()
    ours = {log.id for log in leases_of(snapshot)[0] if log.request.clone == snapshot.clone}
    return [hold for hold in yard.listing().held if hold.id in ours]


def _shown(yard: Yard) -> list[tuple[str, str]]:
    return sorted(yard.held())


def _questions(yard: Yard) -> list[Escalation]:
    return questions(yard.parts(None).world)
