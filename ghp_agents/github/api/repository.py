"""One repository on GitHub through one token: the API that all other packages use."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from ghp_agents.github import outgoing
from ghp_agents.github.api import graphql, status
from ghp_agents.github.api.access import Access
from ghp_agents.github.api.cache import FactsCache, UnreadableIssues
from ghp_agents.github.api.errors import ForbiddenError, MissingError, UnreachableError
from ghp_agents.github.api.outbox import Job, Outbox, Refused
from ghp_agents.github.api.responses import failed
from ghp_agents.github.api.session import ApiSession
from ghp_agents.github.api.status import GitHubStatus
from ghp_agents.workspace import Workspace

PERMISSION_SECONDS = 600.0
AGAIN_S = 1.0  # seconds until an account that was not found is looked for again
FEATURE_SECONDS = 7 * 86_400.0
ABSENT_SECONDS = 3_600.0  # one 404 may be a mistake of GitHub's
VIEWER_SECONDS = 86_400.0
PAGE = 100
MOST_PAGES = 1_000
COMMANDING = ("write", "maintain", "admin")
_ROLES = ("none", "read", "triage", *COMMANDING)
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


class ReadResult(NamedTuple):
    """GitHub's response to a read."""

    status: int
    body: Any  # JSON values
    headers: Mapping[str, str]  # names in small letters
    fresh: bool  # False: GitHub said 304, nothing changed, and the body is the remembered one


class GitHubRepository:
    """One repository on GitHub. A path is relative to it (`issues/12`), or absolute (`/user`).

    `recall`, `has`, `learned`, `later`, `unread`, `note_unread`, `moved_to` and `status` send none.
    All other methods may, and raise the errors of `github/api/errors.py`: `NoAnswerError` (exit
    code 4) if the result is unknown, a `HubError` if GitHub refused.
    """

    repository: str  # "owner/name"
    host: str  # "github.com"
    url: str  # "https://github.com/owner/name", for links

    def __init__(self, ws: Workspace, access: Access) -> None:
        self._ws, self._access = ws, access
        self.repository, self.host = access.repository, access.host
        self.url = f"https://{access.host}/{access.repository}"
        self._doubt = False  # while the outbox is sent: each write may already be done

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """All requests inside this block take at most so long together, waits included."""
        return self._session.within(seconds)

    def pause(self, seconds: float) -> None:
        """Wait before another look at what GitHub may show late. Raises UnreachableError if the
        command may not wait so long."""
        self._session.pause(seconds)

    @property
    def writes_in_last_hour(self) -> int:
        """How many changes this machine sent with the token in the last hour."""
        return self._session.pace.in_last_hour()

    def viewer(self) -> str:
        """The login of the token's account."""
        if self.known_viewer:
            return self.known_viewer
        try:
            login = str(self.get("/user").body["login"])
        except ForbiddenError:  # a workflow's own token has no user
            login = str(self.graphql("query { viewer { login } }")["viewer"]["login"])
        self._accounts.put("viewer", login, VIEWER_SECONDS)
        return login

    def present_name(self) -> str:
        """The repository's name now: it may have been renamed or moved to another owner, and GitHub
        redirects."""
        name = str(self.get("").body.get("full_name") or self.repository)
        self._accounts.put(self._moved, name, VIEWER_SECONDS)
        return name

    @property
    def moved_to(self) -> str | None:
        """The last result of `present_name` within a day; None if nobody asked."""
        return self._accounts.text(self._moved, VIEWER_SECONDS)

    @property
    def _moved(self) -> str:
        return f"name {self.repository}"

    @property
    def known_viewer(self) -> str:
        """The login of the token's account, if it was asked for lately; sends no request."""
        return self._accounts.text("viewer", VIEWER_SECONDS) or ""

    def get(self, path: str, **params: str | int) -> ReadResult:
        """Read. Conditional: unchanged data costs nothing of the rate limit (`fresh` is False)."""
        return self._get(self._address(path, params))

    def get_all(self, path: str, **params: str | int) -> list[Any]:
        """All pages of a list. If it may change meanwhile, sort so that new items come last, and
        merge items that appear twice: GitHub numbers the pages of each request afresh."""
        return [item for page in self.pages(path, **params) for item in page]

    def pages(self, path: str, **params: str | int) -> Iterator[list[Any]]:
        """The pages of a list, each read conditionally when it is wanted."""
        url: str | None = self._address(path, {"per_page": PAGE, **params})
        for _ in range(MOST_PAGES):
            if url is None:
                return
            answer = self._get(url)
            if not isinstance(answer.body, list):
                raise failed(f"GitHub's answer to `GET {path}` is not a list")
            yield answer.body
            url = self._next(answer)
        raise failed(f"GitHub's list `GET {path}` does not end")

    def changes(
        self, path: str, since: str, *, pages: int = 10**9, **params: str
    ) -> tuple[list[dict[str, Any]], str, int]:
        """What changed in a list since a time, the oldest change first, of at most so many pages;
        the time of the last change, and the number of its page.

        Each further page starts at the last change of the page before. An item that changes
        meanwhile appears again at the end, so no shift of pages hides one.
        """
        items: list[dict[str, Any]] = []
        page, last = 1, since
        for _ in range(pages):
            more, _ = self.page_of_changes(path, since, page, **params)
            items += more
            last = max((str(raw.get("updated_at") or "") for raw in more), default=since)
            if len(more) < PAGE:
                break
            page = 1 if last > since else page + 1  # more than a page changed in one second
            since = max(since, last)
        if page > 1 and not more:
            page -= 1  # an empty page stays empty if an item moves to the end of the page before
        return items, max(since, last), page if last <= since else 1

    def page_of_changes(
        self, path: str, since: str, page: int, **params: str
    ) -> tuple[list[dict[str, Any]], bool]:
        """One page of `changes`, and whether it changed since the last request."""
        wanted: dict[str, str | int] = {"since": since} if since else {}
        wanted |= {"page": page} if page > 1 else {}
        answer = self.get(path, sort="updated", direction="asc", per_page=PAGE, **wanted, **params)
        listed = answer.body if isinstance(answer.body, list) else []
        return [raw for raw in listed if isinstance(raw, dict)], answer.fresh

    def recall(self, path: str, **params: str | int) -> ReadResult | None:
        """The last result of `get`, without a request; for callers that accept old data."""
        raw = self._session.recall(self._address(path, params))
        return ReadResult(raw.status, raw.body, raw.headers, fresh=False) if raw else None

    def write(
        self,
        verb: str,
        path: str,
        body: Any = None,
        *,
        find_existing: Callable[[], Any | None] | None = None,
    ) -> Any:
        """Change something; return the response's body, or None if it has none.

        Writes are sent one at a time and one second apart, over all processes of the clone. If a
        write failed but may have happened, `find_existing()` is called first; its result counts as
        the response. Without `find_existing`, PUT, PATCH and DELETE are retried, because they are
        idempotent. A POST is not: it raises UnreachableError with `happened`. `find_existing` may
        read and must not write. Texts mention nobody whom a person did not mention: see `outgoing`.
        """
        return self._session.write(
            verb,
            self._address(path, {}),
            outgoing.checked(self._ws, path, body),
            find_existing=find_existing,
            doubt=self._doubt,
        )

    def graphql(
        self,
        query: str,
        variables: Mapping[str, Any] | None = None,
        *,
        find_existing: Callable[[], Any | None] | None = None,
    ) -> Any:
        """Send a GraphQL query; return the response's `data`. A mutation works like `write`:
        without a `find_existing` it is not retried."""
        api, doubt = self._access.api, self._doubt
        return graphql.query(
            self._session, api, query, variables or {}, find_existing=find_existing, doubt=doubt
        )

    def permission(self, login: str) -> str:
        """An account's permission in the repository: none, read, triage, write, maintain or admin.
        Cached for ten minutes. Raises ForbiddenError if this token may not ask."""
        if not login:
            return "none"
        name = f"permission {self.repository} {login}".lower()
        cached = self._accounts.text(name, PERMISSION_SECONDS)
        if cached is not None:
            return cached
        # One 404 may be a mistake: it counts if the account was "none" before, or at a second look.
        looks = 1 if self._accounts.get(name, VIEWER_SECONDS) == "none" else 2
        role = self._permission(login, looks)
        self._accounts.put(name, role, VIEWER_SECONDS)
        return role

    def _permission(self, login: str, looks: int) -> str:
        try:
            return _role(self.get(f"collaborators/{quote(login, safe='')}/permission").body)
        except MissingError:  # no such account, or not a collaborator
            if looks == 1:
                return "none"
        with suppress(UnreachableError):
            self.pause(AGAIN_S)
        return self._permission(login, looks - 1)

    def may_command(self, login: str) -> bool:
        """Whether the account has at least write permission; False if this token may not ask."""
        try:
            return self.permission(login) in COMMANDING
        except ForbiddenError:
            return False

    def has(self, feature: str) -> bool | None:
        """Whether the server has a feature: found within the last seven days, or missed within
        the last hour; None if unknown."""
        name = f"{self._access.api} {feature}"
        if self._features.get(name, FEATURE_SECONDS) is True:
            return True
        return False if self._features.get(name, ABSENT_SECONDS) is False else None

    def learned(self, feature: str, is_there: bool) -> None:
        """Remember whether the server has a feature. One that was found is not forgotten because
        of one answer."""
        if self.has(feature) is None or is_there:
            self._features.put(f"{self._access.api} {feature}", is_there, FEATURE_SECONDS)

    @property
    def unread(self) -> Mapping[int, str]:
        """The unreadable issues by number, each with the reason."""
        return self._unreadable.load()

    def note_unread(self, reasons: Mapping[int, str]) -> None:
        """Remember which issues are unreadable."""
        self._unreadable.store(reasons)

    def later(self, job: Job) -> None:
        """Store a write durably for `flush`. A second job with the same id is ignored."""
        self.outbox.add(job)

    def flush(self, perform: Callable[[Job], object]) -> list[str]:
        """Send waiting jobs in order until GitHub does not answer; return what was sent, for
        people.

        `perform` sends one job through `write`, which calls its `find_existing` first. If another
        process is sending, or GitHub is unreachable, all jobs stay in the outbox. A refused job is
        set aside with its reason, and so are the jobs behind it with the same `about`.
        """
        self._doubt = True
        try:
            return self.outbox.flush(perform)
        finally:
            self._doubt = False

    def refused(self) -> list[Refused]:
        """The refused jobs."""
        return self.outbox.refused()

    def status(self) -> GitHubStatus:
        """Budget, breaker and outbox as this clone knows them; sends no request."""
        return status.of(self._session.meter.read(), self.outbox, self._ws.clock.now())

    @cached_property
    def outbox(self) -> Outbox:
        """The queue of waiting writes."""
        token = self._access.token.fingerprint(self._access.api)
        return Outbox(status.outbox_folder(self._ws), self._ws.clock, token)

    @cached_property
    def _session(self) -> ApiSession:
        return ApiSession(self._ws, self._access)

    @property
    def _unreadable(self) -> UnreadableIssues:
        return UnreadableIssues(self._ws.cache_dir, f"{self.host}/{self.repository}")

    @cached_property
    def _accounts(self) -> FactsCache:
        return FactsCache(self._session.folder / "accounts.json", self._ws.clock)

    @cached_property
    def _features(self) -> FactsCache:
        return FactsCache(self._ws.cache_dir / "hub" / "features.json", self._ws.clock)

    def _get(self, url: str) -> ReadResult:
        raw, fresh = self._session.read(url)
        return ReadResult(raw.status, raw.body, raw.headers, fresh)

    def _address(self, path: str, params: Mapping[str, str | int]) -> str:
        whole = path if path.startswith("/") else f"/repos/{self.repository}/{path}".rstrip("/")
        query = urlencode(sorted(params.items()))
        return f"{self._access.api}{whole}" + (f"?{query}" if query else "")

    def _next(self, answer: ReadResult) -> str | None:
        """The address of the next page, always on our own server."""
        link = _NEXT.search(answer.headers.get("link", ""))
        if link is None:
            return None
        page, api = urlsplit(link[1]), urlsplit(self._access.api)
        if not page.path.startswith(f"{api.path}/"):
            raise failed("GitHub named a next page outside its API")
        return f"{api.scheme}://{api.netloc}{page.path}" + (f"?{page.query}" if page.query else "")


def _role(answer: Any) -> str:
    """A permission by name; an organisation's custom role counts as the permission it builds on."""
    if not isinstance(answer, dict):
        return "none"
    for key in ("role_name", "permission"):
        if answer.get(key) in _ROLES:
            return str(answer[key])
    return "none"
