"""What doctor and status say of GitHub."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import NotSetUpError
from ghp_agents.core.finding import Finding, Level
from ghp_agents.github import checks as hub_checks
from ghp_agents.github.api import errors
from ghp_agents.github.api.outbox import Job
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.wiring import App
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.doctor import checks_made
from tests.support.git import git
from tests.support.hubs import SECRET, Script, limits, says

REPOSITORY = {"has_issues": True, "permissions": {"push": True}}


@pytest.fixture
def script() -> Iterator[Script]:
    scripted = Script()
    yield scripted
    scripted.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def hub(repo: Path, script: Script, clock: ManualClock) -> GitHubRepository:
    return hubs.hub(repo, script, clock)


def house(repo: Path, **environ: str) -> App:
    return App(repo, {"HOME": str(repo.parent), "PATH": "/usr/bin:/bin", **environ})


def configured(repo: Path, **values: Any) -> None:
    (repo / ".ghp").mkdir(exist_ok=True)
    (repo / ".ghp/config.json").write_text(json.dumps({"agents": values}))


def found(repo: Path, hub: GitHubRepository | None, clock: ManualClock) -> list[Finding]:
    ws = hubs.workspace(repo, clock)
    return checks_made(
        "github.checks:", ws=ws, hub=lambda: hub, snapshot=GitRefsStore(ws).snapshot()
    )


def refuse(job: Job) -> None:
    raise errors.InvalidError("Title is too long.", hint="h")


def forbid(job: Job) -> None:
    raise errors.ForbiddenError("It may not.", hint="h")


@pytest.mark.slow
def test_where_all_is_well_the_doctor_says_where_issues_are_and_what_is_left(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(
        says(200, REPOSITORY, **limits(4_711, clock.now() + 600)), says(200, {"login": "me"})
    )
    assert found(repo, hub, clock) == [
        Finding(Level.OK, "github", "Issues are on GitHub: https://github.com/acme/widgets."),
        Finding(Level.OK, "github-repository", "GitHub answers; this clone acts as me."),
    ]
    hub.learned("sub-issues", False)
    hub.learned("reactions", True)
    script.then(says(200, REPOSITORY))
    assert [one.text for one in found(repo, hub, clock)] == [
        "Issues are on GitHub: https://github.com/acme/widgets (with reactions; without "
        "sub-issues).",
        "GitHub: 4711 of 5000 requests left; resets in 10 min.",
        "GitHub answers; this clone acts as me.",
    ]


@pytest.mark.slow
def test_a_rest_is_a_warning_and_what_cannot_be_asked_meanwhile_an_error(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(429, None, retry_after="600"))
    with pytest.raises(errors.LimitError):
        hub.get("issues")
    [_, rest, unknown] = found(repo, hub, clock)
    assert rest == Finding(
        Level.WARNING,
        "github-limit",
        "GitHub's secondary rate limit was hit: too many requests at once.",
        "Wait: this clone may send requests again in 10 min.",
    )
    assert (unknown.level, unknown.code) == (Level.ERROR, "github-repository")
    assert len(script.asked) == 1


def test_a_renamed_repository_is_a_warning(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(200, {**REPOSITORY, "full_name": "acme/new"}), says(200, {"login": "me"}))
    [_, renamed, _] = found(repo, hub, clock)
    assert renamed == Finding(
        Level.WARNING,
        "github-moved",
        "acme/widgets is now acme/new on GitHub, which redirects.",
        "Correct the remote's address (`git remote set-url`), or `agents.github.repository`: the "
        "old name stops working when somebody creates a repository with it.",
    )


def test_few_requests_left_are_a_warning(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(200, [], **limits(499, clock.now() + 600)))
    hub.get("issues")
    script.then(says(200, REPOSITORY), says(200, {"login": "me"}))
    assert found(repo, hub, clock)[1] == Finding(
        Level.WARNING,
        "github-limit",
        "GitHub: 499 of 5000 requests left; resets in 10 min.",
        "Give agents another token, or run fewer agents.",
    )


def test_issues_that_cannot_be_read_are_named(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    hub.note_unread({7: "not a GitHub issue"})
    script.then(says(200, REPOSITORY), says(200, {"login": "me"}))
    assert found(repo, hub, clock)[1] == Finding(
        Level.WARNING,
        "github-unread",
        "Skipped #7: cannot read it on GitHub: not a GitHub issue.",
        f"Open it on GitHub: {hub.url}/issues/7",
    )


def test_what_waits_and_what_was_refused_is_named(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    hub.later(Job("a", "create", "x", "a new issue"))
    hub.flush(refuse)
    hub.later(Job("b", "labels", "3", "labels of #3"))
    hub.flush(forbid)
    hub.later(Job("c", "comment", "12", "a comment on #12"))
    script.then(says(200, REPOSITORY), says(200, {"login": "me"}))
    folder = repo / ".git/ghp/hub/outbox/refused"
    assert found(repo, hub, clock)[1:4] == [
        Finding(
            Level.WARNING,
            "github-outbox",
            "Not sent to GitHub yet: 1 write; first: a comment on #12.",
            "Send now: ghp agent-sync",
        ),
        Finding(
            Level.WARNING,
            "github-outbox",
            "Not sent to GitHub: a new issue. Title is too long.",
            f"It is kept in {folder}; delete that file to drop it.",
        ),
        Finding(
            Level.WARNING,
            "github-outbox",
            "Not sent to GitHub: labels of #3. It may not.",
            "It is tried again within the hour, or with another token.",
        ),
    ]


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        (
            {"has_issues": True, "permissions": {"push": False}},
            Finding(
                Level.WARNING,
                "github-repository",
                "me can read acme/widgets but not write, so agents cannot claim issues there.",
                "Ask for write access, or use another token.",
            ),
        ),
        (
            {"has_issues": False},
            Finding(
                Level.ERROR,
                "github-repository",
                "Issues are disabled in acme/widgets.",
                'Enable them in its settings, or keep issues in git: "agents": {"tracker": '
                '"local"}.',
            ),
        ),
    ],
)
def test_what_the_token_or_the_repository_lacks_is_said(
    repo: Path,
    hub: GitHubRepository,
    script: Script,
    clock: ManualClock,
    answer: Any,
    finding: Finding,
) -> None:
    script.then(says(200, answer), says(200, {"login": "me"}))
    assert found(repo, hub, clock)[1] == finding


def test_a_refused_token_is_an_error_with_githubs_words(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(401, {"message": "Bad credentials"}))
    last = found(repo, hub, clock)[-1]
    assert last == Finding(
        Level.ERROR,
        "github-repository",
        "GitHub answered 401 to `GET /repos/acme/widgets`: Bad credentials.",
        "The token is wrong, expired or revoked. Run `gh auth login`, or set another GITHUB_TOKEN "
        "(GH_ENTERPRISE_TOKEN for your own server).",
    )


# ---------------------------------------------------------------- without a hub


def test_a_token_whose_server_nobody_names_is_a_warning(repo: Path) -> None:
    git(repo, "remote", "add", "origin", "https://ghe.example.com/acme/widgets")
    app = house(repo, GH_ENTERPRISE_TOKEN=SECRET)
    [unnamed] = hub_checks.check_access(app.ws, lambda: app.hub)
    assert (unnamed.level, unnamed.code) == (Level.WARNING, "github")
    assert unnamed.text == (
        "Issues are kept in git, not on ghe.example.com/acme/widgets: GH_ENTERPRISE_TOKEN is set, "
        "but nothing names its server."
    )
    assert "set GH_HOST to ghe.example.com" in unnamed.remedy


def test_where_nothing_is_githubs_nothing_is_said(repo: Path, clock: ManualClock) -> None:
    assert found(repo, None, clock) == []


@pytest.mark.parametrize(
    ("settings", "text", "remedy"),
    [
        (
            {},
            "Issues are kept in git, not on github.com/acme/widgets: there is no token for it.",
            "To use it: gh auth login --hostname github.com, or set GITHUB_TOKEN.",
        ),
        (
            {"push": False},
            "Issues are kept in git, not on github.com/acme/widgets: `agents.push` is false.",
            "",
        ),
    ],
)
def test_a_remote_on_github_that_is_not_used_says_why(
    repo: Path, clock: ManualClock, settings: dict[str, Any], text: str, remedy: str
) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    configured(repo, **settings)
    assert found(repo, None, clock) == [Finding(Level.INFO, "github", text, remedy)]


def test_local_is_what_was_wanted(repo: Path, clock: ManualClock) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    configured(repo, tracker="local")
    assert found(repo, None, clock) == []


def test_the_house_has_a_hub_where_there_is_a_repository_and_a_token(repo: Path) -> None:
    assert house(repo, GITHUB_TOKEN=SECRET).hub is None
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    assert house(repo).hub is None
    hub = house(repo, GITHUB_TOKEN=SECRET).hub
    assert hub
    assert hub.repository == "acme/widgets"
    configured(repo, tracker="github")
    with pytest.raises(NotSetUpError):
        _ = house(repo).hub


# ---------------------------------------------------------------- in short


def in_short(repo: Path, clock: ManualClock) -> list[tuple[str, str]]:
    ws = hubs.workspace(repo, clock)
    return list(hub_checks.in_short(ws, GitRefsStore(ws).snapshot()))


def test_the_status_says_nothing_of_github_before_anybody_asked_it(
    repo: Path, clock: ManualClock
) -> None:
    assert in_short(repo, clock) == []


def test_the_status_tells_what_is_left_without_a_token_and_without_asking(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(200, [], **limits(4_711, clock.now() + 600)))
    hub.get("issues")
    assert in_short(repo, clock) == [("GitHub: 4711 of 5000 requests left; resets in 10 min.", "")]
    assert len(script.asked) == 1


def test_the_status_tells_of_a_rest_and_of_what_waits_and_was_refused(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    hub.later(Job("a", "create", "x", "a new issue"))
    hub.flush(refuse)
    for name in "bc":
        hub.later(Job(name, "comment", "12", "a comment on #12"))
    script.then(says(429, None, retry_after="600"))
    with pytest.raises(errors.LimitError):
        hub.get("issues")
    assert in_short(repo, clock) == [
        (
            "GitHub's secondary rate limit was hit: too many requests at once.",
            "Requests are allowed again in 10 min.",
        ),
        ("Not sent to GitHub yet: 2 writes.", "Run `ghp agent-sync` to send now."),
        ("GitHub rejected 1 write.", "Run `ghp agent-doctor` for the reasons."),
    ]


def test_of_two_tokens_the_one_that_was_heard_of_last_counts(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(200, [], **limits(10, clock.now() + 600)))
    hub.get("issues")
    clock.wait(60)
    script.then(says(200, [], **limits(4_000, clock.now() + 600)))
    GitHubRepository(hubs.workspace(repo, clock), hubs.access(script.address, "ghp_other")).get(
        "issues"
    )
    assert in_short(repo, clock) == [("GitHub: 4000 of 5000 requests left; resets in 10 min.", "")]
