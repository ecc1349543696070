"""Claims: one holder over all clones, and what shows of it; on real git."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.claims import service as services
from ghp_agents.core.errors import NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.issues import service as issues
from ghp_agents.issues.issue import PROVISIONAL
from tests.support.claimants import DEAD, GONE, THEN, Claimant, Team, known
from tests.support.clock import ManualClock
from tests.support.consent import FILE, agree, anyone_steals, mine
from tests.support.git import commit, git

Clones = Callable[[int], list[Path]]


# ---------------------------------------------------------------------------------------- claiming


@pytest.mark.slow
def test_who_claims_has_the_right_and_all_can_see_it(one: Claimant, two: Claimant) -> None:
    claimed = one.claim(1)
    assert (claimed.how, claimed.previous, claimed.waits_for) == ("claim", None, ())
    assert (claimed.lock.holder, claimed.lock.generation, claimed.lock.epoch) == (
        "worker-1", 1, 1,
    )  # fmt: skip
    assert claimed.issue.assignees == ("worker-1",)
    assert one.in_hand == (1, 1, "planning")
    assert one.presence["lastAction"] == "Claimed #1"
    one.sync()
    two.sync()
    assert two.assignees(1) == ("worker-1",)
    assert two.story(1) == [("claim", "worker-1", 1, "")]
    shown = two.store.snapshot().agents()["worker-1"]
    assert (shown["issue"], shown["generation"]) == (1, 1)
    assert {n: x.lock.holder for n, x in services.holdings(two.parts).items()} == {1: "worker-1"}


def test_success_means_that_the_remote_has_it(one: Claimant, team: Team) -> None:
    claimed = one.claim(1)
    assert git(team.remote, "rev-parse", "refs/ghp/lease/issue/1") == claimed.lock.revision


def test_an_agent_that_never_beat_is_registered_by_its_claim(team: Team, one: Claimant) -> None:
    new = team.join("worker-9")
    new.sync()
    assert new.claim(1).lock.epoch == 1
    assert new.in_hand == (1, 1, "planning")


@pytest.mark.slow
def test_claiming_again_what_is_mine_takes_it_in_hand(one: Claimant) -> None:
    one.claim(1)
    one.new("Another")
    one.claim(2)
    assert one.in_hand == (2, 1, "planning")
    assert one.claim(1).how == "mine"
    assert one.in_hand == (1, 1, "planning")
    one.beat(issue=2)
    one.beat(issue=1)
    assert one.claim(1).how == "mine"
    assert one.in_hand == (1, 1, "planning"), "so that it is told if another takes it"


def test_claiming_again_changes_nothing(one: Claimant) -> None:
    first = one.claim(1)
    one.beat(status="testing", lastAction="Ran the tests")
    before = one.store.snapshot().revision
    again = one.claim(1)
    assert (again.how, again.mended, again.lock) == ("mine", False, first.lock)
    assert one.in_hand == (1, 1, "testing")
    assert one.store.snapshot().revision == before
    assert one.story(1) == [("claim", "worker-1", 1, "")]


def test_an_issue_that_is_not_there_or_closed_cannot_be_claimed(one: Claimant) -> None:
    with pytest.raises(NotFoundError):
        one.claim(9)
    one.close(1)
    with pytest.raises(RefusedError) as caught:
        one.claim(1)
    assert str(caught.value) == "#1 is closed."
    assert one.locks.list("issue/") == []


def test_an_issue_that_is_mine_among_others_can_be_claimed(one: Claimant) -> None:
    issues.assign(one.parts, "1", ["worker-2", "worker-1"])
    assert one.claim(1).issue.assignees == ("worker-1", "worker-2")


@pytest.mark.slow
def test_who_claims_another_issue_has_that_one_in_hand_and_keeps_both(one: Claimant) -> None:
    one.new("Write docs")
    one.claim(1)
    touched.take_lease(
        one.ws.folders, "worker-1", 1, "src/a.py", one.ws.place.git_dir, one.clock.now()
    )
    assert one.claim(2).lock.generation == 1
    assert one.in_hand == (2, 1, "planning")
    assert touched.list_all(one.ws.folders) == []
    assert sorted(one.parts.world.claims) == [1, 2]


@pytest.mark.slow
def test_an_issue_that_waits_for_another_is_claimed_as_blocked(
    one: Claimant, two: Claimant
) -> None:
    one.new("Second", blocked_by=(1,))
    one.claim(1)
    one.sync()
    two.sync()
    claimed = two.claim(2)
    assert claimed.waits_for == ("#1 (worker-1)",)
    assert two.in_hand == (2, 1, "blocked")
    assert two.presence["lastAction"] == "Waits for #1 (worker-1)"


def test_a_reason_is_kept_with_the_right_and_in_the_ledger(one: Claimant) -> None:
    assert one.claim(1, reason="I know the parser").lock.reason == "I know the parser"
    assert one.story(1) == [("claim", "worker-1", 1, "I know the parser")]


# ------------------------------------------------------------------------------------------ steals


@pytest.mark.slow
def test_an_agent_steals_nothing_from_a_living_one_and_hears_why(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(600.0, two, steps=1)
    with pytest.raises(RefusedError) as caught:
        two.claim(1, steal=True, reason="It must be done today")
    assert str(caught.value) == (
        f"#1 is claimed by worker-1 since {THEN}; it is stale, seen 10 min ago, last: «Claimed "
        "#1». Only people and orchestrators may steal it, or any agent after 10 min without a "
        "heartbeat."
    )
    assert caught.value.hint == (
        "Work on something else (`ghp agent-claim --next`) or ask a person (`ghp agent-escalate "
        "…`). A person or an orchestrator can give it to you: `ghp agent-release 1 --to worker-2`."
    )
    assert known(two) == one.locks.read("issue/1")
    assert two.in_hand[:2] == (None, None)


@pytest.mark.slow
def test_whoever_was_silent_for_longer_than_stale_after_can_be_stolen_from(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(601.0, two, steps=1)
    assert two.claim(1, steal=True, reason="It must be done today").how == "steal"
    mate = team.join("worker-7", "worker-2")
    team.clock.wait(600.0)
    with pytest.raises(RefusedError):
        mate.claim(1, steal=True, reason="It must be done now")
    team.clock.wait(1.0)
    assert mate.claim(1, steal=True, reason="It must be done now").previous == "worker-2"


@pytest.mark.slow
def test_a_holder_of_which_only_the_claim_is_known_is_silent_from_then_on(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.locks.acquire("issue/1", "worker-8", expected=None, epoch=4)
    two.sync()
    with pytest.raises(RefusedError, match="this clone has seen no heartbeat of it"):
        two.claim(1, steal=True, reason="It is urgent")
    team.silence(601.0, two, steps=1)
    assert two.claim(1, steal=True, reason="It is urgent").previous == "worker-8"


@pytest.mark.slow
def test_a_person_and_an_orchestrator_steal_from_the_living(
    team: Team, one: Claimant, two: Claimant
) -> None:
    mine({"agents": {"orchestrators": ["worker-2"]}})
    one.claim(1)
    taken = two.claim(1, steal=True, reason="Yours is #2")
    assert (taken.how, taken.previous) == ("steal", "worker-1")
    assert team.person("worker-1").claim(1, steal=True, reason="I do it").previous == "worker-2"
    assert two.claim(1, steal=True, reason="Ann is ill").previous == "Ann Example"


@pytest.mark.slow
def test_no_agent_steals_from_a_person(team: Team, one: Claimant, two: Claimant) -> None:
    team.person("worker-1").claim(1)
    team.silence(GONE, two)
    with pytest.raises(RefusedError) as caught:
        two.claim(1, steal=True, reason="Ann is ill")
    assert str(caught.value) == (
        f"#1 is claimed by «Ann Example» (a person) since {THEN}. Only people and orchestrators "
        "may steal it."
    )


@pytest.mark.slow
def test_a_setting_of_main_that_lets_anyone_steal_needs_consent(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    commit(two.ws.folder, {FILE: json.dumps({"agents": {"steal": "anyone"}})}, "Configure")
    git(two.ws.folder, "push", "--quiet", "origin", "HEAD")
    with pytest.raises(RefusedError) as caught:
        Claimant(two.ws.folder, "worker-2", two.clock).claim(1, steal=True, reason="It is urgent")
    assert str(caught.value).endswith(
        " Only people and orchestrators may steal it, or any agent after 10 min without a "
        "heartbeat. `.ghp/config.json` on main sets `agents.steal` to `anyone`, but nobody has "
        "approved it in this clone; until then only people and orchestrators may."
    )
    agree(two.ws.folder)
    thief = Claimant(two.ws.folder, "worker-2", two.clock)
    assert thief.claim(1, steal=True, reason="It is urgent").how == "steal"


@pytest.mark.slow
def test_where_anyone_may_a_living_holders_issue_is_taken_with_a_reason(
    one: Claimant, two: Claimant
) -> None:
    anyone_steals()
    one.claim(1)
    for reason in ("", "  "):
        with pytest.raises(UsageError):
            two.claim(1, steal=True, reason=reason)
    taken = two.claim(1, steal=True, reason="It must be done today")
    assert (taken.how, taken.previous, taken.lock.generation) == ("steal", "worker-1", 2)
    assert taken.lock.reason == "stolen: It must be done today"
    assert taken.issue.assignees == ("worker-2",)  # of the first's it has not heard yet
    one.sync()
    two.sync()
    one.sync()
    assert ("steal", "worker-2", 2, "stolen: It must be done today") in one.story(1)
    assert one.assignees(1) == ("worker-2",)
    person = Claimant(one.ws.folder, "@me", one.clock)
    issues.assign(person.parts, "1", ["worker-1"])
    one.sync()
    assert two.sync().assignees(1) == ("worker-1", "worker-2")  # said on purpose since


@pytest.mark.slow
def test_who_was_replaced_is_refused_and_told_by_whom(one: Claimant, two: Claimant) -> None:
    anyone_steals()
    one.claim(1)
    two.claim(1, steal=True, reason="It must be done today")
    for guarded in (
        lambda: one.release(1),
        lambda: one.close(1),
        lambda: services.verify(one.parts, "worker-1", 1),
    ):
        with pytest.raises(RefusedError) as caught:
            guarded()
        assert str(caught.value) == (
            f"#1 is claimed by worker-2 since {THEN}. "
            "worker-2 gave this reason: «stolen: It must be done today»."
        )
    assert one.tracker.get(1).state == "open"
    assert known(two) == one.locks.read("issue/1")


def test_the_holder_passes_every_guard(one: Claimant) -> None:
    claimed = one.claim(1)
    assert services.verify(one.parts, "worker-1", 1) == claimed.lock


@pytest.mark.slow
def test_who_went_to_another_clone_and_claimed_there_shuts_its_former_self_out(
    team: Team, one: Claimant
) -> None:
    one.beat()
    one.sync()
    other = team.join("worker-1", "another clone")
    other.sync()
    with pytest.raises(RefusedError) as early:
        other.claim(1)
    assert str(early.value).endswith("Two agents cannot have one name.")
    assert other.presence == {}
    assert other.claim(1, steal=True, reason="it moved here").lock.epoch == 2
    with pytest.raises(RefusedError) as caught:
        one.claim(1)
    assert str(caught.value).startswith("worker-1 has begun in another clone (")


@pytest.mark.slow
def test_a_refused_claim_neither_registers_its_agent_nor_moves_it(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    new = team.join("worker-3", "another clone").sync()
    with pytest.raises(RefusedError):
        new.claim(1)
    assert new.presence == {}
    two.new("Other work")
    two.claim(2)
    before = two.presence
    with pytest.raises(RefusedError):
        two.claim(1)
    assert two.presence == before


# ------------------------------------------------------------------------------- without the place


@pytest.mark.slow
def test_where_nobody_can_tell_the_answer_is_unknown_and_nothing_is_shown(
    team: Team, one: Claimant, two: Claimant
) -> None:
    team.cut()
    with pytest.raises(UnknownError):
        one.claim(1)
    assert one.in_hand[:2] == (None, None)
    assert one.assignees(1) == ()
    team.mend()
    assert two.claim(1).how == "claim"
    team.cut()
    for ask in (
        lambda: two.claim(1),
        lambda: two.claim_next(),
        lambda: two.release(1),
        lambda: two.close(1),
        lambda: one.claim(1),
    ):
        with pytest.raises(UnknownError):
            ask()
    team.mend()
    assert two.claim(1).how == "mine"


def test_without_a_remote_the_clone_decides(repo: Path) -> None:
    clock = ManualClock()
    one, two = Claimant(repo, "worker-1", clock), Claimant(repo, "worker-2", clock)
    one.new("Parse files")
    assert one.claim(1).how == "claim"
    with pytest.raises(RefusedError):
        two.claim(1)
    assert one.release(1).changed
    assert two.claim(1).lock.generation == 2


@pytest.mark.slow
def test_an_issue_made_offline_gets_its_number_first(team: Team, one: Claimant) -> None:
    team.cut()
    created = one.new("Offline")
    assert created.number >= PROVISIONAL
    with pytest.raises(UnknownError) as caught:
        one.claim(created.number)
    assert "has only a provisional number" in str(caught.value)
    team.mend()
    claimed = one.claim(created.number)
    assert (claimed.issue.number, claimed.lock.name) == (2, "issue/2")
    assert not one.release(2).previous


# ------------------------------------------------------------------------------------- giving back


@pytest.mark.slow
def test_who_gives_it_back_has_nothing_in_hand_and_anybody_may_take_it(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    touched.take_lease(
        one.ws.folders, "worker-1", 1, "src/a.py", one.ws.place.git_dir, one.clock.now()
    )
    released = one.release(1, reason="It is too large")
    assert (released.changed, released.previous) == (True, None)
    assert one.in_hand == (None, None, "idle")
    assert one.presence["lastAction"] == "Released #1"
    assert one.assignees(1) == ()
    assert touched.list_all(one.ws.folders) == []
    assert one.story(1)[-1] == ("release", "worker-1", 1, "It is too large")
    assert two.claim(1).lock.generation == 2


@pytest.mark.slow
def test_giving_back_what_nobody_holds_changes_nothing(one: Claimant) -> None:
    assert not one.release(1).changed
    one.claim(1)
    assert one.release(1).changed
    before = one.store.snapshot().revision
    assert not one.release(1).changed
    assert one.store.snapshot().revision == before


@pytest.mark.slow
def test_who_works_on_something_else_goes_on_with_that(one: Claimant) -> None:
    one.new("Write docs")
    one.claim(1)
    one.claim(2)
    one.beat(status="testing")
    assert one.release(1).changed
    assert one.in_hand == (2, 1, "testing")


@pytest.mark.slow
def test_another_agents_issue_can_be_given_back_only_if_that_is_dead(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    with pytest.raises(RefusedError) as caught:
        two.release(1)
    assert str(caught.value) == f"#1 is claimed by worker-1 since {THEN}."
    team.silence(DEAD, two)
    assert two.release(1).previous == "worker-1"
    assert two.assignees(1) == ()
    assert two.story(1)[-1] == ("release", "worker-2", 1, "held by worker-1")


@pytest.mark.slow
def test_a_person_may_give_back_what_anybody_holds(team: Team, one: Claimant) -> None:
    one.claim(1)
    assert team.person("worker-1").release(1, reason="Not needed").previous == "worker-1"
    assert one.story(1)[-1] == ("release", "Ann Example", 1, "Not needed; held by worker-1")
    assert one.in_hand == (1, 1, "planning")  # its presence is its own; it is told
    with pytest.raises(RefusedError) as caught:
        one.close(1)
    assert str(caught.value) == ("Nobody holds #1. It was released. Reason given: «Not needed».")


@pytest.mark.slow
def test_an_orchestrator_may_too(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    mine({"agents": {"orchestrators": ["worker-2"]}})
    director = Claimant(Path(two.ws.place.toplevel or ""), "worker-2", two.clock)
    assert director.release(1).previous == "worker-1"


@pytest.mark.slow
def test_an_agent_cannot_give_back_what_a_person_holds(
    team: Team, one: Claimant, two: Claimant
) -> None:
    team.person("worker-1").claim(1)
    team.silence(GONE, two)
    with pytest.raises(RefusedError):
        two.release(1)


@pytest.mark.slow
def test_an_issue_is_given_to_another_in_one_step(one: Claimant, two: Claimant) -> None:
    two.beat()
    two.sync()
    one.sync()
    one.claim(1)
    given = one.release(1, to="worker-2", reason="You know it")
    assert given.lock
    assert (given.lock.holder, given.lock.generation, given.lock.epoch) == ("worker-2", 2, 1)
    assert one.in_hand == (None, None, "idle")
    assert one.assignees(1) == ("worker-2",)
    assert one.story(1)[-1] == ("release", "worker-1", 2, "to worker-2; You know it")
    two.sync()
    one.sync()
    two.sync()
    assert services.verify(two.parts, "worker-2", 1) == given.lock
    with pytest.raises(RefusedError, match="worker-1 gave this reason: «You know it»"):
        services.claim(one.parts, "1")
    took = two.claim(1)
    assert (took.how, took.lock) == ("mine", given.lock)
    assert two.in_hand == (1, 2, "planning")
    assert not one.release(1, to="worker-2").changed


def test_only_who_has_an_issue_or_directs_can_give_it_to_somebody(
    team: Team, one: Claimant, two: Claimant
) -> None:
    with pytest.raises(RefusedError) as caught:
        one.release(1, to="worker-2")
    assert str(caught.value) == "Nobody holds #1."
    person = team.person("worker-1")
    assert person.release(1, to="worker-2").changed
    assert one.assignees(1) == ("worker-2",)
    with pytest.raises(RefusedError):
        one.release(1, to="worker-1")
    with pytest.raises(UsageError):
        one.release(1, to="Not A Name")


# ----------------------------------------------------------------------------------------- closing


@pytest.mark.slow
def test_the_holder_closes_its_issue_and_its_claim_ends(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    assert one.close(1, "Merged").state == "closed"
    assert one.in_hand == (None, None, "idle")
    assert one.assignees(1) == ("worker-1",)  # who did it
    lease = one.locks.read("issue/1")
    assert lease
    assert (lease.holder, lease.reason) == (None, "closed")
    assert one.close(1).state == "closed"
    assert one.story(1)[-1] == ("release", "worker-1", 1, "closed")


@pytest.mark.slow
def test_an_agent_cannot_close_what_another_holds_and_a_person_can(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    with pytest.raises(RefusedError):
        two.close(1)
    assert two.tracker.get(1).state == "open"
    assert team.person("worker-2").close(1).state == "closed"


@pytest.mark.slow
def test_what_was_given_back_here_and_taken_elsewhere_since_is_not_closed_by_who_had_it(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.new("Another")
    one.claim(1)
    one.claim(2)
    team.person("worker-1").release(1)
    two.claim(1)
    with pytest.raises(RefusedError, match="worker-2"):
        one.close(1)
    assert one.tracker.get(1).state == "open"


def test_what_nobody_claimed_is_closed_without_asking_anybody(team: Team, one: Claimant) -> None:
    team.cut()
    assert one.close(1).state == "closed"
