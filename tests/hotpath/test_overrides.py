"""An override lets one agent edit one file in spite of one lease, and ends with that lease."""

from pathlib import Path

import pytest

from ghp_agents.hotpath import check_edit, implicit_leases, overrides
from ghp_agents.hotpath.implicit_leases import ImplicitLease
from ghp_agents.hotpath.overrides import Override
from tests.hotpath.test_implicit_leases import HERE, LIMITS, NOW, PATH, THEN, THERE, Clone

THEIRS = ImplicitLease("worker-2", 1, THEN, PATH, THERE)
ENTRY = Override(THEIRS, "it is a rename", THEN)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """Two agents; worker-2 edits the file in another worktree."""
    clone = Clone(tmp_path)
    for agent in ("worker-1", "worker-2"):
        clone.beat(agent, epoch=1)
    assert clone.take("worker-2", git_dir=THERE) is None
    return clone


def rivals(clone: Clone, agent: str = "worker-1", git_dir: str = HERE) -> list[ImplicitLease]:
    return check_edit.rivals(clone.folders, agent, PATH, git_dir, NOW, LIMITS)


def add(clone: Clone, *new: Override, agent: str = "worker-1", git_dir: str = HERE) -> None:
    overrides.add(clone.folders, agent, PATH, git_dir, new)


def read(clone: Clone, agent: str = "worker-1") -> list[Override]:
    return overrides.read(clone.folders, agent, PATH, HERE)


def test_the_overridden_lease_does_not_count_for_its_author(clone: Clone) -> None:
    assert rivals(clone) == [THEIRS]
    add(clone, ENTRY)
    assert rivals(clone) == []
    assert read(clone) == [ENTRY]
    assert rivals(clone, "worker-3") == [THEIRS]
    assert rivals(clone, git_dir=f"{HERE}/worktrees/three") == [THEIRS]


def test_who_was_overridden_is_not_refused_because_of_it(clone: Clone) -> None:
    assert clone.take("worker-1") is None
    mine = ImplicitLease("worker-1", 1, THEN, PATH, HERE)
    assert rivals(clone, "worker-2", THERE) == [mine]
    add(clone, ENTRY)
    assert rivals(clone, "worker-2", THERE) == []


def test_in_one_worktree_it_allows_the_holder_to_be_passed(clone: Clone) -> None:
    assert clone.take("worker-3") is None  # a third agent, in the worktree of the first
    clone.beat("worker-3", epoch=1)
    lease = ImplicitLease("worker-3", 1, THEN, PATH, HERE)
    where = clone.folders, "worker-1", PATH, HERE
    assert not overrides.allows_holder(*where, "worker-3")
    add(clone, Override(lease, "", THEN))
    assert overrides.allows_holder(*where, "worker-3")
    assert not overrides.allows_holder(*where, "worker-2")
    assert not overrides.allows_holder(clone.folders, "worker-1", PATH, THERE, "worker-3")


def test_it_ends_with_the_lease(clone: Clone) -> None:
    add(clone, ENTRY)
    assert overrides.drop_ended(clone.folders) == 0
    implicit_leases.drop(clone.folders, "worker-2", PATH, THERE)
    assert clone.take("worker-2", now=NOW + 60, git_dir=THERE) is None
    (again,) = rivals(clone)
    assert again.since == "2025-06-15T15:07:40Z"
    assert overrides.drop_ended(clone.folders) == 1
    assert read(clone) == []


def test_adding_twice_keeps_one_and_forgets_what_ended(clone: Clone) -> None:
    ended = Override(ImplicitLease("worker-9", 1, THEN, PATH, THERE), "old", THEN)
    add(clone, ended)
    add(clone, ENTRY)
    add(clone, ENTRY)
    assert read(clone) == [ENTRY]
    (place,) = Path(clone.folders[0], overrides.FOLDER).iterdir()
    assert place.name.endswith("-worker-1")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{}", b'{"leases": 7}', b'{"leases": [7, {"agent": "worker-2"}]}',
        b'{"schemaVersion": 2, "leases": []}',
    ],
)  # fmt: skip
def test_an_odd_file_overrides_nothing(clone: Clone, content: bytes) -> None:
    add(clone, ENTRY)
    (place,) = Path(clone.folders[0], overrides.FOLDER).iterdir()
    place.write_bytes(content)
    assert rivals(clone) == [THEIRS]
    assert overrides.drop_ended(clone.folders) in (0, 1)


def test_a_folder_that_cannot_be_written_is_passed_over(clone: Clone) -> None:
    Path(clone.folders[0], overrides.FOLDER).write_text("in the way")
    add(clone, ENTRY)
    assert rivals(clone) == []
    Path(clone.folders[1], overrides.FOLDER, "x").touch()
    for folder in clone.folders:
        place = Path(folder, overrides.FOLDER)
        if place.is_dir():
            for file in place.iterdir():
                file.unlink()
            place.rmdir()
            place.write_text("in the way")
    with pytest.raises(OSError, match="overridden"):
        add(clone, ENTRY)
