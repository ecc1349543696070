"""The fields of a job in an issue's body."""

import pytest

from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.job_fields import DELIVERABLES, MOST, deliverables, due, listed


def issue(body: str, **fields: object) -> Issue:
    return Issue("0a1b2c3d", IssueNumber(1), "An issue", body=body)._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "date"),
    [
        ("## Due\n\n2026-12-31", "2026-12-31"),
        ("### Due date\n\nby 2026-01-02, please", "2026-01-02"),
        ("## Due\n\n2026-13-31", ""),
        ("## Due\n\nsoon", ""),
        ("It is due 2026-12-31", ""),
        ("", ""),
    ],
)
def test_the_due_date_is_the_first_date_below_its_heading(body: str, date: str) -> None:
    assert due(issue(body)) == date


def test_fields_of_people_without_write_access_do_not_count() -> None:
    assert due(issue("## Due\n\n2026-12-31", fields_count=False)) == ""
    assert listed(issue("## Deliverables\n\n- a.py", fields_count=False), DELIVERABLES) == ()


def test_a_list_is_read_without_its_marks_and_is_bounded() -> None:
    body = "## Deliverables\n\n- `src/a.py`\n* [x] docs/b.md\n\n1. c.txt\n_No response_\n"
    assert listed(issue(body), DELIVERABLES) == ("src/a.py", "docs/b.md", "c.txt")
    long = "## Deliverables\n" + "\n".join(f"- {number}" for number in range(2 * MOST))
    assert len(listed(issue(long), DELIVERABLES)) == MOST


def test_deliverables_are_the_plain_paths_of_the_list() -> None:
    entries = (
        "src/a.py", "./docs/b.md", "README.md", "A working parser", "parser", "../x.py",
        "/etc/passwd", "-rf", "src/*.js", "https://example.org/x", ":(top)x.py", "src/a.py",
    )  # fmt: skip
    body = "## Deliverables\n\n" + "\n".join(f"- {entry}" for entry in entries)
    assert deliverables(issue(body)) == ("src/a.py", "docs/b.md", "README.md")
