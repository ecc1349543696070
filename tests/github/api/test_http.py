"""One exchange through PyGithub: what is sent, what is heard, and what may have happened."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import responses
import urllib3

from ghp_agents.github.api import http as client
from ghp_agents.github.api.errors import ForbiddenError, UnreachableError
from ghp_agents.github.api.http import ApiClient, HttpResponse
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.hubs import SECRET, Handler, Script, after, cut, half, page, says

API = "https://api.github.com"


@pytest.fixture
def caller(script: Script, clock: ManualClock) -> ApiClient:
    return ApiClient(hubs.access(script.address), clock, 30.0)


def get(caller: ApiClient, script: Script, path: str = "/user") -> HttpResponse:
    return caller.send("GET", script.address + path, {}, None, 10.0)


def test_a_request_carries_the_token_the_version_and_our_name(
    caller: ApiClient, script: Script
) -> None:
    script.then(says(201, {"id": 1}, ETag='"a"'))
    url = script.address + "/repos/acme/widgets/issues?state=all"
    raw = caller.send("POST", url, {"If-None-Match": '"b"'}, {"title": "Größe"}, 10.0)
    assert (raw.status, raw.body, raw.headers["etag"]) == (201, {"id": 1}, '"a"')
    [request] = script.asked
    assert request.line == "POST /repos/acme/widgets/issues?state=all"
    assert request.body == {"title": "Größe"}
    assert {name: request.headers[name] for name in (
        "authorization", "accept", "x-github-api-version", "user-agent", "if-none-match",
        "content-type",
    )} == {
        "authorization": f"token {SECRET}",
        "accept": "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
        "user-agent": "ghp-agents",
        "if-none-match": '"b"',
        "content-type": "application/json",
    }  # fmt: skip


def test_a_netrc_of_the_person_does_not_take_the_tokens_place(
    caller: ApiClient, script: Script, home: Path
) -> None:
    (home / ".netrc").write_text("machine 127.0.0.1 login me password mine\n")
    script.then(says(200, {}))
    get(caller, script)
    assert script.asked[0].headers["authorization"] == f"token {SECRET}"


def test_the_proxy_of_the_environment_is_used_but_for_hosts_that_need_none(
    script: Script, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = "http://github.test.invalid"
    monkeypatch.setenv("http_proxy", script.address)
    script.then(says(200, 1), says(200, 2))
    caller = ApiClient(hubs.access(server), clock, 30.0)
    bodies = [caller.send("GET", f"{server}/user", {}, None, 10.0).body for _ in range(2)]
    assert (bodies, script.lines) == ([1, 2], [f"GET {server}/user"] * 2)
    monkeypatch.setenv("no_proxy", ".test.invalid")
    with pytest.raises(UnreachableError):
        ApiClient(hubs.access(server), clock, 30.0).send("GET", f"{server}/user", {}, None, 10.0)


def test_the_certificates_that_the_environment_names_are_the_trusted_ones(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing.pem"))
    caller = ApiClient(hubs.access("https://127.0.0.1:1"), clock, 30.0)
    with pytest.raises(OSError, match=r"missing\.pem"):
        caller._line._session.get("https://127.0.0.1:1")


@pytest.mark.parametrize("status", [200, 202, 204, 304, 401, 403, 404, 422, 429, 500, 502, 503])
def test_every_status_is_heard_once_and_nothing_is_done_about_it(
    caller: ApiClient, script: Script, clock: ManualClock, status: int
) -> None:
    began = clock.now()
    script.then(says(status, {} if status == 200 else None))
    assert get(caller, script).status == status
    assert len(script.asked) == 1
    assert clock.now() == began


def test_a_page_for_people_with_an_error_is_an_error_without_words(
    caller: ApiClient, script: Script
) -> None:
    script.then(page(502, "<html>Bad gateway</html>"))
    raw = get(caller, script)
    assert (raw.status, raw.body) == (502, None)


@pytest.mark.parametrize(
    "step",
    [
        half(200, {"id": 1, "title": "x" * 100}),
        page(200, '{"id": 1, "title": "'),
        page(200, "<html>Log in to this network</html>"),
        page(200, "[" * 100_000),
        says(200),
        says(201),
    ],
)
def test_half_an_answer_may_have_happened(
    caller: ApiClient, script: Script, step: hubs.Step
) -> None:
    script.then(step)
    with pytest.raises(UnreachableError) as caught:
        get(caller, script)
    assert caught.value.happened
    assert str(caught.value) in (
        "The connection to GitHub was lost.",
        "GitHub's answer was cut off or is invalid.",
        "GitHub's answer was empty.",
    )


def test_a_connection_that_is_cut_may_have_happened(caller: ApiClient, script: Script) -> None:
    script.then(cut)
    with pytest.raises(UnreachableError) as caught:
        get(caller, script)
    assert (str(caught.value), caught.value.happened) == (
        "The connection to GitHub was lost.",
        True,
    )


def test_after_a_cut_the_next_request_makes_a_new_connection(
    caller: ApiClient, script: Script
) -> None:
    script.then(says(200, 1), cut, says(200, 2))
    assert get(caller, script).body == 1
    with pytest.raises(UnreachableError):
        get(caller, script)
    assert get(caller, script).body == 2


def test_no_answer_in_time_may_have_happened(script: Script, clock: ManualClock) -> None:
    import threading

    done = threading.Event()
    script.then(after(lambda: done.wait(60), says(200)))
    caller = ApiClient(hubs.access(script.address), clock, 30.0)
    try:
        with pytest.raises(UnreachableError) as caught:
            caller.send("GET", script.address + "/user", {}, None, 0.05)
    finally:
        done.set()
    assert (str(caught.value), caught.value.happened) == (
        "GitHub did not answer within 0.05 s.",
        True,
    )


def test_an_answer_that_drips_in_is_not_read_for_ever(
    caller: ApiClient, script: Script, clock: ManualClock
) -> None:
    def drip(handler: Handler) -> None:
        clock.wait(11.0)
        handler.reply(200, {}, b'{"id": 1}')

    script.then(drip)
    with pytest.raises(UnreachableError) as caught:
        get(caller, script)
    assert str(caught.value) == "GitHub did not answer within 10 s."


def test_a_server_that_takes_no_connection_was_asked_nothing(clock: ManualClock) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    caller = ApiClient(hubs.access(f"http://127.0.0.1:{port}"), clock, 30.0)
    with pytest.raises(UnreachableError) as caught:
        caller.send("POST", f"http://127.0.0.1:{port}/x", {}, {}, 10.0)
    assert (str(caught.value), caught.value.happened) == (
        "GitHub's server refused the connection.",
        False,
    )


# ---------------------------------------------------------------- what needs a real network


@pytest.fixture
def mocked() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock() as mock:
        yield mock


def wrapped(cause: BaseException, kind: type[requests.ConnectionError]) -> requests.ConnectionError:
    """An error as requests raises it: around urllib3's, around the system's."""
    pool = urllib3.HTTPSConnectionPool("api.github.com")
    error = urllib3.exceptions.MaxRetryError(pool, f"/user?token={SECRET}", reason=None)
    error.__cause__ = cause
    return kind(error)


CERTIFICATE = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed")


@pytest.mark.parametrize(
    ("error", "why", "happened"),
    [
        (
            wrapped(socket.gaierror(-2, "Name or service not known"), requests.ConnectionError),
            "The host name of GitHub's server could not be resolved.",
            False,
        ),
        (
            wrapped(CERTIFICATE, requests.exceptions.SSLError),
            "This machine does not trust the certificate of GitHub's server.",
            False,
        ),
        (
            requests.exceptions.ConnectTimeout(TimeoutError("timed out")),
            "Could not connect to GitHub's server.",
            False,
        ),
        (
            requests.exceptions.ReadTimeout(TimeoutError("timed out")),
            "GitHub did not answer within 10 s.",
            True,
        ),
        (
            wrapped(ConnectionResetError(104, "reset by peer"), requests.ConnectionError),
            "The connection to GitHub was lost.",
            True,
        ),
        (
            wrapped(ssl.SSLEOFError(8, "EOF"), requests.exceptions.SSLError),
            "The connection to GitHub was lost.",
            True,
        ),
    ],
)
def test_each_way_to_have_no_answer_has_its_words(
    mocked: responses.RequestsMock, error: Exception, why: str, happened: bool
) -> None:
    mocked.add("GET", f"{API}/user", body=error)
    caller = ApiClient(hubs.access(API), ManualClock(), 30.0)
    with pytest.raises(UnreachableError) as caught:
        caller.send("GET", f"{API}/user", {}, None, 10.0)
    assert (str(caught.value), caught.value.happened) == (why, happened)
    assert SECRET not in str(caught.value) + caught.value.hint


# ---------------------------------------------------------------- redirects


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_renamed_repository_is_followed_with_verb_body_and_query(
    caller: ApiClient, script: Script, status: int
) -> None:
    script.then(says(status, {}, Location=f"{script.address}/repositories/7/x?b=2"), says(201, 5))
    raw = caller.send("POST", script.address + "/repos/a/b/x?a=1", {}, {"title": "x"}, 10.0)
    assert (raw.status, raw.body) == (201, 5)
    assert script.lines == ["POST /repos/a/b/x?a=1", "POST /repositories/7/x?b=2"]
    assert script.asked[1].body == {"title": "x"}


def test_the_token_is_not_sent_to_another_server(caller: ApiClient, script: Script) -> None:
    script.then(says(301, {}, Location="http://localhost:1/user"))
    with pytest.raises(ForbiddenError) as caught:
        get(caller, script)
    assert "redirects to another server; the token is not sent there." in str(caught.value)
    assert len(script.asked) == 1


def test_redirects_without_end_end(caller: ApiClient, script: Script) -> None:
    script.then(*[says(302, {}, Location=f"/{number}") for number in range(5)])
    with pytest.raises(UnreachableError) as caught:
        get(caller, script)
    assert not caught.value.happened
    assert script.lines == ["GET /user", "GET /0", "GET /1"]


def test_a_redirect_to_nowhere_is_an_answer(caller: ApiClient, script: Script) -> None:
    script.then(says(301, {"message": "Moved"}))
    assert get(caller, script).status == 301


@pytest.mark.parametrize(
    ("api", "address"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://ghe.example.com/api/v3", "https://ghe.example.com/api/graphql"),
        ("https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql"),
        ("http://127.0.0.1:4801", "http://127.0.0.1:4801/graphql"),
    ],
)
def test_graphql_is_beside_the_api(api: str, address: str) -> None:
    assert client.graphql_address(api) == address


def test_a_server_below_a_path_is_asked_below_it(script: Script, clock: ManualClock) -> None:
    script.then(says(200, 1))
    caller = ApiClient(hubs.access(f"{script.address}/api/v3"), clock, 30.0)
    caller.send("GET", f"{script.address}/api/v3/user", {}, None, 10.0)
    assert script.lines == ["GET /api/v3/user"]
