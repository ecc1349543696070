"""Requests to GitHub with rate limits and retries; a write happens only once.

All retries are in this module.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import local
from typing import Any, NoReturn

from ghp_agents.core.errors import NotFoundError
from ghp_agents.github.api import rate_limit, responses
from ghp_agents.github.api.access import Access
from ghp_agents.github.api.cache import Cache, CachedAnswer
from ghp_agents.github.api.errors import (
    GoneError,
    HubError,
    LimitError,
    NoAnswerError,
    TokenError,
    UnreachableError,
)
from ghp_agents.github.api.http import ApiClient, HttpResponse, Sender
from ghp_agents.github.api.pace import Pace
from ghp_agents.github.api.rate_limit import CORE, RESERVE, WHY, Deadline, Meter, Waits
from ghp_agents.github.api.status import LIMITS, machine_folder
from ghp_agents.hotpath import background
from ghp_agents.workspace import Workspace

BACKOFF = (1.0, 2.0)  # seconds after the first and the second failure; the third is final
LAST_LOOK = 2.0  # seconds before the last lookup whether a write was done
LISTED = 5.0  # seconds until GitHub's lists show what was created
SHARE = 2 / 3  # of the time left, for one exchange; the rest is for a retry
LEAST = 1.0  # seconds for an exchange, even if no time is left
SHORTEST = 0.1  # the same, where a block of requests has its own limit

FindExisting = Callable[[], Any | None]


class ApiSession:
    """One process's connection to one server, through one token."""

    def __init__(self, ws: Workspace, access: Access) -> None:
        folder = ws.cache_dir / "hub"
        name = access.token.fingerprint(access.api)
        self._ws, self._access = ws, access
        machine = machine_folder(ws, name)
        self.meter = Meter(folder / f"{name}.json", machine / LIMITS)
        self._reserve = RESERVE if background.leaves_to_people(ws.environ) else 0.0
        self.folder = folder / name
        self._cache = Cache(self.folder / "answers")
        self.pace = Pace([machine, folder], ws.clock)
        self._waits = Waits(ws.settings.timeout)
        self._until: Deadline | None = None
        self._senders = local()  # PyGithub's connections are not thread-safe

    def read(self, url: str) -> tuple[HttpResponse, bool]:
        """GET; the response, and whether it is new. Raises HubError, NoAnswerError."""
        kept = None if getattr(self._senders, "looking", False) else self._cache.read(url)
        headers = {"If-None-Match": kept.etag} if kept else {}
        raw = self.ask("GET", url, headers, None)
        if raw.status == 304 and kept:
            self._cache.touch(url)
            return HttpResponse(200, {**kept.headers, **raw.headers}, kept.body), False
        if raw.status == 304:
            raise responses.failed(
                'GitHub answered "not modified" to a request that did not ask for it'
            )
        etag = raw.headers.get("etag")
        if etag:
            self._cache.write(CachedAnswer(url, etag, _headers_to_cache(raw.headers), raw.body))
        return raw, True

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """All requests inside this block take at most so long together, and no longer than a block
        around it allows. Later ones raise UnreachableError."""
        before = self._until
        least = min(seconds, before.left()) if before else seconds
        self._until = Deadline(self._ws.clock, least)
        try:
            yield
        finally:
            self._until = before

    def pause(self, seconds: float) -> None:
        """Wait, within the command's waits. Raises UnreachableError if they are used up."""
        if not self._deadline().wait(seconds):
            raise responses.failed("GitHub does not show yet what it was sent")

    def recall(self, url: str) -> HttpResponse | None:
        """The last result of `read`, without a request."""
        kept = self._cache.read(url)
        return HttpResponse(200, kept.headers, kept.body) if kept else None

    def ask(
        self, verb: str, url: str, headers: Mapping[str, str], body: Any, resource: str = CORE
    ) -> HttpResponse:
        """Send a request that changes nothing; retry where it helps. Raises HubError,
        NoAnswerError."""
        deadline = self._deadline()
        for rest in (*BACKOFF, None):
            try:
                return self._send(verb, url, headers, body, resource, deadline)
            except LimitError as error:
                failure: NoAnswerError = error
            except UnreachableError as error:
                failure = error
                if not error.happened or rest is None or not deadline.wait(rest):
                    break  # no server found, or no time left
        self._give_up(failure)

    def write(
        self,
        verb: str,
        url: str,
        body: Any,
        *,
        find_existing: FindExisting | None = None,
        doubt: bool = False,
        resource: str = CORE,
    ) -> Any:
        """Send a request that changes something; return the response's body.

        `doubt`: it may already be done, so `find_existing` is called first. Raises HubError,
        NoAnswerError.
        """
        deadline = self._deadline()
        for rest in (*BACKOFF, LAST_LOOK):
            if doubt and (existing := self._find_existing(find_existing)) is not None:
                return existing
            try:
                self._admit(
                    resource, deadline
                )  # before the write lock, so that waiting does not hold it
                with self.pace.turn(deadline):
                    return self._send(verb, url, {}, body, resource, deadline).body
            except LimitError as error:
                failure: NoAnswerError = error
            except UnreachableError as error:
                failure, doubt = error, doubt or error.happened
                # Without a lookup, nobody can tell whether a POST was done.
                again = find_existing is not None or verb != "POST"
                rest = max(rest, LISTED) if verb == "POST" else rest
                if not error.happened or not again or not deadline.wait(rest):
                    break
            except HubError as error:
                return self._resolve_refusal(error, verb, doubt, find_existing)
        if doubt and (existing := self._find_existing(find_existing)) is not None:
            return existing
        failure.happened = doubt
        self._give_up(failure)

    def _find_existing(self, find_existing: FindExisting | None) -> Any | None:
        """The result of an earlier try, if it exists. The lookup bypasses the response cache."""
        self._senders.looking = True
        try:
            return find_existing() if find_existing else None
        except NoAnswerError as error:
            error.happened = True
            raise
        finally:
            self._senders.looking = False

    def _resolve_refusal(
        self, error: HubError, verb: str, doubt: bool, find_existing: FindExisting | None
    ) -> Any:
        """A refusal may only mean that the write was already done; then return that result."""
        if doubt and verb == "DELETE" and isinstance(error, NotFoundError | GoneError):
            return None
        if doubt and (existing := self._find_existing(find_existing)) is not None:
            return existing
        raise error

    def _send(
        self,
        verb: str,
        url: str,
        headers: Mapping[str, str],
        body: Any,
        resource: str,
        deadline: Deadline,
    ) -> HttpResponse:
        """Send one request, if the breaker is closed."""
        self._admit(resource, deadline)
        least = min(LEAST, self._ws.settings.timeout)
        seconds = max(deadline.left() * SHARE, least)
        if self._until:
            seconds = min(seconds, max(self._until.left(), SHORTEST))
        raw = self._sender().send(verb, url, headers, body, seconds)
        now = self._ws.clock.now()
        skew = responses.skew(raw.headers, now)
        limit = responses.limit_of(raw.status, raw.headers, raw.body, now)
        if limit:
            updated = self.meter.change(
                lambda limits: rate_limit.rested(limits, limit, raw.headers, now, skew)
            )
            pause = rate_limit.closed(updated, resource, now)
            raise responses.limited(WHY[limit.kind], pause.until if pause else now, now)
        if raw.status < 300 or raw.status == 304:
            self.meter.change(lambda limits: rate_limit.heard(limits, raw.headers, now, skew))
            return raw
        error = responses.error_of(f"{verb} {self._shown(url)}", *raw)
        if isinstance(error, TokenError):
            self.meter.change(lambda limits: rate_limit.unwelcome(limits, now))
        elif isinstance(error, HubError):
            self.meter.change(lambda limits: rate_limit.heard(limits, raw.headers, now, skew))
        raise error

    def _admit(self, resource: str, deadline: Deadline) -> None:
        """Wait for the end of a pause that GitHub asked for, or raise NoAnswerError."""
        clock = self._ws.clock
        while pause := rate_limit.closed(
            self.meter.read(), resource, clock.now(), reserve=self._reserve
        ):
            rest = pause.until - clock.now()
            if pause.kind == "token":
                raise TokenError(
                    f"{WHY['token']}; it is not used again for a minute.",
                    hint="Run `gh auth login`, or set another token.",
                ).of(401, "")
            if not pause.asked_for or not deadline.wait(rest):
                raise responses.limited(WHY[pause.kind], pause.until, clock.now())

    def _give_up(self, failure: NoAnswerError) -> NoReturn:
        if isinstance(failure, UnreachableError):
            now = self._ws.clock.now()
            self.meter.change(lambda limits: rate_limit.lost(limits, now))
        raise failure

    def _deadline(self) -> Deadline:
        seconds = self._ws.settings.timeout
        if self._until:
            seconds = min(seconds, self._until.left())
            if not seconds:
                raise responses.failed("GitHub took too long", happened=False)
        return Deadline(self._ws.clock, seconds, self._waits)

    def _sender(self) -> Sender:
        if not hasattr(self._senders, "client"):
            self._senders.client = ApiClient(
                self._access, self._ws.clock, self._ws.settings.timeout
            )
        client: ApiClient = self._senders.client
        return client

    def _shown(self, url: str) -> str:
        """An address for people: without the server and the query."""
        return url.removeprefix(self._access.api).partition("?")[0]


def _headers_to_cache(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are worth caching."""
    return {name: headers[name] for name in ("link", "last-modified") if name in headers}
