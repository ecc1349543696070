"""Compaction: what has ended long ago leaves a clone's tip, and nobody can tell but by the time."""

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, CloneId, IssueNumber, Timestamp
from ghp_agents.escalations import record as question_record
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.escalations.escalation import Answer, Escalation, Question
from ghp_agents.issues import record as issue_record
from ghp_agents.issues import replay
from ghp_agents.issues.issue import IssueChange
from ghp_agents.issues.local import LocalTracker
from ghp_agents.leases import record as lease_record
from ghp_agents.ports import Context
from ghp_agents.state.join import join_files, leaving
from ghp_agents.state.private_repo import find_repository, open_repository
from ghp_agents.sync import compaction
from ghp_agents.sync.service import sync
from ghp_agents.wiring import App
from tests.contracts.absorption import joined
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.repos import Restored, Site

ADA, WORKER = Actor("Ada", is_person=True), Actor("worker-1")
AT = Timestamp("2026-01-02T03:04:05Z")
WEEK = 604_800.0
LEASES, ISSUES = lease_record.FOLDER, issue_record.FOLDER
Clones = Callable[[int], list[Path]]
Files = Mapping[str, bytes]


# ------------------------------------------------------------------------- the law, for any history


@dataclass(frozen=True)
class Tip:
    """What a clone's tip has, and what left it."""

    present: Files = field(default_factory=dict)
    settled: Files = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """The state as one clone knows it."""

    tips: tuple[Tip, ...]

    @cached_property
    def derived(self) -> dict[Hashable, Any]:
        """What was made of it."""
        return {}

    def present(self, prefix: str) -> Files:
        """The records at the tips."""
        return _below(join_files(tip.present for tip in self.tips), [prefix])

    def settled(self, prefixes: Collection[str]) -> Files:
        """The records that left a tip."""
        return _below(join_files(tip.settled for tip in self.tips), prefixes)

    def files(self, prefix: str) -> Files:
        """All."""
        return join_files([self.present(prefix), self.settled([prefix])])

    def snapshot(self, at: float | None = None) -> "View":
        """A view is a store that never changes."""
        return self


def _below(files: Files, prefixes: Collection[str]) -> Files:
    return {path: data for path, data in files.items() if path.startswith(tuple(prefixes))}


class Team:
    """Three clones that write, compact and sync in any order."""

    def __init__(self) -> None:
        self.own = [Tip() for _ in range(3)]
        self.remote = [Tip() for _ in range(3)]
        self.seen = [[Tip() for _ in range(3)] for _ in range(3)]
        self.written: dict[str, bytes] = {}
        self.clock = 0

    def view(self, clone: int) -> View:
        """What a clone knows: its own tip, and the others as of its last sync."""
        others = [tip for number, tip in enumerate(self.seen[clone]) if number != clone]
        return View((self.own[clone], *others))

    def step(self, clone: int, what: str, number: int) -> None:
        """One step of a clone, about a subject."""
        self.clock += 1
        if what == "sync":
            self.remote[clone] = self.own[clone]
            self.seen[clone] = [*self.remote]
        elif what == "compact":
            self._compact(clone)
        else:
            view = self.view(clone)
            new = dict(_records(view, self.written, f"c{clone}", what, number, self.clock))
            tip = self.own[clone]
            self.own[clone] = replace(tip, present={**tip.present, **new})
            self.written |= new

    def _compact(self, clone: int) -> None:
        view, tip = self.view(clone), self.own[clone]
        questions = question_record.settled(view.files(".ghp/"), math.inf)
        subjects = [
            *lease_record.settled(view.files(LEASES), math.inf),
            *replay.settled(view.files(ISSUES), math.inf),
            *(parts for _, parts in questions),
        ]
        others = {path for other in view.tips[1:] for path in other.present}
        left = leaving(subjects, tip.present.keys(), others, 100)
        gone = {path: data for path, data in tip.present.items() if path in left}
        kept = {path: data for path, data in tip.present.items() if path not in left}
        self.own[clone] = Tip(kept, {**tip.settled, **gone})


def _records(
    view: View, written: Files, clone: str, what: str, number: int, clock: int
) -> list[tuple[str, bytes]]:
    """The records of a step; none if a clone does not know its subject. An id is given once."""
    subject, identity = f"aaaaaaaa000{number}", f"{clock:08x}"
    kind, _, detail = what.partition(" ")
    first = {
        "lease": f"{LEASES}{subject}/{subject}.json",
        "question": question_record.path_of(subject),
        "issue": f"{ISSUES}{subject}/{subject}.json",
    }[kind]
    is_new = detail in ("request", "ask", "create")
    if (first in written) if is_new else (first not in view.files(first)):
        return []
    if kind == "lease":
        lease = lease_record.LeaseEvent(
            subject, subject, "request", clock, CloneId(clone), AT, WORKER, WORKER,
            patterns=("/src/",), granted=True,
        )  # fmt: skip
        if not is_new:
            lease = lease_record.follow(lease, detail, WORKER, AT, clock, CloneId(clone))
        return [(lease.path, lease_record.encode(lease))]
    if detail == "ask":
        question = Escalation(subject, Question("worker-1", "Why?"), AT, clock, CloneId(clone))
        return [(first, question_record.render(question))]
    if kind == "question":
        by = ADA if detail == "answer" else WORKER
        answer = Answer(identity, subject, by, "So.", AT, clock, CloneId(clone))
        path = question_record.answer_path_of(subject, identity)
        return [(path, question_record.render_answer(answer))]
    identity = subject if is_new else identity
    named = {"create": "create", "comment": "comment"}.get(detail, "change")
    event = issue_record.IssueEvent(subject, identity, named, clock, CloneId(clone), AT, ADA)
    event = _issue_event(event, detail, number)
    return [(event.path, issue_record.encode(event))]


def _issue_event(event: issue_record.IssueEvent, what: str, number: int) -> issue_record.IssueEvent:
    other = f"aaaaaaaa000{(number + 1) % 3}"
    fields: dict[str, dict[str, Any]] = {
        "create": {"number": IssueNumber(number + 1), "texts": {"title": "A"}},
        "close": {"texts": {"state": "closed"}},
        "reopen": {"texts": {"state": "open"}},
        "comment": {"body": "Well."},
        "block": {"added": {"blockedBy": (other,)}},
        "part": {"texts": {"parent": other}},
    }
    return event._replace(**fields[what])


WHAT = (
    *("sync", "sync", "compact", "compact", "lease request", "lease renew", "lease release"),
    *("issue create", "issue create", "issue close", "issue close", "issue reopen"),
    *("issue comment", "issue block", "issue part"),
    *("question ask", "question answer", "question advise"),
)
STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(WHAT), st.integers(0, 2)))


@pytest.mark.slow
@given(STEPS.filter(lambda steps: len(steps) > 4))
def test_whoever_compacted_the_state_is_equal(steps: list[tuple[int, str, int]]) -> None:
    team = Team()
    for step in [*steps, (0, "sync", 0), (1, "sync", 0), (0, "sync", 0)]:
        team.step(*step)
        for clone in range(3):
            _check(team.view(clone))
    for _ in range(2):
        for clone in range(3):
            team.step(clone, "sync", 0)
    for clone in range(3):
        assert dict(team.view(clone).files(".ghp/")) == team.written


def _check(view: View) -> None:
    """What commands about the present show is what the whole state says."""
    tracker = LocalTracker(*(cast(Any, part) for part in (None, view, None)))
    everything = replay.fold(replay.read_events(view.files(ISSUES)))
    opened = [issue for issue in everything if issue.state != "closed"]
    assert tracker.list() == opened
    for issue in everything:
        assert tracker.get(issue.number) == issue
    for read in (view.files, view.present):
        leases = lease_record.read_leases(read(LEASES))[0]
        questions = question_record.read(read(".ghp/"))[0]
        ongoing = [x for x in leases if x.is_open], [x for x in questions if x.is_open]
        assert ongoing == _ongoing(view)


def _ongoing(view: View) -> tuple[list[object], list[object]]:
    leases = lease_record.read_leases(view.files(LEASES))[0]
    questions = question_record.read(view.files(".ghp/"))[0]
    return [x for x in leases if x.is_open], [x for x in questions if x.is_open]


# ---------------------------------------------------------------------------------------- in git


class Office:
    """Clones of one remote, on one clock, each used by people and by an agent."""

    def __init__(self, folders: list[Path]) -> None:
        self.clock = ManualClock()
        self.folders = folders

    def app(self, clone: int, name: str | None = None) -> App:
        """One more process in a clone."""
        environ = {"GHP_BACKGROUND": "0", "HOME": str(self.folders[0].parent)}
        return App(self.folders[clone], environ, name=name, clock=self.clock)

    def sync(self, *order: int) -> None:
        """Sync in this order."""
        for clone in order:
            self.app(clone).store.sync()

    def work(self) -> None:
        """An issue of the first clone is done in the second; one more stays open."""
        person, agent = self.app(0), self.app(1, "worker-1")
        person.tracker.create(IssueChange(title="Parse the input"), ADA)
        person.tracker.create(IssueChange(title="Show the output"), ADA)
        self.sync(0, 1)
        question = escalation.escalate(agent, "Which format?", issue=1).escalation
        self.sync(1, 0)
        escalation.answer(person, question.name, "The short one.")
        person.tracker.comment(1, "The format is in the wiki.", ADA)
        self.sync(0, 1)
        news = escalation.news_for(agent.world, agent.ws.agent())
        mark_told(agent.ws, agent.ws.agent(), [item.answer.id for item in news])
        agent.tracker.change(1, IssueChange(state="closed"), WORKER)
        self.sync(1, 0)

    def compact(self, *order: int) -> list[int]:
        """Sync, compact everything that has ended, and sync."""
        counts: list[int] = []
        for clone in order:
            self.sync(clone)
            counts.append(compaction.compact(self.app(clone), self.clock.now() + 1))
            self.sync(clone)
        return counts


@pytest.fixture
def office(restored: Restored) -> Office:
    return Office([*restored(worked).clones])


@pytest.fixture
def remote(office: Office) -> Path:
    """The remote of its clones."""
    return office.folders[0].parent / "remote.git"


def worked(site: Site) -> None:
    Office([*site.make_clones()]).work()


def paths(folder: Path) -> list[str]:
    """The paths at a clone's tip."""
    repository = find_repository(App(folder, {}).ws)
    assert repository
    return git(repository.path, "ls-tree", "-r", "--name-only", repository.ref).splitlines()


def kinds(folder: Path) -> list[str]:
    """The kinds of the records at a clone's tip."""
    return sorted({path.split("/")[1] for path in paths(folder)})


def everything(app: App) -> tuple[object, ...]:
    """All that commands can know."""
    return joined(app.store), app.store.ledger(), app.tracker.list(closed=True), app.tracker.list()


@pytest.mark.slow
def test_state_ledger_and_lists_are_equal_after_each_step_of_a_compaction(office: Office) -> None:
    before = everything(office.app(0))
    assert everything(office.app(1)) == before
    assert office.compact(1, 0, 1) == [2, 4, 1]
    for clone in (0, 1):
        assert everything(office.app(clone)) == before
    office.sync(0)
    assert everything(office.app(0)) == before
    assert kinds(office.folders[0]) == ["issues", "settled.json"]
    assert kinds(office.folders[1]) == ["settled.json"]
    assert office.compact(0, 1, 0) == [0, 0, 0]


@pytest.mark.slow
def test_a_fresh_clone_has_the_same_log_and_state(office: Office, clones: Clones) -> None:
    before = everything(office.app(0))
    office.compact(1, 0, 1)
    office.folders += clones(1)
    office.sync(2)
    assert everything(office.app(2)) == before
    git(find_repository(office.app(2).ws).path, "fsck", "--strict", "--no-dangling")  # type: ignore[union-attr]


@pytest.mark.slow
def test_the_past_is_as_it_was_before_and_after_a_compaction(office: Office) -> None:
    office.clock.wait(10)
    then = office.clock.now()
    before = joined_at(office.app(0), then)
    office.clock.wait(10)
    office.compact(1, 0, 1)
    office.sync(0)
    office.clock.wait(10)
    assert joined_at(office.app(0), then) == before
    assert joined_at(office.app(0), office.clock.now()) == before


def joined_at(app: App, at: float) -> object:
    """The state at a time."""
    snapshot = app.store.snapshot(at)
    tracker = app.past(at).tracker
    return dict(snapshot.files(".ghp/")), tracker.list(closed=True), tracker.list()


@pytest.mark.slow
def test_an_issue_that_is_reopened_is_shown_whole(office: Office) -> None:
    office.compact(1, 0, 1)
    office.app(1).tracker.change(1, IssueChange(state="open"), ADA)
    office.sync(1, 0)
    app = office.app(0)
    (issue, _) = app.tracker.list()
    assert issue == app.tracker.get(1) == app.tracker.list(closed=True)[0]
    assert (issue.title, issue.state) == ("Parse the input", "open")
    assert "The format is in the wiki." in [comment.body for comment in issue.comments]


@pytest.mark.slow
def test_a_process_that_dies_before_the_ref_moves_changes_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, tip = everything(office.app(1)), paths(office.folders[1])
    with monkeypatch.context() as patch:
        patch.setattr("ghp_agents.state.git.compact.heal", _die)
        with pytest.raises(KeyboardInterrupt):
            office.compact(1)
    assert (everything(office.app(1)), paths(office.folders[1])) == (before, tip)
    assert office.compact(1) == [2]
    assert everything(office.app(1)) == before


def _die(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_who_writes_meanwhile_wins_and_the_next_compaction_goes_on(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:

    def rival(*_: object) -> None:
        other = open_repository(office.app(1).ws)
        head = other.commit_at(other.ref)
        empty = git(
            other.path, "commit-tree", f"{head}^{{tree}}", "-p", str(head), stdin="Clock: 99"
        )
        git(other.path, "update-ref", other.ref, empty)

    before = joined(office.app(1).store)
    with monkeypatch.context() as patch:
        patch.setattr("ghp_agents.state.git.compact.heal", rival)
        assert compaction.compact(office.app(1), office.clock.now() + 1) == 0
    assert compaction.compact(office.app(1), office.clock.now() + 1) == 2
    assert joined(office.app(1).store) == before


@pytest.mark.slow
def test_a_clone_that_compacted_can_be_absorbed(office: Office) -> None:
    office.compact(1, 0, 1)
    office.sync(0)
    before = everything(office.app(0))[2:]
    files = dict(office.app(0).store.snapshot().files(".ghp/"))
    store = office.app(0).store
    tip = next(t for t in store.snapshot().tips() if t.clone != store.snapshot().clone)
    assert office.app(0).store.absorb_clones([tip], ADA).absorbed == (tip.clone,)
    assert dict(office.app(0).store.snapshot().files(".ghp/")) == files
    assert everything(office.app(0))[2:] == before
    assert git(absorbed(office), "rev-list", "--count", tip.oid) != "0"


def absorbed(office: Office) -> Path:
    """The private repository of the first clone."""
    return open_repository(office.app(0).ws).path


@pytest.mark.slow
def test_an_answer_that_its_agent_has_not_read_does_not_leave(restored: Restored) -> None:
    office = Office([*restored(Site.make_clones).clones])
    office.sync(0, 1)
    agent, person = office.app(1, "worker-1"), office.app(0)
    question = escalation.escalate(agent, "Which format?").escalation
    office.sync(1, 0)
    escalation.answer(person, question.name, "The short one.")
    office.sync(0, 1)
    assert office.compact(1, 0) == [0, 0]
    news = escalation.news_for(agent.world, agent.ws.agent())
    assert [item.answer.text for item in news] == ["The short one."]
    mark_told(agent.ws, agent.ws.agent(), [item.answer.id for item in news])
    assert office.compact(1, 0) == [1, 1]
    questions, problems = escalation.read_all(office.app(1).world)
    assert ([item.is_open for item in questions], problems) == ([False], [])


# ------------------------------------------------------------------------------------- when


@pytest.mark.slow
def test_the_background_compacts_what_is_older_than_the_setting_once_a_day(office: Office) -> None:
    tips = [len(paths(folder)) for folder in office.folders]
    sync(office.app(1), paced=True)
    assert [len(paths(folder)) for folder in office.folders] == tips
    office.clock.wait(WEEK + 60)
    sync(office.app(1))  # a command that a person waits for
    assert len(paths(office.folders[1])) == tips[1]
    office.clock.wait(600)
    sync(office.app(1), paced=True)
    assert len(paths(office.folders[1])) == tips[1] - 2 + 1  # the file that names what left
    assert office.app(1).store.sync_status().unsent == 0
    office.clock.wait(600)
    sync(office.app(0), paced=True)
    sync(office.app(1), paced=True)
    assert len(paths(office.folders[1])) == tips[1] - 1  # once a day
    office.clock.wait(86_400)
    sync(office.app(1), paced=True)
    assert "issues" not in kinds(office.folders[1])


@pytest.mark.slow
def test_never_is_never(office: Office) -> None:
    office.clock.wait(WEEK * 50)
    config = office.folders[1] / ".ghp/config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text('{"agents": {"compactAfter": "never", "keepMessages": "never"}}')
    assert compaction.compact_if_due(cast(Context, office.app(1))) == 0
    config.unlink()
    assert compaction.compact_if_due(cast(Context, office.app(1))) == 2
