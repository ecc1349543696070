"""Listening: what is new is asked for once, and only what may be meant for agents is heard."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.github import marker as github_marker
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands.inbox import CommentInbox, HeardComment
from ghp_agents.github.commands.parse import LONGEST, Command
from ghp_agents.workspace import Workspace
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.consent import mine
from tests.support.hubs import Script, says

API = "https://api.github.com/repos/acme/widgets"
COMMENTS = "/repos/acme/widgets/issues/comments?direction=asc&per_page=100"
ISSUES = {1: None, 2: None}
MIRROR = "hub/mirror/issues.json"


@pytest.fixture
def script() -> Iterator[Script]:
    server = Script()
    yield server
    server.close()


@pytest.fixture
def ws(repo: Path) -> Workspace:
    workspace = hubs.workspace(repo, ManualClock())
    changed(workspace)
    return workspace


@pytest.fixture
def hub(ws: Workspace, script: Script) -> GitHubRepository:
    return GitHubRepository(ws, hubs.access(script.address))


def changed(ws: Workspace) -> None:
    """Some issue is not as it was."""
    path = ws.cache_dir / MIRROR
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(path.read_text() + "x" if path.exists() else "x")


def comment(number: int, body: str, login: str = "ada", issue: int = 1, second: int = 0) -> Any:
    at = f"2025-06-15T15:{second // 60:02}:{second % 60:02}Z"
    return {
        "id": number, "body": body, "user": {"login": login, "type": "User"}, "created_at": at,
        "updated_at": at, "issue_url": f"{API}/issues/{issue}",
    }  # fmt: skip


def heard(ws: Workspace, hub: GitHubRepository, issues: Any = ISSUES) -> list[HeardComment]:
    inbox = CommentInbox(ws, hub)
    comments = inbox.listen(issues)
    inbox.done()
    return comments


@pytest.mark.slow
def test_without_a_change_of_an_issue_nothing_is_asked(
    ws: Workspace, hub: GitHubRepository, script: Script
) -> None:
    script.then(says(200, [comment(7, "/agent stop")]), says(200, []))
    (remark,) = heard(ws, hub)
    assert remark == HeardComment(
        7,
        1,
        "ada",
        Actor("@ada", True),
        remark.parsed,
        remark.at,
        is_typed=True,
        line="/agent stop",
    )
    assert remark.parsed.commands == (Command("stop"),)
    assert heard(ws, hub) == []
    changed(ws)
    assert heard(ws, hub) == []
    assert script.lines == [
        f"GET {COMMENTS}&since=2025-06-08T15%3A06%3A40Z&sort=updated",  # a week before
        f"GET {COMMENTS}&since=2025-06-15T15%3A00%3A00Z&sort=updated",  # from the last one on
    ]


def test_what_was_not_dealt_with_is_heard_again(
    ws: Workspace, hub: GitHubRepository, script: Script
) -> None:
    script.then(says(200, [comment(7, "/agent stop")]), says(200, [comment(7, "/agent stop")]))
    assert len(CommentInbox(ws, hub).listen(ISSUES)) == 1
    assert len(heard(ws, hub)) == 1


def test_further_pages_go_on_from_the_last_change_of_the_one_before(
    ws: Workspace, hub: GitHubRepository, script: Script
) -> None:
    first = [comment(number, "/agent stop", second=number) for number in range(100)]
    second = [comment(99, "/agent retry", second=200), comment(100, "Hello", second=201)]
    script.then(says(200, first), says(200, second))
    comments = heard(ws, hub)
    assert [comment.id for comment in comments] == list(range(101))
    assert comments[-2].parsed.commands == (Command("retry"),)  # as it is now
    assert script.lines[1] == f"GET {COMMENTS}&since=2025-06-15T15%3A01%3A39Z&sort=updated"


def test_more_than_a_page_in_one_second_is_read_to_its_end(
    ws: Workspace, hub: GitHubRepository, script: Script
) -> None:
    first = [comment(number, "/agent stop") for number in range(100)]
    script.then(says(200, first), says(200, first), says(200, [comment(100, "/agent stop")]))
    assert len(heard(ws, hub)) == 101
    assert script.lines[2].endswith(
        "&page=2&per_page=100&since=2025-06-15T15%3A00%3A00Z&sort=updated"
    )


def test_what_was_said_on_an_issue_that_is_not_known_yet_is_heard_when_it_is(
    ws: Workspace, hub: GitHubRepository, script: Script
) -> None:
    new = comment(7, "/agent stop", issue=3)
    script.then(says(200, [new, comment(8, "Hello", second=5)]), says(200, [new]))
    assert [comment.id for comment in heard(ws, hub)] == [8]
    assert [comment.id for comment in heard(ws, hub, ISSUES | {3: None})] == [7]
    assert script.lines[1].endswith("&since=2025-06-15T15%3A00%3A00Z&sort=updated")


def signed(body: str, by: Actor, marker: str = "") -> str:
    return github_marker.signed(body, github_marker.mark("3f9a12c4", by, marker))


def test_only_what_may_be_meant_for_agents_is_heard(
    ws: Workspace, hub: GitHubRepository, script: Script
) -> None:
    ann, worker = Actor("Ann Example", True), Actor("worker-1")
    script.then(
        says(200, [
            comment(1, "Hello"),
            comment(2, "/agent stop", issue=9) | {"html_url": "https://github.com/a/b/pull/9#c"},
            comment(3, "/agent stop\n" + "x" * LONGEST),
            comment(4, signed("/agent stop", worker)),
            comment(5, signed("/agent stop", ann, "<!-- ghp:answer 1 -->")),
            comment(6, signed("/agent stop", ann)),
            {"id": 7}, {"id": 8, "issue_url": f"{API}/issues/1"},
            comment(9, "/agent stop") | {"body": None},
            comment(10, "/agent stop") | {"user": None},
            comment(11, "> a\n\nYes") | {"user": {"login": "helper[bot]", "type": "Bot"}},
        ])
    )  # fmt: skip
    comments = heard(ws, hub)
    assert [(comment.id, comment.by, comment.is_typed) for comment in comments] == [
        (1, Actor("@ada", True), True), (6, ann, False), (10, Actor("@ghost", True), True)
    ]  # fmt: skip


def test_who_may_command_is_asked_of_github_and_no_agent_may(repo: Path, script: Script) -> None:
    accounts = {"worker-1": "bot-1", "lead": "bot-2", "Ann Example": "ann"}
    mine({"agents": {"accounts": accounts, "orchestrators": ["lead"]}}, repo.parent)
    ws = hubs.workspace(repo, ManualClock())
    changed(ws)
    hub = GitHubRepository(ws, hubs.access(script.address))
    logins = ("bot-1", "bot-2", "ann", "eve")
    comments = [comment(number, "/agent stop", login) for number, login in enumerate(logins)]
    comments.append(
        comment(4, signed("/agent stop", Actor("Ann Example", True)), "bot-1")
    )  # forged
    script.then(
        says(200, comments), *(says(200, {"permission": p}) for p in ("write", "admin", "read"))
    )
    inbox = CommentInbox(ws, hub)
    comments = inbox.listen(ISSUES)
    assert [(comment.by.name, inbox.may_command(comment)) for comment in comments] == [
        ("worker-1", False), ("lead", True), ("Ann Example", True), ("@eve", False),
        ("worker-1", False),
    ]  # fmt: skip
    assert len(script.lines) == 4


@pytest.mark.parametrize("content", ["[", "[1]", '{"repository": 3}', '{"since": []}'])
def test_what_was_kept_and_cannot_be_read_is_asked_for_again(
    ws: Workspace, hub: GitHubRepository, script: Script, content: str
) -> None:
    path = ws.cache_dir / "hub/heard.json"
    path.write_text(content)
    script.then(says(200, [comment(7, "/agent stop")]))
    assert [comment.id for comment in heard(ws, hub)] == [7]
