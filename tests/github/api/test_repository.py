"""One repository through one token: lists, the cache, permissions, features, the outbox."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.github.api import errors
from ghp_agents.github.api.errors import LimitError, UnreachableError
from ghp_agents.github.api.outbox import Job
from ghp_agents.github.api.repository import GitHubRepository, ReadResult
from ghp_agents.github.api.status import GitHubStatus
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.house import CHECKOUT
from tests.support.hubs import SECRET, Script, after, cut, limits, says

ISSUES = "/repos/acme/widgets/issues"


def link(script: Script, number: int) -> str:
    return f'<{script.address}{ISSUES}?page={number}>; rel="next", <x>; rel="last"'


def test_a_hub_says_what_it_is_of(hub: GitHubRepository) -> None:
    assert (hub.repository, hub.host, hub.url) == (
        "acme/widgets",
        "github.com",
        "https://github.com/acme/widgets",
    )


def test_what_did_not_change_is_answered_from_memory(
    hub: GitHubRepository, script: Script, repo: Path, clock: ManualClock
) -> None:
    script.then(says(200, [1, 2], ETag='W/"a"'), says(304, None, X_Seen="1"), says(200, [3]))
    first = hub.get("issues", state="all", per_page=100)
    assert (first.status, first.body, first.fresh) == (200, [1, 2], True)
    second = hubs.hub(repo, script, clock).get("issues", per_page=100, state="all")
    assert (second.status, second.body, second.fresh) == (200, [1, 2], False)
    assert hub.get("issues", per_page=100, state="all").body == [3]
    assert script.lines == [f"GET {ISSUES}?per_page=100&state=all"] * 3
    assert [request.headers.get("if-none-match") for request in script.asked] == [
        None,
        'W/"a"',
        'W/"a"',
    ]


def test_another_token_is_not_answered_from_this_ones_memory(
    hub: GitHubRepository, script: Script, repo: Path, clock: ManualClock
) -> None:
    script.then(says(200, [1], ETag='"a"'), says(200, [2]))
    hub.get("issues")
    other = GitHubRepository(hubs.workspace(repo, clock), hubs.access(script.address, "ghp_other"))
    assert other.recall("issues") is None
    assert other.get("issues").body == [2]
    assert "if-none-match" not in script.asked[1].headers


def test_what_was_answered_last_is_recalled_without_asking(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(says(200, [1], ETag='"a"'))
    assert hub.recall("issues") is None
    hub.get("issues")
    assert hub.recall("issues") == ReadResult(200, [1], {}, fresh=False)
    assert len(script.asked) == 1


def test_nothing_changed_to_a_question_without_a_tag_is_no_answer(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(*[says(304)] * 3)
    with pytest.raises(UnreachableError):
        hub.get("issues")


def test_a_list_is_read_to_its_end_each_page_conditionally(
    hub: GitHubRepository, script: Script
) -> None:
    pages = [
        says(200, [1, 2], ETag='"1"', Link=link(script, 2)),
        says(200, [3, 4], ETag='"2"', Link=link(script, 3)),
        says(200, [5], ETag='"3"'),
    ]
    script.then(*pages, *[says(304)] * 3)
    assert hub.get_all("issues", state="all") == [1, 2, 3, 4, 5]
    assert hub.get_all("issues", state="all") == [1, 2, 3, 4, 5]
    requests = [f"GET {ISSUES}?per_page=100&state=all", *[f"GET {ISSUES}?page={n}" for n in (2, 3)]]
    assert script.lines == requests * 2
    conditions = [request.headers.get("if-none-match") for request in script.asked[3:]]
    assert conditions == ['"1"', '"2"', '"3"']


def test_the_next_page_is_asked_of_our_own_server_whatever_its_address_says(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(says(200, [1], Link=f"<http://evil.example{ISSUES}?page=2>; rel=next"))
    script.then(says(200, [2]))
    assert hub.get_all("issues") == [1, 2]
    assert script.lines[1] == f"GET {ISSUES}?page=2"


def test_a_list_that_never_ends_ends(
    hub: GitHubRepository, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghp_agents.github.api.repository.MOST_PAGES", 3)
    script.then(*[says(200, [1], Link=link(script, 1))] * 3)
    with pytest.raises(UnreachableError) as caught:
        hub.get_all("issues")
    assert str(caught.value) == "GitHub's list `GET issues` does not end."


def test_a_list_that_is_none_is_not_taken_for_an_empty_one(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(says(200, {"message": "x"}))
    with pytest.raises(UnreachableError):
        hub.get_all("issues")


# ---------------------------------------------------------------- accounts


def test_who_we_are_is_asked_once(
    hub: GitHubRepository, script: Script, repo: Path, clock: ManualClock
) -> None:
    script.then(says(200, {"login": "octocat"}))
    assert hub.viewer() == "octocat"
    assert hubs.hub(repo, script, clock).viewer() == "octocat"
    assert script.lines == ["GET /user"]


def test_a_workflows_token_has_no_user_and_still_a_name(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(
        says(403, {"message": "Resource not accessible by integration"}),
        says(200, {"data": {"viewer": {"login": "github-actions[bot]"}}}),
    )
    assert hub.viewer() == "github-actions[bot]"
    assert script.lines == ["GET /user", "POST /graphql"]


@pytest.mark.parametrize(
    ("answer", "permission", "may"),
    [
        ({"permission": "admin", "role_name": "admin"}, "admin", True),
        ({"permission": "write", "role_name": "maintain"}, "maintain", True),
        ({"permission": "write", "role_name": "write"}, "write", True),
        ({"permission": "write", "role_name": "our-own-role"}, "write", True),
        ({"permission": "read", "role_name": "triage"}, "triage", False),
        ({"permission": "read"}, "read", False),
        ({"permission": "none"}, "none", False),
        ({"permission": "owner"}, "none", False),
        ({"permission": ["admin"]}, "none", False),
        ({}, "none", False),
        ([], "none", False),
    ],
)
def test_who_may_command_has_write_permission(
    hub: GitHubRepository, script: Script, answer: Any, permission: str, may: bool
) -> None:
    script.then(says(200, answer))
    assert hub.permission("octocat") == permission
    assert hub.may_command("octocat") is may
    assert script.lines == ["GET /repos/acme/widgets/collaborators/octocat/permission"]


def test_a_permission_is_remembered_for_ten_minutes(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(says(200, {"permission": "write"}), says(200, {"permission": "read"}))
    assert hub.may_command("Octocat")
    clock.wait(599)
    assert hub.may_command("octocat")
    clock.wait(1)
    assert not hub.may_command("octocat")


def test_an_account_that_is_not_there_may_nothing(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(*[says(404, {"message": "Not Found"})] * 3)
    assert not hub.may_command("ghost")
    assert not hub.may_command("ghost")
    assert not hub.may_command("")
    assert len(script.asked) == 2
    clock.wait(600)
    assert not hub.may_command("ghost")
    assert len(script.asked) == 3  # a second look is not needed again


def test_an_account_that_is_not_found_once_keeps_its_permission(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    before = clock.now()
    script.then(says(404, {"message": "Not Found"}), says(200, {"permission": "write"}))
    assert hub.may_command("octocat")
    assert (len(script.asked), clock.now() - before) == (2, 1.0)


def test_a_login_cannot_lead_elsewhere(hub: GitHubRepository, script: Script) -> None:
    script.then(*[says(404)] * 4)
    assert not hub.may_command("../../../user?x=")
    assert not hub.may_command("copilot[bot]")
    assert script.lines[::2] == [
        "GET /repos/acme/widgets/collaborators/..%2F..%2F..%2Fuser%3Fx%3D/permission",
        "GET /repos/acme/widgets/collaborators/copilot%5Bbot%5D/permission",
    ]
    assert script.lines[1::2] == script.lines[::2]


def test_a_token_that_may_not_ask_obeys_nobody(hub: GitHubRepository, script: Script) -> None:
    script.then(*[says(403, {"message": "Must have push access"})] * 2)
    assert not hub.may_command("octocat")
    with pytest.raises(errors.ForbiddenError):
        hub.permission("octocat")


def test_who_cannot_be_asked_about_is_not_obeyed_but_unknown(
    hub: GitHubRepository, script: Script
) -> None:
    script.then(says(429))
    with pytest.raises(LimitError):
        hub.may_command("octocat")


# ---------------------------------------------------------------- features


def test_what_a_server_has_is_remembered_for_a_week(
    hub: GitHubRepository, clock: ManualClock
) -> None:
    assert hub.has("sub-issues") is None
    hub.learned("sub-issues", False)
    hub.learned("reactions", True)
    assert (hub.has("sub-issues"), hub.has("reactions")) == (False, True)
    clock.wait(7 * 86_400 - 1)
    assert hub.has("reactions") is True
    clock.wait(1)
    assert hub.has("reactions") is None


def test_one_missing_answer_does_not_hide_a_feature_for_long(
    hub: GitHubRepository, clock: ManualClock
) -> None:
    hub.learned("reactions", True)
    hub.learned("reactions", False)
    assert hub.has("reactions") is True
    hub.learned("sub-issues", False)
    clock.wait(3_599)
    assert hub.has("sub-issues") is False
    clock.wait(1)
    assert hub.has("sub-issues") is None


def test_another_server_has_other_features(
    hub: GitHubRepository, repo: Path, clock: ManualClock
) -> None:
    hub.learned("sub-issues", False)
    assert (
        GitHubRepository(hubs.workspace(repo, clock), hubs.access("https://x")).has("sub-issues")
        is None
    )


# ---------------------------------------------------------------- the outbox


def send(hub: GitHubRepository, existing: Any = None) -> Any:
    def perform(job: Job) -> None:
        hub.write("POST", f"issues/{job.about}/comments", job.data, find_existing=lambda: existing)

    return perform


JOB = Job("c1", "comment", "12", "a comment on #12", {"body": "x"})


def test_what_could_not_be_sent_is_sent_later(hub: GitHubRepository, script: Script) -> None:
    hub.later(JOB)
    assert hub.status().queued == 1
    script.then(says(201, {}))
    assert hub.flush(send(hub)) == ["a comment on #12"]
    assert hub.status() == GitHubStatus(answered=ManualClock().now())


def test_a_queued_write_that_was_done_before_is_found_first(
    hub: GitHubRepository, script: Script
) -> None:
    hub.later(JOB)
    assert hub.flush(send(hub, existing={"id": 1})) == ["a comment on #12"]
    assert script.asked == []


def test_only_the_outbox_doubts(hub: GitHubRepository, script: Script) -> None:
    hub.later(JOB)
    hub.flush(send(hub, existing={"id": 1}))
    script.then(says(201, {"id": 2}))
    assert hub.write("POST", "issues", {}, find_existing=lambda: {"id": 1}) == {"id": 2}


def test_a_write_that_broke_off_and_was_queued_is_in_the_end_done_once(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    stored: list[Any] = []
    script.then(after(lambda: stored.append(1), cut))

    def find_existing() -> Any:
        return hub.get("issues/12/comments").body or None

    script.then(*[says(502)] * 3)
    with pytest.raises(UnreachableError):
        hub.write("POST", "issues/12/comments", {}, find_existing=find_existing)
    hub.later(JOB)
    clock.wait(60)
    script.then(says(200, [{"id": 7}]))
    assert hub.flush(
        lambda job: hub.write("POST", "issues/12/comments", {}, find_existing=find_existing)
    )
    assert len([line for line in script.lines if line.startswith("POST")]) == 1


def test_the_outbox_outlives_the_cache(hub: GitHubRepository, repo: Path, script: Script) -> None:
    import shutil

    hub.later(JOB)
    shutil.rmtree(repo / ".git/ghp/cache", ignore_errors=True)
    assert hubs.hub(repo, script).status().queued == 1


# ---------------------------------------------------------------- standing, and all processes


def test_the_standing_tells_budget_and_pause_without_asking(
    hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    now = clock.now()
    assert hub.status() == GitHubStatus()
    script.then(says(200, 1, **limits(4_711, now + 600)), says(429, None, retry_after="90"))
    hub.get("x")
    with pytest.raises(LimitError):
        hub.get("y")
    assert hub.status() == GitHubStatus(
        remaining=4_711,
        limit=5_000,
        resets=now + 600,
        paused_until=now + 90,
        why_paused="GitHub's secondary rate limit was hit: too many requests at once",
        answered=now,
    )
    assert len(script.asked) == 2
    clock.wait(600)
    assert hub.status() == GitHubStatus(remaining=5_000, limit=5_000, answered=now)


ASK = """
import sys
from pathlib import Path
from tests.support import hubs

class Place:
    address = sys.argv[2]

try:
    hubs.hub(Path(sys.argv[1]), Place()).get("issues")
except Exception as error:
    print(type(error).__name__)
"""


@pytest.mark.slow
def test_what_one_process_was_told_holds_back_all_others(
    hub: GitHubRepository, script: Script, repo: Path
) -> None:
    script.then(says(429))
    with pytest.raises(LimitError):
        hub.get("issues")
    command = [sys.executable, "-c", ASK, str(repo), script.address]
    others = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) for _ in range(3)
    ]
    assert [other.communicate(timeout=60)[0] for other in others] == ["LimitError\n"] * 3
    assert len(script.asked) == 1


def test_each_thread_keeps_a_connection_of_its_own(hub: GitHubRepository, script: Script) -> None:
    script.then(*[says(200, 1)] * 3)
    hub.get("a")
    hub.get("a")
    thread = threading.Thread(target=lambda: hub.get("b"))
    thread.start()
    thread.join(60)
    one, same, other = [request.port for request in script.asked]
    assert one == same != other


def test_the_secret_is_in_no_file(hub: GitHubRepository, script: Script, repo: Path) -> None:
    script.then(says(200, {"login": "me"}, ETag='"a"'), says(201, 1), says(401))
    hub.viewer()
    hub.write("POST", "issues", {"title": "x"})
    hub.later(JOB)
    with pytest.raises(errors.TokenError):
        hub.get("issues")
    written = [path for path in (repo / ".git").rglob("*") if path.is_file()]
    assert len(written) > 5
    assert not [path for path in written if SECRET in f"{path} {path.read_bytes()!r}"]
