"""Commands from hearing to acknowledging: once, whatever breaks in between."""

from contextlib import suppress
from typing import Any

import pytest

from ghp_agents.core.errors import UnknownError
from ghp_agents.github.commands.lock import NAME
from ghp_agents.github.commands.service import Done, obey_new
from ghp_agents.ports import Context
from tests.support.commands import Field
from tests.support.context import make_context
from tests.support.faults import COMMON, Fault, at_random
from tests.support.github import ADMIN, WORKER_2, GitHub
from tests.support.sweeps import Doom, Doomed, Killed

pytestmark = pytest.mark.slow
COMMANDS = "/agent assign worker-1\n/agent fly\n/agent status"
FAULTS = tuple(fault for fault in COMMON if fault is not Fault.SLOW)


@pytest.fixture
def field(github: GitHub) -> Field:
    return Field(github)


def obey(field: Field, doom: Doom | None = None) -> Done:
    """A new process obeys what is new; it may be killed."""
    field.clock.wait(10)
    ctx: Context = field.house()
    hub = ctx.hub
    assert hub
    issues = ctx.tracker.list(closed=True)
    if doom:
        hub.write = doom.guarded(hub.write)  # type: ignore[method-assign]
        hub.later = doom.guarded(hub.later)  # type: ignore[method-assign]
        store: Any = Doomed(ctx.store, doom)
        locks: Any = Doomed(ctx.locks, doom)
        tracker: Any = Doomed(ctx.tracker, doom)
        ctx = make_context(ctx.ws, store, locks, tracker, hub)
    return obey_new(ctx, hub, issues)


def free(field: Field) -> None:
    """Whoever was killed had the right to obey."""
    locks = field.house().locks
    lease = locks.read(NAME)
    if lease and lease.holder:
        locks.release(NAME, expected=lease)


def looks_obeyed_once(field: Field, number: int, comment: int) -> None:
    assert field.labels(number) == ["agent:worker-1"]
    assert field.reactions(comment) == ["+1"]
    assert [text[:10] for text in field.comments(number)] == ["/agent ass", "Not execut"]
    assert [act[:2] for act in field.acts()] == [
        ("/agent fly", "refused"), ("/agent assign worker-1", "done"), ("/agent status", "done")
    ]  # fmt: skip
    ledger = field.house().store.ledger()
    assert [entry.event for entry in ledger].count("command") == 1


def test_nothing_new_is_nothing_done(field: Field) -> None:
    number = field.github.issue("Blink")
    field.say(number, "> quoted\n\nHello")
    assert obey(field) == Done()
    lease = field.house().locks.read(NAME)
    assert lease is None  # nobody needed the right


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_write_it_is_all_done_once(field: Field, after: bool) -> None:
    number = field.github.issue("Blink")
    comment = field.say(number, COMMANDS)
    for at in range(1, 40):
        try:
            obey(field, Doom(at, after=after))
        except Killed:
            free(field)
            continue
        assert at > 5
        break
    assert obey(field) == Done()
    looks_obeyed_once(field, number, comment)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_github_does_it_is_all_done_once(field: Field, seed: int) -> None:
    number = field.github.issue("Blink")
    comment = field.say(number, COMMANDS)
    field.github.proxy.faults = at_random(seed, 0.3, FAULTS)
    done = 0
    for _ in range(60):
        field.clock.wait(4_000)
        with suppress(UnknownError):  # nothing else may come of it
            done += bool(obey(field).issues)
        if done and not obey_quietly(field):
            break
    field.github.proxy.faults = at_random(seed, 0.0, FAULTS)
    field.clock.wait(4_000)
    obey(field)
    assert done == 1
    looks_obeyed_once(field, number, comment)


def obey_quietly(field: Field) -> bool:
    """Whether it does not work yet."""
    try:
        return bool(obey(field).notes)
    except UnknownError:
        return True


def test_where_the_remote_cannot_be_reached_nothing_is_obeyed(field: Field) -> None:
    number = field.github.issue("Blink")
    field.sync()
    field.say(number, "/agent assign worker-1")
    away = field.github.remote.with_suffix(".away")
    field.github.remote.rename(away)
    with pytest.raises(UnknownError):
        obey(field)
    assert field.labels(number) == []
    away.rename(field.github.remote)
    assert obey(field).issues == {number}
    assert field.labels(number) == ["agent:worker-1"]


def test_several_commands_of_several_people_are_obeyed_in_their_order(field: Field) -> None:
    number = field.github.issue("Blink")
    orders = ((ADMIN, "worker-1"), (WORKER_2, "worker-2"), (ADMIN, "worker-3"))
    for login, name in orders:
        field.say(number, f"/agent assign {name}", login)
    assert obey(field).notes == tuple(
        f"@{login} on #1: /agent assign {name}: {name} is assigned" for login, name in orders
    )
    assert field.labels(number) == ["agent:worker-3"]


def test_what_was_obeyed_before_something_broke_is_not_obeyed_by_another_clone(
    field: Field,
) -> None:
    first, second = field.github.issue("Blink"), field.github.issue("Shine")
    field.sync("two", WORKER_2)
    for number in (first, second):
        field.say(number, "/agent assign worker-1")
    about = f"/issues/{second}/"
    field.github.proxy.faults = lambda request: Fault.CUT if about in request.path else None
    with pytest.raises(UnknownError):
        obey(field)
    field.github.proxy.faults = lambda request: None
    field.github.act(ADMIN, "DELETE", f"issues/{first}/labels/agent:worker-1")
    field.github.act(ADMIN, "POST", f"issues/{first}/labels", {"labels": ["agent:worker-2"]})
    field.clock.wait(600)
    field.sync("two", WORKER_2)
    assert field.labels(second) == ["agent:worker-1"]
    assert field.labels(first) == ["agent:worker-2"]  # as it was said last
