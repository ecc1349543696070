"""The stamp: no rulebook is used that is staler than the state, whatever changed and whoever was
killed on the way."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.ids import Timestamp
from ghp_agents.github.tracker import mirror
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.guard import compile_policy as rulemaking
from ghp_agents.guard import evaluate as ruling
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.hotpath import policy_stamp as rulestamp
from ghp_agents.hotpath.policy_stamp import Sources
from ghp_agents.leases import service as lease
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.leases.world import read_all
from ghp_agents.state.git import outbox
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text
from tests.support import consent, repos
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.git import commit, git
from tests.support.taking import take

Clones = Callable[[int], list[Path]]
Change = Callable[[Claimant, Claimant], object]
BODY = "## Scope\n\n- src/parser/\n"


def sources_of(one: Claimant) -> Sources:
    return Sources(one.ws.place, one.ws.folders, one.ws.environ)


def kept(one: Claimant) -> dict[str, Any] | None:
    """The rulebook as the fast road would use it, without its stamp."""
    book = rulebook.load(sources_of(one))
    return book and {key: book[key] for key in book if key not in ("version", "stamp", "own")}


def fresh(one: Claimant) -> dict[str, Any]:
    """The rulebook as it would be made now, as it is read from a file."""
    from ghp_agents.hotpath import fastjson as quickjson

    anew = Claimant(Path(one.ws.place.toplevel or ""), one.name, one.clock)
    compiled = rulemaking.make(anew.parts, sources_of(anew), None)
    read: dict[str, Any] = quickjson.decode(quickjson.encode(compiled).decode())
    return read


def write_book(one: Claimant) -> None:
    ruling.current(Claimant(Path(one.ws.place.toplevel or ""), one.name, one.clock).parts)
    assert kept(one) is not None


def assert_not_stale(one: Claimant) -> None:
    cached = kept(one)
    assert cached is None or cached == fresh(one)


def held(one: Claimant, *patterns: str, **more: Any) -> None:
    one.beat()
    take(one.parts, LeaseRequest(patterns, **more))


START = 1_790_000_000.0


def claimants(folder: Path) -> tuple[Claimant, Claimant]:
    """worker-1 in clone-1 and worker-2 in clone-2, by one clock."""
    clock = ManualClock(START)
    one, two = (Claimant(folder / f"clone-{n}", f"worker-{n}", clock) for n in (1, 2))
    return one, two


@pytest.fixture(scope="session")
def acquainted(templates: repos.Templates, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A remote and two clones with an agent each, who know of an issue with a scope and of each
    other's leases; nobody writes into these."""
    folder = tmp_path_factory.mktemp("acquainted")
    repos.make_world(templates, folder)
    one, two = claimants(folder)
    one.beat()
    two.beat()
    one.new("Parse files", body=BODY)
    one.new("Print files", body="Nothing of the kind")
    one.new("Sort files", body="## Scope\n- src/sort.py\n")
    one.claim(1)
    held(one, "/docs/one.md")
    one.sync()
    held(two, "/docs/two.md")
    two.sync()
    one.sync()
    one.store.fold()
    return repos.pack(folder)


@pytest.fixture
def pair(acquainted: Path, tmp_path: Path) -> tuple[Claimant, Claimant]:
    """Two agents in two clones that know of an issue with a scope, and of each other's leases."""
    repos.copy_world(acquainted, tmp_path)
    return claimants(tmp_path)


# ------------------------------------------------------------------- every kind of change


def write_config(one: Claimant, text: str) -> None:
    path = one.ws.root / ".ghp/config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def commit_config(one: Claimant, text: str) -> None:
    commit(one.ws.folder, {".ghp/config.json": text})
    git(one.ws.folder, "push", "--quiet", "origin", "HEAD")


def agree_to_orchestrators(one: Claimant, two: Claimant) -> None:
    commit_config(one, '{"agents": {"orchestrators": ["lead"]}}')
    write_book(one)
    assert (kept(one) or {})["orchestrators"] == []
    consent.agree(one.ws.folder)


def write_owners(one: Claimant, text: str) -> None:
    (one.ws.root / "CODEOWNERS").write_text(text)


def write_own_config(one: Claimant, two: Claimant) -> None:
    path = Path(os.environ["HOME"], ".config/ghp-cli/config.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"agents": {"deadAfter": 77}}')


def fetch_only(one: Claimant, two: Claimant) -> None:
    """News of another clone, by a process that is killed before it brings the book up to date."""
    two.sync()
    one.store.sync(push=False)


def rename_issue(one: Claimant, two: Claimant) -> None:
    from ghp_agents.core.ids import Actor
    from ghp_agents.issues.issue import IssueChange

    one.tracker.change("1", IssueChange(body="## Scope\n- lib/\n"), Actor("worker-1"))


def wait_in_outbox(one: Claimant, two: Claimant) -> None:
    """A release that nobody could commit, as in a sandbox."""

    def decide(snapshot: Any) -> tuple[None, list[Any]]:
        (log,) = (x for x in read_all(snapshot)[0] if x.holder.name == "worker-1")
        by = one.ws.actor()
        outbox.put(one.ws, [lease.ended(one.ws, snapshot, log, by, "done")], OSError("full"))
        return None, []

    transact(one.store, decide)


def claim_elsewhere(one: Claimant, two: Claimant) -> None:
    two.claim(3)
    fetch_only(one, two)


def part_from_twin(one: Claimant, two: Claimant) -> None:
    """The clone goes on under another id, with what it has said."""
    from ghp_agents.state.private_repo import find_repository, new_clone_id, rename_clone

    repository = find_repository(one.ws)
    assert repository
    renamed = repository.with_clone(new_clone_id())
    repository.check("update-ref", renamed.ref, repository.ref)
    rename_clone(repository, renamed.clone)


def lease_elsewhere(one: Claimant, two: Claimant) -> None:
    held(two, "/src/a.py")
    fetch_only(one, two)


def lease_strictly_elsewhere(one: Claimant, two: Claimant) -> None:
    held(two, "/src/a.py", strict=True)
    fetch_only(one, two)


def lease_here(one: Claimant, two: Claimant) -> None:
    held(one, "/src/a.py")


def lease_strictly_here(one: Claimant, two: Claimant) -> None:
    held(one, "/src/a.py", strict=True)


CHANGES: dict[str, Change] = {
    "a lease is taken here": lease_here,
    "a lease is given back here": lambda one, two: lease.release(one.parts, ["/docs/one.md"]),
    "a strict lease is taken here": lease_strictly_here,
    "an issue is claimed here": lambda one, two: one.claim(2),
    "an issue's scope is changed here": rename_issue,
    "an issue is claimed in another clone": claim_elsewhere,
    "a lease is taken in another clone": lease_elsewhere,
    "a strict lease is taken in another clone": lease_strictly_elsewhere,
    "a record waits in the outbox": wait_in_outbox,
    "the settings are written": lambda one, two: write_config(one, '{"agents": {"deadAfter": 66}}'),
    "the trunk names other settings": lambda one, two: commit_config(
        one, '{"agents": {"shared": ["*.lock"]}}'
    ),
    "a person agrees to what the trunk names": agree_to_orchestrators,
    "a person's own settings are written": write_own_config,
    "CODEOWNERS is written": lambda one, two: write_owners(one, "* @team\n"),
    "the file system is found to ignore case": lambda one, two: git(
        one.ws.folder, "config", "core.ignoreCase", "true"
    ),
    "the clone gets another id": part_from_twin,
    "the private repository is lost": lambda one, two: one.ws.ghp_dir.joinpath("state.git").rename(
        one.ws.ghp_dir / "lost"
    ),
}
HARMLESS = ("CODEOWNERS is written", "the clone gets another id")  # for what is decided here


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_after_a_change_the_book_is_not_used_until_it_is_made_anew(
    pair: tuple[Claimant, Claimant], name: str
) -> None:
    one, two = pair
    write_book(one)
    before = kept(one)
    CHANGES[name](one, two)
    assert kept(one) is None
    if name not in HARMLESS:
        assert fresh(one) != before
    if "lost" not in name:
        write_book(one)
        assert kept(one) == fresh(one)


def test_issues_that_were_read_from_elsewhere_make_the_book_useless(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    mirrored = MirroredIssue(
        1, 1, "Parse files", BODY, "open", (), (), "ada", "", "2026-03-01T10:00:00Z"
    )
    for title in ("Parse files", "Parse other files"):
        write_book(one)
        mirror.keep(one.ws, "github.com/acme/widgets", "ada", [mirrored._replace(title=title)])
        assert kept(one) is None
    write_book(one)
    mirror.keep(one.ws, "github.com/acme/widgets", "ada", [mirrored._replace(title=title)])
    checked = mirror.RefreshState("2026-03-01T10:00:00Z", 1, 7.0, 7.0)
    mirror.note_check(one.ws, "github.com/acme/widgets", checked)
    assert kept(one) is not None  # nothing was new
    assert mirror.checked(one.ws, "github.com/acme/widgets") == checked


@pytest.mark.slow
@pytest.mark.parametrize("first", ["pack-refs --all", "gc --quiet --prune=now"])
def test_packing_the_private_repository_leaves_no_stale_book(
    pair: tuple[Claimant, Claimant], first: str
) -> None:
    one, two = pair
    state = one.ws.ghp_dir / "state.git"
    write_book(one)
    git(state, *first.split())
    assert kept(one) is None
    write_book(one)
    assert rulebook._read(rulebook.path_of(one.ws.home_folder))[0].startswith("packed ")  # type: ignore[index]
    for name in ("an issue is claimed here", "a lease is taken in another clone"):
        CHANGES[name](one, two)
        assert kept(one) is None
        git(state, "pack-refs", "--all")
        assert kept(one) is None
        write_book(one)
        assert kept(one) == fresh(one)


def test_two_changes_within_a_tick_of_the_clock_are_two(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    ref = one.ws.ghp_dir / "state.git/refs/ghp/lease/issue/9"
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text("a" * 40)
    then = ref.parent.stat().st_mtime_ns
    taken = rulestamp.take_stamp(sources_of(one))
    assert taken is not None
    marked = ref.parent.stat().st_mtime_ns
    assert marked != then
    # Whatever the clock says when the next change comes, also the very same as at the last.
    os.utime(ref.parent, ns=(then, then))
    assert not rulestamp.is_fresh(sources_of(one), *taken)


def test_what_is_written_while_the_book_is_made_makes_it_useless(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    taken = rulestamp.take_stamp(sources_of(one))
    assert taken
    book = rulemaking.make(one.parts, sources_of(one), taken[1])
    held(one, "/src/a.py")
    rulebook.keep(one.ws.home_folder, *taken, book)
    assert kept(one) is None


def test_settings_that_change_while_the_book_is_made_are_those_of_the_stamp(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    write_config(one, '{"agents": {"deadAfter": 700}}')
    taken = rulestamp.take_stamp(sources_of(one))
    assert taken
    write_config(one, '{"agents": {"deadAfter": 800}}')
    book = rulemaking.make(one.parts, sources_of(one), taken[1])
    write_config(one, '{"agents": {"deadAfter": 700}}')
    rulebook.keep(one.ws.home_folder, *taken, book)
    assert (kept(one) or {})["deadAfter"] == 700 == fresh(one)["deadAfter"]


def add_record(one: Claimant, path: str) -> None:
    def decide(snapshot: Any) -> tuple[None, list[Record]]:
        at, clock = now_text(one.ws), snapshot.clock + 1
        files = ((path, b"text"),)
        return None, [Record("say", one.ws.actor(), "X-1", path, Timestamp(at), clock, files)]

    transact(one.store, decide)


def test_presence_and_what_makes_no_rule_sign_the_book_anew(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    write_book(one)
    before = kept(one)
    one.beat(status="testing", lastAction="Runs the tests")
    assert one.store.fold() == 1
    assert kept(one) == before == fresh(one)
    add_record(one, ".ghp/escalations/0a1b.md")
    assert kept(one) == before == fresh(one)
    add_record(one, ".ghp/leases/0a1b/2c3d.json")
    assert kept(one) is None


def test_a_fold_does_not_sign_a_book_that_was_out_of_date(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    write_book(one)
    held(one, "/src/a.py")
    one.beat(status="testing")
    assert one.store.fold() == 1
    assert kept(one) is None


def test_while_a_record_is_on_its_way_into_a_commit_no_book_is_used(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    write_book(one)
    queued = Path(one.ws.folders[0]) / rulestamp.QUEUE / "1.records"
    queued.parent.mkdir(exist_ok=True)
    queued.touch()
    assert kept(one) is None
    queued.unlink()
    assert_not_stale(one)
    assert kept(one) is not None


@pytest.mark.slow
def test_a_sync_brings_the_book_up_to_date(pair: tuple[Claimant, Claimant]) -> None:
    one, two = pair
    write_book(one)
    two.claim(3)
    two.sync()
    one.sync()
    cached = kept(one)
    assert cached is not None
    assert cached == fresh(one)
    assert cached["claims"]["3"][0] == "worker-2"


@pytest.mark.slow
def test_where_nobody_decides_by_a_book_none_is_made(clone: Path) -> None:
    one = Claimant(clone, "worker-1", ManualClock(1_790_000_000.0))
    one.beat()
    one.new("Parse files", body=BODY)
    one.sync().claim(1)
    one.sync()
    assert not rulebook.exists(one.ws.home_folder)


# --------------------------------------------------------------------- where there is none


def test_an_untouched_clone_has_no_stamp(clone: Path) -> None:
    one = Claimant(clone, "worker-1", ManualClock())
    assert rulestamp.take_stamp(sources_of(one)) is None
    assert ruling.current(one.parts)["rules"] == []
    assert not one.ws.ghp_dir.exists()


def test_refs_that_are_no_files_have_no_stamp(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    write_book(one)
    (one.ws.ghp_dir / "state.git/reftable").mkdir()
    assert kept(one) is None
    assert rulestamp.take_stamp(sources_of(one)) is None
    ruling.current(one.parts)
    assert not rulebook.exists(one.ws.home_folder)


def test_a_file_that_is_too_long_to_be_compared_leaves_no_book(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    write_owners(one, "# " + "x" * rulestamp.LONGEST_TEXT)
    assert rulestamp.take_stamp(sources_of(one)) is None
    assert ruling.current(one.parts)["fold"] is False


def test_refs_in_folders_that_only_a_hand_makes_are_compared_too(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    odd = one.ws.ghp_dir / "state.git/refs/ghp/seen/odd"
    odd.mkdir()
    write_book(one)
    (odd / "0123456789ab").write_text(git(one.ws.ghp_dir / "state.git", "rev-list", "--all")[:40])
    assert kept(one) is None


# ---------------------------------------------------------------- killed, and in each other's way


class Builder:
    """Somebody who makes a book, one step at a time, and may be killed after each."""

    def __init__(self, one: Claimant) -> None:
        self._one = one
        self._steps = self._build()

    def step(self) -> str | None:
        """Do the next step; what was done, or None where it begins anew."""
        done = next(self._steps, None)
        if done is None:
            self._steps = self._build()
        return done

    def finish(self) -> None:
        """Do all that is left."""
        while self.step() not in (None, "wrote"):
            continue

    def _build(self) -> Iterator[str]:
        one = Claimant(Path(self._one.ws.place.toplevel or ""), self._one.name, self._one.clock)
        taken = rulestamp.take_stamp(sources_of(one))
        yield "marked"
        assert taken
        book = rulemaking.make(one.parts, sources_of(one), taken[1])
        yield "made"
        folder = one.ws.home_folder
        path = Path(folder, "rulebook.json.half.tmp")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half of a boo")
        yield "began to write"
        rulebook.keep(folder, *taken, book)
        yield "wrote"


def resign_late(one: Claimant) -> Callable[[], None]:
    """A fold of presence whose process signs the book only later, or is killed before."""
    from ghp_agents.state.private_repo import find_repository

    repository = find_repository(one.ws)
    assert repository
    path = Path(rulebook.path_of(one.ws.home_folder))
    aside = path.with_name("aside")
    old = git(repository.path, "rev-parse", repository.ref)
    exists = path.exists()
    if exists:
        path.rename(aside)
    one.beat(status=f"s-{'x' * (int(one.clock.now()) % 7)}a", lastAction=str(one.clock.now()))
    one.store.fold()
    if exists:
        aside.rename(path)
    new = git(repository.path, "rev-parse", repository.ref)
    return lambda: rulebook.restamp(one.ws.home_folder, repository.ref, old, new)


def live_through(one: Claimant, two: Claimant, seed: int) -> None:
    """Steps of builders, writers and folds, one after the other in an order at random."""
    order = random.Random(seed)
    builders = [Builder(one), Builder(one)]
    late: list[Callable[[], None]] = []
    used = 0
    steps = ["build"] * 8 + ["finish"] * 3
    steps += ["lease", "claim", "sync", "fold", "sign", "sign", "pack"]
    for number in range(36):
        one.clock.wait(1)
        step = order.choice(steps)
        if step == "build":
            order.choice(builders).step()
        elif step == "finish":
            order.choice(builders).finish()
        elif step == "lease":
            held(one, f"/src/{number}.py")
        elif step == "claim":
            two.claim(3) if number % 2 else two.release(3)
        elif step == "sync":
            fetch_only(one, two)
        elif step == "fold":
            late.append(resign_late(one))
        elif step == "sign" and late:
            late.pop(order.randrange(len(late)))()
        elif step == "pack":
            git(one.ws.ghp_dir / "state.git", "pack-refs", "--all")
        used += kept(one) is not None
        assert_not_stale(one)
    assert used, "a book was used at some time, so something was compared"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_builders_writers_and_folds_in_any_order_leave_no_stale_book(
    pair: tuple[Claimant, Claimant], seed: int
) -> None:
    live_through(*pair, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 22))
def test_builders_writers_and_folds_in_many_orders_leave_no_stale_book(
    pair: tuple[Claimant, Claimant], seed: int
) -> None:
    live_through(*pair, seed)
