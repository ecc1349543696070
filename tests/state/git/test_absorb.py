"""Absorbing clones, in git: a merge that joins, and refs that go by compare-and-swap."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.state.join import Absorption
from tests.contracts.absorption import AbsorptionContract, joined, tip_of
from tests.contracts.state_store import ADA, exchange, say
from tests.state.clones import GitField, private
from tests.support.git import git, refs

Clones = Callable[[int], list[Path]]


@pytest.fixture
def field(remote: Path, clones: Clones, repo: Path) -> GitField:
    return GitField(remote, clones, repo)


@pytest.mark.sample(4)
class TestInGit(AbsorptionContract):
    @pytest.fixture
    def field(self, remote: Path, clones: Clones, repo: Path) -> GitField:
        return GitField(remote, clones, repo)


@pytest.mark.slow
def test_the_other_history_is_a_parent_so_that_no_object_is_lost(field: GitField) -> None:
    one, other = field.store(0), field.store(1)
    say(field, one, "a")
    say(field, other, "b")
    exchange([one, other])
    tip = tip_of(one, other)
    one.absorb_clones([tip], ADA)
    (ref,) = refs(field.remote, "refs/ghp/clone")
    assert git(field.remote, "rev-parse", f"{ref}^2") == tip.oid
    git(field.remote, "gc", "--quiet", "--prune=now")
    git(field.remote, "fsck", "--strict", "--no-dangling")
    late = field.store(2)
    late.sync()
    assert joined(late) == joined(one)


@pytest.mark.slow
def test_a_clone_that_holds_what_cannot_be_written_stays(field: GitField) -> None:
    one, other = field.store(0), field.store(1)
    say(field, one, "a")
    say(field, other, "b")
    exchange([one, other])
    theirs = private(field.folders[1])
    blob = git(theirs.path, "hash-object", "-w", "--stdin", stdin="odd")
    inner = git(theirs.path, "mktree", stdin=f"100644 blob {blob}\tback\\slash\n")
    outer = git(theirs.path, "mktree", stdin=f"040000 tree {inner}\t.ghp\n")
    odd = git(theirs.path, "commit-tree", outer, "-p", theirs.ref, stdin="Odd")
    git(field.remote, "fetch", "--quiet", str(theirs.path), f"+{odd}:{theirs.ref}")
    one.sync()
    ((clone, why),) = one.absorb_clones([tip_of(one, other)], ADA).left
    assert (clone, why) == (theirs.clone, "a file that cannot be written: '.ghp/back\\\\slash'")
    assert theirs.ref in refs(field.remote)


@pytest.mark.slow
def test_of_two_contents_the_join_and_the_absorption_choose_the_same(field: GitField) -> None:
    one, other = field.store(0), field.store(1)
    for store, name in ((one, "a"), (other, "a")):
        say(field, store, name)
    exchange([one, other])
    before = joined(one)
    assert one.absorb_clones([tip_of(one, other)], ADA).absorbed
    assert joined(one) == before


def test_a_clone_that_never_said_anything_can_absorb(field: GitField) -> None:
    one, other = field.store(0), field.store(1)
    say(field, other, "b")
    exchange([one, other])
    before = joined(one)
    tip = tip_of(one, other)
    assert one.absorb_clones([tip], ADA) == Absorption((tip.clone,))
    assert joined(one) == before
