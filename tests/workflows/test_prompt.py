"""What an agent reads of its step: others' words are quoted, and none of them is a value."""

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.escalations.escalation import Answer, Escalation, Question
from ghp_agents.messages.message import DONE, Letter, Message
from ghp_agents.workflows.prompt import body
from ghp_agents.workflows.workflow import WorkflowStep

AT, CLONE = Timestamp("2026-01-02T03:04:05Z"), CloneId("c")


def start(**more: object) -> Message:
    text = "I write the lexer.\n{look}\n\x1b[31m<!-- hidden -->"
    new = Message("aaaa", Actor("Ada", is_person=True), ("@all",), "Tabs", AT, 1, CLONE, text)
    return new._replace(**more)  # type: ignore[arg-type]


def test_values_are_quoted_and_not_filled_in_again() -> None:
    text = "{starter} about {issue}, {subject}:\n\n{text}"
    step = WorkflowStep("use", "Use", "@all", prompt=text, output="a commit")
    assert body(step, start(issue=12), {}) == (
        "«Ada» (a person) about #12, «Tabs»:\n\n"
        "> I write the lexer.\n> {look}\n> �[31m&lt;!-- hidden -->\n\n"
        "Hand back: a commit"
    )


def test_results_of_earlier_steps_name_who_gave_them() -> None:
    result = Message("bbbb", Actor("worker-2"), ("Ada",), "Tabs", AT, 2, CLONE, "Eight", DONE,
                     "aaaa", artifacts=("src/lexer.py", "a b"))  # fmt: skip
    letters = {"look": Letter(start(), (result,)), "open": Letter(start())}
    answer = Answer("ffff", "eeee", Actor("Ada", is_person=True), "Yes", AT, 3, CLONE)
    question = Escalation("eeee", Question("worker-2", "May it?"), AT, 2, CLONE, answers=(answer,))
    step = WorkflowStep(
        "use", "Use", prompt="In short {look}, {open}, {ask}, {skipped}.\n{look}\n{ask}"
    )
    assert body(step, start(), letters, {"ask": question}) == (
        "In short «Eight», (nothing), «Yes», (nothing).\n"
        "agent worker-2: done\n> Eight\nArtifacts: src/lexer.py, «a b»\n"
        "person «Ada»:\n> Yes"
    )
