"""What every forge does. A test class inherits it and says how its forge is made."""

from abc import ABC, abstractmethod
from typing import Any

import pytest

from ghp_agents.core.errors import NotFoundError, RefusedError, UsageError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.ports import Forge
from ghp_agents.pulls.pull import (
    BODY_LIMIT,
    Checks,
    MergeConflictError,
    MergeStep,
    NewPull,
    Pull,
    PullChange,
    PullMovedError,
    Sent,
)
from tests.support.clock import ManualClock

ANN = Actor("Ann Example", is_person=True)
WORKER = Actor("worker-1")
BEGIN = Timestamp("2025-06-15T15:06:40Z")
LATER = Timestamp("2025-06-15T15:07:40Z")


class Site(ABC):
    """A forge with the branches that it is about."""

    @property
    @abstractmethod
    def forge(self) -> Forge:
        """A new one on the same pull requests each time."""

    @abstractmethod
    def work(self, branch: str) -> str:
        """One more commit on a branch, which begins at the trunk; answers it."""

    @abstractmethod
    def spoil(self, branch: str) -> str:
        """Like `work`, but what is on the branch conflicts with the trunk then."""

    @property
    @abstractmethod
    def trunk(self) -> str:
        """Where the trunk is."""

    def joined(self, below: str, head: str) -> str:
        """A commit that merges `head` into the commit `below`; only where clones merge."""
        raise NotImplementedError

    @abstractmethod
    def has(self, commit: str) -> bool:
        """Whether the trunk has a commit, or what it changes."""


class ForgeContract:
    """Inherit it, with a fixture `site`, on the clock of the fixture `clock`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    def opened(self, site: Site, branch: str = "agent/one", **fields: Any) -> Pull:
        new = NewPull(branch, "main", site.work(branch), "Parse files", "What and why")
        return site.forge.open(new._replace(**fields), WORKER)

    def test_a_new_forge_has_no_pull_requests(self, site: Site) -> None:
        assert site.forge.list(closed=True) == []
        assert site.forge.find("agent/one") is None
        with pytest.raises(NotFoundError, match="no pull request #7"):
            site.forge.get(7)

    def test_what_is_opened_is_as_it_was_said(self, site: Site) -> None:
        head = site.work("agent/one")
        new = NewPull("agent/one", "main", head, "Parse files", "Closes #3", issue=3, draft=True)
        opened = site.forge.open(new, WORKER)
        same = opened._replace(author="", created_at=BEGIN, updated_at=BEGIN, url="")
        assert same == Pull(
            opened.number, "agent/one", "main", head, "Parse files", "Closes #3", 3, True,
            created_at=BEGIN, updated_at=BEGIN, sent=Sent(head, WORKER),
        )  # fmt: skip
        assert site.forge.get(opened.number) == opened
        assert site.forge.find("agent/one") == opened
        assert site.forge.list() == [opened]

    def test_opened_again_it_is_the_same_brought_up_to_date(self, site: Site) -> None:
        first = self.opened(site, draft=True)
        head = site.work("agent/one")
        again = site.forge.open(
            NewPull("agent/one", "main", head, "Parse all files", "More"), WORKER
        )
        assert (again.number, again.head, again.title, again.body, again.draft) == (
            first.number, head, "Parse all files", "More", False,
        )  # fmt: skip
        assert [pull.number for pull in site.forge.list(closed=True)] == [first.number]

    def test_who_opened_it_last_vouches_for_its_head(self, site: Site) -> None:
        first = self.opened(site)
        new = NewPull("agent/one", "main", first.head, "Parse files", "What and why")
        again = site.forge.open(new, ANN)
        assert (first.sent, again.sent) == (Sent(first.head, WORKER), Sent(first.head, ANN))
        assert (again.number, again.author) == (first.number, first.author)
        assert site.forge.change(first.number, PullChange(title="More"), WORKER).sent == again.sent

    def test_two_branches_have_two(self, site: Site) -> None:
        one, two = self.opened(site), self.opened(site, "agent/two")
        assert one.number != two.number
        assert site.forge.list() == [one, two]
        assert site.forge.find("agent/two") == two

    def test_a_change_changes_what_it_says_and_nothing_else(self, site: Site) -> None:
        opened = self.opened(site)
        changed = site.forge.change(opened.number, PullChange(title="Read files"), ANN)
        assert changed._replace(updated_at=BEGIN) == opened._replace(
            title="Read files", updated_at=BEGIN
        )

    def test_what_is_so_already_stays_as_it_is(self, site: Site) -> None:
        opened = self.opened(site)
        assert (
            site.forge.change(opened.number, PullChange(title=opened.title, draft=False), ANN)
            == opened
        )

    def test_what_was_closed_makes_room_for_a_new_one(self, site: Site) -> None:
        opened = self.opened(site)
        closed = site.forge.change(opened.number, PullChange(state="closed"), ANN)
        assert closed.state == "closed"
        assert site.forge.list() == []
        assert site.forge.find("agent/one") == closed
        new = self.opened(site)
        assert new.number != opened.number
        assert site.forge.find("agent/one") == new

    @pytest.mark.parametrize(
        ("new", "why"),
        [
            (NewPull("main", "main", "a" * 40, "Title"), "main is the main branch."),
            (NewPull("", "main", "a" * 40, "Title"), "A pull request needs a branch"),
            (NewPull("agent/one", "main", "a" * 40, " \n"), "The title is empty."),
        ],
    )
    def test_what_no_forge_takes_is_refused(self, site: Site, new: NewPull, why: str) -> None:
        with pytest.raises(UsageError, match=why):
            site.forge.open(new, WORKER)
        assert site.forge.list(closed=True) == []

    def test_a_body_that_is_too_long_is_cut(self, site: Site) -> None:
        opened = self.opened(site, body="x" * (BODY_LIMIT + 1))
        assert BODY_LIMIT - 1_000 < len(opened.body) <= BODY_LIMIT
        assert opened.body.endswith("x\n…")

    # ------------------------------------------------------------------------ merging

    def test_what_is_merged_is_on_the_trunk_and_says_so(self, site: Site) -> None:
        opened, before = self.opened(site), site.trunk
        merged = site.forge.merge(opened.number, ANN, head=opened.head, onto=before)
        assert (merged.state, merged.head) == ("merged", opened.head)
        assert site.has(opened.head)
        assert site.trunk == merged.merged_as
        assert site.forge.get(opened.number) == merged
        assert site.forge.list() == []
        assert site.forge.list(closed=True) == [merged]

    def test_what_is_merged_stays_so(self, site: Site) -> None:
        opened = self.opened(site)
        merged = site.forge.merge(opened.number, ANN, head=opened.head)
        trunk = site.trunk
        assert site.forge.merge(opened.number, WORKER, head=opened.head) == merged
        changed = site.forge.change(opened.number, PullChange(state="closed", draft=True), ANN)
        assert (changed.state, changed.draft) == ("merged", False)
        assert site.trunk == trunk

    def test_a_branch_that_moved_is_not_merged(self, site: Site) -> None:
        opened, before = self.opened(site), site.trunk
        head = site.work("agent/one")
        with pytest.raises(PullMovedError) as moved:
            site.forge.merge(opened.number, ANN, head=opened.head)
        assert moved.value.pull.number == opened.number
        assert (site.trunk, site.forge.get(opened.number).state) == (before, "open")
        assert site.forge.merge(opened.number, ANN, head=head).state == "merged"

    def test_a_trunk_that_moved_is_not_merged_into_where_that_can_be_told(self, site: Site) -> None:
        one, two = self.opened(site), self.opened(site, "agent/two")
        before = site.trunk
        site.forge.merge(one.number, ANN, head=one.head, onto=before)
        if not site.forge.is_local:
            return  # a host compares the branch only
        with pytest.raises(PullMovedError, match="main has moved"):
            site.forge.merge(two.number, ANN, head=two.head, onto=before)
        assert site.forge.merge(two.number, ANN, head=two.head, onto=site.trunk).state == "merged"

    def test_a_draft_and_a_closed_one_are_not_merged(self, site: Site) -> None:
        opened, before = self.opened(site, draft=True), site.trunk
        with pytest.raises(RefusedError, match="is a draft"):
            site.forge.merge(opened.number, ANN, head=opened.head)
        site.forge.change(opened.number, PullChange(draft=False, state="closed"), ANN)
        with pytest.raises(RefusedError, match="is closed"):
            site.forge.merge(opened.number, ANN, head=opened.head)
        assert site.trunk == before

    def test_what_conflicts_is_not_merged(self, site: Site) -> None:
        new = NewPull("agent/one", "main", site.spoil("agent/one"), "Parse files")
        opened, before = site.forge.open(new, WORKER), site.trunk
        with pytest.raises(MergeConflictError):
            site.forge.merge(opened.number, ANN, head=opened.head)
        assert (site.trunk, site.forge.get(opened.number).state) == (before, "open")

    # ----------------------------------------------------------------- merging several

    def steps(self, site: Site) -> list[MergeStep]:
        """Two pull requests and the commits that merge them one on top of the other."""
        one, two = self.opened(site), self.opened(site, "agent/two")
        first = site.joined(site.trunk, one.head)
        return [
            MergeStep(one.number, one.head, first, ("one.txt",)),
            MergeStep(two.number, two.head, site.joined(first, two.head)),
        ]

    def test_several_are_merged_by_one_update(self, site: Site) -> None:
        if not site.forge.is_local:
            with pytest.raises(RefusedError, match="cannot merge several"):
                site.forge.merge_all([], ANN, onto=site.trunk)
            return
        before, steps = site.trunk, self.steps(site)
        merged = site.forge.merge_all(steps, ANN, onto=before)
        assert [(x.state, x.head, x.merged_as) for x in merged] == [
            ("merged", step.head, step.commit) for step in steps
        ]
        assert site.trunk == steps[-1].commit
        assert site.forge.list() == []
        assert site.forge.list(closed=True) == merged

    def test_of_several_none_is_merged_if_one_has_moved(self, site: Site) -> None:
        if not site.forge.is_local:
            return
        before, steps = site.trunk, self.steps(site)
        with pytest.raises(PullMovedError, match="main has moved"):
            site.forge.merge_all(steps, ANN, onto=steps[0].head)
        site.work("agent/two")
        with pytest.raises(PullMovedError, match="agent/two has moved"):
            site.forge.merge_all(steps, ANN, onto=before)
        assert site.trunk == before
        assert len(site.forge.list()) == 2

    def test_no_host_has_checked_anything_yet(self, site: Site) -> None:
        assert site.forge.checks(self.opened(site)) == Checks()
