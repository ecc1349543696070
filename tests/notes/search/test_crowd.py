"""Many tellers at once in two clones, killed now and then: nothing that was told is lost, nothing
is there twice, and the index is what the notes say."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.notes import recall as recalling
from ghp_agents.notes.search.result import IndexUpdate
from ghp_agents.wiring import App
from tests.notes.search.teller import NOTES, base, start, text_of
from tests.support.fork_server import Forked
from tests.support.ghp import run_ghp
from tests.support.memory import needs_mem0
from tests.support.thorough import count

NAMES = [f"worker-{number}" for number in range(count(8, sample=4))]
KILLS = (4, 13)  # acknowledged notes after which a teller is killed


def heard(process: Forked, wanted: int) -> list[int]:
    """The numbers that a teller acknowledges, up to `wanted` of them."""
    lines: Iterator[str] = iter(process.stdout.readline, "")
    return [int(line) for line, _ in zip(lines, range(wanted), strict=False)]


def listed(clone: Path) -> list[dict[str, Any]]:
    """The active notes of a clone, as a command prints them."""
    shown = run_ghp("agent-notes list --json", clone)
    assert shown.code == 0, shown.err
    notes: list[dict[str, Any]] = json.loads(shown.out)
    return notes


def texts(clone: Path) -> list[str]:
    """What they say."""
    return [note["text"] for note in listed(clone)]


@pytest.mark.slow
@needs_mem0
@pytest.mark.long
def test_a_crowd_with_kills_ends_with_exactly_what_was_told(
    clones: Callable[[int], list[Path]],
) -> None:
    both = clones(2)
    places = {name: both[index % 2] for index, name in enumerate(NAMES)}
    written = dict.fromkeys(NAMES, 0)
    running = {name: start(places[name], name, 0) for name in NAMES}
    for limit in KILLS:
        for name, process in running.items():
            numbers = heard(process, limit - written[name])
            written[name] = numbers[-1] + 1
            with process:
                process.kill()
            running[name] = start(places[name], name, written[name])
    for name, process in running.items():
        with process:
            written[name] = heard(process, NOTES)[-1] + 1
        assert process.returncode == 0
    assert written == dict.fromkeys(NAMES, NOTES)

    for clone in (*both, *both):
        synced = run_ghp("agent-sync", clone)
        assert synced.code == 0, synced.err
    expected = {text_of(name, number) for name in NAMES for number in range(NOTES)}
    assert len(expected) == len(NAMES) * 15 + 5
    for clone in both:
        assert sorted(texts(clone)) == sorted(expected)
    assert texts(both[0]) == texts(both[1]), "in one order in both clones"

    for clone in both:
        notes = {note["id"] for note in listed(clone)}
        brought, again = bring(clone), bring(clone)
        assert brought.total == len(expected)
        assert again.nothing_new
        assert held(clone) == notes


def bring(clone: Path) -> IndexUpdate:
    """What it takes to let the index be what the notes say."""
    house = App(clone, dict(os.environ))
    return recalling.reindex(house, base(clone))


def held(clone: Path) -> set[str]:
    """The notes that the index itself holds, whatever it is asked."""
    index = base(clone)
    index._prepare()
    with index._open_store() as memory:
        return {f"N-{note}" for note, _ in index._list_index(memory).values()}
