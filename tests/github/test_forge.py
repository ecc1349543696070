"""Pull requests on GitHub do what every forge does, and what a server with other writers asks."""

import os
from collections.abc import Callable

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.github.forge import GitHubForge
from ghp_agents.ports import Forge
from ghp_agents.pulls.pull import Checks, NewPull, Pull, PullChange, Review
from ghp_agents.wiring import App
from tests.contracts.forge import ANN, WORKER, ForgeContract, Site
from tests.support.clock import ManualClock
from tests.support.faults import Asked, Fault, Said, in_turn
from tests.support.git import commit, git
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, GitHub

BRANCH = "agent/worker-1/1-parse"


class GitHubSite(Site):
    """A repository on GitHub, and a clone of its remote in which work happens."""

    def __init__(self, github: GitHub, clock: ManualClock, login: str = ADMIN) -> None:
        self.github = github
        self.clock = clock
        self.login = login
        self.folder = github.folder / "clone"
        if not self.folder.exists():
            github.clone("clone")
        self._made = 0

    @property
    def forge(self) -> Forge:
        environ = os.environ | self.github.environment(self.login)
        forge = App(self.folder, environ, clock=self.clock).forge
        assert isinstance(forge, GitHubForge)
        return forge

    def work(self, branch: str) -> str:
        self._made += 1
        return self.put(branch, {f"{self._made}.txt": "work\n"})

    def spoil(self, branch: str) -> str:
        head = self.put(branch, {"README.md": "theirs\n"})
        self.put("main", {"README.md": "ours\n"})
        return head

    def put(self, branch: str, files: dict[str, str]) -> str:
        git(self.folder, "fetch", "--quiet", "--prune")
        refs = git(self.folder, "for-each-ref", "--format=%(refname)").splitlines()
        start = branch if f"refs/remotes/origin/{branch}" in refs else "main"
        git(self.folder, "checkout", "--quiet", "--detach", f"origin/{start}")
        created = commit(self.folder, files)
        git(self.folder, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
        return created

    @property
    def trunk(self) -> str:
        return git(self.github.remote, "rev-parse", "main")

    def has(self, commit: str) -> bool:
        return git(self.github.remote, "merge-base", commit, "main") == commit


@pytest.fixture
def clock(github: GitHub) -> ManualClock:
    """The time of both sides."""
    github.proxy.clock = clock = ManualClock()
    return clock


@pytest.fixture
def site(github: GitHub, clock: ManualClock) -> GitHubSite:
    return GitHubSite(github, clock)


@pytest.mark.sample(10)
class TestGitHubForge(ForgeContract):
    @pytest.fixture
    def clock(self, github: GitHub) -> ManualClock:
        github.proxy.clock = clock = ManualClock()
        return clock

    @pytest.fixture
    def site(self, github: GitHub, clock: ManualClock) -> Site:
        return GitHubSite(github, clock)


def new(site: GitHubSite, *, draft: bool = False) -> NewPull:
    head = site.work(BRANCH)
    return NewPull(BRANCH, "main", head, "Parse files", "What\n\nCloses #1", 1, draft)


def test_it_is_the_agents_and_says_which_issue_it_closes(site: GitHubSite, github: GitHub) -> None:
    created = site.forge.open(new(site), WORKER)
    assert (created.author, created.issue, created.body) == ("worker-1", 1, "What\n\nCloses #1")
    raw = github.act(ADMIN, "GET", f"pulls/{created.number}")
    assert raw["body"].startswith(
        "What\n\nCloses #1\n\n"
        "<sub>A program (ghp-agents) wrote this for the agent worker-1.</sub>\n\n"
        '<!-- ghp-agents:{"id":"'
    )
    assert created.url == raw["html_url"]


def test_texts_of_people_are_taken_as_they_are(site: GitHubSite, github: GitHub) -> None:
    site.work("ann/fix")
    body = {"title": "Fix", "head": "ann/fix", "base": "main", "body": "Fixes #3\r\n"}
    created = github.act(WORKER_1, "POST", "pulls", body)
    pull = site.forge.get(created["number"])
    assert (pull.author, pull.issue, pull.title) == (f"@{WORKER_1}", 3, "Fix")


def test_again_nothing_is_written(site: GitHubSite, github: GitHub) -> None:
    wanted = new(site)
    first = site.forge.open(wanted, WORKER)
    before = len(github.proxy.exchanges)
    assert site.forge.open(wanted, WORKER) == first
    again = [exchange.asked.verb for exchange in github.proxy.exchanges[before:]]
    assert set(again) <= {"GET"}


@pytest.mark.slow
@pytest.mark.parametrize("draft", [True, False])
def test_draft_and_ready_go_by_graphql(site: GitHubSite, draft: bool) -> None:
    created = site.forge.open(new(site, draft=not draft), WORKER)
    assert site.forge.change(created.number, PullChange(draft=draft), WORKER).draft is draft
    assert site.forge.get(created.number).draft is draft


def test_a_branch_without_a_commit_is_refused_in_githubs_words(site: GitHubSite) -> None:
    git(site.folder, "push", "--quiet", "origin", f"origin/main:refs/heads/{BRANCH}")
    with pytest.raises(RefusedError, match="No commits between main and"):
        site.forge.open(NewPull(BRANCH, "main", "a" * 40, "Nothing"), WORKER)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("runs", "state", "first"),
    [
        ([("tests", "completed", "success"), ("lint", "completed", "skipped")], "green", "lint"),
        ([("tests", "completed", "failure"), ("lint", "in_progress", None)], "red", "tests"),
        ([("tests", "completed", "success"), ("lint", "queued", None)], "pending", "lint"),
    ],
)
def test_check_runs_are_read(
    site: GitHubSite,
    github: GitHub,
    runs: list[tuple[str, str, str | None]],
    state: str,
    first: str,
) -> None:
    created = site.forge.open(new(site), WORKER)
    for name, status, conclusion in runs:
        body = {"name": name, "head_sha": created.head, "status": status}
        body |= {"conclusion": conclusion} if conclusion else {}
        github.act(ADMIN, "POST", "check-runs", body)
    checks = site.forge.checks(created)
    assert (checks.state, checks.details[0][0]) == (state, first)
    assert site.forge.checks(created._replace(head=site.trunk)) == Checks()


def test_reviews_of_accounts_with_write_access_are_read(site: GitHubSite, github: GitHub) -> None:
    created = site.forge.open(new(site), WORKER)
    assert site.forge.reviews(created) == []
    raw = github.act(ADMIN, "GET", f"pulls/{created.number}")
    given = [
        (WORKER_1, "COMMENTED"), (WORKER_1, "CHANGES_REQUESTED"), (WORKER_1, "APPROVED"),
        (ADMIN, "DISMISSED"), (OUTSIDER, "APPROVED"),
    ]  # fmt: skip
    ours = github.proxy.behind

    def reviewed(request: Asked) -> Said:
        response = ours(request)
        if request.path.endswith("/reviews"):
            response.body.extend(
                {
                    "id": number, "node_id": "R", "user": {**raw["user"], "login": login},
                    "body": "", "state": state, "html_url": raw["html_url"],
                    "pull_request_url": raw["url"], "commit_id": created.head,
                    "_links": {"html": {"href": ""}, "pull_request": {"href": ""}},
                    "author_association": "MEMBER", "submitted_at": raw["created_at"],
                }
                for number, (login, state) in enumerate(given)
            )  # fmt: skip
        return response

    github.proxy.behind = reviewed
    worker = Actor(f"@{WORKER_1}", is_person=True)
    assert site.forge.reviews(created) == [
        Review(worker, created.head, approves, at=created.created_at) for approves in (False, True)
    ]


@pytest.mark.slow
def test_a_branch_of_a_fork_is_not_taken_for_ours(site: GitHubSite, github: GitHub) -> None:
    """Else anybody could bring unfinished work onto the trunk, or hold up the queue."""
    created = site.forge.open(new(site), WORKER)
    ours = github.proxy.behind

    def forked(request: Asked) -> Said:
        response = ours(request)
        if request.verb == "GET" and "/pulls" in request.path:
            for pull in response.body if isinstance(response.body, list) else [response.body]:
                fork = pull["base"]["repo"] | {"id": 2**40, "full_name": "mallory/widgets"}
                pull["head"] = pull["head"] | {"repo": fork}
        return response

    github.proxy.behind = forked
    assert (site.forge.list(), site.forge.find(BRANCH)) == ([], None)
    with pytest.raises(RefusedError, match="#1 comes from another repository"):
        site.forge.get(created.number)
    with pytest.raises(RefusedError, match="#1 comes from another repository"):
        site.forge.merge(created.number, ANN, head=created.head)


HAPPENED = [Fault.BAD_GATEWAY_AFTER, Fault.CUT_AFTER, Fault.HALF]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [*HAPPENED, Fault.BAD_GATEWAY, Fault.CUT, Fault.SECONDARY])
def test_what_may_have_happened_is_looked_for_and_not_done_twice(
    site: GitHubSite, github: GitHub, fault: Fault
) -> None:
    wanted = new(site)
    forge = site.forge
    github.proxy.faults = in_turn(fault, where=_pulls)
    created = _insisting(site, lambda: forge.open(wanted, WORKER))
    assert [pull["number"] for pull in github.act(ADMIN, "GET", "pulls")] == [created.number]
    github.proxy.faults = in_turn(fault, where=_pulls)
    merged = _insisting(site, lambda: forge.merge(created.number, ANN, head=created.head))
    assert merged.state == "merged"
    subjects = git(github.remote, "log", "--format=%s", "--merges", "main").splitlines()
    assert len(subjects) == 1


def _pulls(request: Asked) -> bool:
    return request.writes and "/pulls" in request.path


def _insisting(site: GitHubSite, act: Callable[[], Pull]) -> Pull:
    """As who runs a command again until it says that it is done."""
    for _ in range(10):
        try:
            return act()
        except UnknownError:
            site.clock.wait(600)
    pytest.fail("it never happened")


@pytest.mark.slow
def test_merging_is_by_the_configured_method(site: GitHubSite, github: GitHub) -> None:
    github.configure(site.folder, {"mergeMethod": "squash"})
    created = site.forge.open(new(site), WORKER)
    merged = site.forge.merge(created.number, ANN, head=created.head)
    assert merged.merged_as == site.trunk
    assert len(git(github.remote, "log", "-1", "--format=%P", "main").split()) == 1
