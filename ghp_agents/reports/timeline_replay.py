"""Replays the ledger into the lanes of a timeline."""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.hotpath.quoting import NAME_LIMIT, seen_line
from ghp_agents.reports import timeline as parts
from ghp_agents.reports.markdown import safe_line
from ghp_agents.reports.timeline import Lane, Timeline, TimelineMark, TimelineSpan
from ghp_agents.settings import rights
from ghp_agents.state import cause, events
from ghp_agents.state.ledger import PRESENCE, LedgerEntry

OFF = "off"  # not started, or stopped: no span
_KINDS = {
    "idle": parts.IDLE, "done": parts.IDLE, "waiting": parts.WAIT, "blocked": parts.WAIT,
    "stopped": OFF,
}  # fmt: skip


class TimelineFacts(NamedTuple):
    """What a timeline is made of. The first entries may describe the state at their beginning."""

    since: float
    until: float
    now: float
    entries: Sequence[LedgerEntry]  # in ledger order
    dead: Mapping[str, float]  # agents that are dead at `until`, and their last sign of life
    numbers: Mapping[int, int]  # of an issue with several numbers, by each of them
    titles: Mapping[int, str]
    orchestrators: Collection[str] = ()
    silent: Mapping[str, float] = MappingProxyType({})  # as `dead`, of agents that may still live


class _Track:
    """One agent during the replay."""

    def __init__(self) -> None:
        self.kind, self.at = OFF, 0.0
        self.issue: int | None = None
        self.status = self.text = ""
        self.spans: list[TimelineSpan] = []
        self.opened: list[TimelineSpan] = []
        self.marks: list[TimelineMark] = []
        self.pending: dict[str, TimelineSpan] = {}  # what is open, by its id

    def switch(self, at: float, kind: str, issue: int | None, status: str, text: str) -> None:
        """The agent does something else from now on."""
        self._end(at)
        self.kind, self.at, self.issue, self.status, self.text = kind, at, issue, status, text

    def die(self, at: float) -> None:
        """The agent is dead since a time, which may be before the newest entries."""
        self._end(max(at, self.at))
        kept = [span._replace(end=min(span.end, at)) for span in self.spans if span.start < at]
        was_dead = self.kind == parts.DEAD
        marks = [mark for mark in self.marks if mark.kind == events.DEATH and mark.at >= at]
        last = marks[-1] if was_dead and marks else TimelineMark(events.DEATH, at, self.issue)
        self.marks = [mark for mark in self.marks if mark not in marks]
        self.spans = kept
        self.marks.append(last._replace(at=at))
        self.kind, self.at, self.status = parts.DEAD, at, "dead"

    def close(self, name: str, at: float) -> None:
        """What was open under a name is closed."""
        span = self.pending.pop(name, None)
        if span is not None:
            self.opened.append(span._replace(end=max(at, span.start)))

    def finish(self, until: float) -> None:
        """The end of the timeline."""
        self._end(until)
        for name in [*self.pending]:
            self.close(name, until)

    def _end(self, at: float) -> None:
        if self.kind != OFF and at > self.at:
            span = TimelineSpan(self.kind, self.at, at, self.issue, self.status, self.text)
            self.spans.append(span)


class _Replay:
    """All agents during the replay."""

    def __init__(self, facts: TimelineFacts) -> None:
        self.facts = facts
        self.tracks: dict[str, _Track] = {}
        self.holders: dict[int, str] = {}  # of issues
        self.openers: dict[str, str] = {}  # of pull requests
        self.askers: dict[str, str] = {}  # who asked, or waits for a lease, by the record's name
        self.early: dict[str, LedgerEntry] = {}  # what ends something, by a slow clock before it
        self.merged: set[int | None] = set()
        self.unread = 0

    def track(self, agent: str) -> _Track:
        return self.tracks.setdefault(agent, _Track())

    def issue(self, entry: LedgerEntry) -> int | None:
        return self.facts.numbers.get(entry.issue or 0, entry.issue)

    def mark(self, agent: str | None, at: float, entry: LedgerEntry, kind: str = "") -> None:
        """A mark in an agent's lane, by default that of the event; nothing if no agent is
        concerned."""
        if agent is not None and is_name(agent):
            by = "" if entry.actor == agent else entry.actor
            mark = TimelineMark(kind or entry.kind.mark, at, self.issue(entry), by, entry.text)
            self.track(agent).marks.append(mark)

    def rest(self, agent: str | None, at: float, issue: int | None, why: str) -> None:
        """Nothing is left to do for an agent at an issue; its presence tells so only later."""
        track = self.tracks.get(agent or "")
        if track is not None and track.issue == issue and track.kind in (parts.WORK, parts.WAIT):
            track.switch(at, parts.IDLE, issue, why, "")

    def concerned(self, entry: LedgerEntry) -> str | None:
        """The agent that an entry is about: who holds the issue, else who acts."""
        return self.holders.get(self.issue(entry) or 0, None if entry.is_person else entry.actor)


def build(facts: TimelineFacts) -> Timeline:
    """The timeline of the ledger's entries."""
    replay = _Replay(facts)
    moments, unread, ahead = parts.corrected(facts.entries, facts.now)
    for at, entry in moments:
        act = _ACTS.get(entry.event)
        if act and at <= facts.until:
            act(replay, at, entry)
    for agent, at in facts.dead.items():
        track = replay.tracks.get(agent)
        if track is not None and track.kind != OFF:
            track.die(min(at, facts.until))
    for agent, at in facts.silent.items():
        track = replay.tracks.get(agent)
        if track is not None and track.kind == parts.WORK:
            track.switch(max(min(at, facts.until), track.at), parts.IDLE, track.issue, "silent", "")
    lanes = []
    for agent, track in replay.tracks.items():
        track.finish(facts.until)
        marks = tuple(sorted(track.marks, key=lambda mark: mark.at))
        opened = tuple(sorted(track.opened, key=lambda span: span.start))
        lanes.append(Lane(agent, tuple(track.spans), opened, marks))
    whole = Timeline(facts.since, facts.until, (), facts.titles, unread=unread + replay.unread)
    clipped = parts.clipped(whole._replace(ahead=ahead), lanes)
    return clipped._replace(
        lanes=tuple(map(_shown, clipped.lanes)),
        titles={number: safe_line(title) for number, title in clipped.titles.items()},
    )


def _shown(lane: Lane) -> Lane:
    """A lane whose texts are fit to be published."""
    spans, opened = (
        tuple(
            span._replace(status=seen_line(span.status, NAME_LIMIT), text=safe_line(span.text))
            for span in items
        )
        for items in (lane.spans, lane.opened)
    )
    marks = tuple(
        mark._replace(by=seen_line(mark.by, NAME_LIMIT), text=safe_line(mark.text))
        for mark in lane.marks
    )
    return Lane(lane.agent, spans, opened, marks)


def _presence(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    if not is_name(entry.actor):
        replay.unread += 1
        return
    issue, kind = replay.issue(entry), _KINDS.get(entry.object, parts.WORK)
    replay.track(entry.actor).switch(at, kind, issue, entry.object, entry.text)
    if issue is not None and kind == parts.WORK:
        replay.holders.setdefault(issue, entry.actor)


def _claim(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    issue = replay.issue(entry)
    former = replay.holders.pop(issue or 0, None)
    if former not in (None, entry.actor):
        if entry.event == "takeover":
            _dies(replay, former, at, entry)
        else:
            replay.mark(former, at, entry, events.RELEASE)
    replay.merged.discard(issue)
    if issue is None or entry.is_person or not is_name(entry.actor):
        return
    replay.holders[issue] = entry.actor
    replay.mark(entry.actor, at, entry)
    track = replay.track(entry.actor)
    if track.issue != issue or track.kind != parts.WORK:
        track.switch(at, parts.WORK, issue, "planning", "")


def _dies(replay: _Replay, agent: str | None, at: float, entry: LedgerEntry) -> None:
    if agent in replay.tracks and replay.tracks[agent].kind != OFF:
        replay.mark(agent, at, entry, events.DEATH)
        replay.tracks[agent].switch(at, parts.DEAD, replay.issue(entry), "dead", "")


def _release(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    issue, agent = replay.issue(entry), replay.concerned(entry)
    replay.holders.pop(issue or 0, None)
    if entry.cause == cause.SWEPT:
        _dies(replay, agent, at, entry)
        return
    # On GitHub the ledger has no other entry of a merge.
    if entry.cause != cause.MERGED or issue not in replay.merged:
        replay.mark(agent, at, entry)
    replay.rest(agent, at, issue, "merged" if entry.cause == cause.MERGED else "released")


def _opens(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    """A question is asked, or a lease is waited for."""
    kind = parts.QUESTION if entry.event == "escalate" else parts.QUEUE
    if kind == parts.QUESTION:
        replay.mark(entry.actor, at, entry)
    if not is_name(entry.actor):
        replay.unread += 1
        return
    span = TimelineSpan(kind, at, at, replay.issue(entry), entry.object, entry.text)
    replay.track(entry.actor).pending[entry.object] = span
    replay.askers[entry.object] = entry.actor
    end = replay.early.pop(entry.object, None)
    if end is not None:
        _ACTS[end.event](replay, at, end)


def _ends(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    """A question is answered, or a wait for a lease is over."""
    asker = replay.askers.get(entry.object)
    if asker is None:
        replay.early[entry.object] = entry
        return
    if entry.event == "answer":
        replay.mark(asker, at, entry)
        if not rights.may_answer(entry.by, asker, replay.facts.orchestrators):
            return
    replay.track(asker).close(entry.object, at)


def _pull_open(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    agent = replay.concerned(entry)
    if agent:
        replay.openers[entry.object] = agent
    replay.mark(agent, at, entry)


def _pull_merge(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    replay.merged.add(replay.issue(entry))
    agent = replay.openers.get(entry.object) or replay.concerned(entry)
    replay.mark(agent, at, entry)
    replay.rest(agent, at, replay.issue(entry), "merged")


def _marks(replay: _Replay, at: float, entry: LedgerEntry) -> None:
    """What has a mark and changes nothing else."""
    agent, concerned = None if entry.is_person else entry.actor, replay.concerned(entry)
    whose = {
        "agent": entry.object if entry.object in replay.tracks else None,
        "handoff": agent or concerned,
        "message": agent,
        "pull request": replay.openers.get(entry.object) or concerned,
    }
    replay.mark(whose[entry.kind.subject], at, entry)


_ACTS: Mapping[str, Callable[[_Replay, float, LedgerEntry], None]] = {
    PRESENCE: _presence,
    "claim": _claim, "takeover": _claim, "steal": _claim, "release": _release,
    "escalate": _opens, "answer": _ends, "handoff": _marks,
    parts.SETTLED: _ends,
    "lease-wait": _opens, "lease": _ends, "lease-release": _ends, "lease-withdraw": _ends,
    "stop": _marks, "send": _marks,
    "pull-open": _pull_open, "pull-merge": _pull_merge, "pull-return": _marks,
}  # fmt: skip
