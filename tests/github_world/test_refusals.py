"""What GitHub refuses for good: archived, locked, switched off, single sign-on, kinds of tokens."""

from pathlib import Path

import pytest

from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke
from tests.support.github import ADMIN, GitHub

ARCHIVED = "Repository was archived so is read-only."
AS = {"GHP_AGENT": "worker-1"}


@pytest.fixture
def clone(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with issue #1, which it has read."""
    for name, value in {**github.environment(ADMIN), "GHP_BACKGROUND": "0"}.items():
        monkeypatch.setenv(name, value)
    github.proxy.clock = ManualClock()
    github.issue("Parse files")
    folder = github.clone("clone")
    assert "Parse files" in ghp(github, folder, "agent-issues").out
    github.proxy.clock.wait(61)
    return folder


def ghp(github: GitHub, folder: Path, args: str) -> Result:
    return invoke(args, folder, AS, clock=github.proxy.clock)


def test_an_archived_repository_is_named_and_what_is_left(github: GitHub, clone: Path) -> None:
    github.refuse(
        "(POST|PATCH|PUT|DELETE) /repos/.*", 403, "Repository was archived so is read-only."
    )
    done = ghp(github, clone, "agent-issue comment 1 Hello")
    assert (done.code, ARCHIVED in done.err) == (3, True)
    assert done.err.endswith(
        "Hint: Nobody can change an archived repository. Its owner can unarchive it in its "
        "settings, under Danger Zone. Until then, keep issues in git: "
        '"agents": {"tracker": "local"}.\n'
    )
    assert "Parse files" in ghp(github, clone, "agent-issues").out


@pytest.mark.slow
def test_a_locked_issue_refuses_the_comment_and_the_question_is_kept(
    github: GitHub, clone: Path
) -> None:
    words = "Unable to create comment because issue is locked."
    github.refuse("POST /repos/.*/issues/1/comments", 403, words)
    hint = "Its conversation is locked. Somebody with write access can unlock it on its page."
    done = ghp(github, clone, "agent-issue comment 1 Hello")
    assert (done.code, done.err.endswith(f"{words}\nHint: {hint}\n")) == (3, True), done.err
    escalated = ghp(github, clone, "agent-escalate Which? --issue 1")
    assert escalated.code == 0
    assert "Cannot comment on #1: " in escalated.err
    assert words in escalated.err
    assert "Which?" in ghp(github, clone, "agent-escalations").out
    before = len(github.proxy.exchanges)
    for _ in range(3):
        github.proxy.clock.wait(61)
        ghp(github, clone, "agent-sync")
    later = [
        exchange.asked.path for exchange in github.proxy.exchanges[before:] if exchange.asked.writes
    ]
    assert not any(path.endswith("/comments") for path in later)  # not again and again
    github.refusals.clear()
    github.proxy.clock.wait(3_600)
    ghp(github, clone, "agent-sync")
    assert "Which?" in github.act(ADMIN, "GET", "issues/1/comments")[-1]["body"]


def test_issues_that_are_switched_off_name_both_ways_on(github: GitHub, clone: Path) -> None:
    github.refuse("(GET|POST) .*/issues.*", 410, "Issues are disabled for this repo")
    done = ghp(github, clone, "agent-issue comment 1 Hello")
    assert (done.code, "410" in done.err, "Issues are disabled for this repo" in done.err) == (
        1, True, True,
    )  # fmt: skip
    assert done.err.endswith(
        'Hint: Switch issues on in the repository\'s settings, or keep them in git: "agents": '
        '{"tracker": "local"}.\n'
    )
    github.refusals.clear()
    github.proxy.clock.wait(61)
    assert "Parse files" in ghp(github, clone, "agent-issues").out  # it was not forgotten


@pytest.mark.slow
def test_single_sign_on_names_the_page_to_open(github: GitHub, clone: Path) -> None:
    words = "Resource protected by organization SAML enforcement."
    page = "https://github.com/orgs/acme/sso?authorization_request=AZSCK"
    github.refuse(".*", 403, words, X_GitHub_SSO=f"required; url={page}")
    done = ghp(github, clone, "agent-issue comment 1 Hello")
    assert done.code == 3
    assert done.err.endswith(
        "Hint: The organization requires single sign-on. A person opens "
        f"«{page}» and authorizes the token; then run the command again.\n"
    )
    assert f"«{page}»" in ghp(github, clone, "agent-doctor").out


def test_an_app_has_no_account_and_is_known_by_graphql(github: GitHub, clone: Path) -> None:
    github.refuse("GET /user", 403, "Resource not accessible by integration")
    assert f"GitHub answers; this clone acts as {ADMIN}." in ghp(github, clone, "agent-doctor").out
