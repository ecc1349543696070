"""The tools that a model is offered, and the command that each of them runs.

A tool is a command with few options: it does what the command does and prints what it prints. The
schemas are short, because a model reads all of them at the start of each session.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.messages.message import KINDS
from ghp_agents.messages.vote import CHOICES

Arguments = Mapping[str, Any]
Words = list[str]

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
NUMBER = {"type": "integer"}
FLAG = {"type": "boolean"}
INBOX = ("list", "read", "claim", "done", "fail")


def _choice(values: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": [*values]}


class Tool(NamedTuple):
    """A tool: what the model reads of it, and how its arguments become a command line."""

    description: str
    fields: dict[str, dict[str, Any]]
    required: tuple[str, ...]
    words: Callable[[Arguments], Words]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": self.fields,
            "required": [*self.required],
            "additionalProperties": False,
        }


def _inbox(given: Arguments) -> Words:
    act, text = given.get("act", "list"), given.get("text")
    if act != "list" and not given.get("ids"):
        raise UsageError(f"`{act}` needs the ids of messages.", hint="Call it with `ids`.")
    named = {"done": "--result", "fail": "--reason"}.get(act)
    options = [f"{named}={text}"] if named and text else []
    if act == "done":
        options += [*_option(given, "verdict"), *_option(given, "excerpts", "excerpt")]
    return ["agent-inbox", act, *options, *_rest([] if act == "list" else given.get("ids", []))]


def _option(given: Arguments, name: str, option: str = "") -> Words:
    """An option, if its argument is given. As one word, so that no value is another option."""
    value = given.get(name)
    if value is None or value is False:
        return []
    flag = f"--{option or name.replace('_', '-')}"
    values = value if isinstance(value, list) else [value]
    return [flag] if value is True else [f"{flag}={item}" for item in values]


def _rest(values: Any) -> Words:
    """Arguments after which no option follows."""
    words = [str(value) for value in (values if isinstance(values, list) else [values])]
    return ["--", *words] if words else []


TOOLS: dict[str, Tool] = {
    "status": Tool(
        "Who works on what, which files are held, and news for you.",
        {}, (), lambda given: ["agent-status"],
    ),
    "issues": Tool(
        "Open issues; `ready`: those that you can claim.",
        {"ready": FLAG}, (), lambda given: ["agent-issues", *_option(given, "ready")],
    ),
    "issue": Tool(
        "One issue with its comments, branch and pull request.",
        {"number": NUMBER}, ("number",),
        lambda given: ["agent-issue", "show", *_rest(given["number"])],
    ),
    "claim": Tool(
        "Claim an issue before you work on it. Without a number: the best ready one.",
        {"number": NUMBER}, (),
        lambda given: (
            ["agent-claim", *(_rest(given["number"]) if "number" in given else ["--next"])]
        ),
    ),
    "check": Tool(
        "Whether you may change files, and who holds them.",
        {"paths": TEXTS}, ("paths",), lambda given: ["agent-check", *_rest(given["paths"])],
    ),
    "lease": Tool(
        "Reserve files (.gitignore patterns) before a large change.",
        {"patterns": TEXTS, "reason": TEXT, "ttl": {**TEXT, "description": "30m, 2h"}},
        ("patterns", "reason"),
        lambda given: [
            "agent-lease", *_option(given, "reason"), *_option(given, "ttl"),
            *_rest(given["patterns"]),
        ],
    ),
    "release": Tool(
        "Release an issue (12) or a lease (L-3f9a).",
        {"names": TEXTS}, ("names",), lambda given: ["agent-release", *_rest(given["names"])],
    ),
    "ask": Tool(
        "Ask a person. You get the answer at a later step; do other work meanwhile.",
        {"question": TEXT, "options": TEXTS, "urgency": _choice(("low", "normal", "high"))},
        ("question",),
        lambda given: [
            "agent-escalate", *_option(given, "options", "option"), *_option(given, "urgency"),
            *_rest(given["question"]),
        ],
    ),
    "answer": Tool(
        "Answer another agent's question (E-3f9a): advice, unless you are an orchestrator.",
        {"id": TEXT, "text": TEXT}, ("id", "text"),
        lambda given: ["agent-answer", *_rest([given["id"], given["text"]])],
    ),
    "send": Tool(
        "Send a message to agents: a name, @orchestrator, @all, @capability:NAME or a @topic.",
        {"to": TEXTS, "subject": TEXT, "body": TEXT, "kind": _choice(KINDS), "issue": NUMBER,
         "reply_to": TEXT, "ack_within": TEXT, "done_within": {**TEXT, "description": "30m, 2h"},
         "or_agent": TEXT, "payload": {**TEXT, "description": "JSON, for topics with a schema"}},
        ("to", "subject"),
        lambda given: [
            "agent-send", *_option(given, "body"), *_option(given, "kind"),
            *_option(given, "issue"), *_option(given, "reply_to"), *_option(given, "payload"),
            *_option(given, "ack_within"), *_option(given, "done_within"),
            *_option(given, "or_agent"),
            *_rest([*given["to"], given["subject"]]),
        ],
    ),
    "inbox": Tool(
        "Your messages: list, read, claim (begin), done (`text`: result; of a review "
        "also `verdict`), fail (`text`: reason).",
        {"act": _choice(INBOX), "ids": TEXTS, "text": TEXT,
         "verdict": _choice(("approve", "changes")),
         "excerpts": {**TEXTS, "description": "src/a.py#L1-20"}}, (), _inbox,
    ),
    "vote": Tool(
        "Vote on a proposal (M-3f9a); without a choice: its votes.",
        {"id": TEXT, "choice": _choice(CHOICES), "reason": TEXT}, ("id",),
        lambda given: [
            "agent-vote", *([f"--{given['choice']}"] if "choice" in given else []),
            *_option(given, "reason"), *_rest(given["id"]),
        ],
    ),
    "handoff": Tool(
        "Save your work for the next agent, or give it `to` one.",
        {"to": TEXT, "note": TEXT}, (),
        lambda given: ["agent-handoff", *_option(given, "to"), *_option(given, "note")],
    ),
    "resume": Tool(
        "What you need to continue an issue: goal, decisions, state, next steps.",
        {"issue": NUMBER}, (), lambda given: ["agent-resume", *_option(given, "issue")],
    ),
    "remember": Tool(
        "Save one fact for later agents.",
        {"text": TEXT}, ("text",), lambda given: ["agent-remember", *_rest(given["text"])],
    ),
    "recall": Tool(
        "Search what agents learned, in your own words.",
        {"query": TEXT}, ("query",), lambda given: ["agent-recall", *_rest(given["query"])],
    ),
    "conflicts": Tool(
        "Whose work git could not merge with yours or with main.",
        {}, (), lambda given: ["agent-conflicts"],
    ),
    "finish": Tool(
        "Run the checks, push, and open a pull request. Commit first.",
        {"draft": FLAG}, (), lambda given: ["agent-finish", *_option(given, "draft")],
    ),
}  # fmt: skip


def command(name: str, given: Arguments) -> Words:
    """The command line of a call. Raises UsageError."""
    tool = TOOLS.get(name)
    if tool is None:
        raise UsageError(f"There is no tool {name[:40]!r}.", hint=f"Use {', '.join(TOOLS)}.")
    _check(tool, given)
    return tool.words(given)


def _check(tool: Tool, given: Arguments) -> None:
    for field in tool.required:
        if field not in given:
            raise UsageError(f"The argument {field!r} is missing.", hint="Give it.")
    for field, value in given.items():
        shape = tool.fields.get(field)
        if shape is None or not _fits(value, shape):
            names = ", ".join(tool.fields) or "no arguments"
            raise UsageError(f"The argument {field[:40]!r} is wrong.", hint=f"It takes {names}.")
        if any("\0" in text for text in (value if isinstance(value, list) else [str(value)])):
            raise UsageError(
                f"The argument {field[:40]!r} has a character that is no text.",
                hint="Leave out the zero byte, the odd byte or the half surrogate.",
            )


def _fits(value: Any, shape: Mapping[str, Any]) -> bool:
    kind = shape["type"]
    if kind == "array":
        return isinstance(value, list) and all(_fits(item, shape["items"]) for item in value)
    if "enum" in shape:
        return value in shape["enum"]
    return type(value) is {"string": str, "integer": int, "boolean": bool}[kind]
