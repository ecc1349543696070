"""Implicit leases: the first to edit a file has it, as long as it lives here."""

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.hotpath.implicit_leases import ImplicitLease

NOW = 1_750_000_000.0
THEN = "2025-06-15T15:06:40Z"
PATH = "src/a.py"
HERE, THERE = "/clone/.git", "/clone/.git/worktrees/two"
LIMITS = (1_800.0, 86_400.0)


class Clone:
    """The folders of a clone, and agents that beat in it."""

    def __init__(self, folder: Path) -> None:
        self.folders = [str(folder / "own"), str(folder / "spare")]

    def beat(self, agent: str, epoch: int | None = None, now: float = NOW, **fields: str) -> None:
        assert pulse.beat(self.folders, agent, fields, now, epoch=epoch, throttle=0)
        path = f"{self.folders[0]}/agents/{agent}.json"
        os.utime(path, (now, now))

    def take(
        self, agent: str, path: str = PATH, now: float = NOW, epoch: int = 1, git_dir: str = HERE
    ) -> str | None:
        return touched.take_lease(self.folders, agent, epoch, path, git_dir, now)

    @property
    def all(self) -> list[ImplicitLease]:
        return touched.list_all(self.folders)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    clone = Clone(tmp_path)
    for agent in ("worker-1", "worker-2"):
        clone.beat(agent, epoch=1)
    return clone


def test_the_first_has_it_and_the_second_is_told_who(clone: Clone) -> None:
    assert clone.take("worker-1") is None
    assert clone.take("worker-2") == "worker-1"
    assert clone.take("worker-1") is None
    assert clone.take("worker-2", "src/b.py") is None
    assert clone.all == [
        ImplicitLease("worker-1", 1, THEN, "src/a.py", HERE),
        ImplicitLease("worker-2", 1, THEN, "src/b.py", HERE),
    ]
    where = HERE, NOW, LIMITS
    assert touched.other(clone.folders, "worker-2", PATH, *where) == ("worker-1", THEN)
    assert touched.other(clone.folders, "worker-1", PATH, *where) is None
    assert touched.other(clone.folders, "worker-1", "src/c.py", *where) is None


def test_in_every_worktree_a_path_has_an_editor_of_its_own(clone: Clone) -> None:
    clone.beat("worker-3", epoch=1)
    assert clone.take("worker-1") is None
    assert clone.take("worker-2", now=NOW - 60, git_dir=THERE) is None
    assert clone.take("worker-3", git_dir=THERE) == "worker-2"
    one = ImplicitLease("worker-1", 1, THEN, PATH, HERE)
    two = ImplicitLease("worker-2", 1, "2025-06-15T15:05:40Z", PATH, THERE)
    assert clone.all == [two, one]
    assert touched.find(clone.folders, PATH, HERE) == one
    assert touched.find(clone.folders, PATH, THERE + "/") == two
    assert touched.find(clone.folders, PATH, "/clone/.git/worktrees/three") is None
    assert touched.other(clone.folders, "worker-1", PATH, HERE, NOW, LIMITS) is None
    touched.drop(clone.folders, "worker-2", PATH, HERE)
    assert touched.drop_all(clone.folders, "worker-1") == 1
    assert clone.all == [two]


def test_the_living_editors_in_other_worktrees_are_listed_oldest_first(clone: Clone) -> None:
    clone.beat("worker-3", epoch=1)
    clone.beat("worker-4", epoch=1, status="stopped")
    clone.take("worker-1")
    for age, agent in ((1, "worker-2"), (2, "worker-3"), (3, "worker-4")):
        clone.take(agent, now=NOW - age, git_dir=f"/clone/.git/worktrees/{agent}")
        clone.take(agent, "src/b.py", git_dir=f"/clone/.git/worktrees/{agent}")
    leases = touched.elsewhere(clone.folders, PATH, HERE, NOW, LIMITS)
    assert [(x.agent, x.git_dir) for x in leases] == [
        ("worker-3", "/clone/.git/worktrees/worker-3"),
        ("worker-2", "/clone/.git/worktrees/worker-2"),
    ]
    assert touched.elsewhere(clone.folders, "src/c.py", HERE, NOW, LIMITS) == []


@pytest.mark.parametrize("here", [HERE, "/other/way/to/clone/.git", "/x/.git/modules/lib"])
def test_the_main_worktree_is_one_however_its_path_is_spelled(clone: Clone, here: str) -> None:
    assert clone.take("worker-1") is None
    assert clone.take("worker-2", git_dir=here) == "worker-1"
    assert touched.elsewhere(clone.folders, PATH, here, NOW, LIMITS) == []


@pytest.mark.parametrize(
    "end",
    [
        lambda clone: clone.beat("worker-1", status="stopped"),
        lambda clone: clone.beat("worker-1", epoch=2),
        lambda clone: clone.beat("worker-1", now=NOW - 1_800),
        lambda clone: Path(clone.folders[0], "agents/worker-1.json").unlink(),
        lambda clone: touched.drop_all(clone.folders, "worker-1"),
    ],
    ids=["it stopped", "it began anew", "it is dead", "nobody knows it", "it gave all up"],
)
def test_it_ends_with_the_life_in_which_it_was_taken(
    clone: Clone, end: Callable[[Clone], object]
) -> None:
    assert clone.take("worker-1") is None
    end(clone)
    assert clone.take("worker-2", now=NOW + 1) is None
    assert [lease.agent for lease in clone.all] == ["worker-2"]


def test_who_begins_anew_takes_its_own_again(clone: Clone) -> None:
    clone.take("worker-1")
    clone.beat("worker-1", epoch=2)
    assert clone.take("worker-1", epoch=2) is None
    assert clone.take("worker-2") == "worker-1"


def test_who_gives_up_gives_up_its_own_alone(clone: Clone) -> None:
    for name in ("a", "b", "c"):
        clone.take("worker-1", name)
    clone.take("worker-2", "d")
    assert touched.drop_all(clone.folders, "worker-1") == 3
    assert touched.drop_all(clone.folders, "worker-1") == 0
    assert clone.all == [ImplicitLease("worker-2", 1, THEN, "d", HERE)]


def test_one_path_is_given_up_by_who_has_it_alone(clone: Clone) -> None:
    clone.take("worker-1", "a")
    clone.take("worker-1", "b")
    for agent, path in (("worker-2", "a"), ("worker-1", "b"), ("worker-1", "b"), ("x", "c")):
        touched.drop(clone.folders, agent, path, HERE)
    assert clone.all == [ImplicitLease("worker-1", 1, THEN, "a", HERE)]


@pytest.mark.parametrize("path", ["a\nb", "é", "\udcff", "a" * 4_000, "con", "-rf", "..."])
def test_odd_paths_are_leased_like_others(clone: Clone, path: str) -> None:
    assert clone.take("worker-1", path) is None
    assert clone.take("worker-2", path) == "worker-1"
    assert clone.all == [ImplicitLease("worker-1", 1, THEN, path, HERE)]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"agent": 1}', b'{"agent": "a", "epoch": true, "since": "", "path": ""}'],
)
def test_a_torn_file_is_nobodys(clone: Clone, content: bytes) -> None:
    clone.take("worker-1")
    (path,) = (p for p in Path(clone.folders[0], "touched").iterdir() if len(p.name) == 65)
    path.write_bytes(content)
    assert clone.all == []
    assert clone.take("worker-2") is None
    assert clone.take("worker-1") == "worker-2"


def test_where_the_clone_cannot_be_written_the_spare_folder_is_used_and_seen(clone: Clone) -> None:
    Path(clone.folders[0], "touched").write_text("in the way")
    assert clone.take("worker-1") is None
    assert clone.take("worker-2") == "worker-1"
    assert touched.drop_all(clone.folders, "worker-1") == 1


def test_of_two_who_write_in_different_folders_one_gives_way(clone: Clone) -> None:
    """worker-2 wrote into the spare folder after worker-1 had looked there."""
    other = Clone(Path(clone.folders[0]).parent)
    other.folders.reverse()
    assert other.take("worker-2") is None
    record = ImplicitLease("worker-1", 1, THEN, PATH, HERE)
    Path(clone.folders[0], "touched").mkdir(exist_ok=True)
    assert touched._make(clone.folders[0], record)
    given = touched._recheck_rival(clone.folders[0], clone.folders, record, NOW, LIMITS)
    assert given == "worker-2"
    assert [lease.agent for lease in clone.all] == ["worker-2"]


def test_where_nothing_can_be_written_there_is_no_lease(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        touched.take_lease([str(tmp_path / "file")], "worker-1", 1, PATH, HERE, NOW)


def compete(folders: list[str], agent: str, gate: object, results: object) -> None:
    gate.wait()  # type: ignore[attr-defined]
    take = touched.take_lease
    won = [n for n in range(60) if take(folders, agent, 1, f"file-{n}", HERE, NOW) is None]
    results.put((agent, won))  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("left", [None, "worker-9"], ids=["nobody had them", "a dead one had them"])
def test_of_many_who_come_at_once_each_file_has_one(clone: Clone, left: str | None) -> None:
    if left:
        clone.beat(left, epoch=1, status="stopped")
        for number in range(60):
            clone.take(left, f"file-{number}")
    agents = [f"worker-{number}" for number in range(1, 7)]
    for agent in agents[2:]:
        clone.beat(agent, epoch=1)
    context = multiprocessing.get_context("fork")
    gate, queue = context.Barrier(len(agents)), context.Queue()
    crowd = [context.Process(target=compete, args=(clone.folders, a, gate, queue)) for a in agents]
    for x in crowd:
        x.start()
    results = dict(queue.get(timeout=60) for _ in agents)
    for x in crowd:
        x.join()
    winners = sorted(number for won in results.values() for number in won)
    assert winners == list(range(60))
    assert {x.path: x.agent for x in clone.all} == {
        f"file-{number}": agent for agent, won in results.items() for number in won
    }
    assert not [*Path(clone.folders[0], "touched").glob("*.tmp")]


def test_who_was_stopped_with_the_lock_holds_nobody_up(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(presencefile.take_turn, "__defaults__", (0.01,))
    clone.beat("worker-1", status="stopped")
    clone.take("worker-1")
    lock = Path(clone.folders[0], "touched", touched.LOCK)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert clone.take("worker-2") is None
    assert [lease.agent for lease in clone.all] == ["worker-2"]


def test_presence_is_needed_for_a_lease_to_hold(clone: Clone) -> None:
    assert presencefile.newest(clone.folders, "worker-3") is None
    assert clone.take("worker-3") is None
    assert clone.take("worker-1") is None
