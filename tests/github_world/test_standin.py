"""The stand-in for GitHub does as GitHub does wherever our code depends on it."""

import re

import pytest

from tests.support.github import ADMIN, OUTSIDER, WORKER_1, WORKER_2, GitHub


@pytest.fixture
def github(github_or_twin: GitHub) -> GitHub:
    return github_or_twin


def labels(issue: dict[str, list[dict[str, str]]]) -> list[str]:
    return [label["name"] for label in issue["labels"]]


# ---------------------------------------------------------------- who may do what


def test_who_has_no_token_that_is_known_is_refused(github: GitHub) -> None:
    response = github.try_to("somebody-else", "GET", "issues")
    assert (response.status, response.body["message"]) == (401, "Bad credentials")


def test_an_outsider_may_say_something_and_command_nothing(github: GitHub) -> None:
    number = github.issue("A bug", OUTSIDER, labels=["agent:worker-1"], assignees=[WORKER_1])
    issue = github.act(ADMIN, "GET", f"issues/{number}")
    assert (labels(issue), issue["assignees"]) == ([], [])
    comment = github.act(OUTSIDER, "POST", f"issues/{number}/comments", {"body": "/agent stop"})
    assert github.act(OUTSIDER, "PATCH", f"issues/{number}", {"title": "A bad bug"})["number"] == 1
    of_others = github.issue("Not theirs")
    for verb, path, body in (
        ("POST", f"issues/{number}/labels", {"labels": ["agent:worker-1"]}),
        ("PATCH", f"issues/{of_others}", {"state": "closed"}),
        ("POST", "labels", {"name": "agent:x", "color": "ffffff"}),
        ("PUT", "contents/a.txt", {"message": "m", "content": "aGk="}),
        ("POST", "git/refs", {"ref": "refs/heads/x", "sha": "0" * 40}),
        ("PATCH", "", {"name": "mine"}),
    ):
        response = github.try_to(OUTSIDER, verb, path, body)
        assert (response.status, path) == (403, path)
    assert response.headers["X-Accepted-GitHub-Permissions"] == "contents=write"
    edit = ("PATCH", f"issues/comments/{comment['id']}", {"body": "changed"})
    assert github.try_to(WORKER_1, *edit).status == 200  # who may write may edit what others said
    assert github.try_to("rita", *edit).status == 403


def test_of_an_assignment_by_an_outsider_or_to_one_nothing_comes(github: GitHub) -> None:
    number = github.issue("One")
    for who, whom in ((OUTSIDER, WORKER_1), (ADMIN, OUTSIDER)):
        response = github.try_to(who, "POST", f"issues/{number}/assignees", {"assignees": [whom]})
        assert (response.status, response.body["assignees"]) == (201, [])
    response = github.try_to(ADMIN, "POST", "issues", {"title": "x", "assignees": [OUTSIDER]})
    assert response.status == 422
    statuses = [github.try_to(ADMIN, "GET", f"assignees/{x}").status for x in (WORKER_1, OUTSIDER)]
    assert statuses == [204, 404]


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        (ADMIN, "admin", "admin"), (WORKER_1, "write", "write"), ("tess", "read", "triage"),
        ("rita", "read", "read"), (OUTSIDER, "read", "read"),
    ],
)  # fmt: skip
def test_a_permission_has_its_old_and_its_new_name(
    github: GitHub, login: str, permission: str, role: str
) -> None:
    body = github.act(WORKER_1, "GET", f"collaborators/{login}/permission")
    assert (body["permission"], body["role_name"]) == (permission, role)


def test_nobody_has_no_permission(github: GitHub) -> None:
    assert github.try_to(ADMIN, "GET", "collaborators/nobody-at-all/permission").status == 404


# ---------------------------------------------------------------- issues, comments, events


def test_an_event_tells_who_gave_a_label_from_the_beginning_on(github: GitHub) -> None:
    number = github.issue("One", WORKER_1, labels=["agent:a"], assignees=[WORKER_2])
    github.act(ADMIN, "PUT", f"issues/{number}/labels", {"labels": ["agent:b"]})
    events = github.act(ADMIN, "GET", f"issues/{number}/events")
    pairs = [(event["event"], event["actor"]["login"]) for event in events]
    assert pairs == [
        ("labeled", WORKER_1), ("assigned", WORKER_1), ("unlabeled", ADMIN), ("labeled", ADMIN)
    ]  # fmt: skip
    second = github.issue("Two", labels=["agent:a"])
    newest = github.act(ADMIN, "GET", "issues/events", per_page="2")
    assert [event["issue"]["number"] for event in newest] == [second, number]


def test_times_have_whole_seconds(github: GitHub) -> None:
    number = github.issue("One")
    issue = github.act(ADMIN, "GET", f"issues/{number}")
    assert re.fullmatch(r"[\d-]+T\d\d:\d\d:\d\dZ", issue["updated_at"])
    listed = github.act(ADMIN, "GET", "issues", since=issue["updated_at"])
    assert [issue["number"] for issue in listed] == [number]


def test_comments_are_listed_since_a_time(github: GitHub) -> None:
    number = github.issue("One")
    comment_said = github.act(ADMIN, "POST", f"issues/{number}/comments", {"body": "hello"})
    for path in (f"issues/{number}/comments", "issues/comments"):
        now = github.act(ADMIN, "GET", path, since=comment_said["updated_at"])
        later = github.act(ADMIN, "GET", path, since="2999-01-01T00:00:00Z")
        assert ([comment["id"] for comment in now], later) == ([comment_said["id"]], [])


def test_pages_name_the_next_one_below_the_address_that_was_asked(github: GitHub) -> None:
    for number in range(5):
        github.issue(f"Issue {number}")
    for path in ("issues", "issues/comments"):
        for number in range(1, 6):
            github.act(ADMIN, "POST", f"issues/{number}/comments", {"body": "x"})
        query = {"per_page": "2", "page": "2", "since": "2020-01-01T00:00:00Z"}
        link = github.try_to(ADMIN, "GET", path, **query).headers["Link"]
        assert set(re.findall(r'rel="(\w+)"', link)) == {"first", "prev", "next", "last"}
        addresses = re.findall("<([^>]*)>", link)
        assert all(address.startswith(f"{github.api}/repos/") for address in addresses)
        assert all("since=2020-01-01" in address for address in addresses)


def test_a_reaction_is_given_once_and_counted_where_it_is(github: GitHub) -> None:
    number = github.issue("One")
    comment = github.act(ADMIN, "POST", f"issues/{number}/comments", {"body": "/agent retry"})
    at = f"issues/comments/{comment['id']}"
    given = [
        github.try_to(WORKER_1, "POST", f"{at}/reactions", {"content": "+1"}) for _ in range(2)
    ]
    assert [response.status for response in given] == [201, 200]
    assert github.act(ADMIN, "GET", at)["reactions"]["+1"] == 1
    github.act(WORKER_1, "DELETE", f"{at}/reactions/{given[0].body['id']}")
    assert github.act(ADMIN, "GET", f"{at}/reactions") == []


# ---------------------------------------------------------------- sub-issues, dependencies


def test_relations_name_an_issue_by_its_database_id(github: GitHub) -> None:
    parent, child, other = (github.issue(title) for title in ("Parent", "Child", "Other"))
    ids = {n: github.act(ADMIN, "GET", f"issues/{n}")["id"] for n in (parent, child, other)}
    github.act(ADMIN, "POST", f"issues/{parent}/sub_issues", {"sub_issue_id": ids[child]})
    github.act(ADMIN, "POST", f"issues/{child}/dependencies/blocked_by", {"issue_id": ids[other]})
    issue = github.act(ADMIN, "GET", f"issues/{child}")
    assert issue["parent_issue_url"].endswith(f"/issues/{parent}")
    assert issue["issue_dependencies_summary"]["blocked_by"] == 1
    assert github.act(ADMIN, "GET", f"issues/{child}/parent")["number"] == parent
    lists = [f"{parent}/sub_issues", f"{child}/dependencies/blocked_by",
             f"{other}/dependencies/blocking"]  # fmt: skip
    numbers = [[x["number"] for x in github.act(ADMIN, "GET", f"issues/{at}")] for at in lists]
    assert numbers == [[child], [other], [child]]
    again = [
        github.try_to(ADMIN, "POST", f"issues/{parent}/sub_issues", {"sub_issue_id": ids[child]}),
        github.try_to(ADMIN, "POST", f"issues/{child}/sub_issues", {"sub_issue_id": ids[parent]}),
        github.try_to(
            ADMIN, "POST", f"issues/{child}/dependencies/blocked_by", {"issue_id": ids[other]}
        ),
    ]
    assert [response.status for response in again] == [422, 422, 422]
    github.act(ADMIN, "DELETE", f"issues/{parent}/sub_issue", {"sub_issue_id": ids[child]})
    github.act(ADMIN, "DELETE", f"issues/{child}/dependencies/blocked_by/{ids[other]}")
    assert [github.act(ADMIN, "GET", f"issues/{at}") for at in lists] == [[], [], []]


def test_a_server_may_have_none_of_that(github: GitHub) -> None:
    number = github.issue("One")
    github.features.clear()
    for path in ("sub_issues", "dependencies/blocked_by", "dependencies/blocking", "reactions"):
        assert github.try_to(ADMIN, "GET", f"issues/{number}/{path}").status == 404
    issue = github.act(ADMIN, "GET", f"issues/{number}")
    assert "sub_issues_summary" not in issue


def test_below_the_address_of_enterprise_servers_all_is_the_same(github: GitHub) -> None:
    github.issue("One")
    github.issue("Two")
    response = github.try_to(
        ADMIN, "GET", f"/api/v3/repos/{github.repository}/issues", per_page="1"
    )
    assert response.body[0]["url"].startswith(f"{github.api}/api/v3/repos/")
    assert f"<{github.api}/api/v3/repos/" in response.headers["Link"]
