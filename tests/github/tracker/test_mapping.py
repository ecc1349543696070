"""Issues as GitHub tells them, with the fields of recorded answers, and what is made of them."""

from typing import Any

import pytest

from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.github.accounts import Names
from ghp_agents.github.tracker.mapping import (
    MirroredComment,
    MirroredIssue,
    comments,
    is_pull,
    issue,
    issues,
    kept,
    mirror_comment,
    unproven,
)
from ghp_agents.issues.issue import Comment, Issue

AT, LATER = "2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"
URL = "https://api.github.com/repos/acme/widgets"
MARK = '<!-- ghp-agents:{"id":"3f9a12c4d5e6","by":"worker-1"} -->'


def issue_json(**fields: Any) -> dict[str, Any]:
    """An issue as GitHub's REST answers it, without what nobody reads here."""
    return {
        "id": 2435613241, "number": 24, "title": "Fix it", "body": None, "state": "open",
        "labels": [], "assignees": [], "user": {"login": "ada", "type": "User"}, "comments": 0,
        "created_at": AT, "updated_at": LATER, "repository_url": URL,
        "issue_dependencies_summary": {
            "blocked_by": 0, "total_blocked_by": 0, "blocking": 0, "total_blocking": 0
        },
    } | fields  # fmt: skip


def label(name: str) -> dict[str, Any]:
    return {"id": 1, "name": name, "color": "ededed"}


PLAIN = kept(issue_json())


def test_what_is_kept_of_an_issue() -> None:
    mirrored = kept(
        issue_json(
            title="A title",
            body="One\r\ntwo",
            state="closed",
            labels=[label("bug"), "ui"],
            assignees=[{"login": "ada"}, {"login": "bob"}],
            comments=3,
            parent_issue_url=f"{URL}/issues/28",
            issue_dependencies_summary={"blocked_by": 0, "total_blocked_by": 1},
        )
    )
    assert mirrored == MirroredIssue(
        24, 2435613241, "A title", "One\ntwo", "closed", ("bug", "ui"), ("ada", "bob"), "ada", AT,
        LATER, 3, 28, 1,
    )  # fmt: skip


def test_of_an_account_that_was_deleted_a_ghost_is_left() -> None:
    assert kept(issue_json(user=None)).author == "ghost"
    assert (
        mirror_comment({"id": 7, "user": None, "created_at": AT, "updated_at": AT}).author
        == "ghost"
    )


def test_a_server_without_relations_tells_nothing_of_them() -> None:
    plain = issue_json()
    del plain["issue_dependencies_summary"]
    assert (kept(plain).waits, kept(plain).parent) == (None, None)


def test_a_parent_in_another_repository_has_no_number_here() -> None:
    other = "https://api.github.com/repos/acme/other/issues/28"
    assert kept(issue_json(parent_issue_url=other)).parent is None
    assert kept(issue_json(parent_issue_url=None)).parent is None


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"number": None},
        issue_json(title=3),
        issue_json(labels=[[1]]),
        issue_json(id="x"),
        issue_json(user="x"),
    ],
)
def test_what_is_no_issue_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not a GitHub issue|invalid literal"):
        kept(wrong)


def test_a_pull_request_is_no_issue() -> None:
    assert is_pull(issue_json(pull_request={"url": f"{URL}/pulls/24"}))
    assert not is_pull(issue_json())


def test_an_issue_of_anybody_goes_by_the_id_of_the_database() -> None:
    assert issue(PLAIN, Names()) == Issue(
        "g912c8239", IssueNumber(24), "Fix it", author="ada",
        created_at=Timestamp(AT), updated_at=Timestamp(LATER),
    )  # fmt: skip


def test_an_issue_that_was_made_through_us_goes_by_its_own_id_and_author() -> None:
    converted = issue(PLAIN._replace(body=f"Text\n\n{MARK}", believed=True), Names())
    assert (converted.id, converted.author, converted.body) == ("3f9a12c4d5e6", "worker-1", "Text")


def test_the_hidden_line_of_a_stranger_is_text() -> None:
    converted = issue(PLAIN._replace(body=f"Text\n\n{MARK}", author="mallory"), Names())
    assert (converted.id, converted.author, converted.body) == (
        "g912c8239",
        "mallory",
        f"Text\n\n{MARK}",
    )


def test_an_id_that_was_copied_stays_with_the_older_issue() -> None:
    first = PLAIN._replace(body=f"Text\n\n{MARK}", believed=True)
    copy = first._replace(number=25, id=99)
    assert [converted.id for converted in issues([copy, first], Names())] == ["3f9a12c4d5e6", "g63"]


def test_labels_say_who_has_it_and_how_urgent_it_is() -> None:
    converted = issue(
        PLAIN._replace(
            labels=(
                "agent:worker-1",
                "agent:worker-2",
                "priority:high",
                "ui",
                "agent:stale",
                "bug",
            ),
            assignees=("bob", "ada"),
            proven=("agent:worker-1",),
        ),
        Names({}, "ada", "Ada Example"),
    )
    assert converted.assignees == ("@bob", "Ada Example", "worker-1")
    assert converted.labels == ("agent:stale", "agent:worker-2", "bug", "ui")  # one is not proven
    assert converted.priority == "high"


def test_an_account_of_an_agent_is_the_agent_if_who_may_assigned_it() -> None:
    names = Names({"worker-1": "machine-1"})
    assigned = PLAIN._replace(assignees=("Machine-1",))
    assert unproven(assigned, names) == ["@machine-1"]
    assert issue(assigned, names).assignees == ("@Machine-1",)
    sure = assigned._replace(proven=("@machine-1",))
    assert unproven(sure, names) == []
    assert issue(sure, names).assignees == ("worker-1",)
    labelled = assigned._replace(labels=("agent:worker-1",), proven=("agent:worker-1",))
    assert issue(labelled, names).assignees == ("worker-1",)


def test_what_may_be_an_assignment_is_to_be_proven() -> None:
    labelled = PLAIN._replace(labels=("Agent:Worker-1", "agent:stale", "bug"), assignees=("ada",))
    assert unproven(labelled, Names()) == ["agent:worker-1"]
    assert unproven(labelled._replace(proven=("agent:worker-1",)), Names()) == []


def test_a_form_says_how_urgent_it_is_until_a_label_does() -> None:
    from_form = PLAIN._replace(body="### Priority\n\nHigh\n\n### Goal\n\nIt works")
    assert issue(from_form, Names()).priority == "high"
    assert issue(from_form._replace(labels=("priority:medium",)), Names()).priority == "medium"
    assert issue(PLAIN._replace(body="### Priority\n\nASAP!!"), Names()).priority == "medium"


def test_relations_of_the_server_and_of_the_body_are_one() -> None:
    related = PLAIN._replace(body="Text\n\n**Blocked by:** #3\n**Parent:** #9", blockers=(7, 3))
    converted = issue(related, Names())
    assert (converted.body, converted.blocked_by, converted.parent) == ("Text", (3, 7), 9)
    assert issue(related._replace(parent=2), Names()).parent == 2


def test_a_title_is_one_line_without_terminal_escapes() -> None:
    assert issue(PLAIN._replace(title="A\x1b[31m red\n title"), Names()).title == "A [31m red title"


def test_comments_are_of_those_who_said_them() -> None:
    plain = MirroredComment(7, "ada", True, AT, AT, "Hello", by_writer=True)
    issue_json = [
        plain._replace(id=9, body=f"Mine\n\n{MARK}", believed=True),
        plain,
        plain._replace(id=8, author="robot[bot]", is_person=False),
        plain._replace(id=10, author="mallory", body=f"Forged\n\n{MARK}", by_writer=False),
    ]
    at = Timestamp(AT)
    assert comments(issue_json) == (
        Comment("c7", "ada", at, "Hello", by_person=True),
        Comment("c8", "robot[bot]", at, "Hello"),
        Comment("3f9a12c4d5e6", "worker-1", at, "Mine"),
        Comment("ca", "mallory", at, f"Forged\n\n{MARK}", by_person=True, by_writer=False),
    )


def test_what_two_said_under_one_marker_was_said_once() -> None:
    once = '<!-- ghp-agents:{"id":"3f9a12c4d5e6","by":"worker-1","once":"77"} -->'
    first = MirroredComment(7, "ada", True, AT, AT, f"Ask\n\n{once}", believed=True)
    other = first._replace(id=8, body=first.body.replace("3f9a", "aaaa"))
    forged = first._replace(id=6, author="mallory", believed=False)
    assert [comment.id for comment in comments([first, other, forged])] == ["c6", "3f9a12c4d5e6"]
