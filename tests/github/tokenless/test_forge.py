"""Pull requests of a clone without a token are asked for; the rest is refused plainly."""

import pytest

from ghp_agents.core.errors import NotFoundError, RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.github.tokenless import request
from ghp_agents.github.tokenless.forge import TokenlessForge
from ghp_agents.github.tokenless.request import RequestResult
from ghp_agents.pulls.pull import Checks, NewPull, PullChange
from tests.github.tokenless.conftest import Clone

ME = Actor("worker-1")
NEW = NewPull("agent/1", "main", "1" * 40, "Blink", "B", 1)
REFUSED = "This clone cannot {} on GitHub (github.com/acme/widgets): it has no token."


@pytest.fixture
def forge(clone: Clone) -> TokenlessForge:
    return TokenlessForge(clone.ws, clone.store, clone.tracker)


def opened(clone: Clone, number: int) -> None:
    """A clone with a token opened what was asked for last."""
    snapshot = clone.store.snapshot()
    waiting = request.read_outgoing(snapshot.files(request.FOLDER)).waiting[-1]
    at, clock = waiting.at, snapshot.clock + 1
    result = RequestResult(waiting.id, ME, at, clock, snapshot.clone, "sent", "", number)
    clone.store.commit([request.result_record(result, waiting)], expected=snapshot.revision)


def test_a_pull_request_waits_once(clone: Clone, forge: TokenlessForge) -> None:
    pull = forge.open(NEW, ME)
    assert pull.waits
    assert forge.open(NEW, ME) == pull
    assert (forge.find("agent/1"), forge.list(), forge.get(pull.number)) == (pull, [pull], pull)
    assert len(request.read_outgoing(clone.store.snapshot().files(request.FOLDER)).waiting) == 1


def test_it_has_githubs_number_once_it_was_opened(clone: Clone, forge: TokenlessForge) -> None:
    forge.open(NEW, ME)
    opened(clone, 7)
    (pull,) = forge.list()
    assert (pull.number, pull.url) == (7, "https://github.com/acme/widgets/pull/7")
    newer = forge.open(NEW._replace(head="2" * 40), ME)
    assert (newer.number, newer.head) == (7, "2" * 40)
    assert [(pull.number, pull.head) for pull in forge.list()] == [(7, "2" * 40)]


def test_what_only_a_token_can_do_is_refused(forge: TokenlessForge) -> None:
    for what, act in (
        ("merge #7", lambda: forge.merge(7, ME, head="1" * 40)),
        ("merge", lambda: forge.merge_all([], ME, onto="1" * 40)),
        ("change #7", lambda: forge.change(7, PullChange(title="T"), ME)),
    ):
        with pytest.raises(RefusedError) as caught:
            act()
        assert str(caught.value) == REFUSED.format(what)
        assert "Run it in a clone with a token" in caught.value.hint


def test_nothing_else_is_known_here(forge: TokenlessForge) -> None:
    pull = forge.open(NEW, ME)
    assert (forge.checks(pull), forge.reviews(pull), forge.is_local) == (Checks(), (), False)
    assert (forge.find("agent/2"), forge.place_in_queue(7)) == (None, None)
    with pytest.raises(NotFoundError):
        forge.get(7)
