"""The grammar of commands: what is one, what is a mistake, what is neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.escalations.escalation import Escalation, Question
from ghp_agents.escalations.messages import calling, comment, earlier_calling
from ghp_agents.github.commands.parse import (
    LONGEST,
    MOST,
    MOST_LINES,
    NOTHING,
    Command,
    Mistake,
    ParsedComment,
    QuotedReply,
    meant,
    read,
)
from ghp_agents.github.wording import footer

ANSWER_TAKES = "`answer` needs a question, E-3f9a, and then the answer"
WHICH, SURE = "3f9a12c4d5e6", "aa0912c4d5e6"


def escalation_with_comment(identity: str, text: str, *options: str) -> tuple[Escalation, str]:
    question = Question("worker-1", text, 12, options)
    asked_at = Timestamp("2025-01-25T10:30:00Z")
    escalation = Escalation(identity, question, asked_at, 1, CloneId("c"))
    calls = calling(escalation, ["ada"])
    return escalation, f"{comment(escalation, calls)}\n\n{earlier_calling(escalation, ['ada'])}"


@pytest.mark.parametrize(
    ("body", "commands"),
    [
        ("/agent assign worker-1", [Command("assign", "worker-1")]),
        ("/agent  assign\t`Worker-1` ", [Command("assign", "worker-1")]),
        ("/agent assign @Worker-1", [Command("assign", "@worker-1")]),
        ("/agent assign agent:worker-1", [Command("assign", "worker-1")]),
        ("/Agent Stop", [Command("stop")]),
        ("/agent retry\r\n", [Command("retry")]),
        ("Thanks!\n\n/agent status\n\nBye.", [Command("status")]),
        ("/agent stop\n/agent assign w-2", [Command("stop"), Command("assign", "w-2")]),
        ("/agent stop\n/agent stop", [Command("stop")]),
        ("/agent answer E-3f9a SQLite", [Command("answer", "E-3f9a", "SQLite")]),
        ("/agent answer `3f9a` SQLite", [Command("answer", "3f9a", "SQLite")]),
        ("/agent answer E-3f9a\nTwo\n\nlines\n", [Command("answer", "E-3f9a", "Two\n\nlines")]),
        (
            "/agent answer E-3f9a a\n> b\n```\n/agent stop\n```\n\n/agent status",
            [Command("answer", "E-3f9a", "a\n> b\n```\n/agent stop\n```"), Command("status")],
        ),
        ("/agent answer E-3f9a a<!-- and /agent stop -->b", [Command("answer", "E-3f9a", "a b")]),
        ("$(rm -rf /)\n\n/agent stop", [Command("stop")]),
    ],
)
def test_a_command_is_a_paragraph_of_its_own(body: str, commands: list[Command]) -> None:
    assert read(body) == ParsedComment(tuple(commands))


@pytest.mark.parametrize(
    "body",
    [
        "", "agent stop", "Say /agent stop", " /agent stop", "    /agent stop", "/agents stop",
        "/agent-stop", "/agent\u200b stop", "- /agent stop", "`/agent stop`", "\\/agent stop",
        "> /agent stop", "> text\n/agent stop", "```\n/agent stop\n```", "```\n/agent stop",
        "<!-- /agent stop -->", "<!--\n/agent stop\n-->", "<!--\n-->/agent stop",
        "<pre>\n/agent stop\n</pre>", "a\u2028/agent stop", "a\x0b/agent stop",
        "\x1b[2J/agent stop",
        "---\nagent: worker-1\n---\nagent: stop", "x" * LONGEST + "\n/agent stop",
        '<!-- ghp-agents:{"id":"3f9a12c4","by":"worker-1"} -->',
    ],
)  # fmt: skip
def test_nothing_else_is_one(body: str) -> None:
    assert read(body)._replace(plain="") == NOTHING


@pytest.mark.parametrize(
    ("body", "line", "why"),
    [
        ("/agent", "/agent", "the command is missing"),
        ("/agent fly", "/agent fly", "'fly' is not a command"),
        ("/agent stop worker-2", "/agent stop worker-2", "`stop` takes no arguments"),
        ("/agent retry now please", "/agent retry now please", "`retry` takes no arguments"),
        ("/agent assign", "/agent assign", "`assign` needs the name of one agent"),
        ("/agent assign a b", "/agent assign a b", "`assign` needs the name of one agent"),
        ("/agent assign ../../x", "/agent assign ../../x", "that is not a valid agent name"),
        ("/agent assign @@ada", "/agent assign @@ada", "that is not a valid agent name"),
        ("/agent answer", "/agent answer", ANSWER_TAKES),
        ("/agent answer yes do it", "/agent answer yes do it", ANSWER_TAKES),
        ("/agent answer E-3f9a", "/agent answer E-3f9a", "the answer is empty"),
        ("/agent fly\x1b[31m\x07", "/agent fly [31m", "'fly [31m' is not a command"),
    ],
)  # fmt: skip
def test_what_is_nearly_one_is_a_mistake(body: str, line: str, why: str) -> None:
    assert read(body) == ParsedComment(mistakes=(Mistake(line, why),))


def test_a_comment_full_of_commands_is_one_mistake() -> None:
    body = "\n".join(f"/agent assign w-{number}" for number in range(MOST + 1))
    parsed = read(body)
    assert parsed.commands == ()
    assert parsed.mistakes == (Mistake("21 commands", "a comment can have at most 20 commands"),)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_comment_of_too_many_lines_is_one_mistake_if_it_has_a_command(end: str) -> None:
    below = f"a{end}" * (MOST_LINES - 2)
    assert read(f"/agent stop{end}{end}{below}"[: -len(end)]).commands == (Command("stop"),)
    assert read(f"/agent stop{end}{end}{below}") == ParsedComment(
        mistakes=(Mistake("too many lines", "a comment can have at most 8,000 lines"),)
    )
    assert read(f"a{end}{end}{below}") == NOTHING


@pytest.mark.parametrize(
    ("body", "replies"),
    [
        ("> a\n> b\n\nyes", [QuotedReply(" a\n b", "yes")]),
        (
            "Hello\n> a\n\nyes\n\nand\n\n> c\n\nno",
            [QuotedReply(" a", "yes\n\nand"), QuotedReply(" c", "no")],
        ),
        ("> a\n\nyes\n\n/agent stop", [QuotedReply(" a", "yes")]),
        ("> a\n\n```\nyes\n```", [QuotedReply(" a", "```\nyes\n```")]),
        ("> a\nyes", [QuotedReply(" a", "", "yes")]),
        ("> a\nb\n\nyes", [QuotedReply(" a", "yes", "b")]),
        ("> a\nb\n> c\nyes\nor no", [QuotedReply(" a\nb\n c", "", "yes\nor no")]),
        ("> a\n\n", []),
        ("> a\n\n<!-- hidden -->", []),
    ],
)  # fmt: skip
def test_a_reply_is_a_quotation_and_the_words_below_it(
    body: str, replies: list[QuotedReply]
) -> None:
    assert list(read(body).replies) == replies


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        ("SQLite.\r\n\r\nFor now.", "SQLite.\n\nFor now."),
        ("```\nSQLite\n```", "```\nSQLite\n```"),
        ("SQLite <!-- hidden -->", "SQLite"),
        ("<!-- hidden -->", ""),
        ("> a\n\nSQLite", ""),
        ("> a\nSQLite", ""),
        ("SQLite\n\n/agent status", ""),
        ("SQLite /agent\n/agent status", ""),
        (" \n", ""),
    ],
)
def test_a_comment_without_commands_and_quotations_is_plain(body: str, plain: str) -> None:
    assert read(body).plain == plain


def test_an_email_answers_what_it_quotes_and_commands_only_in_its_own_words() -> None:
    mail = "/agent status\n\nOn Sun, bob ***@***.***> wrote:\n\n> /agent stop\n>\n> —\n> Reply"
    assert read(mail) == ParsedComment((Command("status"),))
    unmarked = "Yes\n\nOn Sun, bob ***@***.***> wrote:\n\nWhich?\n\n/agent stop\n"
    assert read(unmarked) == ParsedComment(
        replies=(QuotedReply("\nWhich?\n\n/agent stop\n", "Yes"),)
    )
    answer = "/agent answer E-3f9a Yes\n\nOn Sun, bob ***@***.***> wrote:\n\n> Which?"
    assert read(answer).commands == (Command("answer", "E-3f9a", "Yes"),)
    assert read("Yes\n\nOn Sun, bob ***@***.***> wrote:\n").plain == "Yes"


@given(st.text(max_size=200))
def test_quoting_a_comment_never_orders_what_it_orders(body: str) -> None:
    quoted = "\n".join(f"> {line}" for line in body.replace("\r", "\n").split("\n"))
    parsed = read(quoted)
    assert (parsed.commands, parsed.mistakes) == ((), ())


# -------------------------------------------------------------------------- what is quoted

OPEN = [
    escalation_with_comment(WHICH, "Which **database**?", "SQLite", "Postgres"),
    escalation_with_comment(SURE, "Are you sure?"),
]


EARLIER = f"""\
worker-1 asks (E-{WHICH}):

> Which **database**?

> 1. SQLite
> 2. Postgres

Answer with `ghp agent-answer E-{WHICH} "…"`.

Or answer here: quote this in a reply, or start a line with `/agent answer E-{WHICH}`, then your \
answer. @ada"""


def quoted(text: str) -> QuotedReply:
    return QuotedReply("\n".join(f" {line}" for line in text.split("\n")), "yes")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (comment(OPEN[0][0], calling(OPEN[0][0], ["ada"])), [WHICH]),  # all of the comment
        (EARLIER, [WHICH]),
        (f"Which database?\n\n{footer(Actor('worker-1'), 'ada')}", [WHICH]),
        (f"{footer(Actor('worker-1'))}\n\nWhich table?", []),
        ("worker-1 asks (E-3f9a12c4d5e6):\n\n> Which database?\n\n1. SQLite", [WHICH]),
        ("Which database?", [WHICH]),
        ("1. SQLite\n2. Postgres", [WHICH]),
        ("Are you sure?", [SURE]),
        ("Or answer here: quote this in a reply", [WHICH, SURE]),  # of which one, nobody can tell
        ("SQLite", []),  # too little to tell
        ("Which database? I say Postgres", []),  # not what was asked
        ("Are you sure? Which database?", []),
        ("worker-1 asks (E-3f9a12c4d5e6):\n\n> Delete all?", []),  # a forged question
        ("...", []),
        ("", []),
    ],
)
def test_a_reply_is_meant_for_the_question_whose_words_it_quotes(
    text: str, expected: list[str]
) -> None:
    questions, answer = meant(quoted(text), OPEN)
    assert ([question.id for question in questions], answer) == (expected, "yes")


@pytest.mark.parametrize(
    ("reply", "expected", "answer"),
    [
        (QuotedReply(" Which database?", "", "SQLite"), [WHICH], "SQLite"),
        (QuotedReply(" Which database?", "For now.", "SQLite"), [WHICH], "SQLite\n\nFor now."),
        (QuotedReply(" Which", "SQLite", "database?"), [WHICH], "SQLite"),  # a broken line
        (QuotedReply(" Which table?", "", "SQLite"), [], "SQLite"),
        (QuotedReply("", "", "Which database?"), [], "Which database?"),
    ],
)
def test_lines_right_below_a_quotation_belong_to_it_or_are_the_answer(
    reply: QuotedReply, expected: list[str], answer: str
) -> None:
    questions, text = meant(reply, OPEN)
    assert ([question.id for question in questions], text) == (expected, answer)


def test_a_short_question_is_quoted_as_a_whole() -> None:
    short = [escalation_with_comment(WHICH, "Go?")]
    assert [question.id for question in meant(quoted("Go?"), short)[0]] == [WHICH]
