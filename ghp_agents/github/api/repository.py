"""One repository on GitHub through one token: what everybody above asks and tells GitHub by."""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from ghp_agents.github.api import graphql, status, unreadable
from ghp_agents.github.api.access import Access
from ghp_agents.github.api.errors import ForbiddenError, MissingError
from ghp_agents.github.api.facts_cache import FactsCache
from ghp_agents.github.api.outbox import Job, Outbox, Refused
from ghp_agents.github.api.responses import failed
from ghp_agents.github.api.session import ApiSession
from ghp_agents.github.api.status import HubStanding
from ghp_agents.workspace import Workspace

PERMISSION_SECONDS = 600.0
FEATURE_SECONDS = 7 * 86_400.0
VIEWER_SECONDS = 86_400.0
PAGE = 100
MOST_PAGES = 1_000
COMMANDING = ("write", "maintain", "admin")
_ROLES = ("none", "read", "triage", *COMMANDING)
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


class ReadResult(NamedTuple):
    """What GitHub answered to a read."""

    status: int
    body: Any  # JSON values
    headers: Mapping[str, str]  # names in small letters
    fresh: bool  # False: GitHub said 304, nothing changed, and the body is the remembered one


class GitHubRepository:
    """One repository on GitHub. A path is relative to it (`issues/12`), or absolute (`/user`).

    Every method but `recall`, `has`, `learned`, `later`, `unread`, `note_unread` and `standing` may
    talk to GitHub, and raises one of the errors of `github/api/errors.py`: `Unanswered` (exit
    code 4) when nobody knows, a `HubError` when GitHub said no.
    """

    repository: str  # "owner/name"
    host: str  # "github.com"
    url: str  # "https://github.com/owner/name", for links

    def __init__(self, ws: Workspace, access: Access) -> None:
        self._ws, self._access = ws, access
        self.repository, self.host = access.repository, access.host
        self.url = f"https://{access.host}/{access.repository}"
        self._doubt = False  # while the outbox is sent: each write may have been done before

    def viewer(self) -> str:
        """The login that the token acts as."""
        known = self._accounts.get("viewer", VIEWER_SECONDS)
        if isinstance(known, str):
            return known
        try:
            login = str(self.get("/user").body["login"])
        except ForbiddenError:  # a workflow's own token has no user
            login = str(self.graphql("query { viewer { login } }")["viewer"]["login"])
        self._accounts.put("viewer", login, VIEWER_SECONDS)
        return login

    def get(self, path: str, **params: str | int) -> ReadResult:
        """Read. Conditional: what did not change costs nothing of the limit (`fresh` False)."""
        return self._get(self._address(path, params))

    def get_all(self, path: str, **params: str | int) -> list[Any]:
        """All pages of a list, each conditional.

        GitHub numbers pages anew for each request. Where the list may change meanwhile, sort so
        that what is new comes last, and take an item that is met twice for one.
        """
        found: list[Any] = []
        url: str | None = self._address(path, {"per_page": PAGE, **params})
        for _ in range(MOST_PAGES):
            if url is None:
                return found
            answer = self._get(url)
            if not isinstance(answer.body, list):
                raise failed(f"GitHub answered `GET {path}` with something that is not a list")
            found += answer.body
            url = self._next(answer)
        raise failed(f"GitHub's list `GET {path}` does not end")

    def recall(self, path: str, **params: str | int) -> ReadResult | None:
        """What `get` answered last, asking nobody; for callers to whom old is better than none."""
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
        """Change something; the answer's body (None where it has none).

        One at a time and a second apart over all processes of the clone. After a failure that may
        have happened all the same, `there()` is asked first; what it finds is the answer. Without
        `there`, PUT, PATCH and DELETE are said again, because they name what shall be, and a POST
        is not: then UnreachableError with `happened`. `there` may read, and must not write.
        """
        return self._session.write(
            verb, self._address(path, {}), body, find_existing=find_existing, doubt=self._doubt
        )

    def graphql(
        self,
        query: str,
        variables: Mapping[str, Any] | None = None,
        *,
        find_existing: Callable[[], Any | None] | None = None,
    ) -> Any:
        """Ask GraphQL; the answer's `data`. A mutation is a write, as `write` is: one that `there`
        cannot find is not said again."""
        api, doubt = self._access.api, self._doubt
        return graphql.query(
            self._session, api, query, variables or {}, find_existing=find_existing, doubt=doubt
        )

    def permission(self, login: str) -> str:
        """none, read, triage, write, maintain or admin: what an account may do in the repository.
        Remembered for ten minutes. Raises ForbiddenError if this token may not ask."""
        if not login:
            return "none"
        name = f"permission {self.repository} {login}".lower()
        known = self._accounts.get(name, PERMISSION_SECONDS)
        if isinstance(known, str):
            return known
        try:
            answer = self.get(f"collaborators/{quote(login, safe='')}/permission").body
        except MissingError:
            answer = {}  # no such account, or it has nothing to do with the repository
        role = _role(answer)
        self._accounts.put(name, role, VIEWER_SECONDS)
        return role

    def may_command(self, login: str) -> bool:
        """Whether the account has write permission or more; False if this token may not ask."""
        try:
            return self.permission(login) in COMMANDING
        except ForbiddenError:
            return False

    def has(self, feature: str) -> bool | None:
        """Whether the server has a feature, as far as anybody found out in the last seven days."""
        known = self._features.get(f"{self._access.api} {feature}", FEATURE_SECONDS)
        return known if isinstance(known, bool) else None

    def learned(self, feature: str, is_there: bool) -> None:
        """Remember whether the server has a feature."""
        if self.has(feature) is not is_there:
            self._features.put(f"{self._access.api} {feature}", is_there, FEATURE_SECONDS)

    @property
    def unread(self) -> Mapping[int, str]:
        """The issues that cannot be read, by number, each with the reason."""
        return unreadable.load(self._ws.cache_dir, f"{self.host}/{self.repository}")

    def note_unread(self, found: Mapping[int, str]) -> None:
        """Remember which issues cannot be read."""
        unreadable.store(self._ws.cache_dir, f"{self.host}/{self.repository}", found)

    def later(self, job: Job) -> None:
        """Keep a write durably for `flush`. The same id is kept once."""
        self.outbox.add(job)

    def flush(self, perform: Callable[[Job], object]) -> list[str]:
        """Send what waits, in order, until GitHub does not answer; what was sent, for people.

        `perform` sends one job by `write`, whose `there` is asked first. Who finds another process
        at it, or GitHub out of reach, sends nothing: it stays in the outbox. A job that GitHub
        refuses is put aside with its reason, and with it those behind it that are about the same.
        """
        self._doubt = True
        try:
            return self.outbox.flush(perform)
        finally:
            self._doubt = False

    def refused(self) -> list[Refused]:
        """The jobs that were put aside."""
        return self.outbox.refused()

    def standing(self) -> HubStanding:
        """Budget, breaker and outbox, as this clone knows them; asks nobody."""
        return status.of(self._session.meter.read(), self.outbox, self._ws.clock.now())

    @cached_property
    def outbox(self) -> Outbox:
        """Where writes wait."""
        token = self._access.token.fingerprint(self._access.api)
        return Outbox(status.outbox_folder(self._ws), self._ws.clock, token)

    @cached_property
    def _session(self) -> ApiSession:
        return ApiSession(self._ws, self._access)

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
        """The address of the next page, always on the server that we ask."""
        found = _NEXT.search(answer.headers.get("link", ""))
        if found is None:
            return None
        page, api = urlsplit(found[1]), urlsplit(self._access.api)
        if not page.path.startswith(f"{api.path}/"):
            raise failed("GitHub names a next page that is not in its API")
        return f"{api.scheme}://{api.netloc}{page.path}" + (f"?{page.query}" if page.query else "")


def _role(answer: Any) -> str:
    """A permission by its name; a role of the organisation's own by the permission it builds on."""
    if not isinstance(answer, dict):
        return "none"
    for key in ("role_name", "permission"):
        if answer.get(key) in _ROLES:
            return str(answer[key])
    return "none"
