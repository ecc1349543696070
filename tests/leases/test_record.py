"""Leases as records: written, read back, folded the same in any order, and never trusted."""

import json
import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import MOST
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.leases.record import (
    FOLDER,
    LeaseEvent,
    LeaseHistory,
    decode,
    encode,
    entry,
    fold,
    follow,
    read_leases,
    resource,
    settled,
    what,
)

NOW = Timestamp("2025-06-15T15:06:40Z")
LATER = Timestamp("2025-06-15T16:06:40Z")
HERE = CloneId("here")
WORKER, PERSON = Actor("worker-1"), Actor("Ada Lovelace", True)
ASKED = LeaseEvent(
    lease="3f9a3f9a3f9a",
    id="3f9a3f9a3f9a",
    kind="request",
    clock=7,
    clone=HERE,
    at=NOW,
    by=WORKER,
    holder=WORKER,
    epoch=2,
    patterns=("src/", "!gen/"),
    reason="Zoë's parser",
)
GRANTED = ASKED._replace(granted=True, until=LATER, right="path/0a1b", nonce="ff")


def later(kind: str, clock: int, by: Actor = WORKER, **more: Any) -> LeaseEvent:
    return follow(ASKED, kind, by, LATER, clock, HERE)._replace(**more)


def files(*events: LeaseEvent) -> dict[str, bytes]:
    return {event.path: encode(event) for event in events}


# ------------------------------------------------------------------------- to files and back


@pytest.mark.parametrize(
    "event",
    [
        ASKED,
        GRANTED,
        ASKED._replace(patterns=(), name="staging-db", holder=PERSON, by=PERSON, epoch=0),
        ASKED._replace(approved_by="Ada Lovelace", question="81f8965cf84d", granted=True),
        later("grant", 9, nonce="ff", until=LATER),
        later("renew", 9, until=LATER),
        later("release", 9, PERSON, reason="not needed"),
    ],
)
def test_a_record_is_read_as_it_was_written(event: LeaseEvent) -> None:
    assert decode(event.lease, event.id, encode(event)) == event


def test_the_file_of_a_request_is_short_and_can_be_read_by_people() -> None:
    assert ASKED.path == ".ghp/leases/3f9a3f9a3f9a/3f9a3f9a3f9a.json"
    assert encode(ASKED).decode() == (
        '{\n  "schemaVersion": 1,\n  "kind": "request",\n  "clock": 7,\n  "clone": "here",\n'
        '  "at": "2025-06-15T15:06:40Z",\n  "by": "worker-1",\n  "person": false,\n'
        '  "holder": "worker-1",\n  "epoch": 2,\n  "patterns": [\n    "src/",\n    "!gen/"\n  ],\n'
        '  "reason": "Zoë\'s parser"\n}\n'
    )


@pytest.mark.parametrize(
    ("written", "event", "text"),
    [
        (ASKED, "lease-wait", "src/, !gen/: Zoë's parser"),
        (GRANTED, "lease", "src/, !gen/: Zoë's parser"),
        (later("grant", 8), "lease", "src/, !gen/"),
        (later("renew", 8), "lease-renew", "src/, !gen/"),
        (later("release", 8, reason="done"), "lease-release", "src/, !gen/: done"),
    ],
)
def test_the_ledger_says_what_happened(written: LeaseEvent, event: str, text: str) -> None:
    record = entry(written, ASKED)
    assert (record.event, record.object, record.text) == (event, "L-3f9a3f9a3f9a", text)
    assert record.files == ((written.path, encode(written)),)
    assert written.id in written.path


def test_two_who_say_the_same_say_it_in_two_files() -> None:
    one, other = later("release", 9, WORKER), later("release", 9, PERSON)
    elsewhere = follow(ASKED, "release", WORKER, LATER, 9, CloneId("there"))
    assert len({one.path, other.path, elsewhere.path}) == 3


def test_what_was_read_once_is_not_read_again() -> None:
    (one,), _ = read_leases(files(GRANTED))
    (again,), _ = read_leases(files(GRANTED))
    assert one.request is again.request


# -------------------------------------------------------------------------------- folding


def test_a_request_waits_until_it_is_granted_and_is_open_until_it_is_released() -> None:
    (waiting,), _ = read_leases(files(ASKED))
    assert (waiting.is_waiting, waiting.is_open, waiting.nonce) == (True, True, "")
    grant = later("grant", 8, nonce="ff", until=LATER)
    (held,), _ = read_leases(files(ASKED, grant))
    assert held == LeaseHistory(ASKED, grant, LATER, timed=grant)
    assert (held.is_waiting, held.is_open, held.nonce) == (False, True, "ff")
    hold = held.hold()
    assert (hold.since, hold.until, hold.strict, hold.approved) == (LATER, LATER, False, False)
    release = later("release", 9)
    (given,), _ = read_leases(files(ASKED, grant, release))
    assert given == LeaseHistory(ASKED, grant, LATER, release, grant)
    assert not given.is_open


def test_the_last_renewal_counts_and_the_first_release() -> None:
    one, two = later("renew", 8, until=NOW), later("renew", 9, until=LATER)
    first, second = later("release", 10), later("release", 11, PERSON)
    events = [GRANTED, one, two, first, second]
    for order in permutations(events):
        assert fold(order) == LeaseHistory(GRANTED, GRANTED, LATER, first, two)


def test_who_leased_it_for_another_can_renew_it() -> None:
    leased = GRANTED._replace(by=PERSON)
    renewed = later("renew", 8, PERSON, until=NOW)
    assert fold([leased, renewed]) == LeaseHistory(leased, leased, NOW, timed=renewed)


def test_it_lasts_as_long_as_its_last_renewal_says_by_one_clock() -> None:
    day = Timestamp("2099-01-01T00:00:00Z"), Timestamp("2099-01-02T00:00:00Z")
    renewed = later("renew", 8, until=day[1])._replace(at=day[0])
    (once,), (again,), (ever,) = (
        read_leases(files(*events))[0]
        for events in ((GRANTED,), (GRANTED, renewed), (GRANTED._replace(until=None),))
    )
    assert (once.lasts, again.lasts, ever.lasts) == (3_600.0, 86_400.0, None)
    assert LeaseHistory(ASKED).lasts is None


def test_what_was_said_of_a_request_that_is_not_here_yet_waits_for_it() -> None:
    release = later("release", 9)
    assert read_leases(files(release)) == ([], [])
    assert read_leases(files(ASKED, release))[0] == [LeaseHistory(ASKED, None, None, release)]


def test_leases_are_in_the_order_of_their_requests() -> None:
    requests = [
        ASKED._replace(lease=digit * 12, id=digit * 12, clock=clock, clone=CloneId(clone))
        for digit, clock, clone in (("a", 2, "b"), ("b", 1, "c"), ("c", 2, "a"), ("d", 1, "b"))
    ]
    random.Random(7).shuffle(requests)
    assert [log.id[0] for log in read_leases(files(*requests))[0]] == ["d", "b", "c", "a"]


@pytest.mark.parametrize(("clone", "now", "over"), [
    ("here", 0, False), ("here", 1_750_003_600, True), ("there", 1_750_003_600, False),
])  # fmt: skip
def test_only_the_clone_that_granted_it_says_that_its_time_is_up(
    clone: str, now: float, over: bool
) -> None:
    assert LeaseHistory(GRANTED, GRANTED, LATER).is_over(CloneId(clone), now) is over
    assert not LeaseHistory(GRANTED, GRANTED, None).is_over(CloneId(clone), now)


# ------------------------------------------------------------------------------ what is bad


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": None}, "'kind' is missing or not a text"),
        ({"clock": "7"}, "'clock' is not a whole number"),
        ({"clock": 2**60}, "'clock' is not a whole number"),
        ({"holder": "No Agent"}, "'No Agent' is not a valid agent name."),
        ({"holder": ""}, "a request without a holder, patterns or name"),
        ({"patterns": "src/"}, "'patterns' is not a list of patterns"),
        ({"patterns": [1]}, "'patterns' is not a list of patterns"),
        ({"patterns": []}, "a request without a holder, patterns or name"),
        ({"patterns": ["../x"]}, "'../x' is outside this repository."),
        ({"patterns": ["[z-a]"]}, "'[z-a]' has an invalid bracket."),
        ({"patterns": ["!a"]}, "All patterns are exceptions (`!`), so nothing is selected."),
        ({"patterns": ["a"] * (MOST + 1)}, f"{MOST + 1} patterns are too many; the limit is "),
        ({"until": "soon"}, "Invalid isoformat string: 'soon'"),
        ({"reason": 5}, "'reason' is missing or not a text"),
    ],
)
def test_what_is_no_record_is_reported_and_hides_no_other(
    change: dict[str, object], reason: str
) -> None:
    broken = json.loads(encode(ASKED)) | change
    path = f"{FOLDER}aaaaaaaaaaaa/aaaaaaaaaaaa.json"
    logs, problems = read_leases({**files(ASKED), path: json.dumps(broken).encode()})
    assert [log.id for log in logs] == [ASKED.lease]
    assert [problem.place for problem in problems] == [path]
    assert problems[0].reason.startswith(reason)


def test_words_of_others_are_made_harmless_and_what_is_newer_is_left_alone() -> None:
    fields = json.loads(encode(ASKED)) | {"reason": "\x1b[31m\n" + "x" * 9_000, "fromLater": [1]}
    event = decode(ASKED.lease, ASKED.id, json.dumps(fields).encode())
    assert event is not None
    assert event.reason.startswith("[31m xxx")
    assert len(event.reason) == 500
    assert decode(ASKED.lease, ASKED.id, b'{"kind": "pledge"}') is None
    assert read_leases({f"{FOLDER}README.md": b"x", f"{FOLDER}a/b.json": b"{"}) == ([], [])


@pytest.mark.slow
@given(st.binary(max_size=60) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["kind", "clock", "clone", "at", "by", "patterns", "holder"]), inner),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_no_content_stops_the_reading(content: bytes) -> None:
    path = f"{FOLDER}aaaaaaaaaaaa/aaaaaaaaaaaa.json"
    logs, problems = read_leases({**files(ASKED), path: content})
    assert [log.id for log in logs] == [ASKED.lease]
    assert len(problems) <= 1


# -------------------------------------------------------------------------------- in words


@pytest.mark.parametrize("name", ["db", "staging-db", "port.8080", "a_b-c", "x" * 64])
def test_names_of_resources(name: str) -> None:
    assert resource(name) == name


@pytest.mark.parametrize("name", ["", "Db", "a b", "a..b", "-a", "a/b", "x" * 65, "é", "\udc80"])
def test_what_is_no_name_of_a_resource(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        resource(name)
    assert caught.value.hint


def test_what_a_lease_is_of_is_said_as_one_would_say_it_at_the_root() -> None:
    assert what(("/src/a.py", "/a.py", "/src/", "b"), None) == "src/a.py, /a.py, /src/ and 1 more"
    assert what((), "db") == "db"


# ------------------------------------------------------------------------- what is settled


def test_a_lease_is_settled_when_its_release_is_old() -> None:
    request, release = ASKED._replace(granted=True), later("release", 9)
    records = files(request, release)
    end = to_seconds(LATER)
    (ended,) = settled(records, end + 1)
    assert [*ended.paths, *ended.last] == [request.path, release.path]
    assert settled(records, end) == settled(files(request), end + 1) == []


def test_a_strict_lease_and_one_with_unreadable_records_are_never_settled() -> None:
    release, when = later("release", 9), to_seconds(LATER) + 1
    assert settled(files(GRANTED, release), when) == []
    broken = {f"{FOLDER}{ASKED.lease}/00000000.json": b"?"}
    newer = later("reopen", 10)
    assert settled(files(ASKED, release) | broken, when) == []
    assert settled(files(ASKED, release, newer), when) == []
