"""Conversations that are over leave the tips; what is open stays, in any order of anything."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.messages import message as rules
from ghp_agents.messages import record, retention
from ghp_agents.messages import service as services
from ghp_agents.messages.message import CLAIMED, NEW, Message
from ghp_agents.state.codec import seconds
from ghp_agents.state.join import join_files, leaving
from ghp_agents.sync import compaction
from tests.support.clock import ManualClock
from tests.support.messages import AT, Post, message

NOW = seconds(AT) + 1
W1, W2, W3 = (Actor(f"worker-{n}") for n in (1, 2, 3))


def over(*messages: Message, before: float = NOW) -> list[list[str]]:
    """The conversations that are over, by the ids that leave first and last."""
    ended = retention.settled(messages, rules.letters(messages), before)
    return [sorted(Path(path).stem for path in [*x.paths, *sorted(x.last)]) for x in ended]


ASKED = message("aa01")
DONE = message("aa02", by=W2, to=("worker-1",), kind="done", about="aa01")


def test_a_conversation_leaves_as_a_whole_when_nothing_in_it_is_open() -> None:
    assert over(ASKED) == []
    assert over(ASKED, DONE) == [["aa01", "aa02"]]
    assert over(ASKED, DONE._replace(kind="failed")) == [["aa01", "aa02"]]
    assert over(ASKED, DONE._replace(kind="ack")) == []
    assert over(ASKED, DONE._replace(by=W3)) == [], "nobody asked worker-3"
    assert over(ASKED._replace(to=("worker-2", "worker-3")), DONE) == []
    assert over(ASKED, DONE, before=NOW - 1) == [], "it is not old enough"
    assert over(message("aa03", kind="note")) == [["aa03"]]
    assert over(ASKED._replace(expires=3600)) == []
    assert over(ASKED._replace(expires=3600), before=NOW + 3600) == [["aa01"]]
    about: dict[str, Any] = {"about": "aa02", "by": W1, "to": ("worker-2",)}
    assert over(ASKED, DONE, message("aa04", kind="question", **about)) == []
    assert over(ASKED, DONE, message("aa04", kind="note", **about)) == [["aa01", "aa02", "aa04"]]


def test_the_end_of_a_request_leaves_last() -> None:
    (ended,) = retention.settled([ASKED, DONE], rules.letters([ASKED, DONE]), NOW)
    assert ended.last == {record.path_of("aa02")}
    assert ended.paths == {record.path_of("aa01")}


def test_forged_circles_and_unknown_ids_make_conversations() -> None:
    circle = [message(f"aa0{n}", kind="note", about=f"aa0{(n + 1) % 3}") for n in range(3)]
    tail = message("bb01", kind="note", about="aa01")
    stray = message("cc01", kind="note", about="dddd")
    conversations = retention.threads([*circle, tail, stray])
    assert [[x.id for x in thread] for thread in conversations] == [
        ["aa00", "aa01", "aa02", "bb01"], ["cc01"],
    ]  # fmt: skip


# --------------------------------------------------------------------------- the law


class Team:
    """Three clones with an agent each, which write, compact and sync in any order."""

    def __init__(self) -> None:
        self.present: list[dict[str, bytes]] = [{}, {}, {}]
        self.remote = [dict(clone) for clone in self.present]
        self.seen = [[dict(clone) for clone in self.present] for _ in range(3)]
        self.archives: list[dict[str, bytes]] = [{}, {}, {}]  # all that a clone ever knew
        self.sent: list[dict[str, bytes]] = [{}, {}, {}]  # the same, as its tip had it at a sync
        self.all: list[Message] = []

    def tips(self, clone: int) -> list[dict[str, bytes]]:
        others = [tip for number, tip in enumerate(self.seen[clone]) if number != clone]
        return [self.present[clone], *others]

    def known(self, clone: int) -> list[Message]:
        """What a clone knows, also of what has left the tips."""
        return record.read(self.archives[clone])[0]

    def step(self, clone: int, what: str, number: int) -> None:
        if what == "sync":
            self.remote[clone] = dict(self.present[clone])
            self.sent[clone] = dict(self.archives[clone])
            self.seen[clone] = [dict(tip) for tip in self.remote]
            self.archives[clone] = dict(join_files([self.archives[clone], *self.sent]))
        elif what == "compact":
            messages = self.known(clone)
            subjects = retention.settled(messages, rules.letters(messages), math.inf)
            own, *others = self.tips(clone)
            left = leaving(subjects, own, {path for tip in others for path in tip}, 100)
            self.present[clone] = {path: x for path, x in own.items() if path not in left}
        else:
            self.write(clone, what, number)

    def write(self, clone: int, what: str, number: int) -> None:
        messages, agent = self.known(clone), Actor(f"worker-{clone}")
        about = sorted(messages)[number % len(messages)] if messages else None
        identity = f"{len(self.all):04x}"
        others = tuple(f"worker-{n}" for n in range(3) if n != clone)
        fields: dict[str, Any] = {
            "by": agent,
            "clock": len(self.all),
            "about": about.id if about else "",
        }
        if what in ("request", "note"):
            to = others if number % 2 else others[:1]
            new = message(identity, kind=what, to=to, **fields)
        elif about and agent.name in about.to and about.wants_work:
            new = message(identity, kind=what, to=(about.by.name,), **fields)
        else:
            return
        self.all.append(new)
        data = record.render_message(new)
        self.present[clone][record.path_of(new.id)] = data
        self.archives[clone][record.path_of(new.id)] = data


def pending(messages: Sequence[Message]) -> set[str]:
    return {x.message.id for x in rules.letters(messages) if x.state in (NEW, CLAIMED)}


WORDS = ("request", "note", "ack", "done", "failed", "sync", "sync", "compact")
STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(WORDS), st.integers(0, 7)), max_size=40
)


@pytest.mark.slow
@given(STEPS)
def test_each_clone_sees_the_same_open_requests_with_and_without_what_left(
    steps: list[tuple[int, str, int]],
) -> None:
    team = Team()
    for step in steps:
        team.step(*step)
        for clone in range(3):
            present = record.read(join_files(team.tips(clone)))[0]
            assert pending(present) == pending(team.known(clone))
    for clone in (0, 1, 2, 0, 1, 2):
        team.step(clone, "sync", 0)
    for clone in range(3):
        assert {x.id for x in team.known(clone)} == {x.id for x in team.all}


# --------------------------------------------------------------------------- with real git


@pytest.fixture
def here(repo: Path) -> tuple[Post, Post]:
    return (one := Post(repo, "worker-1", ManualClock())), one.by("worker-2")


def test_a_late_reply_to_what_left_is_answered(here: tuple[Post, Post]) -> None:
    one, two = here
    request = one.send("worker-2", subject="Review it", kind="request", body="All of it").message
    lost = one.send("worker-2", subject="Too late", kind="request", expires=60).message
    pending = one.send("worker-2", subject="Open", kind="request").message
    two.done(request.name, "It is fine")
    one.clock.wait(100)
    assert compaction.compact(two.parts, -math.inf, two.clock.now()) == 3
    assert two.states() == [("Open", "new")]
    for old, why in ((request, "is resolved already"), (lost, "expired long ago")):
        with pytest.raises(RefusedError) as refused:
            two.done(old.name)
        assert str(refused.value) == f"{old.name} {why}."
    reply = two.send("worker-1", subject="One more thing", reply_to=request.name).message
    assert reply.about == request.id
    read_back, thread = services.read(two.parts, reply.name)
    assert read_back == thread[-1]
    assert [(x.kind, x.body) for x in thread] == [
        ("request", "All of it"), ("done", "It is fine"), ("note", ""),
    ]  # fmt: skip
    assert services.read(two.parts, pending.name)[1] == [pending]
    assert compaction.compact(two.parts, -math.inf, two.clock.now() + 1) == 1
    assert two.states() == [("Open", "new")]
