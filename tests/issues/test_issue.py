"""What issues are called, what they take, and what a change comes to."""

import pytest

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import (
    NO_CHANGE,
    PROVISIONAL,
    Issue,
    IssueChange,
    applied,
    assignee,
    checked,
    checked_comment,
    checked_new,
    checked_text,
    effective,
    find,
    provisional,
    resolved,
    short,
)

AT = Timestamp("2026-01-02T03:04:05Z")


def issue(number: int, id: str = "", **fields: object) -> Issue:
    result = Issue(id or f"{number:012x}", IssueNumber(number), f"Title {number}")
    return result._replace(**fields)  # type: ignore[arg-type]


KNOWN = [
    issue(1, "12aa00000000"),
    issue(2, "12ab00000000", other_numbers=(IssueNumber(7),)),
    issue(3, "345678901234"),
]


@pytest.mark.parametrize(
    ("reference", "number"),
    [("1", 1), (2, 2), ("#2", 2), ("7", 2), ("I-12ab", 2), ("12AB", 2), ("345678901234", 3)],
)
def test_an_issue_is_found_by_any_of_its_names(reference: str | int, number: int) -> None:
    assert find(KNOWN, reference).number == number


@pytest.mark.parametrize("reference", ["12", "3456", "8", "#", "I-", "", "x\x1b[31m"])
def test_digits_never_stand_for_the_start_of_an_id(reference: str) -> None:
    with pytest.raises(NotFoundError):
        find(KNOWN, reference)


def test_what_fits_several_names_them_all() -> None:
    with pytest.raises(UsageError) as caught:
        find(KNOWN, "I-12a")
    assert str(caught.value) == "'I-12a' matches 2 issues."
    assert caught.value.hint == (
        "Use more characters of the id: I-12aa00000000 (Title 1), I-12ab00000000 (Title 2)."
    )


def test_a_reference_is_said_back_without_control_characters() -> None:
    with pytest.raises(NotFoundError) as caught:
        find(KNOWN, "x\x1b[31m" + "y" * 100)
    assert str(caught.value) == f"There is no issue x [31m{'y' * 33}…."


def test_a_provisional_number_comes_from_the_id_and_is_not_printed() -> None:
    number = provisional("00000003ffff")
    assert number == PROVISIONAL + 0x3FFFF
    assert PROVISIONAL < provisional("f" * 12) < 2**53
    assert short(issue(number, "00000003ffff")) == "I-000000"
    assert short(issue(12)) == "#12"


@pytest.mark.parametrize("name", ["worker-1", "Ann Example", "JaneDoe", "jürgen", "a.b_c", "@ada"])
def test_agents_and_people_can_be_assigned(name: str) -> None:
    assert assignee(f" {name} ") == name


@pytest.mark.parametrize(
    "name", ["", " ", "../../x", "-x", "con", "x" * 64, "@", "@../x", "X" * 81]
)
def test_what_looks_like_an_agent_must_be_one(name: str) -> None:
    with pytest.raises(UsageError):
        assignee(name)


def test_texts_are_tidied() -> None:
    change = IssueChange(
        title=" A\ttitle\x00 ", body="\r\nBody\r\n", add_labels=(" a  b ",), remove_labels=("\nc",)
    )
    assert checked(change) == IssueChange(
        title="A title", body="Body", add_labels=("a b",), remove_labels=("c",)
    )


def test_a_new_issue_needs_a_title() -> None:
    with pytest.raises(UsageError, match="The title is empty"):
        checked_new(IssueChange(body="x"))


def test_a_body_may_be_empty_and_a_comment_may_not() -> None:
    assert checked_text("body", "\n") == ""
    with pytest.raises(UsageError, match="The comment is empty"):
        checked_comment(" \n ")


def test_a_change_names_issues_by_their_present_numbers() -> None:
    change = IssueChange(
        parent=IssueNumber(7),
        add_blockers=(IssueNumber(7), IssueNumber(3)),
        remove_blockers=(IssueNumber(7),),
    )
    assert resolved(KNOWN, change) == IssueChange(
        parent=IssueNumber(2),
        add_blockers=(IssueNumber(2), IssueNumber(3)),
        remove_blockers=(IssueNumber(2),),
    )


def test_only_what_is_not_so_already_is_a_change() -> None:
    before = issue(1, labels=("a", "b"), parent=IssueNumber(3), assignees=("x",), body="B")
    same = IssueChange(
        title="Title 1",
        body="B",
        state="open",
        priority="medium",
        parent=IssueNumber(3),
        add_labels=("a",),
        remove_labels=("z",),
        add_assignees=("x",),
    )
    assert effective(before, same) == NO_CHANGE
    other = same._replace(body="C", add_labels=("c", "a", "c"), remove_labels=("b",))
    assert effective(before, other) == IssueChange(
        body="C", add_labels=("c",), remove_labels=("b",)
    )


def test_no_parent_is_a_change_only_where_there_is_one() -> None:
    assert effective(issue(1), IssueChange(no_parent=True)) == NO_CHANGE
    child = issue(1, parent=IssueNumber(2))
    assert effective(child, IssueChange(no_parent=True)) == IssueChange(no_parent=True)
    moved = IssueChange(no_parent=True, parent=IssueNumber(3))
    assert effective(child, moved) == IssueChange(parent=IssueNumber(3))


def test_a_change_is_applied_and_nothing_else() -> None:
    before = issue(1, labels=("a", "b"), parent=IssueNumber(3), body="B", priority="low")
    change = IssueChange(title="T", no_parent=True, add_labels=("0",), remove_labels=("a",))
    assert applied(before, change, AT) == before._replace(
        title="T", parent=None, labels=("0", "b"), updated_at=AT
    )


def test_the_name_of_a_job_means_its_issue_as_its_number_does() -> None:
    body = "## Job\n\njob-001 (0123456789ab)"
    issues = [Issue("3f9a", IssueNumber(1), "One", body), Issue("5b1c", IssueNumber(2), "Two")]
    assert find(issues, "job-001") == issues[0]
    with pytest.raises(NotFoundError):
        find(issues, "job-002")
    outside = [issues[0]._replace(fields_count=False)]
    with pytest.raises(NotFoundError):
        find(outside, "job-001")
