"""The proxy before the stand-in: what it breaks is broken, what it judges is judged rightly."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tests.support.faults import COMMON, GARBLED, Asked, Fault, Said, at_random, in_turn, writes
from tests.support.github import ADMIN, TOKENS, GitHub, World
from tests.support.proxy import BUDGET, Proxy

HEADERS = {"Authorization": f"token {TOKENS[ADMIN]}"}


class Client:
    """As dumb as a client can be."""

    def __init__(self, github: GitHub) -> None:
        self.github = github
        self.connection = http.client.HTTPConnection(github.api.removeprefix("http://"), timeout=10)

    def ask(self, verb: str, path: str, body: Any = None, etag: str = "") -> Said:
        headers = HEADERS | ({"If-None-Match": etag} if etag else {})
        at = f"/repos/{self.github.repository}/{path}"
        self.connection.request(verb, at, None if body is None else json.dumps(body), headers)
        with self.connection.getresponse() as answer:
            text = answer.read()
            return Said(answer.status, json.loads(text or "null"), dict(answer.headers))

    def comment(self) -> Said:
        return self.ask("POST", "issues/1/comments", {"body": "hello"})

    def comments(self) -> int:
        return len(self.github.act(ADMIN, "GET", "issues/1/comments"))


@pytest.fixture
def client(github: GitHub) -> Iterator[Client]:
    github.issue("One")
    client = Client(github)
    yield client
    client.connection.close()


def test_what_has_not_changed_is_not_sent_again_and_costs_nothing(client: Client) -> None:
    first = client.ask("GET", "issues")
    again = client.ask("GET", "issues", etag=first.headers["ETag"])
    assert (again.status, again.body) == (304, None)
    assert first.headers["X-RateLimit-Remaining"] == again.headers["X-RateLimit-Remaining"]
    client.comment()
    changed = client.ask("GET", "issues", etag=first.headers["ETag"])
    assert (changed.status, changed.headers["X-RateLimit-Remaining"]) == (200, str(BUDGET - 3))
    assert [exchange.not_modified for exchange in client.github.proxy.exchanges] == [
        False, True, False, False
    ]  # fmt: skip


def test_what_a_test_does_itself_is_no_part_of_the_record(client: Client) -> None:
    client.github.proxy.faults = in_turn(Fault.BAD_GATEWAY)
    client.github.issue("Two")
    assert client.github.proxy.exchanges == []
    assert client.comment().status == 502


@pytest.mark.parametrize(
    ("fault", "status", "wait"),
    [
        (Fault.SECONDARY, 403, "7"), (Fault.SECONDARY_SILENT, 403, None),
        (Fault.TOO_MANY, 429, "7"), (Fault.TOO_MANY_SILENT, 429, None),
        (Fault.PRIMARY, 403, None), (Fault.BAD_GATEWAY, 502, None),
        (Fault.ERROR, 500, None), (Fault.BUSY, 503, "7"), (Fault.UNAVAILABLE, 503, None),
        (Fault.TIMED_OUT, 504, None), (Fault.UNAUTHORIZED, 401, None),
        (Fault.FORBIDDEN, 403, None), (Fault.MISSING, 404, None), (Fault.TOO_QUICKLY, 422, None),
    ],
)  # fmt: skip
def test_what_is_refused_is_not_stored(
    client: Client, fault: Fault, status: int, wait: str | None
) -> None:
    proxy = client.github.proxy
    proxy.clock, proxy.faults = (clock := ManualClock()), in_turn(fault)
    response = client.comment()
    clock.wait(proxy.retry_after)
    assert (response.status, response.headers.get("Retry-After")) == (status, wait)
    assert (response.headers["X-RateLimit-Remaining"] == "0") is (fault is Fault.PRIMARY)
    assert client.comments() == 0
    assert (client.comment().status, client.comments()) == (201, 1)


def test_a_limit_is_told_by_the_clock_of_the_client(client: Client) -> None:
    proxy = client.github.proxy
    proxy.clock, proxy.retry_after = ManualClock(1_000_000.0), 30
    proxy.faults = in_turn(Fault.PRIMARY)
    headers = client.comment().headers
    assert (headers["X-RateLimit-Reset"], headers["Date"]) == (
        "1000030", "Mon, 12 Jan 1970 13:46:40 GMT"
    )  # fmt: skip


def test_who_has_spent_all_is_refused_until_the_hour_is_over(client: Client) -> None:
    proxy = client.github.proxy
    proxy.clock = clock = ManualClock(1_000_000.0)
    proxy.faults = in_turn(Fault.PRIMARY)
    assert [client.comment().status for _ in range(2)] == [403, 403]
    clock.wait(proxy.retry_after)
    assert (client.comment().status, client.comments()) == (201, 1)


def test_an_account_writes_no_more_than_the_server_allows(client: Client) -> None:
    proxy = client.github.proxy
    proxy.clock, proxy.limits = (clock := ManualClock()), ((2, 60.0), (3, 3_600.0))
    client.github.act(ADMIN, "PATCH", "issues/1", {"title": "Two"})  # the page is the account's too
    assert [client.comment().status for _ in range(2)] == [201, 403]
    assert client.ask("GET", "issues").status == 200
    clock.wait(61)
    assert [client.comment().status for _ in range(2)] == [201, 403]
    clock.wait(3_600)
    assert (client.comment().status, client.comments()) == (201, 3)


@pytest.mark.parametrize(
    ("fault", "status"),
    [(Fault.BAD_GATEWAY_AFTER, 502), (Fault.ERROR_AFTER, 500), (Fault.TIMED_OUT_AFTER, 504)],
)
def test_an_error_of_the_server_may_have_done_its_work(
    client: Client, fault: Fault, status: int
) -> None:
    client.github.proxy.faults = in_turn(fault)
    assert (client.comment().status, client.comments()) == (status, 1)


@pytest.mark.parametrize("fault", GARBLED)
def test_a_success_may_have_a_body_that_nobody_can_read(client: Client, fault: Fault) -> None:
    etag = client.ask("GET", "issues").headers["ETag"]
    client.github.proxy.faults = in_turn(fault, fault)
    headers = HEADERS | {"If-None-Match": etag}
    at = f"/repos/{client.github.repository}/issues"
    for verb, body in (("GET", None), ("POST", json.dumps({"title": "Two"}))):
        client.connection.request(verb, at, body, headers)
        with client.connection.getresponse() as answer:
            text = answer.read()
        assert answer.status == (200 if verb == "GET" else 201)
        assert ("ETag" in answer.headers) is (verb == "GET")
        assert (text == b"") is (fault is Fault.EMPTY)
        with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
            json.loads(text)
    assert len(client.github.act(ADMIN, "GET", "issues")) == 2


@pytest.mark.parametrize(
    ("fault", "error", "stored"),
    [
        (Fault.CUT, http.client.RemoteDisconnected, 0),
        (Fault.CUT_AFTER, http.client.RemoteDisconnected, 1),
        (Fault.HALF, http.client.IncompleteRead, 1),
    ],
)
def test_a_broken_connection_says_nothing_of_what_was_stored(
    client: Client, fault: Fault, error: type[Exception], stored: int
) -> None:
    client.github.proxy.faults = in_turn(fault)
    with pytest.raises(error):
        client.comment()
    assert client.comments() == stored
    exchange = client.github.proxy.exchanges[0]
    assert exchange.said is None
    assert str(exchange).endswith(f"issues/1/comments -> no answer ({fault.value})")


def test_an_answer_may_take_longer_than_a_client_waits(client: Client) -> None:
    client.github.proxy.faults, client.github.proxy.delay = in_turn(Fault.SLOW), 0.5
    client.connection.timeout = 0.1
    with pytest.raises(TimeoutError):
        client.comment()
    assert client.comments() == 1


def test_an_old_answer_may_be_given_for_the_present_one(client: Client) -> None:
    old = client.ask("GET", "issues/1/comments").headers["ETag"]
    client.comment()
    client.github.proxy.faults = in_turn(Fault.STALE, Fault.STALE)
    assert client.ask("GET", "issues/1/comments", etag=old).status == 304
    assert client.ask("GET", "issues/1/comments").status == 200  # nothing is there to be old


def test_what_github_does_not_know_is_a_violation(github: GitHub, client: Client) -> None:
    client.ask("GET", "issues?colour=green&per_page=500")
    client.ask("POST", "issues", {"title": "x", "type": 5})
    client.ask("PUT", "issues/1", {"title": "x"})
    violations = [
        violation.replace(github.repository, "R") for violation in github.proxy.violations
    ]
    github.proxy.violations.clear()
    assert violations[:2] == [
        "GET /repos/{owner}/{repo}/issues: GitHub knows no parameter colour",
        "GET /repos/{owner}/{repo}/issues: the parameter per_page cannot be '500'",
    ]
    assert any("POST /repos/{owner}/{repo}/issues: .type" in violation for violation in violations)
    assert "PUT /repos/R/issues/1: GitHub has no such operation" in violations


def test_an_answer_that_github_would_not_give_is_a_violation(github_world: World) -> None:
    def behind(request: Asked) -> Said:
        return Said(200, {"login": 7})

    with Proxy(behind, TOKENS, github_world.openapi).running() as proxy:
        proxy.handle(TOKENS[ADMIN], "GET", "/user", None, "", apart=False)
    assert proxy.violations[0].startswith("GET /user: 200: .: {'login': 7}")


def test_dice_fall_the_same_way_for_the_same_seed() -> None:
    request = Asked(ADMIN, "POST", "/repos/o/r/issues", {})
    thrown = [
        [throw(request) for _ in range(200)] for throw in (at_random(1, 0.5), at_random(1, 0.5))
    ]
    assert thrown[0] == thrown[1]
    assert set(thrown[0]) == {None, *COMMON}
    few = at_random(1, 0.5, most=3)
    assert sum(few(request) is not None for _ in range(200)) == 3
    only = in_turn(Fault.CUT, where=writes(["labels"]))
    assert (only(request), only(request._replace(path="/repos/o/r/labels"))) == (None, Fault.CUT)
