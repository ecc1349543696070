"""The laws of messages, in a simulated world whose agents mostly write to each other.

The same laws are kept among all else that happens there: `tests/guard/test_policy_laws.py`.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ghp_agents.messages import claim, message, news, service
from tests.support import acts_of_messages, schedule
from tests.support.acts_of_messages import OF_MESSAGES
from tests.support.thorough import count

STEPS = 200
MOSTLY = {
    kind: weight * (6 if kind in OF_MESSAGES else 1) for kind, weight in schedule.WEIGHTS.items()
}


def play(seed: int) -> schedule.Outcome:
    return schedule.play(seed, schedule.steps(seed, STEPS, MOSTLY))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_agents_that_write_to_each_other_keep_the_laws(seed: int) -> None:
    assert play(seed).violation is None


@pytest.mark.slow
def test_many_schedules_keep_the_laws_and_do_all_that_they_are_about() -> None:
    done = Counter[str]()
    for seed in range(10, 10 + count(60, sample=20)):
        outcome = play(seed)
        assert outcome.violation is None, seed
        done += outcome.counts
    wanted = """
        sends: sent, sends: sent before, sends: refused, hears: told, hears: cut off,
        takes-on: claimed, takes-on: shared, takes-on: refused, takes-on: unknown,
        reports: done, reports: failed"""
    assert {" ".join(word.split()) for word in wanted.split(",")} <= done.keys()


# --------------------------------------------------------------------- that they can fail


def nothing(*_: Any, **__: Any) -> None: ...


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "name", "wrong", "law"),
    [
        (acts_of_messages, "mark_told", nothing, "nothing is told twice"),
        (service, "_refuse_storm", nothing, "no agent sends more than the limit in an hour"),
        (message.Letter, "is_over", lambda *_: False, "nobody is told what has expired"),
        (message, "inbox", lambda messages, _: messages, "an agent is told what is for it"),
        (message, "outbox", lambda *_: [], "each reply is delivered"),
        (news, "LIMIT", 1_000_000, "a step has a bound"),
        (news, "order", lambda x: (-x.clock, "", ""), "a sender's notes come in order"),
        (news, "overdue", lambda *_: [], "who asked is told what is overdue"),
        (claim, "believed", lambda _, broken: [*broken], "the claim of a dead agent lapses"),
        (claim, "take", lambda *_: 1, "one of a group has a message"),
        (news, "unread", lambda *_: [], "each message is delivered"),
    ],
    ids=lambda x: re.sub(r"\W+", "-", x) if isinstance(x, str) else "",
)
def test_a_wrong_part_is_found(
    where: object, name: str, wrong: Callable[..., Any], law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, wrong)
    broken = set()
    for seed in range(40):
        outcome = play(seed)
        if outcome.violation:
            broken.add(outcome.violation.partition(" | ")[0])
            if law in broken:
                return
    pytest.fail(f"never found: {law}; found: {sorted(broken)}")
