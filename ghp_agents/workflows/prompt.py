"""What an agent reads of its step: the text of the workflow, with quoted values put in."""

from collections.abc import Mapping

from ghp_agents.escalations.escalation import Escalation
from ghp_agents.hotpath.quoting import clean, cut, file, indented, named, phrase, who
from ghp_agents.messages.message import Letter, Message
from ghp_agents.workflows.workflow import STARTER, WorkflowStep, fill

VALUE_LIMIT = 8_000  # characters of one value
NOTHING = "(nothing)"


def body(
    step: WorkflowStep,
    start: Message,
    letters: Mapping[str, Letter],
    questions: Mapping[str, Escalation] = {},
) -> str:
    """The body of a step's message. `letters` are those of the earlier steps, with their bodies,
    and `questions` those that persons did."""
    values = {
        "subject": (phrase(start.subject), _quoted(start.subject)),
        "text": (phrase(start.body), _quoted(start.body) if start.body.strip() else ""),
        "issue": (_issue(start), _issue(start)),
        STARTER: (named(*start.by), named(*start.by)),
    }
    values |= {name: _result(letter) for name, letter in letters.items()}
    values |= {name: _answer(question) for name, question in questions.items()}
    text = fill(step.prompt, _Values(values))
    return f"{text}\n\nHand back: {step.output}" if step.output else text


class _Values(dict[str, tuple[str, str]]):
    """Values by name. A step that was not needed has none."""

    def __missing__(self, name: str) -> tuple[str, str]:
        return NOTHING, NOTHING


def _issue(start: Message) -> str:
    return f"#{start.issue}" if start.issue else "no issue"


def _result(letter: Letter) -> tuple[str, str]:
    """What became of a step, in a line and as a block."""
    result = letter.result
    if result is None:
        return NOTHING, NOTHING
    outcome = result.verdict or result.kind
    lines = [f"{who(*result.by)}: {outcome}", _quoted(result.body)]
    if result.artifacts:
        lines.append("Artifacts: " + ", ".join(map(file, result.artifacts)))
    return phrase(result.body or outcome), "\n".join(lines)


def _answer(question: Escalation) -> tuple[str, str]:
    """What a person answered, in a line and as a block."""
    if question.is_open:
        return NOTHING, NOTHING
    last = question.answers[-1]
    return phrase(last.text), f"{who(*last.by)}:\n{_quoted(last.text)}"


def _quoted(text: str) -> str:
    if not text.strip():
        return NOTHING
    return indented(cut(clean(text), VALUE_LIMIT, "cut; `ghp agent-thread` shows all"))
