"""A remote that was restored from a backup, or lost a ref, gives nobody a right back."""

import shutil
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.leases import service as leases
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.locks.lock import Lock
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.consent import anyone_steals
from tests.support.git import git
from tests.support.holding import holds
from tests.support.repos import Restored, Site
from tests.support.sweeps import questions
from tests.support.taking import take
from tests.support.team import more_clones

RIGHT = "refs/ghp/lease/issue/1"


class Team:
    """Agents in clones of their own around one remote; #1 was alice's and is bob's now."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.remote = ManualClock(), folder / "remote.git"
        self.backup = self.remote.with_suffix(".backup")
        self.alice, self.bob, self.carol = (
            Claimant(folder / f"clone-{number}", name, self.clock)
            for number, name in enumerate(("alice", "bob", "carol"), 1)
        )

    def restore_backup(self) -> None:
        """The remote is as it was when alice held #1."""
        shutil.rmtree(self.remote)
        shutil.copytree(self.backup, self.remote)

    def lose_right(self) -> None:
        """The remote loses the right to #1 and nothing else."""
        git(self.remote, "update-ref", "-d", RIGHT)

    def everybody_syncs(self) -> None:
        for one in (self.alice, self.bob, self.alice, self.bob):
            one.sync()

    @property
    def right(self) -> Lock | None:
        """What somebody reads who never heard of the right."""
        return self.carol.locks.read("issue/1")


@pytest.fixture
def team(restored: Restored) -> Team:
    return Team(restored(taken_twice).folder)


def taken_twice(site: Site) -> None:
    site.make_clones()
    more_clones(site.templates, site.folder / "remote.git", 1)
    team = Team(site.folder)
    team.alice.new("Parse the input")
    team.alice.claim(1)
    team.alice.sync()
    shutil.copytree(team.remote, team.backup)
    team.alice.release(1)
    team.alice.sync()
    team.bob.sync()
    team.bob.claim(1)
    team.bob.sync()


@pytest.mark.slow
def test_a_former_holder_is_refused_and_the_present_one_is_not(team: Team) -> None:
    assert (holds(team.alice), holds(team.bob)) == (False, True)


@pytest.mark.slow
def test_a_restored_backup_gives_no_right_back_to_a_former_holder(team: Team) -> None:
    team.restore_backup()
    assert not holds(team.alice)
    assert holds(team.bob)
    team.everybody_syncs()
    assert (holds(team.alice), holds(team.bob)) == (False, True)
    assert team.right
    assert (team.right.holder, team.right.generation) == ("bob", 2)


@pytest.mark.slow
def test_a_sync_alone_mends_a_restored_remote(team: Team) -> None:
    team.restore_backup()
    team.alice.sync()
    team.bob.sync()
    assert team.right
    assert (team.right.holder, team.right.generation) == ("bob", 2)
    entries = [entry for entry in team.bob.store.ledger() if entry.event == "restore"]
    assert [(x.object, x.generation, x.text) for x in entries][-1] == (
        "issue/1", 2, "the remote had lost it",
    )  # fmt: skip


@pytest.mark.slow
def test_what_only_a_sync_told_is_kept_when_the_remote_forgets_it(team: Team) -> None:
    team.carol.sync()  # it knows of bob's right by this alone
    team.restore_backup()
    team.carol.sync()
    held = team.right
    assert held
    assert (held.holder, held.generation) == ("bob", 2)
    assert git(team.remote, "rev-parse", RIGHT) == held.revision


@pytest.mark.slow
def test_a_lost_ref_is_not_begun_again_by_who_knows_an_older_state(team: Team) -> None:
    team.lose_right()
    assert not holds(team.alice)
    with pytest.raises(RefusedError) as caught:
        team.alice.claim(1)
    assert str(caught.value) == (
        "#1 cannot be claimed now. Reason given: «the remote lost it; another clone recorded "
        "generation 2, and this one knows only 1»."
    )
    assert caught.value.hint == (
        "A person must free it with `ghp agent-release 1 --reason TEXT`, or hand it over with "
        "`--to AGENT`."
    )
    team.everybody_syncs()
    assert (holds(team.alice), holds(team.bob)) == (False, True)


@pytest.mark.slow
def test_a_lost_ref_is_put_back_by_its_holder(team: Team) -> None:
    team.lose_right()
    assert holds(team.bob)
    team.everybody_syncs()
    assert (holds(team.alice), holds(team.bob)) == (False, True)


@pytest.mark.slow
def test_a_person_frees_what_the_remote_lost_and_it_stays_free(team: Team) -> None:
    team.lose_right()
    assert not holds(team.alice)
    team.carol.sync()
    person = Claimant(team.carol.ws.folder, "@me", team.clock)
    assert person.release(1, reason="bob's machine is lost").changed
    assert team.carol.claim(1, steal=True, reason="bob is lost").lock.generation == 4
    team.everybody_syncs()
    assert [holds(each) for each in (team.alice, team.bob, team.carol)] == [False, False, True]


def _disputes(one: Claimant) -> list[Escalation]:
    """The questions on who holds it, not those on who is assigned."""
    return [x for x in questions(one) if x.question.text.startswith("Who holds")]


@pytest.mark.slow
def test_two_histories_of_one_right_are_a_question_and_refused_to_both(team: Team) -> None:
    anyone_steals()
    team.restore_backup()
    team.carol.sync()
    stolen = team.carol.claim(1, steal=True, reason="alice has gone home").lock
    assert (stolen.holder, stolen.generation) == ("carol", 2)
    assert not holds(team.bob)  # who finds out
    assert not holds(team.carol)
    with pytest.raises(RefusedError, match="#1 cannot be claimed now"):
        team.alice.claim(1, steal=True, reason="it is mine")
    for one in (team.bob, team.carol, team.bob, team.alice):
        one.sync()
    (asked,) = _disputes(team.bob)
    assert asked.question.agent == "bob"
    assert asked.question.text == (
        "Who holds #1?\n\nThe remote lost its history: bob (generation 2) and carol (generation 2) "
        "have it. Nobody can hold it until a person decides: `ghp agent-release 1 --reason TEXT` "
        "frees it."
    )
    assert [each.id for each in _disputes(team.alice)] == [asked.id]
    person = Claimant(team.alice.ws.folder, "@me", team.clock)
    given = person.release(1, to="carol", reason="she is further").lock
    assert given
    assert given.generation == 4
    team.carol.sync()
    assert (holds(team.bob), holds(team.carol)) == (False, True)


@pytest.mark.slow
def test_a_strict_lease_survives_a_restored_remote(team: Team) -> None:
    wanted = LeaseRequest(name="staging-db", strict=True)
    shutil.rmtree(team.backup)
    shutil.copytree(team.remote, team.backup)
    take(team.bob.parts, wanted)
    team.restore_backup()
    team.bob.sync()
    with pytest.raises(RefusedError, match="staging-db is leased by bob"):
        take(team.alice.parts, wanted)


@pytest.mark.slow
def test_two_histories_of_a_strict_lease_are_refused_until_a_person_frees_it(team: Team) -> None:
    wanted = LeaseRequest(name="staging-db", strict=True)
    shutil.rmtree(team.backup)
    shutil.copytree(team.remote, team.backup)
    take(team.bob.parts, wanted)
    team.restore_backup()
    take(team.alice.parts, wanted)
    team.bob.sync()
    team.alice.sync()
    for one in (team.alice, team.bob, team.carol):
        with pytest.raises(RefusedError):
            take(one.parts, wanted)
    person = Claimant(team.bob.ws.folder, "@me", team.clock)
    leases.release(person.parts, name="staging-db", reason="bob may")
    assert take(team.carol.parts, wanted).is_new


@pytest.mark.slow
def test_a_mended_remote_is_told_on_standard_error(team: Team) -> None:
    told: list[str] = []
    from ghp_agents.locks.git import GitLocks

    team.restore_backup()
    GitLocks(team.bob.ws, told.append).read("issue/1")
    assert told == [
        "origin had an older state of the lock issue/1 (generation 1); generation 2 is restored."
    ]
