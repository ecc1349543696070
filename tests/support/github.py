"""GitHub as a test has it: a repository of its own behind a proxy of its own, people with tokens,
and a real bare repository of git beside it."""

import itertools
import json
import os
import re
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.support import emulator, github_graphql, github_laws, guard, outside, repos
from tests.support.consent import mine, ours_and_mine
from tests.support.emulator import ADMIN, LOGINS, OUTSIDER, WORKER_1, WORKER_2, Emulator
from tests.support.faults import Asked, Said
from tests.support.git import begin, git, read_all_refs
from tests.support.github_gaps import Gaps
from tests.support.github_pulls import Pulls
from tests.support.openapi import GRAPHQL, Deviation, OpenAPI
from tests.support.proxy import APART, DOCS, Proxy, Upstream
from tests.support.replicas import Replicas, is_list
from tests.support.twins.hub_pulls import Hub
from tools import emulate

FEATURES = ("sub-issues", "dependencies", "reactions", "body-edits")
TOKENS = {login: f"ghp_{login}_token".replace("-", "_") for login in LOGINS}
COLLABORATORS = {WORKER_1: "push", WORKER_2: "push", "rita": "pull", "tess": "triage"}
# What is known to be told otherwise than GitHub tells it, and has nothing to do with us.
DEVIATIONS = (
    Deviation(r"(GET|PATCH) /repos/{owner}/{repo}", "'(network|subscribers)_count' is a required",
              "who follows a repository is nobody's business here"),
    Deviation(r"POST /user/repos", "'(network|subscribers)_count' is a required",
              "as above"),
    Deviation(r"PUT /repos/{owner}/{repo}/collaborators/{username}", "is a required property",
              "GitHub sends an invitation; here people are members at once"),
    Deviation(r"GET /repos/{owner}/{repo}/collaborators", "'role_name' is a required property",
              "the permission of one person has it, and that is what we ask for"),
    Deviation(r"GET /repos/{owner}/{repo}/branches/{branch}", "is a required property",
              "we read the name and the commit's sha; git knows the rest better"),
    Deviation(r"GET /search/issues", "'(search_type|score)' is a required property",
              "nobody here asks how well something was found"),
)  # fmt: skip
_numbers = itertools.count(1)


@cache
def _templates() -> repos.Templates:
    """The real remote as it is at first, and a clone of it."""
    folder = Path(tempfile.mkdtemp(prefix="github-", dir=os.environ[guard.RUN]))
    remote, clone = folder / "remote.git", folder / "clone"
    git(folder, "init", "--quiet", "--bare", "--template=", "remote.git")
    settings = json.dumps({"agents": {"tracker": "github"}}, indent=2) + "\n"
    begin(remote, {"README.md": "# Widgets\n", ".ghp/config.json": settings})
    git(folder, "clone", "--quiet", "--template=", str(remote), "clone")
    return repos.Templates(folder, remote, clone)


class World(NamedTuple):
    """What all tests of a run have in common."""

    emulator: Emulator | None  # None: our own twin of it
    openapi: OpenAPI | None


class GitHub:
    """One repository on GitHub, for one test."""

    host = "github.com"

    def __init__(self, world: World, folder: Path, *, judged: bool = True) -> None:
        self.folder = folder
        self.features = set(FEATURES)
        self.repository = f"{ADMIN}/widgets-{os.getpid()}-{next(_numbers)}"
        self.tokens: Mapping[str, str] = TOKENS
        self.remote = folder / "github" / "remote.git"
        self.replicas = Replicas()
        self.refusals: list[tuple[str, Said]] = []  # patterns of `VERB /path`, and the answer
        self._upstream = Upstream(world.emulator.url) if world.emulator else Hub(LOGINS)
        self.gaps = Gaps(self._upstream, self.repository, self.features)
        self.pulls = Pulls(self.gaps, self.remote)
        self.proxy = Proxy(self._answer, TOKENS, world.openapi if judged else None, DEVIATIONS)

    @property
    def api(self) -> str:
        """The address of the API."""
        return self.proxy.url

    @property
    def twin(self) -> Hub:
        """The twin of emulate, where it answers."""
        assert isinstance(self._upstream, Hub)
        return self._upstream

    @contextmanager
    def open(self) -> Iterator["GitHub"]:
        """The repository, made and reachable; afterwards, whether both sides spoke GitHub's way."""
        owner, name = self.repository.split("/")
        self._made(Asked(owner, "POST", "/user/repos", {}, {"name": name, "auto_init": True}))
        for login, permission in COLLABORATORS.items():
            self.grant(login, permission)
        self._make_remote()
        try:
            with self.proxy.running():
                yield self
        finally:
            self._upstream.close()

    def grant(self, login: str, permission: str) -> None:
        """Give somebody a right: pull, triage, push, maintain or admin."""
        at = f"/repos/{self.repository}/collaborators/{login}"
        self._made(Asked(ADMIN, "PUT", at, {}, {"permission": permission}))

    def act(self, login: str, verb: str, path: str, body: Any = None, **query: str) -> Any:
        """What somebody does on GitHub's own pages; `path` is below the repository, or absolute.

        No fault happens to it, and it is none of `proxy.exchanges`.
        """
        response = self.try_to(login, verb, path, body, **query)
        assert response.status < 400, f"{login} {verb} {path}: {response.status} {response.body}"
        return response.body

    def try_to(self, login: str, verb: str, path: str, body: Any = None, **query: str) -> Said:
        """The same, where it may be refused."""
        path = path if path.startswith("/") else f"/repos/{self.repository}/{path}".rstrip("/")
        address = self.api + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"token {self.tokens.get(login, login)}", APART: "1"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, headers, method=verb)
        try:
            with urllib.request.urlopen(request) as answer:
                return Said(
                    answer.status, json.loads(answer.read() or "null"), dict(answer.headers)
                )
        except urllib.error.HTTPError as error:
            with error:
                return Said(error.code, json.loads(error.read() or "null"), dict(error.headers))

    def issue(self, title: str, login: str = ADMIN, **fields: Any) -> int:
        """A new issue, written by somebody on GitHub's own pages; answers its number."""
        return int(self.act(login, "POST", "issues", {"title": title, **fields})["number"])

    def environment(self, login: str = ADMIN) -> dict[str, str]:
        """What leads our commands here, as somebody."""
        return {"GHP_GITHUB_API": self.api, "GITHUB_TOKEN": self.tokens[login]}

    def clone(self, name: str, settings: Mapping[str, Any] | None = None) -> Path:
        """A clone of the real remote that takes this repository for its GitHub."""
        path = self.folder / name
        if read_all_refs(self.remote) == read_all_refs(_templates().remote):
            repos.copy_clone(_templates(), path, self.remote)
        else:
            git(self.folder, "clone", "--quiet", "--template=", str(self.remote), name)
        if settings:
            self.configure(path, settings)
        return path

    def configure(self, clone: Path, settings: Mapping[str, Any]) -> None:
        """Change settings in one clone alone; what needs consent, in the person's own file."""
        ours, needs_consent = ours_and_mine(settings)
        config = json.loads((clone / ".ghp/config.json").read_text())
        config["agents"] |= ours
        (clone / ".ghp/config.json").write_text(json.dumps(config, indent=2) + "\n")
        if needs_consent:
            mine({"agents": {"github": {"repository": self.repository}, **needs_consent}})

    def _make_remote(self) -> None:
        # A remote that is a folder names no repository on GitHub, and a file in it may not.
        mine({"agents": {"github": {"repository": self.repository}}})
        self.remote.parent.mkdir(parents=True)
        repos.copy_remote(_templates(), self.remote)

    def _made(self, request: Asked) -> None:
        response = self._upstream(request)
        assert response.status < 300, f"{request}: {response}"

    def refuse(self, pattern: str, status: int, message: str, **headers: str) -> None:
        """Refuse what clients ask, as a rule of an organization or a kind of token does."""
        renamed = {name.replace("_", "-"): value for name, value in headers.items()}
        body = {"message": message, "documentation_url": DOCS}
        self.refusals.append((pattern, Said(status, body, renamed)))

    def _answer(self, request: Asked) -> Said:
        for pattern, refused in () if request.apart else self.refusals:
            if re.fullmatch(pattern, f"{request.verb} {request.path}"):
                return refused
        if isinstance(self._upstream, Hub):
            return self._answer_by_twin(request, self._upstream)
        return self._answer_from(self.pulls, request)

    def _answer_by_twin(self, request: Asked, hub: Hub) -> Said:
        """What the twin answers now, or to a client what it would have answered a while ago."""
        hub.now = self.proxy.clock.now()
        if request.writes:
            self.replicas.keep(hub.now, self.pulls)
        if request.writes or request.apart:
            return self._answer_from(self.pulls, request)
        old = self.replicas.then(request, hub.now)
        response = self._answer_from(old or self.pulls, request)
        if response.status == 404 and old and is_list(request):  # the list of what is there already
            now = self._answer_from(self.pulls, request)
            return Said(200, []) if now.status == 200 else response
        return response

    def _answer_from(self, pulls: Pulls, request: Asked) -> Said:
        gaps, below = pulls.gaps, self._below(request.path)
        if request.path == GRAPHQL:
            return github_graphql.answer(pulls, request)
        if below is None:
            return gaps.below(request)
        level = gaps.level(request.login)
        refused = github_laws.refusal(request, below, level, lambda: gaps.author(below))
        if refused:
            return refused
        request = github_laws.without_what_strangers_may_not(request, level)
        return pulls.answer(request, below) or gaps.answer(request, below)

    def _below(self, path: str) -> str | None:
        """The path in the repository; None for one elsewhere."""
        home = f"/repos/{self.repository}"
        if path == home:
            return ""
        return path.removeprefix(f"{home}/") if path.startswith(f"{home}/") else None


@contextmanager
def world() -> Iterator[World]:
    """Emulate, and GitHub's description; without it, tests are skipped."""
    stand = outside.need("GitHub's stand-in", emulate.ready)
    with emulator.running(stand) as running:
        yield World(running, OpenAPI(stand.openapi))


__all__ = ["ADMIN", "OUTSIDER", "WORKER_1", "WORKER_2", "GitHub", "World", "world"]
