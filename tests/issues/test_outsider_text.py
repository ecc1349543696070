"""What outsiders wrote, in the words that agents and people are shown."""

from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import Comment, Issue
from ghp_agents.issues.outsider_text import edited, hidden, left_out

AT = Timestamp("2026-03-01T10:00:00Z")
THEIRS = Issue(
    "g1", IssueNumber(2), "Build", "Do it", author="mallory", by_writer=False, fields_count=False,
    edited_at=AT,
)  # fmt: skip


def test_a_changed_body_is_said_with_its_author_and_time() -> None:
    assert edited(THEIRS._replace(author='mal"lory')) == (
        f'The body was changed on {AT} by "mal\'lory", who has no write access. This is the text '
        "at the time of the assignment; GitHub shows the new one."
    )


def test_what_is_hidden_is_counted_once_and_the_rest_stays() -> None:
    ours = Comment("c1", "ada", AT, "Ours", by_person=True)
    theirs = ours._replace(id="c2", author="mallory", body="Theirs", by_writer=False)
    shown = hidden(THEIRS._replace(comments=(ours, theirs)))
    assert hidden(shown) == shown
    assert (shown.title, shown.comments, shown.left_out) == ("Build", (ours,), 1)
    assert "Do it" not in shown.body
    assert left_out(shown) == (
        "1 comment by people without write access is hidden (agents.lockdown). A person sees "
        "all with `ghp agent-issue show 2`."
    )


def test_an_issue_of_a_writer_is_not_hidden() -> None:
    ours = THEIRS._replace(by_writer=True, fields_count=True)
    assert hidden(ours) == ours
