"""Only a person allows an agent to merge what is in doubt."""

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.escalations.escalation import Answer, Escalation, Question
from ghp_agents.escalations.verdict import persons_verdict

AT, CLONE = Timestamp("2026-01-02T03:04:05Z"), CloneId("c1")
PERSON, BOT, AGENT = Actor("Ann", True), Actor("ci[bot]", True), Actor("boss", False)


def asked(*answers: tuple[Actor, str]) -> Escalation:
    replies = tuple(
        Answer(f"{number:08x}", "ab12cd34", by, text, AT, number, CLONE)
        for number, (by, text) in enumerate(answers)
    )
    return Escalation("ab12cd34", Question("w1", "May it?"), AT, 1, CLONE, answers=replies)


def test_the_last_answer_of_a_person_counts() -> None:
    assert persons_verdict(asked()) == ""
    assert persons_verdict(asked((AGENT, "approve"))) == ""
    assert persons_verdict(asked((PERSON, " Approve"), (BOT, "refuse"))) == "approve"
    assert persons_verdict(asked((PERSON, "approve"), (PERSON, "refuse"))) == "refuse"
    assert persons_verdict(asked((PERSON, "refuse"), (PERSON, "later"))) == "refuse"
