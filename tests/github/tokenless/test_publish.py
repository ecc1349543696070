"""A clone with a token publishes what it read, and only what changed."""

import os
from pathlib import Path

import pytest

from ghp_agents.github.tokenless import publish, published
from ghp_agents.github.tokenless.place import MIRROR
from ghp_agents.github.tokenless.published import Published
from ghp_agents.github.tracker import mirror
from ghp_agents.sync import service as sync
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.github import ADMIN, WORKER_1, GitHub


@pytest.fixture
def clock(github: GitHub) -> ManualClock:
    github.proxy.clock = clock = ManualClock()
    return clock


def app(github: GitHub, clock: ManualClock, login: str = ADMIN, name: str = "clone") -> App:
    folder: Path = github.folder / name
    is_new = not folder.exists()
    if is_new:
        github.clone(name)
    new_app = App(folder, os.environ | github.environment(login), clock=clock)
    if is_new:
        invoke("agent-heartbeat --as worker-1", folder, github.environment(login), clock=clock)
        new_app.store.fold()
    return new_app


def act(some_app: App) -> bool:
    """Read GitHub's issues, and publish them."""
    some_app.ws.clock.wait(10.0)
    some_app.tracker.list()
    assert some_app.hub
    return publish.publish(some_app, some_app.hub)


def state(some_app: App) -> Published:
    return published.read_published(some_app.store.snapshot().present(MIRROR))


@pytest.mark.slow
def test_open_issues_are_published_once(github: GitHub, clock: ManualClock) -> None:
    github.issue("Blink", body="It blinks.", labels=["agent:worker-1"])
    publisher = app(github, clock)
    assert publisher.hub
    assert not publish.publish(publisher, publisher.hub)  # nothing was read yet
    assert act(publisher)
    assert not act(publisher)
    current = state(publisher)
    assert current.tracker
    assert current.tracker.place == f"github.com/{github.repository}"
    (row,) = current.issues.values()
    assert (row.issue.title, row.issue.body) == ("Blink", "It blinks.")
    assert row.issue.proven == ("agent:worker-1",)


@pytest.mark.slow
def test_where_there_is_no_issue_yet_the_tracker_is_recorded_all_the_same(
    github: GitHub, clock: ManualClock
) -> None:
    """Else the first issue of a clone without a token would be a local #1."""
    publisher = app(github, clock)
    sync.sync(publisher, hub=publisher.hub)
    current = state(publisher)
    assert current.tracker
    assert current.tracker.repository == github.repository
    assert current.issues == {}


@pytest.mark.slow
def test_only_what_changed_is_published_again(github: GitHub, clock: ManualClock) -> None:
    for title in ("Blink", "Shine"):
        github.issue(title)
    publisher = app(github, clock)
    act(publisher)
    before = publisher.store.snapshot().present(MIRROR)
    github.act(ADMIN, "PATCH", "issues/2", {"title": "Glow"})
    assert act(publisher)
    after = publisher.store.snapshot().present(MIRROR)
    changed = sorted(path.rpartition("/")[2] for path in after if before[path] != after[path])
    assert changed == ["2.json", "tracker.json"]


def test_after_an_hour_unchanged_issues_are_confirmed(github: GitHub, clock: ManualClock) -> None:
    github.issue("Blink")
    publisher = app(github, clock)
    act(publisher)
    clock.wait(publish.RENEW_S)
    assert act(publisher)
    assert not act(publisher)


@pytest.mark.slow
def test_two_clones_with_tokens_agree(github: GitHub, clock: ManualClock) -> None:
    """What only one token may find out is no reason to publish again and again."""
    github.issue("Blink", labels=["agent:worker-1"])
    one, two = app(github, clock), app(github, clock, WORKER_1, "other")
    act(one)
    one.store.sync()
    two.store.sync()
    assert not act(two)
    github.act(ADMIN, "PATCH", "issues/1", {"title": "Glow"})
    assert act(two)
    two.store.sync()
    one.store.sync()
    assert not act(one)
    assert state(one).issues[1].issue.title == "Glow"


@pytest.mark.slow
def test_a_clone_that_read_less_does_not_take_back_what_another_published(
    github: GitHub, clock: ManualClock
) -> None:
    github.issue("Blink")
    one, two = app(github, clock), app(github, clock, WORKER_1, "other")
    assert one.hub
    one.tracker.list()
    place = f"github.com/{github.repository}"
    read = mirror.checked(one.ws, place)
    mirror.note_check(one.ws, place, read._replace(cursor="2999-01-01T00:00:00Z"))
    assert publish.publish(one, one.hub)
    one.store.sync()
    two.store.sync()
    github.act(ADMIN, "PATCH", "issues/1", {"title": "Glow"})
    assert not act(two)
    assert state(two).issues[1].issue.title == "Blink"
    clock.wait(publish.TAKE_OVER_S)  # what nobody confirms for so long stops nobody
    assert act(two)
    assert state(two).issues[1].issue.title == "Glow"


def test_the_first_record_of_a_clone_has_a_path_of_its_own(
    github: GitHub, clock: ManualClock
) -> None:
    github.issue("Blink")
    github.clone("new")
    publisher = app(github, clock, name="new")
    act(publisher)
    assert not any("unnamed" in path for path in publisher.store.snapshot().present(MIRROR))
    assert not act(publisher)
