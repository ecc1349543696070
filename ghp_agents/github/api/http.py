"""One HTTP exchange with GitHub; the only module that uses PyGithub.

PyGithub provides connections and the token's header. Its own waits, retries and redirects are
switched off: it would write twice, sleep for an hour, and lose the query of a list whose repository
was renamed. See docs/design/011-one-door-to-github.md.
"""

import json
import socket
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urljoin, urlsplit

from ghp_agents.core import trace
from ghp_agents.github.api.access import Access
from ghp_agents.github.api.errors import ForbiddenError
from ghp_agents.github.api.responses import failed
from ghp_agents.ports import Clock

if TYPE_CHECKING:
    from github.Requester import Requester

HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
USER_AGENT = "ghp-agents"
CHUNK = 65_536
REDIRECTS = 3
WITH_CONTENT = (200, 201)  # GitHub answers without content have 202, 204 or 205
_MOVED = (301, 302, 307, 308)
# urllib3's names for "no connection was made"; causes are matched by name and by class.
_NOT_SENT = ("ConnectTimeout", "ConnectTimeoutError", "NewConnectionError", "NameResolutionError")


class HttpResponse(NamedTuple):
    """A response: header names in lower case, the body parsed as JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Sender(Protocol):
    """Sends one request; tests replace it."""

    def send(
        self, verb: str, url: str, headers: Mapping[str, str], body: Any, seconds: float
    ) -> HttpResponse:
        """Raises UnreachableError; `happened` is set if GitHub may have processed the request."""


class ApiClient:
    """Sends requests with one token, from one thread."""

    def __init__(self, access: Access, clock: Clock, timeout: float) -> None:
        self._line = _Line(access, clock)
        self._requester = _requester(access, timeout)

    def send(
        self, verb: str, url: str, headers: Mapping[str, str], body: Any, seconds: float
    ) -> HttpResponse:
        """One request and its response, within `seconds`. Follows redirects on the same server: a
        redirected request was not processed."""
        for _ in range(REDIRECTS):
            raw = self._once(verb, url, headers, body, seconds)
            target = urljoin(url, raw.headers.get("location", ""))
            if raw.status not in _MOVED or target == url:
                return raw
            if urlsplit(target)[:2] != urlsplit(url)[:2]:
                raise _moved_away(url)
            url = target
        raise failed("GitHub redirected too many times", happened=False)

    def _once(
        self, verb: str, url: str, headers: Mapping[str, str], body: Any, seconds: float
    ) -> HttpResponse:
        line: Any = self._line  # PyGithub asks no more of a connection than it has
        line.seconds = max(seconds, 0.001)
        try:
            self._requester.requestJson(
                verb, url, headers={**HEADERS, **headers}, input=body, cnx=line
            )
        except OSError as error:  # every error of requests is one
            raise _unreachable(error, seconds) from None
        content = _read(line.text, line.status)
        if content is None and line.status in WITH_CONTENT:
            raise failed("GitHub's answer was empty")
        return HttpResponse(line.status, line.headers, content)


def graphql_address(api: str) -> str:
    """The GraphQL address of a server."""
    if api.endswith("/api/v3"):
        return api.removesuffix("/v3") + "/graphql"
    return f"{api}/graphql"


class _SlowError(OSError):
    """The response arrived too slowly."""


class _Line:
    """A connection as PyGithub uses one. It reads a whole response within a time limit and hides it
    from PyGithub, which would sleep on a 202, follow a 301 without the query, and fail on an
    unusual header. If a server echoes the token, it is masked here."""

    def __init__(self, access: Access, clock: Clock) -> None:
        from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass

        parts = urlsplit(access.api)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        secure = parts.scheme == "https"
        kind = HTTPSRequestsConnectionClass if secure else HTTPRequestsConnectionClass
        self._session = kind(parts.hostname or "", parts.port).session  # reads no .netrc
        _read_environment_once(self._session, self._origin)
        self._clock, self._masked = clock, access.token.masked
        self.seconds = 0.0
        self.status, self.text = 0, ""
        self.headers: Mapping[str, str] = {}

    def request(
        self, verb: str, url: str, input: Any, headers: Mapping[str, str], stream: bool = False
    ) -> None:
        """Keep the request for `getresponse`."""
        self._wanted = (verb, url, input, headers)

    def getresponse(self) -> "_Kept":
        """Send the request and read the response."""
        verb, url, content, headers = self._wanted
        until = self._clock.now() + self.seconds
        with self._session.request(
            verb, self._origin + url, headers=headers, data=content, timeout=self.seconds,
            allow_redirects=False, stream=True,
        ) as answer:  # fmt: skip
            chunks: list[bytes] = []
            for chunk in answer.iter_content(CHUNK):
                chunks.append(chunk)
                if self._clock.now() > until:
                    raise _SlowError
        self.status = answer.status_code
        trace.step(f"{verb} {self._origin}{url} {self.status}")
        self.text = self._masked(b"".join(chunks).decode("utf-8", "replace"))
        self.headers = {name.lower(): self._masked(value) for name, value in answer.headers.items()}
        return _Kept()


def _read_environment_once(session: Any, origin: str) -> None:
    """Keep the proxies and the certificates that the environment names. Requests would read all of
    it for each request, which takes longer than the rest of its work."""
    settings = session.merge_environment_settings(origin, {}, None, None, None)
    session.proxies, session.verify = settings["proxies"], settings["verify"]
    session.trust_env = False


class _Kept:
    """What PyGithub sees of a response: only that there was one."""

    status = 200

    def getheaders(self) -> list[tuple[str, str]]:
        """No headers."""
        return []

    def read(self) -> str:
        """No text."""
        return ""


def _read(text: str, status: int) -> Any:
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if status >= 300:
            return None  # an HTML page, from a proxy between GitHub and us
        raise failed("GitHub's answer was cut off or is invalid") from None


def _unreachable(error: OSError, seconds: float) -> Exception:
    causes = list(_causes(error))
    happened = False
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        why = "The host name of GitHub's server could not be resolved"
    elif any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        why = "This machine does not trust the certificate of GitHub's server"
    elif any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        why = "GitHub's server refused the connection"
    elif any(type(cause).__name__ in _NOT_SENT for cause in causes):
        why = "Could not connect to GitHub's server"
    elif any(isinstance(cause, TimeoutError | _SlowError) for cause in causes):
        why, happened = f"GitHub did not answer within {seconds:.3g} s", True
    else:
        why, happened = "The connection to GitHub was lost", True
    return failed(why, happened=happened)


def _causes(error: BaseException) -> Any:
    """The error and its causes, which urllib3 keeps in `reason`, in `args` and as context."""
    causes: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop()
        if not isinstance(cause, BaseException) or any(cause is other for other in causes):
            continue
        causes.append(cause)
        yield cause
        waiting += [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]


def _moved_away(url: str) -> ForbiddenError:
    return ForbiddenError(
        f"{urlsplit(url).netloc} redirects to another server; the token is not sent there.",
        hint="Fix `agents.github.host`, or the remote's address.",
    )


def _requester(access: Access, timeout: float) -> "Requester":
    from github.Auth import Token
    from github.Requester import Requester

    return Requester(
        auth=Token(access.token.reveal()),
        base_url=access.api,
        timeout=int(max(timeout, 1)),
        user_agent=USER_AGENT,
        per_page=100,
        verify=True,
        retry=None,
        pool_size=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
