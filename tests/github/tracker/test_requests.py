"""Changes as requests: what is said to GitHub, in which order, with which words."""

from typing import Any

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import IssueNumber
from ghp_agents.github.accounts import Names
from ghp_agents.github.marker import Mark
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.github.tracker.requests import (
    Native,
    Request,
    creation,
    relating,
    requests,
    showable,
    taken_in,
)
from ghp_agents.issues.issue import BODY_LIMIT, IssueChange

AT = "2026-03-01T10:00:00Z"
MARK = '<!-- ghp-agents:{"id":"3f9a12c4d5e6","by":"worker-1"} -->'
END = f"<sub>A program (ghp-agents) wrote this for the agent worker-1.</sub>\n\n{MARK}"
TOLD = MirroredIssue(
    24, 1024, "Fix it", f"Text\n\n{END}", "open", (), (), "ada", AT, AT, believed=True
)
NAMES = Names({"worker-3": "machine-3"}, "ada", "Ada Example")
BOTH, NEITHER = Native(dependencies=True, parents=True), Native()
IDS = {1: 1001, 2: 1002, 3: 1003}


def numbers(*values: int) -> tuple[IssueNumber, ...]:
    return tuple(IssueNumber(value) for value in values)


def sent(
    issue: MirroredIssue, native: Native = NEITHER, **fields: Any
) -> list[tuple[str, str, Any]]:
    sent_requests = requests(issue, IssueChange(**fields), NAMES, native, IDS)
    return [(request.verb, request.path, request.body) for request in sent_requests]


def test_texts_and_state_are_one_request() -> None:
    assert sent(TOLD, title="New", body="Other", state="closed") == [
        ("PATCH", "issues/24", {
            "title": "New", "body": f"Other\n\n{END}", "state": "closed",
            "state_reason": "completed",
        }),
    ]  # fmt: skip
    assert sent(TOLD._replace(state="closed"), state="open") == [
        ("PATCH", "issues/24", {"state": "open", "state_reason": "reopened"}),
    ]


def test_labels_are_added_and_taken_away_one_by_one() -> None:
    issue = TOLD._replace(labels=("Bug", "needs: c/d"))
    assert sent(issue, add_labels=("ui",), remove_labels=("bug", "needs: c/d", "unknown")) == [
        ("DELETE", "issues/24/labels/Bug", None),
        ("DELETE", "issues/24/labels/needs%3A%20c%2Fd", None),
        ("POST", "issues/24/labels", {"labels": ["ui"]}),
    ]


def test_agents_are_labels_and_people_accounts() -> None:
    issue = TOLD._replace(
        labels=("agent:worker-2",), proven=("agent:worker-2",), assignees=("bob",)
    )
    assert sent(
        issue,
        add_assignees=("worker-1", "worker-3", "Ada Example"),
        remove_assignees=("worker-2", "@bob"),
    ) == [
        ("DELETE", "issues/24/labels/agent%3Aworker-2", None),
        ("POST", "issues/24/labels", {"labels": ["agent:worker-1", "agent:worker-3"]}),
        ("DELETE", "issues/24/assignees", {"assignees": ["bob"]}),
        ("POST", "issues/24/assignees", {"assignees": ["machine-3", "ada"]}),
    ]


def test_a_label_that_nobody_may_have_set_is_set_anew() -> None:
    issue = TOLD._replace(labels=("agent:worker-1",))
    assert sent(issue, add_assignees=("worker-1",)) == [
        ("DELETE", "issues/24/labels/agent%3Aworker-1", None),
        ("POST", "issues/24/labels", {"labels": ["agent:worker-1"]}),
    ]


def test_an_account_stays_as_long_as_another_agent_has_it() -> None:
    names = Names({"worker-1": "machine", "worker-2": "machine"})
    issue = TOLD._replace(labels=("agent:worker-1", "agent:worker-2"), assignees=("machine",))
    change = IssueChange(remove_assignees=("worker-1",))
    to_send = requests(issue, change, names, NEITHER, IDS)
    assert to_send == [Request("DELETE", "issues/24/labels/agent%3Aworker-1")]
    alone = issue._replace(labels=("agent:worker-1",))
    assert requests(alone, change, names, NEITHER, IDS)[1:] == [
        Request("DELETE", "issues/24/assignees", {"assignees": ["machine"]})
    ]


@pytest.mark.parametrize(
    ("labels", "body", "wanted", "expected"),
    [
        ((), "", "high", ["POST priority:high"]),
        (("priority:low",), "", "high", ["DELETE priority%3Alow", "POST priority:high"]),
        (("Priority:High",), "", "medium", ["DELETE Priority%3AHigh"]),
        # A form said otherwise, and its answer stays where it is.
        ((), "### Priority\n\nhigh", "medium", ["POST priority:medium"]),
        (("priority:medium",), "### Priority\n\nhigh", "high", ["DELETE priority%3Amedium"]),
    ],
)
def test_how_urgent_it_is_is_one_label_or_none(
    labels: tuple[str, ...], body: str, wanted: str, expected: list[str]
) -> None:
    issue = TOLD._replace(labels=labels, body=body)
    to_send = [
        f"{verb} {path.rpartition('/')[2] if verb == 'DELETE' else body['labels'][0]}"
        for verb, path, body in sent(issue, priority=wanted)
    ]
    assert to_send == expected


def test_relations_go_to_a_server_that_has_them() -> None:
    issue = TOLD._replace(blockers=(3,), waits=1, parent=7)
    change = {
        "add_blockers": numbers(2), "remove_blockers": numbers(3), "parent": IssueNumber(1)
    }  # fmt: skip
    assert sent(issue, BOTH, **change) == [
        ("DELETE", "issues/24/dependencies/blocked_by/1003", None),
        ("POST", "issues/24/dependencies/blocked_by", {"issue_id": 1002}),
        ("POST", "issues/1/sub_issues", {"sub_issue_id": 1024, "replace_parent": True}),
    ]
    assert sent(issue, BOTH, no_parent=True) == [
        ("DELETE", "issues/7/sub_issue", {"sub_issue_id": 1024}),
    ]


def test_relations_are_the_last_lines_of_a_body_elsewhere() -> None:
    assert sent(TOLD, add_blockers=numbers(3, 2), parent=IssueNumber(1)) == [
        ("PATCH", "issues/24", {
            "body": f"Text\n\n**Blocked by:** #2, #3\n**Parent:** #1\n\n{END}"
        }),
    ]  # fmt: skip
    issue = TOLD._replace(body=f"Text\n\n**Blocked by:** #2, #3\n**Parent:** #1\n\n{END}")
    assert sent(issue, remove_blockers=numbers(2), no_parent=True) == [
        ("PATCH", "issues/24", {"body": f"Text\n\n**Blocked by:** #3\n\n{END}"}),
    ]
    # A new text takes nothing away from them.
    assert sent(issue, body="New") == [
        ("PATCH", "issues/24", {
            "body": f"New\n\n**Blocked by:** #2, #3\n**Parent:** #1\n\n{END}"
        }),
    ]  # fmt: skip


def test_a_blocker_that_somebody_wrote_into_the_text_is_taken_out_of_it() -> None:
    issue = TOLD._replace(body="**Blocked by:** #2\n\nText", believed=False)
    assert sent(issue, BOTH, remove_blockers=numbers(2)) == [
        ("PATCH", "issues/24", {"body": "Text"}),
    ]


def test_what_does_not_change_is_not_written_again() -> None:
    untidy = "\n\nText  \n\n\n**Blocked by:**   #2 \n\n\n"
    assert sent(TOLD._replace(body=untidy, believed=False), add_labels=("ui",)) == [
        ("POST", "issues/24/labels", {"labels": ["ui"]}),
    ]


def test_a_forged_line_is_made_visible_when_the_body_is_written() -> None:
    issue = TOLD._replace(believed=False)
    assert sent(issue, add_blockers=numbers(2)) == [
        ("PATCH", "issues/24", {
            "body": f"Text\n\n{END.replace('<sub', '&lt;sub').replace('<!--', '&lt;!--')}\n\n"
            "**Blocked by:** #2"
        }),
    ]  # fmt: skip


def test_a_new_issue_is_one_request_with_what_the_server_has_no_relation_for() -> None:
    change = IssueChange(
        title="T", body="Text", priority="low", parent=IssueNumber(1), add_labels=("ui",),
        add_assignees=("worker-1", "Ada Example"), add_blockers=numbers(2),
    )  # fmt: skip
    mark = Mark("3f9a12c4d5e6", "worker-1")
    assert creation(change, mark, NAMES, NEITHER) == {
        "title": "T",
        "body": f"Text\n\n**Blocked by:** #2\n**Parent:** #1\n\n{END}",
        "labels": ["ui", "agent:worker-1", "priority:low"],
        "assignees": ["ada"],
    }
    assert creation(change, mark, NAMES, BOTH)["body"] == f"Text\n\n{END}"
    assert relating(TOLD, change, BOTH, IDS) == [
        Request("POST", "issues/24/dependencies/blocked_by", {"issue_id": 1002}),
        Request("POST", "issues/1/sub_issues", {"sub_issue_id": 1024, "replace_parent": True}),
    ]
    assert relating(TOLD, change, NEITHER, IDS) == []
    bare = creation(IssueChange(title="T"), mark, NAMES, BOTH)
    assert bare == {"title": "T", "body": END}


def test_labels_that_mean_more_are_taken_as_what_they_mean() -> None:
    change = IssueChange(
        add_labels=("agent:worker-1", "priority:high", "bug", "agent:stale"),
        remove_labels=("Agent:worker-2", "ui"),
    )
    assert taken_in(change) == IssueChange(
        priority="high", add_labels=("bug", "agent:stale"), remove_labels=("ui",),
        add_assignees=("worker-1",), remove_assignees=("worker-2",),
    )  # fmt: skip
    assert taken_in(IssueChange(remove_labels=("priority:high",))).priority == "medium"


def test_relations_at_the_end_of_a_new_body_are_relations() -> None:
    text = f"Text\n\n**Blocked by:** #2\n**Parent:** #1\n{MARK}"
    assert taken_in(IssueChange(body="Text\n\n**Blocked by:** #2\n**Parent:** #1")) == IssueChange(
        body="Text", parent=IssueNumber(1), add_blockers=numbers(2)
    )
    assert taken_in(IssueChange(body=text)).body == text.replace("<!--", "&lt;!--")


def test_a_body_that_has_no_room_for_the_hidden_line_is_refused() -> None:
    change = IssueChange(title="T", body="x" * BODY_LIMIT)
    with pytest.raises(UsageError, match="with what ghp-agents adds; GitHub's limit is 65536"):
        creation(change, Mark("3f9a12c4d5e6", "worker-1"), NAMES, NEITHER)
    with pytest.raises(UsageError):
        sent(TOLD, body="x" * BODY_LIMIT)


def test_what_can_be_shown_is_what_has_a_label_or_an_account() -> None:
    change = IssueChange(
        add_assignees=("worker-1", "stale", "Eve Example"),
        remove_assignees=("a" * 60, "Ada Example"),
    )
    assert showable(change, NAMES) == IssueChange(
        add_assignees=("worker-1",), remove_assignees=("Ada Example",)
    )
