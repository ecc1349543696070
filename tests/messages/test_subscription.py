"""Subscriptions as records: the last one counts, and a wrong one hides no other."""

from ghp_agents.core.ids import Actor
from ghp_agents.messages.topics.subscription import Subscription, encode, hears, read_subscriptions
from tests.support.messages import AT, CLONE

FIRST = Subscription(
    "a" * 12, "worker-1", ("code.*",), ("code.noise",), Actor("worker-1"), AT, 1, CLONE
)


def files_of(*entries: Subscription) -> dict[str, bytes]:
    return {path: data for entry in entries for path, data in encode(entry).files}


def test_the_last_record_of_an_agent_counts() -> None:
    later = FIRST._replace(id="b" * 12, clock=2, listens=("arch.>",))
    other = FIRST._replace(id="c" * 12, agent="worker-2")
    assert read_subscriptions(files_of(later, other, FIRST)) == (
        {"worker-1": later, "worker-2": other}, [],
    )  # fmt: skip


def test_a_record_says_only_whether_nobody_is_asked() -> None:
    quiet = FIRST._replace(id="b" * 12, clock=2, asks=False)
    assert read_subscriptions(files_of(quiet)) == ({"worker-1": quiet}, [])
    ((_, plain),) = files_of(FIRST).items()
    assert b"asks" not in plain


def test_a_wrong_record_is_a_problem_and_hides_no_other() -> None:
    files = files_of(FIRST)
    broken = ".ghp/subscriptions/worker-1/" + "d" * 12 + ".json"
    (good,) = files.values()
    files[broken] = good.replace(b"code.*", b"CODE!")
    subscriptions, (problem,) = read_subscriptions(files)
    assert subscriptions == {"worker-1": FIRST}
    assert problem.place == broken


def test_what_is_ignored_is_not_heard() -> None:
    assert hears(("code.*",), ("code.noise",), "code.completed")
    assert not hears(("code.*",), ("code.noise",), "code.noise")
    assert not hears((), (), "code.completed")


def test_a_subscription_is_told_in_one_line() -> None:
    assert FIRST.words == "code.* except code.noise"
    assert FIRST._replace(listens=(), ignores=(">",)).words == "nothing but messages that name it"
    assert encode(FIRST).text == FIRST.words
