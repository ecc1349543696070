"""The fast road of the decision and the slow one: they agree, and the fast one is light."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate as ruling
from ghp_agents.hotpath import check_edit as guard
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.hotpath.policy_stamp import Sources
from ghp_agents.issues import service as issues
from ghp_agents.leases import service as lease
from ghp_agents.leases.request import LeaseRequest
from tests.support import rule_worlds
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.ghp import CHECKOUT, invoke, succeed
from tests.support.git import commit
from tests.support.hooks import SILENT, call, write
from tests.support.rule_worlds import GENERATED, IGNORED, PATHS, World
from tests.support.taking import take as take_lease

Clones = Callable[[int], list[Path]]
ASKING = ("worker-1", "worker-2", "lead")


def quick(one: Claimant, agent: str, path: str, now: float | None = None) -> Verdict | None:
    ws = one.ws
    when = one.clock.now() if now is None else now
    return guard.quick(ws.place, ws.folders, ws.environ, agent, path, when)


def judged(one: Claimant, agent: str | None, *paths: str, editing: bool = False) -> list[Verdict]:
    anew = Claimant(Path(one.ws.place.toplevel or ""), agent or "@me", one.clock)
    name = AgentName(agent) if agent else None
    return ruling.judge(anew.parts, name, paths, editing=editing)


def assert_agreement(world: World, seed: int) -> int:
    """Ask everything on both roads, in an order that differs; how often the fast one knew."""
    one, known = world.one, 0
    questions = [(agent, path) for agent in ASKING for path in PATHS]
    random.Random(seed).shuffle(questions)
    for path, verdict in zip(PATHS, judged(one, None, *PATHS), strict=True):
        expected = world.says("Ann Example", path, is_person=True)
        assert (verdict.word, verdict.kind) == expected, path
    for number, (agent, path) in enumerate(questions):
        expected = world.says(agent, path, is_person=False)
        if number % 7 == 0:
            (slow,) = judged(one, agent, path)
            assert (slow.word, slow.kind) == expected, (agent, path)
        fast = quick(one, agent, path)
        if fast is None:
            (fast,) = judged(one, agent, path, editing=True)
        else:
            known += 1
            if number % 7 == 0:
                assert fast == slow, (agent, path)
        assert (fast.word, fast.kind) == expected, (agent, path)
        if not fast.is_refused:
            world.edited(agent, path)
    # Of files that nobody leases it does not matter who has one.
    free = {world.key(path) for path in (*IGNORED, *GENERATED)}
    left = {touch.path: touch.agent for touch in touched.list_all(one.ws.folders)}
    assert left.keys() - free == world.touches.keys() - free
    assert all(left[path] == who for path, who in world.touches.items() if path not in free)
    return known


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_both_roads_say_what_the_rules_say(clones: Clones, seed: int) -> None:
    world = rule_worlds.make(seed, clones(2))
    assert assert_agreement(world, seed) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 60))
def test_both_roads_say_what_the_rules_say_in_many_worlds(clones: Clones, seed: int) -> None:
    assert_agreement(rule_worlds.make(seed, clones(2)), seed)


# ------------------------------------------------------------------- what it leaves alone


@pytest.fixture
def pair(repo: Path) -> tuple[Claimant, Claimant]:
    """Two agents of one clone, the second with a lease, and a book."""
    clock = ManualClock(1_790_000_000.0)
    one, two = (Claimant(repo, f"worker-{number}", clock) for number in (1, 2))
    one.beat()
    two.beat()
    take_lease(two.parts, LeaseRequest(("/src/",), reason="new parser"))
    judged(one, "worker-1", "README.md")
    return one, two


def test_a_lease_of_another_is_denied_on_the_fast_road(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    found = quick(one, "worker-1", "src/new.py")
    assert found is not None
    assert (found.word, found.kind, found.holder) == ("deny", "lease", "worker-2")
    assert found == judged(one, "worker-1", "src/new.py")[0]
    assert touched.list_all(one.ws.folders) == []


def test_who_dies_is_dead_for_the_book_that_was_made_before(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, two = pair
    one.clock.wait(1_801)
    one.beat(lastAction="Still here")
    found = quick(one, "worker-1", "src/new.py")
    assert found is not None
    assert found.word == "allow"
    two.beat(lastAction="Back again")
    denied = quick(one, "worker-1", "src/other.py")
    assert denied is not None
    assert denied.word == "deny"


@pytest.mark.slow
def test_who_moved_to_another_clone_is_not_judged_by_what_it_left_here(clones: Clones) -> None:
    clock = ManualClock(1_790_000_000.0)
    here, there = clones(2)
    one, two = (Claimant(here, f"worker-{number}", clock) for number in (1, 2))
    one.beat()
    two.beat()
    take_lease(two.parts, LeaseRequest(("/src/",)))
    two.sync()
    moved = Claimant(there, "worker-2", clock).sync()
    moved.beat(lastAction="Goes on elsewhere")
    for _ in range(2):
        clock.wait(1_000)
        moved.beat(lastAction=f"Lives at {clock.now()}")
        moved.sync()
        one.beat(lastAction=f"Hears it at {clock.now()}")
        one.sync()
    (denied,) = judged(one, "worker-1", "src/a.py")
    assert (denied.word, denied.holder) == ("deny", "worker-2")
    assert quick(one, "worker-1", "src/a.py") is None
    assert quick(one, "worker-1", "README.md") == Verdict("allow", "README.md")


@pytest.mark.slow
def test_a_claim_from_another_clone_is_a_sign_of_life_before_its_presence_comes(
    clones: Clones,
) -> None:
    clock = ManualClock(1_790_000_000.0)
    here, there = clones(2)
    one, two = (Claimant(here, f"worker-{number}", clock) for number in (1, 2))
    two.beat()
    one.beat()
    one.new("Parse files", body="## Scope\n- src/\n")
    one.sync()
    moved = Claimant(there, "worker-2", clock).sync()
    clock.wait(1_801)
    one.beat(lastAction="Still here")
    moved.claim(1)
    assert one.locks.read("issue/1")
    (denied,) = judged(one, "worker-1", "src/a.py")
    assert (denied.word, denied.kind, denied.holder) == ("deny", "scope", "worker-2")
    assert quick(one, "worker-1", "src/a.py") is None


def test_a_lease_runs_out_for_the_book_that_was_made_before(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, two = pair
    take_lease(two.parts, LeaseRequest(("/lib/",), ttl=60.0))
    judged(one, "worker-1", "README.md")
    assert [getattr(quick(one, "worker-1", "lib/a.py", one.clock.now() + after), "word", None)
            for after in (59, 60)] == ["deny", "allow"]  # fmt: skip


def test_of_a_lease_and_an_edit_at_one_moment_one_gives_way(
    pair: tuple[Claimant, Claimant], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    take = touched.take_lease

    def late(*args: Any) -> str | None:
        """The other leases it after the edit was allowed, and before that is written."""
        monkeypatch.setattr(touched, "take_lease", take)
        take_lease(other.parts, LeaseRequest(("/docs/a.md",)))
        return take(*args)

    def fast() -> Verdict | None:
        return quick(one, one.name, "docs/a.md")

    def slow() -> Verdict:
        return judged(one, one.name, "docs/a.md", editing=True)[0]

    for decide in (fast, slow):
        judged(one, one.name, "docs/b.md", editing=True)  # there is a book
        monkeypatch.setattr(touched, "take_lease", late)
        verdict = decide() or slow()
        assert (verdict.word, verdict.kind, verdict.holder) == ("deny", "lease", other.name)
        left = [touch.path for touch in touched.list_all(one.ws.folders)]
        assert left == ["docs/b.md"], "the holder is not kept from what it leased"
        lease.release(other.parts, ["docs/a.md"])


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../src/x", "a//b", "a\0b", "src/"])
def test_what_is_no_path_of_the_worktree_is_left_to_the_slow_road(
    pair: tuple[Claimant, Claimant], path: str
) -> None:
    one, _ = pair
    assert quick(one, "worker-1", path) is None
    assert judged(one, "worker-1", path) == [Verdict("allow", path)]


def test_an_agent_that_never_beat_here_is_left_to_the_slow_road(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    assert quick(one, "worker-9", "README.md") is None
    assert judged(one, "worker-9", "README.md", editing=True) == [Verdict("allow", "README.md")]
    assert touched.list_all(one.ws.folders) == []


def test_a_book_that_was_loaded_is_not_taken_for_the_one_that_was_made_since(
    pair: tuple[Claimant, Claimant],
) -> None:
    """Of who decides and who leases at one moment, at least one sees the other."""
    one, two = pair
    sources = Sources(one.ws.place, one.ws.folders, one.ws.environ)
    before = rulebook.load(sources)
    assert before
    assert rulebook.is_current(sources, before)
    take_lease(two.parts, LeaseRequest(("/README.md",)))
    ruling.refresh(two.parts)
    assert rulebook.load(sources), "the book on the disk is that of the state"
    assert not rulebook.is_current(sources, before)


def test_without_a_book_the_slow_road_is_taken_and_makes_one(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, _ = pair
    rulebook.drop(one.ws.home_folder)
    assert quick(one, "worker-1", "README.md") is None
    judged(one, "worker-1", "README.md")
    assert rulebook.load(Sources(one.ws.place, one.ws.folders, one.ws.environ))
    assert quick(one, "worker-1", "README.md") == Verdict("allow", "README.md")


@pytest.mark.slow
def test_ignored_and_generated_files_are_nobodys(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    commit(
        Path(one.ws.place.toplevel or ""),
        {".gitignore": "*.o\n", ".gitattributes": "*.gen.py linguist-generated\n"},
    )
    judged(one, "worker-1", "README.md")  # without a remote, a commit on main moves the trunk
    for path in ("src/a.o", "src/a.gen.py"):
        assert quick(one, "worker-1", path) == Verdict("allow", path)
        assert judged(one, "worker-1", path, editing=True) == [Verdict("allow", path)]
    assert quick(one, "worker-1", "src/a.py") != Verdict("allow", "src/a.py")


def test_without_implicit_leases_nobody_has_what_they_edit(repo: Path) -> None:
    one, two = (Claimant(repo, f"worker-{n}", ManualClock(1_790_000_000.0)) for n in (1, 2))
    one.beat()
    two.beat()
    one.store.fold()
    (repo / ".ghp/config.json").write_text('{"agents": {"implicitLeases": false}}')
    judged(one, "worker-1", "a", editing=True)
    assert quick(one, "worker-1", "a") == quick(two, "worker-2", "a") == Verdict("allow", "a")
    assert touched.list_all(one.ws.folders) == []


# ------------------------------------------------------------------------ why it is fast


ROAD = """
import os, sys
from ghp_agents.hotpath import check_edit as guard, heartbeat as pulse
from ghp_agents.hotpath.locate import locate
place = locate(os.getcwd(), os.environ)
folders = pulse.state_folders(place.common_dir, os.environ)
found = guard.quick(place, folders, os.environ, "worker-1", sys.argv[1], float(sys.argv[2]))
print(found and found.word)
"""


@pytest.mark.parametrize(("path", "word"), [("README.md", "allow"), ("src/a.py", "deny")])
def test_the_fast_road_imports_nothing_that_costs_more_than_the_decision(
    pair: tuple[Claimant, Claimant], path: str, word: str
) -> None:
    one, _ = pair
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", ROAD, path, str(one.clock.now())],
        cwd=one.ws.folder, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == f"{word}\n", done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    found = {line.rpartition("|")[2].strip() for line in lines}
    tops = {name.partition(".")[0] for name in found}
    heavy = {
        "click", "pydantic", "git", "github", "filelock", "rich", "jinja2", "yaml", "pathspec",
        "json", "re", "subprocess", "typing", "enum", "pathlib", "dataclasses", "hashlib",
        "datetime", "shlex", "shutil", "tempfile", "random", "collections", "functools",
    }  # fmt: skip
    assert tops & heavy == set()
    ours = {name for name in found if name.startswith("ghp_agents.")}
    hot = (
        "alive", "boot_clock", "check_edit", "fastjson", "heartbeat",
        "ignored_files", "implicit_leases", "light_dataclass", "locate", "own_file", "own_name",
        "policy", "policy_cache", "policy_stamp", "presence_file", "quoting",
    )  # fmt: skip
    assert ours == {"ghp_agents.hotpath", *(f"ghp_agents.hotpath.{name}" for name in hot)}


# ------------------------------------------------------------------- who is assigned an issue


def test_only_an_assignee_that_is_alive_keeps_others_out(pair: tuple[Claimant, Claimant]) -> None:
    one, two = pair
    person = Claimant(Path(one.ws.place.toplevel or ""), "@me", one.clock)
    person.new("Read", body="## Scope\n- lib/\n")
    for name, word in (("dana", "allow"), ("worker-2", "deny")):  # nobody ever saw an agent dana
        issues.assign(person.parts, "1", [name])
        assert judged(one, "worker-1", "lib/a.py")[0].word == word
        found = quick(one, "worker-1", "lib/b.py")
        assert found is not None
        assert (found.word, found.holder) == (word, None if word == "allow" else "worker-2")
    assert judged(two, "worker-2", "lib/c.py")[0].word == "allow"
    two.beat(status="stopped")
    for path in ("lib/b.py", "lib/d.py"):
        later = quick(one, "worker-1", path) or judged(one, "worker-1", path)[0]
        assert later.word == "allow"


@pytest.mark.slow
def test_an_assignee_in_another_clone_keeps_others_out(clones: Clones) -> None:
    clock = ManualClock(1_790_000_000.0)
    here, there = clones(2)
    one, two = Claimant(here, "worker-1", clock), Claimant(there, "worker-2", clock)
    one.beat()
    one.new("Read", body="## Scope\n- lib/\n")
    issues.assign(Claimant(here, "@me", clock).parts, "1", ["worker-2"])
    assert judged(one, "worker-1", "lib/a.py")[0].word == "allow"
    two.beat()
    two.sync()
    one.sync()
    (refused,) = judged(one, "worker-1", "lib/b.py")
    assert refused.why == "lib/b.py is in the scope of #1 «Read», which is assigned to worker-2."
    assert quick(one, "worker-1", "lib/b.py") is None, "only the other clone knows"
    clock.wait(1_801)
    one.beat(lastAction="Still here")
    one.sync()
    assert judged(one, "worker-1", "lib/b.py")[0].word == "allow"


@pytest.mark.slow
def test_an_assignment_counts_before_the_claim_in_every_clone(clones: Clones) -> None:
    one, other = clones(2)
    for clone, agent in ((one, "w-a"), (other, "w-b")):
        (clone / "src").mkdir()
        beat = f"agent-heartbeat --status implementing --as {agent}"
        succeed(clone, "agent-init", beat, "agent-sync")
    new = ["agent-issue", "new", "Dashboard", "--body", "## Scope\n- src/m0.py", "--assign", "w-a"]
    assert invoke(new, one).code == 0
    succeed(one, "agent-sync")
    succeed(other, "agent-sync")
    place = other / "src/m0.py"
    refused = call("claude", write(place, other), other, {"GHP_AGENT": "w-b"})
    assert b"which is assigned to w-a." in refused.out
    assert call("claude", write(one / "src/m0.py", one), one, {"GHP_AGENT": "w-a"}) == SILENT
    succeed(
        one, "agent-check src/m0.py --as w-a", "agent-issue assign 1 w-a --remove", "agent-sync"
    )
    succeed(other, "agent-sync")
    assert call("claude", write(place, other), other, {"GHP_AGENT": "w-b"}) == SILENT
