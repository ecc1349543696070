"""Asking GitHub until there is an answer or none is to be had: limits, retries, and one write once.

Only here is anything sent a second time.
"""

from collections.abc import Callable, Mapping
from threading import local
from typing import Any, NoReturn

from ghp_agents.core.errors import NotFoundError
from ghp_agents.github.api import rate_limit, responses
from ghp_agents.github.api.access import Access
from ghp_agents.github.api.cache import Cache, CachedAnswer
from ghp_agents.github.api.deadline import Deadline
from ghp_agents.github.api.errors import (
    GoneError,
    HubError,
    LimitError,
    NoAnswerError,
    TokenError,
    UnreachableError,
)
from ghp_agents.github.api.http import Client, HttpResponse, Sender
from ghp_agents.github.api.rate_limit import CORE, WHY
from ghp_agents.github.api.rate_limit_file import Meter
from ghp_agents.github.api.write_pacing import Pace
from ghp_agents.workspace import Workspace

BACKOFF = (1.0, 2.0)  # seconds after the first and the second failure; after the third we give up
LAST_LOOK = 2.0  # seconds after which we look for the last time whether a write was done
SHARE = 2 / 3  # of the time that is left, for one exchange: so that there is some for another
LEAST = 1.0  # seconds for an exchange, also when no time is left

FindExisting = Callable[[], Any | None]


class ApiSession:
    """The conversation of one process with one server, through one token."""

    def __init__(self, ws: Workspace, access: Access) -> None:
        folder = ws.cache_dir / "hub"
        name = access.token.fingerprint(access.api)
        self._ws, self._access = ws, access
        self.meter = Meter(folder / f"{name}.json")
        self.folder = folder / name
        self._cache = Cache(self.folder / "answers")
        self._pace = Pace(folder, ws.clock)
        self._senders = local()  # PyGithub's connections are for one thread each

    def read(self, url: str) -> tuple[HttpResponse, bool]:
        """GET; the answer, and whether it is new. Raises HubError, Unanswered."""
        kept = None if self._is_looking() else self._cache.read(url)
        headers = {"If-None-Match": kept.etag} if kept else {}
        raw = self.ask("GET", url, headers, None)
        if raw.status == 304 and kept:
            self._cache.touch(url)
            return HttpResponse(200, {**kept.headers, **raw.headers}, kept.body), False
        if raw.status == 304:
            raise responses.failed("GitHub says that nothing changed, and was not asked that")
        etag = raw.headers.get("etag")
        if etag:
            self._cache.write(CachedAnswer(url, etag, _headers_to_cache(raw.headers), raw.body))
        return raw, True

    def recall(self, url: str) -> HttpResponse | None:
        """What `read` answered last; asks nobody."""
        kept = self._cache.read(url)
        return HttpResponse(200, kept.headers, kept.body) if kept else None

    def ask(
        self, verb: str, url: str, headers: Mapping[str, str], body: Any, resource: str = CORE
    ) -> HttpResponse:
        """Send what changes nothing, again where that may help. Raises HubError, Unanswered."""
        deadline = self._deadline()
        for rest in (*BACKOFF, None):
            try:
                return self._send(verb, url, headers, body, resource, deadline)
            except LimitError as error:
                failure: NoAnswerError = error
            except UnreachableError as error:
                failure = error
                if not error.happened or rest is None or not deadline.wait(rest):
                    break  # there is no server to be found, or no time left
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
        """Send what changes something; the answer's body.

        `doubt`: it may have been done before, so `there` is asked first. Raises HubError,
        Unanswered.
        """
        deadline = self._deadline()
        for rest in (*BACKOFF, LAST_LOOK):
            if doubt and (found := self._find_existing(find_existing)) is not None:
                return found
            try:
                self._admit(resource, deadline)  # who has to wait for that keeps no turn meanwhile
                with self._pace.turn(deadline):
                    return self._send(verb, url, {}, body, resource, deadline).body
            except LimitError as error:
                failure: NoAnswerError = error
            except UnreachableError as error:
                failure, doubt = error, doubt or error.happened
                # Without a lookup, nobody can tell whether a POST was done.
                again = find_existing is not None or verb != "POST"
                if not error.happened or not again or not deadline.wait(rest):
                    break
            except HubError as error:
                return self._resolve_refusal(error, verb, doubt, find_existing)
        if doubt and (found := self._find_existing(find_existing)) is not None:
            return found
        failure.happened = doubt
        self._give_up(failure)

    def _find_existing(self, find_existing: FindExisting | None) -> Any | None:
        """What a write would have made, if it is there. No old answer is good enough for that:
        GitHub is asked as if it had never been."""
        self._senders.looking = True
        try:
            return find_existing() if find_existing else None
        except NoAnswerError as error:
            error.happened = True
            raise
        finally:
            self._senders.looking = False

    def _is_looking(self) -> bool:
        return getattr(self._senders, "looking", False)

    def _resolve_refusal(
        self, error: HubError, verb: str, doubt: bool, find_existing: FindExisting | None
    ) -> Any:
        """A no that may only say that it was done before: then that is the answer."""
        if doubt and verb == "DELETE" and isinstance(error, NotFoundError | GoneError):
            return None
        if doubt and (found := self._find_existing(find_existing)) is not None:
            return found
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
        """One request, if the breaker lets it through."""
        self._admit(resource, deadline)
        least = min(LEAST, self._ws.settings.timeout)
        seconds = max(deadline.left() * SHARE, least)
        raw = self._sender().send(verb, url, headers, body, seconds)
        now = self._ws.clock.now()
        skew = responses.skew(raw.headers, now)
        limit = responses.limit_of(raw.status, raw.headers, raw.body, now)
        if limit:
            known = self.meter.change(
                lambda limits: rate_limit.rested(limits, limit, raw.headers, now, skew)
            )
            pause = rate_limit.closed(known, resource, now)
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
        """Go on, or wait for the end of a rest that GitHub asked for, or raise Unanswered."""
        clock = self._ws.clock
        while pause := rate_limit.closed(self.meter.read(), resource, clock.now()):
            rest = pause.until - clock.now()
            if pause.kind == "token":
                raise _refused_token()
            if not pause.asked_for or not deadline.wait(rest):
                raise responses.limited(WHY[pause.kind], pause.until, clock.now())

    def _give_up(self, failure: NoAnswerError) -> NoReturn:
        if isinstance(failure, UnreachableError):
            now = self._ws.clock.now()
            self.meter.change(lambda limits: rate_limit.lost(limits, now))
        raise failure

    def _deadline(self) -> Deadline:
        return Deadline(self._ws.clock, self._ws.settings.timeout)

    def _sender(self) -> Sender:
        if not hasattr(self._senders, "client"):
            self._senders.client = Client(self._access, self._ws.clock, self._ws.settings.timeout)
        client: Client = self._senders.client
        return client

    def _shown(self, url: str) -> str:
        """An address for people: without the server, and without what was asked of a list."""
        return url.removeprefix(self._access.api).partition("?")[0]


def _refused_token() -> HubError:
    return TokenError(
        f"{WHY['token']}; it is not asked again for a minute.",
        hint="Run `gh auth login`, or set another token.",
    ).of(401, "")


def _headers_to_cache(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer that are worth keeping."""
    return {name: headers[name] for name in ("link", "last-modified") if name in headers}
