"""The comment that shows the state of an issue: the same facts, the same text."""

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.escalations.escalation import Escalation, Question
from ghp_agents.github.commands.parse import NOTHING, read
from ghp_agents.github.status_comment import IssueStatus, essence, render
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.issues.comment_commands import DONE, Act, Obeyed
from ghp_agents.locks.lock import Lock

THEN, CLONE = Timestamp("2025-01-25T10:30:00Z"), CloneId("c1")
LEASE = Lock("issue/12", "worker-1", 3, 1, THEN, "nonce")
HANDOFF = Handoff("3f9a", "handoff", Actor("worker-1"), None, 12, THEN, 1, "digest")
STOP = Act("stop", "/agent stop", DONE, "worker-1 was told to stop", "worker-1", 3)
COMMAND = Obeyed(7, 12, Actor("@ada", True), (STOP,), THEN, 1, CLONE)


def question(text: str, number: int = 0) -> Escalation:
    return Escalation(f"aa{number:02}", Question("worker-1", text, 12), THEN, 1, CLONE)


def test_all_that_is_known_is_in_it() -> None:
    facts = IssueStatus(
        12, lock=LEASE, status="testing", branch="agent/worker-1/12-blink", pull=15,
        handoff=HANDOFF, questions=(question("Which?"),), command=COMMAND,
    )  # fmt: skip
    assert render(facts) == (
        "**worker-1** holds this issue: testing.\n"
        "\n"
        "| | |\n"
        "|---|---|\n"
        "| **since** | 25 Jan 2025, 10:30 UTC |\n"
        "| **branch** | `agent/worker-1/12-blink` |\n"
        "| **pull request** | #15 |\n"
        "| **last handoff** | H-3f9a, by worker-1, 25 Jan 2025, 10:30 UTC |\n"
        "| **open questions** | 1 |\n"
        "| **last command** | @\u200bada, 25 Jan 2025, 10:30 UTC: `/agent stop`: worker-1 was told "
        "to stop |"
    )


def test_who_has_it_is_said_first() -> None:
    assert render(IssueStatus(12)) == "No agent holds this issue."
    assert render(IssueStatus(12, closed=True)) == "This issue is closed."
    assert render(IssueStatus(12, assigned=("worker-1",))) == (
        "Assigned to worker-1; work has not started."
    )
    assert render(IssueStatus(12, stopped=True)) == (
        "A person stopped the work on this issue; nobody holds it."
    )
    free = LEASE._replace(holder=None)
    assert render(IssueStatus(12, lock=free)) == "No agent holds this issue."


def test_questions_are_counted_and_not_quoted() -> None:
    text = render(IssueStatus(12, questions=tuple(question("Which?", n) for n in range(13))))
    assert text == "No agent holds this issue.\n\n| | |\n|---|---|\n| **open questions** | 13 |"


def test_how_far_the_work_is_does_not_count_as_essential() -> None:
    one, other = (
        IssueStatus(12, lock=LEASE, status="testing"),
        IssueStatus(12, lock=LEASE, status="blocked"),
    )
    assert render(one) != render(other)
    assert essence(one) == essence(other)
    assert essence(one) != essence(other._replace(pull=1))


def test_text_of_others_calls_formats_and_hides_nothing() -> None:
    stop = STOP._replace(command="`/agent stop`|", words="@ada\n\n> x")
    command = COMMAND._replace(by=Actor("<b>@eve", True), acts=(stop,))
    text = render(IssueStatus(12, status="\n\n/agent stop", branch="`|<!--", command=command))
    assert read(text)._replace(plain="") == NOTHING
    assert "| **branch** | `'/&lt;!--` |" in text
    assert text.endswith(
        "| **last command** | &lt;b>@\u200beve, 25 Jan 2025, 10:30 UTC: `'/agent stop'/`: "
        "@\u200bada > x |"
    )
