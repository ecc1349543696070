"""Between the client and the stand-in for GitHub: it hands on, keeps a record, judges both.

What GitHub does and emulate does not is done here: conditional requests, tokens that are refused,
budgets. Faults happen by a schedule. The rest of the difference is in `github_laws` and
`github_gaps`.
"""

import contextlib
import hashlib
import http.client
import json
import re
import select
import socket
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from ghp_agents.core.clock import SystemClock
from ghp_agents.ports import Clock
from tests.support import emulator
from tests.support.faults import GARBLED, Asked, Fault, Said, Schedule, never
from tests.support.openapi import GRAPHQL, Deviation, OpenAPI

BUDGET, HOUR = 5_000, 3_600  # requests, seconds
ENTERPRISE = "/api/v3"  # GitHub Enterprise Server has its API below this
APART = "x-not-the-client"  # what a test does itself: no fault happens to it, no budget is spent


ENFORCED = ((80, 60.0), (500, 3_600.0))  # GitHub's limits for content, by account
# Stands in answers for the address that the client knows.
HERE = "http://github.test.invalid"


class Exchange(NamedTuple):
    """One request and what became of it."""

    asked: Asked
    said: Said | None  # None: the client got no answer
    fault: Fault | None
    conditional: bool
    apart: bool
    at: float  # by the proxy's clock

    @property
    def not_modified(self) -> bool:
        """Whether it was free."""
        return self.said is not None and self.said.status == 304

    def __str__(self) -> str:
        query = f"?{urlencode(self.asked.query)}" if self.asked.query else ""
        status = self.said.status if self.said else "no answer"
        why = f" ({self.fault.value})" if self.fault else ""
        return f"{self.asked.login} {self.asked.verb} {self.asked.path}{query} -> {status}{why}"


Handler = Callable[[Asked], Said]


class Budget(NamedTuple):
    """What a token has spent, and when it begins anew."""

    spent: int
    resets: int

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= BUDGET


class Proxy:
    """One repository's door to GitHub. `answer` is what lies behind it; see `github.py`."""

    def __init__(
        self,
        behind: Handler,
        tokens: Mapping[str, str],
        openapi: OpenAPI | None = None,
        deviations: tuple[Deviation, ...] = (),
    ) -> None:
        self.behind = behind
        self.logins = {token: login for login, token in tokens.items()}
        self.faults: Schedule = never
        self.clock: Clock = SystemClock()  # what budgets and limits are told by
        self.retry_after = 7
        self.limits: tuple[tuple[int, float], ...] = ()  # writes in so many seconds, by account
        self.delay = 1.0  # seconds that a slow answer takes, of this machine's time
        self.everything: list[Exchange] = []
        self.violations: list[str] = []
        self._openapi, self._deviations = openapi, deviations
        self._budgets: dict[str, Budget] = {}
        self._lock = threading.RLock()
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """What clients take for the API."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def exchanges(self) -> list[Exchange]:
        """What the client asked, in the order in which it was answered."""
        return [x for x in self.everything if not x.apart]

    def since(self, mark: int) -> list[Exchange]:
        """What the client asked after `mark` = len(proxy.exchanges)."""
        return self.exchanges[mark:]

    @contextlib.contextmanager
    def running(self) -> Iterator["Proxy"]:
        """Answer in threads, as long as somebody is in here."""
        serving = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        serving.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            serving.join()

    def handle(
        self, token: str, verb: str, address: str, body: Any, etag: str, *, apart: bool
    ) -> tuple[Said | None, Fault | None]:
        """Everything but the wire: what is answered, and what the wire does to it."""
        parts = urlsplit(address)
        path = parts.path.removeprefix(ENTERPRISE).replace("/api/graphql", GRAPHQL)
        with self._lock:
            login, query = self.logins.get(token, ""), dict(parse_qsl(parts.query))
            request = Asked(login, verb, path, query, body, apart)
            budget = self._budget(token)
            if apart:
                fault = None
            elif budget.is_spent:
                fault = Fault.PRIMARY
            else:
                fault = Fault.SECONDARY if self._is_too_much(request) else self.faults(request)
            if fault is Fault.PRIMARY and not budget.is_spent:
                budget = Budget(BUDGET, int(self.clock.now()) + self.retry_after)
            if fault is Fault.STALE and not etag:
                fault = None
            response = self._answer(request, fault, etag)
            if not apart and response.status != 304:
                budget = budget._replace(spent=min(budget.spent + 1, BUDGET))
            self._budgets[token] = budget
            response = response._replace(headers={**response.headers, **self._told(budget)})
            heard = None if fault in _UNHEARD else response
            self.everything.append(
                Exchange(request, heard, fault, bool(etag), apart, self.clock.now())
            )
            return response, fault

    def _is_too_much(self, request: Asked) -> bool:
        """Whether the account wrote as often as the server allows; what was refused counts not."""
        if not request.writes or not self.limits:
            return False
        now = self.clock.now()
        written = [at for login, at in self.written() if login == request.login]
        return any(
            sum(now - span < at <= now for at in written) >= most for most, span in self.limits
        )

    def written(self) -> list[tuple[str, float]]:
        """Who wrote something and when, people on GitHub's own pages too."""
        return [
            (x.asked.login, x.at)
            for x in self.everything
            if x.asked.writes and x.asked.path != GRAPHQL and not (x.fault and x.fault.is_limit)
        ]

    def _answer(self, request: Asked, fault: Fault | None, etag: str) -> Said:
        if fault and not fault.is_stored:
            return self._refusal(fault)
        if not request.login:
            return Said(401, {"message": "Bad credentials", "documentation_url": DOCS})
        response = self.behind(request)
        self._judge(request, response)
        if fault in _ERRORS:
            return self._refusal(fault)
        if request.verb == "GET" and response.status == 200:
            mark = f'W/"{hashlib.sha256(json.dumps(response.body).encode()).hexdigest()}"'
            if etag == mark and fault not in GARBLED:
                return Said(304, None, {"ETag": mark})
            response = response._replace(headers={**response.headers, "ETag": mark})
        return response

    def _judge(self, request: Asked, response: Said) -> None:
        if self._openapi is None:
            return
        wrong = []
        operation = self._openapi.operation(request.verb, request.path)
        if response.status < 400 or not operation:  # what was refused need not have been right
            wrong += self._openapi.of_request(
                request.verb, request.path, request.query, request.body
            )
        wrong += self._openapi.of_answer(request.verb, request.path, response.status, response.body)
        listed = [(x.operation, x.where) for x in self._deviations]
        self.violations += [x for x in wrong if not _is_listed(x, listed)]

    def _refusal(self, fault: Fault) -> Said:
        wait = {"Retry-After": str(self.retry_after)}
        match fault:
            case Fault.SECONDARY:
                return Said(403, SECONDARY, wait)
            case Fault.SECONDARY_SILENT:
                return Said(403, SECONDARY)
            case Fault.TOO_MANY:
                return Said(429, SECONDARY, wait)
            case Fault.TOO_MANY_SILENT:
                return Said(429, SECONDARY)
            case Fault.PRIMARY:
                return Said(403, {"message": "API rate limit exceeded", "documentation_url": DOCS})
            case Fault.STALE:
                return Said(304)
            case Fault.BUSY:
                return Said(503, {"message": "Service Unavailable"}, wait)
            case Fault.UNAUTHORIZED:
                return Said(401, {"message": "Bad credentials", "documentation_url": DOCS})
            case Fault.FORBIDDEN:
                why = "Resource not accessible by personal access token"
                return Said(403, {"message": why, "documentation_url": DOCS})
            case Fault.MISSING:
                return Said(404, {"message": "Not Found", "documentation_url": DOCS})
            case Fault.TOO_QUICKLY:
                error = {
                    "resource": "Issue",
                    "code": "custom",
                    "message": "was submitted too quickly",
                }
                return Said(422, {"message": "Validation Failed", "errors": [error]})
            case _:
                return Said(_ERRORS.get(fault, 502), {"message": "Server Error"})

    def _budget(self, token: str) -> Budget:
        """What a token has spent in its present hour."""
        now = self.clock.now()
        budget = self._budgets.get(token)
        return budget if budget and now < budget.resets else Budget(0, int(now) + HOUR)

    def _told(self, budget: Budget) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(BUDGET),
            "X-RateLimit-Remaining": str(BUDGET - budget.spent),
            "X-RateLimit-Used": str(budget.spent),
            "X-RateLimit-Reset": str(budget.resets),
            "X-RateLimit-Resource": "core",
            "Date": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(self.clock.now())),
        }


# Faults with which no answer arrives that can be read.
_UNHEARD = (Fault.CUT, Fault.CUT_AFTER, Fault.HALF, *GARBLED)
_ERRORS = {
    Fault.BAD_GATEWAY: 502, Fault.BAD_GATEWAY_AFTER: 502, Fault.ERROR: 500, Fault.ERROR_AFTER: 500,
    Fault.UNAVAILABLE: 503, Fault.TIMED_OUT: 504, Fault.TIMED_OUT_AFTER: 504,
}  # fmt: skip
DOCS = "https://docs.github.com/rest"
SECONDARY = {
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try "
    "again.",
    "documentation_url": f"{DOCS}/using-the-rest-api/rate-limits-for-the-rest-api#secondary",
}


def _is_listed(wrong: str, listed: list[tuple[str, str]]) -> bool:
    operation, _, what = wrong.partition(": ")
    return any(re.fullmatch(one, operation) and re.search(two, what) for one, two in listed)


# How often emulate was asked by somebody, by all tests together: it counts, too.
_ASKED: Counter[tuple[str, str]] = Counter()


class Upstream:
    """Emulate itself: one connection, one request at a time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=60)

    def __call__(self, request: Asked) -> Said:
        """What emulate answers; where that names its own address, so does this."""
        _ASKED[self.url, request.login] += 1
        spent = _ASKED[self.url, request.login] // (BUDGET - 1_000)
        token = emulator.token(request.login, spent)
        query = f"?{urlencode(request.query)}" if request.query else ""
        body = None if request.body is None else json.dumps(request.body)
        headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
        headers["Host"] = urlsplit(self.url).netloc  # what its addresses are made from
        self._hang_up_if_closed()
        self._connection.request(request.verb, request.path + query, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode().replace(self.url, HERE)
        link = (answer.headers.get("Link") or "").replace(self.url, HERE)
        return Said(answer.status, json.loads(text or "null"), {"Link": link} if link else {})

    def _hang_up_if_closed(self) -> None:
        """Node closes a connection that was idle for 5 s; a request on it would get no answer."""
        sock = self._connection.sock
        if sock and select.select([sock], [], [], 0)[0]:
            self._connection.close()

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        super().__init__(("127.0.0.1", 0), _Request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed, or whose connection we broke, is no error of the test's."""
        if not isinstance(sys.exception(), OSError):
            self.proxy.violations.append(traceback.format_exc())


class _Request(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _do(self) -> None:
        proxy = self.server.proxy
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        token = self.headers.get("Authorization", "").partition(" ")[2]
        etag, apart = self.headers.get("If-None-Match", ""), APART in self.headers
        body = json.loads(text) if text else None
        response, fault = proxy.handle(token, self.command, self.path, body, etag, apart=apart)
        if fault is Fault.SLOW:
            SystemClock().wait(proxy.delay)
        if response is None or fault in (Fault.CUT, Fault.CUT_AFTER):
            self._break()
        else:
            self._send(response, fault)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _do  # noqa: N815 - http.server's own names

    def _send(self, response: Said, fault: Fault | None) -> None:
        content = b"" if response.body is None else json.dumps(response.body).encode()
        below = ENTERPRISE if self.path.startswith(f"{ENTERPRISE}/") else ""
        base = f"http://{self.headers['Host']}{below}"
        lines = [f"HTTP/1.1 {response.status} {http.client.responses.get(response.status, '')}"]
        headers = {"Content-Type": "application/json; charset=utf-8", **response.headers}
        headers = {name: value.replace(HERE, base) for name, value in headers.items()}
        content = _garbled(content.replace(HERE.encode(), base.encode()), fault)
        if response.status not in (204, 304):
            headers["Content-Length"] = str(len(content))
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode()
        if fault is Fault.HALF:
            self.wfile.write((head + content)[: len(head) + len(content) // 2 if content else 20])
            self._break()
        else:
            self.wfile.write(head + (b"" if response.status in (204, 304) else content))

    def _break(self) -> None:
        """End the connection as a host does that goes away."""
        self.wfile.flush()
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def _garbled(content: bytes, fault: Fault | None) -> bytes:
    """What stands in the place of an answer's body."""
    match fault:
        case Fault.EMPTY:
            return b""
        case Fault.TRUNCATED:
            return content[: len(content) // 2]
        case Fault.PAGE:
            return b"<!DOCTYPE html><title>Unicorn!</title>"
        case _:
            return content
