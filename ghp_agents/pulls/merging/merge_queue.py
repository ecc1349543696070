"""The queue: merge all that is ready, in batches that pass the checks together.

One update of the default branch merges a batch. What fails is found by bisection and goes back.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from ghp_agents.core.errors import RefusedError, UnknownError, sentence
from ghp_agents.locks.held import HeldLock
from ghp_agents.pulls import run_checks
from ghp_agents.pulls.check_place import check_place
from ghp_agents.pulls.merging import merge, merge_lock, unfinished_merges
from ghp_agents.pulls.merging.merge import ATTEMPTS, Outcome
from ghp_agents.pulls.merging.merge_batch import UNCHANGED, BatchMerger, Passed
from ghp_agents.pulls.merging.merge_trial import Merger, UncheckedError
from ghp_agents.pulls.merging.send_back import was_sent_back
from ghp_agents.pulls.pull import Pull, PullMovedError
from ghp_agents.state import remote_branches as branches

PAUSE = 5.0  # seconds between two looks at the queue
RETRY = 120.0  # seconds after which those that wait are tried again


def merge_queue(
    who: Merger, *, patience: float = 0.0, heard: bool = False
) -> Iterator[Outcome | Passed]:
    """Merge all that `agent-finish` sent for the issues' holders, the oldest first. One that cannot
    be merged does not stop the rest. `heard`: all was fetched just now. Raises RefusedError when
    somebody else merges, UnknownError.
    """
    pulls = _ready(who)
    if not pulls and not heard and merge.fetched_more(who):
        pulls = _ready(who)
    if not pulls and not unfinished_merges.read(who.ws):
        return
    with merge_lock.held(who.me, "merges the queue", patience=patience) as lock:
        yield from _complete(who)
        strategy = _by_batches if who.forge.is_local or _has_checks(who, pulls) else _one_by_one
        yield from strategy(who, lock, pulls)


def _has_checks(who: Merger, pulls: Sequence[Pull]) -> bool:
    """Whether our own checks can test several together: a host checks each alone."""
    tips = branches.tips(who.ws, pulls[0].base) if len(pulls) > 1 else {}
    with suppress(RefusedError):  # nobody agreed to them
        return any(run_checks.rules(who.ws, trunk).checks for trunk in tips.values())
    return False


def watch_queue(who: Merger, hear: Callable[[], None]) -> Iterator[list[Outcome | Passed]]:
    """Merge what is ready, again and again; yield what became of it, without repeating why one
    waits. `hear` fetches what others finished. The merge lock is free in between. Never ends."""
    reasons: dict[int, str] = {}
    before: object = None
    last = who.ws.clock.now() - RETRY
    while True:
        hear()
        now, present = who.ws.clock.now(), _state(who)
        if present != before or now - last >= RETRY:
            last, before = now, present
            yield _news(_serve(who), reasons)
        who.ws.clock.wait(PAUSE)


def _serve(who: Merger) -> list[Outcome | Passed]:
    try:
        return list(merge_queue(who, heard=True))
    except UncheckedError:
        raise
    except (RefusedError, UnknownError) as error:  # somebody else merges, or the network is down
        who.tell(f"{sentence(error)} Trying again later.")
        return []


def _news(outcomes: Sequence[Outcome | Passed], reasons: dict[int, str]) -> list[Outcome | Passed]:
    """Leave out those that wait for the same reason as before; remember the others' reasons."""
    new: list[Outcome | Passed] = []
    for outcome in outcomes:
        number, why = outcome.pull.number, getattr(outcome, "why", "")
        if not why or reasons.get(number) != why:
            new.append(outcome)
        reasons[number] = why
    return new


def _state(who: Merger) -> object:
    """What decides whether there is something to do: the queue, its branches and their bases."""
    pulls = _ready(who)
    names = {name for pull in pulls for name in (pull.branch, pull.base)}
    return [(pull.number, pull.head) for pull in pulls], branches.tips(who.ws, *sorted(names))


def _ready(who: Merger) -> list[Pull]:
    return [pull for pull in who.forge.list() if not pull.draft]


def _complete(who: Merger) -> Iterator[Outcome]:
    """Clean up after merges of a command that was killed."""
    for number in unfinished_merges.read(who.ws):
        pull = who.forge.get(number)
        if pull.state == "merged":
            yield merge.clean_up(who, pull, before=True)
    unfinished_merges.forget(who.ws)


def _by_batches(who: Merger, lock: HeldLock, pulls: Sequence[Pull]) -> Iterator[Outcome | Passed]:
    with check_place(who.me.ctx) as place:
        batches, moved = BatchMerger(who, lock, place, pulls), 0
        while batches.waiting:
            try:
                yield from batches.merge_next()
            except PullMovedError as error:
                moved += 1
                if moved == ATTEMPTS:
                    raise UnknownError(
                        f"Branches moved {ATTEMPTS} times while this command tried to merge them.",
                        hint="Try again later.",
                    ) from None
                who.tell(f"{sentence(error)} Checking it again.")


def _one_by_one(who: Merger, lock: HeldLock, pulls: Sequence[Pull]) -> Iterator[Outcome | Passed]:
    for pull in pulls:
        if _is_unchanged(who, pull):
            yield Passed(pull, UNCHANGED)
            continue
        try:
            yield merge.merge_one(who, lock, pull.number, by_name=False)
        except (UnknownError, UncheckedError):
            raise
        except RefusedError as refused:
            lock.confirm()
            yield Passed(pull, str(refused), refused.hint)


def _is_unchanged(who: Merger, pull: Pull) -> bool:
    tips = branches.tips(who.ws, pull.branch, pull.base)
    head, trunk = tips.get(pull.branch, pull.head), tips.get(pull.base, "")
    return was_sent_back(who.me.ctx.store.snapshot(), pull, head, trunk)
