"""Upkeep: packing by ourselves, when it is due, when nobody else is at work."""

import hashlib
from itertools import count
from pathlib import Path

import pytest

from ghp_agents.core.files import locked
from ghp_agents.state.git import fold as folding
from ghp_agents.state.git import repack as upkeep
from ghp_agents.state.git import sync as syncing
from tests.contracts.state_store import everything, record
from tests.state.clones import GitField, private, workspace
from tests.support.git import git


@pytest.fixture
def field(repo: Path) -> GitField:
    return GitField(repo, lambda number: [repo] * number, repo)


def contents(start: bytes, number: int) -> list[bytes]:
    """Contents whose blobs are in the folder that upkeep looks at."""
    chosen = []
    for attempt in count():
        content = start + str(attempt).encode()
        header = b"blob %d\0" % len(content)
        if hashlib.sha1(header + content).hexdigest().startswith(upkeep.SAMPLE):
            chosen.append(content)
        if len(chosen) == number:
            return chosen
    raise AssertionError


def grow(field: GitField) -> None:
    """Say so much that packing is due: as many objects in the sample as in any folder."""
    store = field.alone()
    limit = upkeep.LOOSE_LIMIT // 256 + 1
    begin = store.snapshot().clock
    for number, content in enumerate(contents(b"%d-" % begin, limit)):
        snapshot = store.snapshot()
        name = f"{begin}-{number}"
        note = record(field, name, snapshot.clock + 1, content=content)
        store.commit([note], snapshot.revision)
    assert upkeep.needed(private(field.alone_at))


def packs(field: GitField) -> tuple[int, int]:
    """How many packs there are, and how many loose objects."""
    lines = git(private(field.alone_at).path, "count-objects", "-v").splitlines()
    counts = dict(line.split(": ") for line in lines)
    return int(counts["packs"]), int(counts["count"])


def test_the_fold_that_finds_it_due_packs_everything(field: GitField) -> None:
    grow(field)
    before = everything(field.alone())
    field.alone().fold()
    assert packs(field) == (1, 0)
    assert everything(field.alone()) == before
    assert not upkeep.needed(private(field.alone_at))
    git(private(field.alone_at).path, "fsck", "--strict")


def test_while_others_are_at_work_it_waits_for_another_time(field: GitField) -> None:
    grow(field)
    with locked(workspace(field.alone_at).ghp_dir / syncing.LOCK):
        field.alone().fold()
    assert packs(field)[0] == 0
    field.clock.wait(upkeep.AGAIN_AFTER)
    field.alone().fold()
    assert packs(field) == (1, 0)


@pytest.mark.slow
def test_what_does_not_help_is_not_done_with_every_fold(field: GitField) -> None:
    grow(field)
    field.alone().fold()
    grow(field)
    field.alone().fold()
    assert packs(field)[1] > 0, "ten minutes have not passed"
    field.clock.wait(upkeep.AGAIN_AFTER)
    field.alone().fold()
    assert packs(field) == (1, 0)


def test_a_clock_that_was_set_back_does_not_stop_it(field: GitField) -> None:
    grow(field)
    folding.stamp(workspace(field.alone_at).cache_dir / "upkeep", field.clock.now() + 86_400)
    field.alone().fold()
    assert packs(field) == (1, 0)


def test_a_setting_of_the_persons_does_not_change_what_we_pack(field: GitField) -> None:
    for key, value in (
        ("repack.writeBitmaps", "true"), ("gc.auto", "1"), ("pack.packSizeLimit", "1m"),
        ("repack.updateServerInfo", "true"), ("gc.pruneExpire", "now"),
    ):  # fmt: skip
        git(field.alone_at, "config", key, value)
    grow(field)
    field.alone().fold()
    assert packs(field) == (1, 0)
    assert list((private(field.alone_at).path / "objects/pack").glob("*.bitmap")) == []


def test_what_a_killed_fold_left_in_a_pack_is_there_for_the_next_one(field: GitField) -> None:
    # More than a hundred objects are no loose ones. The fold that comes again finds them in the
    # pack and does not write them once more, perhaps while this pack is being replaced.
    grow(field)
    state = private(field.alone_at)
    blobs = "".join(f"blob\nmark :{n}\ndata 4\n{n:04}\n" for n in range(1, 151))
    files = "".join(f"M 100644 :{n} {n}\n" for n in range(1, 151))
    who = "committer x <x@x> 1750000000 +0000\ndata 0\n"
    git(state.path, "fast-import", "--quiet", stdin=f"{blobs}commit refs/x/killed\n{who}{files}")
    left = git(state.path, "rev-parse", "refs/x/killed:7")
    git(state.path, "update-ref", "-d", "refs/x/killed")
    field.alone().fold()
    assert git(state.path, "cat-file", "blob", left) == "0007"
