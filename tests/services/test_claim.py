"""Claims: one holder over all clones, who is told what, and what shows of it; on real git."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents import touched
from ghp_agents.clock import ManualClock
from ghp_agents.errors import NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.issues.local import LocalTracker
from ghp_agents.leases.git_ref import GitRefLeaser
from ghp_agents.model.issue import PROVISIONAL, IssueChange
from ghp_agents.model.lease import Lease
from ghp_agents.model.names import AgentName
from ghp_agents.model.record import Record
from ghp_agents.services import claim as services
from ghp_agents.services import issue as issues
from ghp_agents.services.news import fence_lines
from ghp_agents.store.git_refs import GitRefsStore
from tests.support.claimants import Claimant
from tests.support.git import git

Clones = Callable[[int], list[Path]]
THEN = "2025-06-15T15:06:40Z"
DEAD, GONE = 2_000.0, 90_000.0


class Team:
    """Clones around a remote, with agents and people in them, on one clock."""

    def __init__(self, clones: Clones, remote: Path) -> None:
        self.clock = ManualClock()
        self.remote = remote
        self._clones = clones
        self._folders: dict[str, Path] = {}

    def join(self, name: str, clone: str | None = None) -> Claimant:
        """Somebody in a clone of their own, or in that of another."""
        key = clone or name
        if key not in self._folders:
            (self._folders[key],) = self._clones(1)
            git(self._folders[key], "config", "user.name", name if name != "@me" else "Ann Example")
        return Claimant(self._folders[key], name, self.clock)

    def person(self, clone: str) -> Claimant:
        """The person of that clone."""
        person = self.join("@me", clone)
        git(self._folders[clone], "config", "user.name", "Ann Example")
        return person

    def cut(self) -> None:
        self.remote.rename(self.remote.with_suffix(".away"))

    def mend(self) -> None:
        self.remote.with_suffix(".away").rename(self.remote)

    def silence(self, seconds: float, *living: Claimant) -> None:
        """Time passes in which only the living beat, and all that beat or listen sync."""
        steps = 4
        for _ in range(steps):
            self.clock.wait(seconds / steps)
            for one in living:
                one.beat(lastAction=f"At {self.clock.now()}")
                one.sync()


@pytest.fixture
def team(clones: Clones, remote: Path) -> Team:
    return Team(clones, remote)


@pytest.fixture
def one(team: Team) -> Claimant:
    """worker-1, in a clone that has an issue #1 and told the others of it."""
    one = team.join("worker-1")
    one.new("Parse files")
    one.sync()
    return one


@pytest.fixture
def two(team: Team, one: Claimant) -> Claimant:
    """worker-2, in another clone that has heard of worker-1 and the issue."""
    two = team.join("worker-2")
    two.beat()
    two.sync()
    return two


def known(one: Claimant, number: int = 1) -> Lease | None:
    found = [x for x in one.leaser.known("issue/") if x.name == f"issue/{number}"]
    return found[0] if found else None


# ------------------------------------------------------------------------------- claiming


def test_who_claims_has_the_right_and_all_can_see_it(one: Claimant, two: Claimant) -> None:
    claimed = one.claim(1)
    assert (claimed.how, claimed.previous, claimed.waits_for) == ("claim", None, ())
    assert (claimed.lease.holder, claimed.lease.generation, claimed.lease.epoch) == (
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
    assert {n: x.lease.holder for n, x in services.holdings(*two.parts[:3]).items()} == {
        1: "worker-1"
    }


def test_success_means_that_the_remote_has_it(one: Claimant, team: Team) -> None:
    claimed = one.claim(1)
    assert git(team.remote, "rev-parse", "refs/ghp/lease/issue/1") == claimed.lease.revision


def test_an_agent_that_never_beat_is_registered_by_its_claim(team: Team, one: Claimant) -> None:
    new = team.join("worker-9")
    new.sync()
    assert new.claim(1).lease.epoch == 1
    assert new.in_hand == (1, 1, "planning")


def test_who_comes_second_is_refused_and_told_who_has_it(one: Claimant, two: Claimant) -> None:
    one.claim(1)  # the other clone has not heard of it
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert str(caught.value) == (
        f"#1 is claimed by worker-1 since {THEN}; nothing else of it was heard here."
    )
    assert "ghp agent-claim --next" in caught.value.hint
    assert "ghp agent-claim 1 --steal --reason TEXT" in caught.value.hint
    assert two.in_hand[:2] == (None, None)
    assert two.story(1) == []


def test_the_refusal_says_what_the_holder_did_last(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    one.beat(status="testing", lastAction="Ran the\ttests")
    one.sync()
    two.sync()
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert str(caught.value) == (
        f"#1 is claimed by worker-1 since {THEN}; it is active, last: Ran the tests."
    )


def test_claiming_again_changes_nothing(one: Claimant) -> None:
    first = one.claim(1)
    one.beat(status="testing", lastAction="Ran the tests")
    before = one.store.snapshot().revision
    again = one.claim(1)
    assert (again.how, again.mended, again.lease) == ("mine", False, first.lease)
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
    assert one.leaser.list("issue/") == []


def test_an_issue_of_others_is_refused_with_their_names(one: Claimant) -> None:
    issues.assign(one.ws, one.tracker, "1", ["worker-2", "Ann Example"])
    with pytest.raises(RefusedError) as caught:
        one.claim(1)
    assert str(caught.value) == "#1 is assigned to Ann Example, worker-2."
    assert "`ghp agent-issue assign 1 worker-1`" in caught.value.hint
    assert one.leaser.list("issue/") == []
    assert one.claim(1, steal=True, reason="They are away").how == "claim"


def test_an_issue_that_is_mine_among_others_can_be_claimed(one: Claimant) -> None:
    issues.assign(one.ws, one.tracker, "1", ["worker-2", "worker-1"])
    assert one.claim(1).issue.assignees == ("worker-1", "worker-2")


def test_who_claims_another_issue_has_that_one_in_hand_and_keeps_both(one: Claimant) -> None:
    one.new("Write docs")
    one.claim(1)
    touched.take(one.ws.folders, "worker-1", 1, "src/a.py", one.clock.now())
    assert one.claim(2).lease.generation == 1
    assert one.in_hand == (2, 1, "planning")
    assert touched.list_all(one.ws.folders) == []
    assert sorted(services.claims(one.leaser)) == [1, 2]


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
    assert one.claim(1, reason="I know the parser").lease.reason == "I know the parser"
    assert one.story(1) == [("claim", "worker-1", 1, "I know the parser")]


# ------------------------------------------------------------------- dead, stopped, living


def test_a_dead_holders_issue_is_taken_with_the_next_generation(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(DEAD, two)
    taken = two.claim(1)
    assert (taken.how, taken.previous, taken.lease.generation) == ("takeover", "worker-1", 2)
    assert taken.lease.reason == "worker-1 is dead"
    assert taken.issue.assignees == ("worker-2",)
    two.sync()
    one.sync()
    assert one.story(1) == [
        ("claim", "worker-1", 1, ""),
        ("takeover", "worker-2", 2, "worker-1 is dead"),
    ]


def test_a_dead_holder_in_the_same_clone_can_be_replaced_too(team: Team, one: Claimant) -> None:
    one.claim(1)
    team.clock.wait(DEAD)
    mate = team.join("worker-7", "worker-1")
    assert mate.claim(1).how == "takeover"
    assert mate.assignees(1) == ("worker-7",)
    assert [line[:59] for line in fence_lines(one.ws, one.leaser, AgentName("worker-1"))] == [
        "Your claim of #1 was taken: worker-7 holds it since 2025-06"
    ]


def test_a_holder_that_stopped_said_so_and_can_be_replaced_at_once(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.beat(status="stopped")
    one.sync()
    two.sync()
    taken = two.claim(1, reason="It is urgent")
    assert (taken.how, taken.lease.reason) == ("takeover", "worker-1 is stopped: It is urgent")


@pytest.mark.parametrize("silence", [0.0, 900.0])
def test_a_living_holder_keeps_it(team: Team, one: Claimant, two: Claimant, silence: float) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(silence, two)
    with pytest.raises(RefusedError):
        two.claim(1)


def test_a_claim_of_which_this_clone_has_just_heard_is_a_sign_of_life(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.beat(status="planning")
    one.sync()
    two.sync()
    team.silence(DEAD, two)  # the other clone takes it for dead
    one.claim(1)  # it is not; but what it says of itself is not sent yet
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert "claimed by worker-1" in str(caught.value)
    team.silence(DEAD, two)
    assert two.claim(1).how == "takeover"


def test_who_stopped_and_came_back_keeps_what_it_claims_then(one: Claimant, two: Claimant) -> None:
    one.beat(status="stopped")
    one.sync()
    two.sync()
    one.claim(1)
    with pytest.raises(RefusedError):
        two.claim(1)


def test_a_holder_of_which_nothing_was_ever_heard_is_taken_to_live(
    team: Team, one: Claimant
) -> None:
    one.leaser.acquire("issue/1", "worker-8", expected=None, epoch=4)
    team.clock.wait(GONE)
    with pytest.raises(RefusedError):
        one.claim(1)


def test_a_claim_never_expires_under_a_person(team: Team, one: Claimant, two: Claimant) -> None:
    person = team.person("worker-1")
    assert person.claim(1).lease.is_person
    assert person.claim(1).how == "mine"
    person.sync()
    team.silence(GONE, two)
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert str(caught.value) == f"#1 is claimed by Ann Example (a person) since {THEN}."


# --------------------------------------------------------------------------------- steals


def test_a_living_holders_issue_is_taken_only_by_force_and_with_a_reason(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    for reason in ("", "  "):
        with pytest.raises(UsageError):
            two.claim(1, steal=True, reason=reason)
    taken = two.claim(1, steal=True, reason="It must be done today")
    assert (taken.how, taken.previous, taken.lease.generation) == ("steal", "worker-1", 2)
    assert taken.lease.reason == "stolen: It must be done today"
    assert taken.issue.assignees == ("worker-2",)  # of the first's it has not heard yet
    one.sync()
    two.sync()
    one.sync()
    assert one.story(1)[-1] == ("steal", "worker-2", 2, "stolen: It must be done today")
    assert one.assignees(1) == ("worker-2",)
    issues.assign(one.ws, one.tracker, "1", ["worker-1"])
    one.sync()
    assert two.sync().assignees(1) == ("worker-1", "worker-2")  # said on purpose since


def test_a_persons_issue_can_be_taken_by_force_too(team: Team, one: Claimant) -> None:
    team.person("worker-1").claim(1)
    assert one.claim(1, steal=True, reason="Ann is ill").previous == "Ann Example"
    assert one.assignees(1) == ("worker-1",)


def test_who_was_replaced_is_refused_and_told_by_whom(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    two.claim(1, steal=True, reason="It must be done today")
    for guarded in (
        lambda: one.release(1),
        lambda: one.close(1),
        lambda: services.verify(one.ws, one.leaser, "worker-1", 1),
    ):
        with pytest.raises(RefusedError) as caught:
            guarded()
        assert str(caught.value) == (
            f"#1 is claimed by worker-2 since {THEN}: stolen: It must be done today."
        )
    assert one.tracker.get(1).state == "open"
    assert known(two) == one.leaser.read("issue/1")


def test_the_holder_passes_every_guard(one: Claimant) -> None:
    claimed = one.claim(1)
    assert services.verify(one.ws, one.leaser, "worker-1", 1) == claimed.lease


def test_who_went_to_another_clone_and_claimed_there_shuts_its_former_self_out(
    team: Team, one: Claimant
) -> None:
    one.beat()
    one.sync()
    there = team.join("worker-1", "another clone")
    there.sync()
    assert there.claim(1).lease.epoch == 2
    with pytest.raises(RefusedError) as caught:
        one.claim(1)
    assert "that is you, started later in another clone" in str(caught.value)


# ---------------------------------------------------------------------------- without the place


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
    assert two.claim(1).lease.generation == 2


def test_an_issue_made_offline_gets_its_number_first(team: Team, one: Claimant) -> None:
    team.cut()
    made = one.new("Offline")
    assert made.number >= PROVISIONAL
    with pytest.raises(UnknownError) as caught:
        one.claim(made.number)
    assert "has no number of its own" in str(caught.value)
    team.mend()
    claimed = one.claim(made.number)
    assert (claimed.issue.number, claimed.lease.name) == (2, "issue/2")
    assert not one.release(2).previous


# ------------------------------------------------------------------------------ killed half-way


class KilledError(BaseException):
    """The process ends here."""


class DyingStore(GitRefsStore):
    """A store whose process is killed when it has committed so many records more."""

    left = 99

    def commit(self, records: Sequence[Record], expected: str) -> None:
        if self.left == 0:
            raise KilledError
        super().commit(records, expected)
        self.left -= 1


def dying(one: Claimant, after: int) -> Claimant:
    """The same agent in a process that is killed after so many commits."""
    twin = Claimant(Path(one.ws.place.toplevel or ""), one.name, one.clock)
    twin.store = DyingStore(one.ws)
    twin.store.left = after
    twin.tracker = LocalTracker(twin.ws, twin.store, twin.leaser)
    twin.parts = (twin.ws, twin.store, twin.leaser, twin.tracker)
    return twin


@pytest.mark.parametrize("after", [0, 1])
def test_a_claim_that_was_killed_half_way_is_shown_by_the_next_one(
    team: Team, one: Claimant, two: Claimant, after: int
) -> None:
    two.claim(1)
    two.beat(status="stopped")
    two.sync()
    one.sync()
    with pytest.raises(KilledError):
        dying(one, after).claim(1)
    assert one.leaser.read("issue/1") == known(one)
    again = one.claim(1)
    assert (again.how, again.mended, again.previous) == ("mine", True, "worker-2")
    assert one.assignees(1) == ("worker-1",)
    assert one.in_hand == (1, 2, "planning")
    assert one.story(1)[-1] == ("takeover", "worker-1", 2, "worker-2 is stopped")
    assert one.claim(1) == again._replace(previous=None, mended=False)
    assert [event for event, *_ in one.story(1)].count("takeover") == 1


def test_a_claim_whose_answer_was_lost_is_found_to_be_mine(team: Team, one: Claimant) -> None:
    one.beat()
    # The remote wrote it, and the process died before it heard of it.
    made = GitRefLeaser(team.join("worker-2").ws).acquire(
        "issue/1", "worker-1", expected=None, epoch=1
    )
    assert known(one) is None
    claimed = one.claim(1)
    assert (claimed.how, claimed.mended, claimed.lease.nonce) == ("mine", True, made.nonce)
    assert one.story(1) == [("claim", "worker-1", 1, "")]
    assert one.assignees(1) == ("worker-1",)


@pytest.mark.parametrize("after", [0, 1])
def test_a_release_that_was_killed_half_way_is_shown_by_the_next_one(
    one: Claimant, after: int
) -> None:
    one.claim(1)
    with pytest.raises(KilledError):
        dying(one, after).release(1)
    assert not one.release(1).changed
    assert one.in_hand == (None, None, "idle")
    assert one.assignees(1) == ()
    assert one.story(1)[-1] == ("release", "worker-1", 1, "")
    issues.assign(one.ws, one.tracker, "1", ["worker-1"])
    assert not one.release(1).changed
    assert one.assignees(1) == ("worker-1",)  # given to it since: nothing is left to be shown


@pytest.mark.parametrize("after", [0, 1])
def test_a_gift_that_was_killed_half_way_is_shown_by_the_next_one(
    one: Claimant, after: int
) -> None:
    one.claim(1)
    with pytest.raises(KilledError):
        dying(one, after).release(1, to="worker-2")
    assert not one.release(1, to="worker-2").changed
    assert one.assignees(1) == ("worker-2",)
    assert one.story(1)[-1] == ("release", "worker-1", 2, "to worker-2; given by worker-1")


# ------------------------------------------------------------------------------ giving back


def test_who_gives_it_back_has_nothing_in_hand_and_anybody_may_take_it(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    touched.take(one.ws.folders, "worker-1", 1, "src/a.py", one.clock.now())
    released = one.release(1, reason="It is too large")
    assert (released.changed, released.previous) == (True, None)
    assert one.in_hand == (None, None, "idle")
    assert one.presence["lastAction"] == "Released #1"
    assert one.assignees(1) == ()
    assert touched.list_all(one.ws.folders) == []
    assert one.story(1)[-1] == ("release", "worker-1", 1, "It is too large")
    assert two.claim(1).lease.generation == 2


def test_giving_back_what_nobody_holds_changes_nothing(one: Claimant) -> None:
    assert not one.release(1).changed
    one.claim(1)
    assert one.release(1).changed
    before = one.store.snapshot().revision
    assert not one.release(1).changed
    assert one.store.snapshot().revision == before


def test_who_works_on_something_else_goes_on_with_that(one: Claimant) -> None:
    one.new("Write docs")
    one.claim(1)
    one.claim(2)
    one.beat(status="testing")
    assert one.release(1).changed
    assert one.in_hand == (2, 1, "testing")


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


def test_a_person_may_give_back_what_anybody_holds(team: Team, one: Claimant) -> None:
    one.claim(1)
    assert team.person("worker-1").release(1, reason="Not needed").previous == "worker-1"
    assert one.story(1)[-1] == ("release", "Ann Example", 1, "Not needed; held by worker-1")
    assert one.in_hand == (1, 1, "planning")  # its presence is its own; it is told
    with pytest.raises(RefusedError) as caught:
        one.close(1)
    assert str(caught.value) == "Nobody holds #1. It was given back: Not needed."


def test_an_orchestrator_may_too(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    (two.ws.root / ".ghp").mkdir(exist_ok=True)
    (two.ws.root / ".ghp/config.json").write_text('{"agents": {"orchestrators": ["worker-2"]}}')
    director = Claimant(Path(two.ws.place.toplevel or ""), "worker-2", two.clock)
    assert director.release(1).previous == "worker-1"


def test_an_agent_cannot_give_back_what_a_person_holds(
    team: Team, one: Claimant, two: Claimant
) -> None:
    team.person("worker-1").claim(1)
    team.silence(GONE, two)
    with pytest.raises(RefusedError):
        two.release(1)


def test_an_issue_is_given_to_another_in_one_step(one: Claimant, two: Claimant) -> None:
    two.beat()
    two.sync()
    one.sync()
    one.claim(1)
    given = one.release(1, to="worker-2", reason="You know it")
    assert given.lease
    assert (given.lease.holder, given.lease.generation, given.lease.epoch) == ("worker-2", 2, 1)
    assert one.in_hand == (None, None, "idle")
    assert one.assignees(1) == ("worker-2",)
    assert one.story(1)[-1] == ("release", "worker-1", 2, "to worker-2; You know it")
    two.sync()
    one.sync()
    two.sync()
    assert services.verify(two.ws, two.leaser, "worker-2", 1) == given.lease
    took = two.claim(1)
    assert (took.how, took.lease) == ("mine", given.lease)
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


# -------------------------------------------------------------------------------- closing


def test_the_holder_closes_its_issue_and_its_claim_ends(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    assert one.close(1, "Merged").state == "closed"
    assert one.in_hand == (None, None, "idle")
    assert one.assignees(1) == ("worker-1",)  # who did it
    lease = one.leaser.read("issue/1")
    assert lease
    assert (lease.holder, lease.reason) == (None, "closed")
    assert one.close(1).state == "closed"
    assert one.story(1)[-1] == ("release", "worker-1", 1, "closed")


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


def test_what_nobody_claimed_is_closed_without_asking_anybody(team: Team, one: Claimant) -> None:
    team.cut()
    assert one.close(1).state == "closed"


# ------------------------------------------------------------------------------- the next


def titles_in_turn(who: Claimant, count: int) -> list[str]:
    taken: list[str] = []
    for _ in range(count):
        claimed = who.claim_next()
        taken.append(claimed.issue.title)
        who.close(claimed.issue.number)
    return taken


def test_the_next_is_mine_then_assigned_to_me_then_urgent_then_old(one: Claimant) -> None:
    one.new("Low", priority="low")
    one.new("Urgent", priority="critical")
    one.new("For me", priority="low", add_assignees=("worker-1",))
    one.new("For another", priority="critical", add_assignees=("worker-2",))
    one.new("Waits", blocked_by=(2,), priority="critical")
    one.new("Mine", priority="low")
    one.claim(7)
    assert titles_in_turn(one, 6) == ["Mine", "For me", "Urgent", "Parse files", "Low", "Waits"]
    with pytest.raises(RefusedError) as caught:
        one.claim_next()
    assert str(caught.value) == "No issue is ready: 1 is assigned to worker-2."


def test_the_next_again_is_the_same_until_it_is_done(one: Claimant) -> None:
    one.new("Second")
    first = one.claim_next()
    again = one.claim_next()
    assert (first.issue.number, first.how) == (1, "claim")
    assert (again.issue.number, again.how) == (1, "mine")


def test_an_issue_of_mine_that_waits_is_not_the_next(one: Claimant) -> None:
    one.new("Blocks it", priority="low")
    one.claim(1)
    issues.block(one.ws, one.tracker, "1", ["2"])
    assert one.claim_next().issue.number == 2


def test_the_next_fits_what_the_agent_can(one: Claimant) -> None:
    one.new("On a GPU", add_labels=("needs:gpu",), priority="critical")
    one.new("In Rust", body="### Capabilities\n\nrust, tests", priority="high")
    (one.ws.root / ".ghp").mkdir(exist_ok=True)
    (one.ws.root / ".ghp/config.json").write_text(
        '{"agents": {"capabilities": {"worker-1": ["Rust", "tests"]}}}'
    )
    able = Claimant(Path(one.ws.place.toplevel or ""), "worker-1", one.clock)
    assert titles_in_turn(able, 2) == ["In Rust", "Parse files"]
    with pytest.raises(RefusedError) as caught:
        able.claim_next()
    assert str(caught.value) == "No issue is ready: 1 is in need of gpu."


def test_who_loses_a_race_for_the_next_gets_the_one_after(one: Claimant, two: Claimant) -> None:
    one.new("Second")
    one.sync()
    two.sync()
    one.claim(1)  # of which the other has not heard
    assert two.claim_next().issue.number == 2
    assert two.story(1) == []


def test_where_all_is_taken_it_says_by_whom(one: Claimant, two: Claimant) -> None:
    one.new("Second", blocked_by=(1,))
    one.sync()
    two.sync()
    one.claim(1)
    with pytest.raises(RefusedError) as caught:
        two.claim_next()
    assert str(caught.value) == (
        "No issue is ready: 1 is blocked by another, 1 is claimed by worker-1."
    )


def test_where_no_issue_is_open_it_says_so(repo: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        Claimant(repo, "worker-1", ManualClock()).claim_next()
    assert str(caught.value) == "No issue is ready: none is open."


def test_what_was_given_back_of_which_this_clone_has_not_heard_is_ready(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    one.release(1)
    one.sync()
    with pytest.raises(RefusedError) as caught:
        two.claim_next()  # the right is free, but for all it knows the issue is still assigned
    assert str(caught.value) == "No issue is ready: 1 is assigned to worker-1."
    two.sync()
    assert two.claim_next().how == "claim"


def test_the_next_may_be_a_dead_holders_but_not_one_that_has_just_stopped(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.beat(status="stopped")
    one.sync()
    two.sync()
    with pytest.raises(RefusedError) as caught:
        two.claim_next()
    assert str(caught.value) == "No issue is ready: 1 is claimed by worker-1."
    team.silence(DEAD, two)
    assert two.claim_next().how == "takeover"


def test_a_person_can_have_the_next_too(team: Team, one: Claimant) -> None:
    one.new("On a GPU", add_labels=("needs:gpu",), priority="critical")
    person = team.person("worker-1")
    claimed = person.claim_next()
    assert (claimed.issue.number, claimed.lease.holder) == (2, "Ann Example")
    assert person.tracker.change(2, IssueChange(), person.ws.actor()).assignees == ("Ann Example",)
