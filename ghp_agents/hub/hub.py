"""One repository on GitHub through one token: what everybody above asks and tells GitHub by."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ghp_agents.hub.access import Access
from ghp_agents.hub.outbox import Job, Refused
from ghp_agents.workspace import Workspace


class Answer(NamedTuple):
    """What GitHub answered to a read."""

    status: int
    body: Any  # JSON values
    headers: Mapping[str, str]  # names in small letters
    fresh: bool  # False: GitHub said 304, nothing changed, and the body is the remembered one


class HubStanding(NamedTuple):
    """How we stand with GitHub, asking nobody. Times are seconds, as the clone's clock has them."""

    remaining: int | None = None  # requests left of the primary limit; None: never heard
    limit: int | None = None
    resets: float | None = None
    paused_until: float | None = None  # nobody of this clone asks before then
    why_paused: str = ""  # for people
    queued: int = 0  # writes that wait to be sent
    refused: int = 0  # writes that GitHub would not take, put aside
    answered: float | None = None  # when GitHub last answered anybody of this clone


class Hub:
    """One repository on GitHub. A path is relative to it (`issues/12`), or absolute (`/user`).

    Every method but `recall`, `has`, `learned`, `later` and `standing` may talk to GitHub, and
    raises one of the errors of `hub/errors.py`: `Unanswered` (exit code 4) when nobody knows, a
    `HubError` when GitHub said no.
    """

    repository: str  # "owner/name"
    host: str  # "github.com"
    url: str  # "https://github.com/owner/name", for links

    def __init__(self, ws: Workspace, access: Access) -> None:
        self.ws, self.access = ws, access
        self.repository, self.host = access.repository, access.host
        self.url = f"https://{access.host}/{access.repository}"

    def viewer(self) -> str:
        """The login that the token acts as."""
        raise NotImplementedError

    def get(self, path: str, **params: str | int) -> Answer:
        """Read. Conditional: what did not change costs nothing of the limit (`fresh` False)."""
        raise NotImplementedError

    def get_all(self, path: str, **params: str | int) -> list[Any]:
        """All pages of a list, each conditional.

        GitHub numbers pages anew for each request. Where the list may change meanwhile, sort so
        that what is new comes last, and take an item that is met twice for one.
        """
        raise NotImplementedError

    def recall(self, path: str, **params: str | int) -> Answer | None:
        """What `get` answered last, asking nobody; for callers to whom old is better than none."""
        raise NotImplementedError

    def write(
        self,
        verb: str,
        path: str,
        body: Any = None,
        *,
        there: Callable[[], Any | None] | None = None,
    ) -> Any:
        """Change something; the answer's body (None where it has none).

        One at a time and a second apart over all processes of the clone. After a failure that may
        have happened all the same, `there()` is asked first; what it finds is the answer. Without
        `there`, PUT, PATCH and DELETE are said again, because they name what shall be, and a POST
        is not: then UnreachableError with `happened`. `there` may read, and must not write.
        """
        raise NotImplementedError

    def graphql(
        self,
        query: str,
        variables: Mapping[str, Any] | None = None,
        *,
        there: Callable[[], Any | None] | None = None,
    ) -> Any:
        """Ask GraphQL; the answer's `data`. A mutation is a write, as `write` is."""
        raise NotImplementedError

    def permission(self, login: str) -> str:
        """none, read, triage, write, maintain or admin: what an account may do in the repository.
        Remembered for ten minutes. Raises ForbiddenError if this token may not ask."""
        raise NotImplementedError

    def may_command(self, login: str) -> bool:
        """Whether the account has write permission or more; False if this token may not ask."""
        raise NotImplementedError

    def has(self, feature: str) -> bool | None:
        """Whether the server has a feature, as far as anybody found out in the last seven days."""
        raise NotImplementedError

    def learned(self, feature: str, is_there: bool) -> None:
        """Remember whether the server has a feature."""
        raise NotImplementedError

    def later(self, job: Job) -> None:
        """Keep a write durably for `flush`. The same id is kept once."""
        raise NotImplementedError

    def flush(self, perform: Callable[[Job], object]) -> list[str]:
        """Send what waits, in order, until GitHub does not answer; what was sent, for people.

        `perform` sends one job by `write`, with `there`. Who finds another process at it, or
        GitHub out of reach, sends nothing: it stays in the outbox. A job that GitHub refuses is put
        aside with its reason, and with it those behind it that are about the same.
        """
        raise NotImplementedError

    def refused(self) -> list[Refused]:
        """The jobs that were put aside."""
        raise NotImplementedError

    def standing(self) -> HubStanding:
        """Budget, breaker and outbox, as this clone knows them; asks nobody."""
        raise NotImplementedError
