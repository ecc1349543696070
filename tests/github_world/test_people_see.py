"""What people see on an issue: whole comments, as GitHub has them."""

import re

import pytest

from ghp_agents.github import marker as github_marker
from tests.support.commands import Field
from tests.support.github import ADMIN, WORKER_1, WORKER_2, GitHub

pytestmark = pytest.mark.slow
_LINE = re.compile(r"<!-- ghp-agents:[{].*[}] -->")
_MARKER = re.compile(r"<!-- ghp:.* -->\n\n")
_ID = re.compile(r"\b([EH])-[0-9a-f]{12}\b")
_TIME = re.compile(r"\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d UTC")


@pytest.fixture
def field(github: GitHub) -> Field:
    new_field = Field(github)
    new_field.clone("one", escalateTo=["ada"])
    return new_field


def seen(field: Field) -> list[str]:
    """The comments, with ids, times and our hidden line replaced."""
    bodies = [_MARKER.sub("", comment["body"]) for comment in field.raw(1)]
    return [_TIME.sub("<time>", _ID.sub(r"\1-<id>", _LINE.sub("<line>", body))) for body in bodies]


def asked(field: Field) -> str:
    field.github.issue("Blink")
    field.ghp("agent-claim 1", agent="worker-1")
    words = ["agent-escalate", "Which database?", "--option", "SQLite", "--option", "Postgres"]
    name = field.ghp([*words, "--issue", "1"], agent="worker-1").out.strip()
    field.sync()
    return name


def test_a_question_and_the_state_are_in_plain_words_and_say_who_wrote_them(field: Field) -> None:
    asked(field)
    assert seen(field) == [
        f"""\
worker-1 asks (E-<id>):

> Which database?

> 1. SQLite
> 2. Postgres

To answer, write a comment here or reply by e-mail. The number of an option is enough. If several \
questions are open, quote this one, or begin with `/agent answer E-<id>`. @ada

<details><summary>In a terminal</summary>

Answer with `ghp agent-answer E-<id> "…"`.

</details>

<sub>A program (ghp-agents) wrote this for the agent worker-1 and {WORKER_1}.</sub>

<line>""",
        f"""\
**worker-1** holds this issue: planning.

| | |
|---|---|
| **since** | <time> |
| **branch** | `main` |
| **open questions** | 1 |

<sub>A program (ghp-agents) wrote this for {WORKER_1}.</sub>

<line>""",
    ]


def test_what_a_person_does_in_a_terminal_is_told_in_their_name(field: Field) -> None:
    name = asked(field)
    field.ghp(["agent-answer", name, "2"])
    assert (
        seen(field)[-1]
        == """\
Ann Example answers E-<id>:

> Postgres

<sub>A program (ghp-agents) wrote this for Ann Example.</sub>

<line>"""
    )


def test_the_number_of_an_option_is_an_answer_in_a_comment(field: Field) -> None:
    asked(field)
    comment = field.say(1, "2")
    field.sync()
    assert field.reactions(comment) == ["+1"]
    assert field.acts()[0][1] == "done"


def test_agents_read_the_texts_without_the_footers(field: Field) -> None:
    field.ghp(["agent-issue", "new", "Blink", "--body", "Use **this**."], agent="worker-1")
    field.ghp(["agent-issue", "comment", "1", "Half of it works."], agent="worker-1")
    raw = field.github.act(ADMIN, "GET", "issues/1")["body"]
    assert _LINE.sub("<line>", raw).startswith(
        "Use **this**.\n\n<sub>A program (ghp-agents) wrote this for the agent worker-1"
    )
    issue = field.house("two", login=WORKER_2).tracker.get(1)
    assert issue.body == "Use **this**."
    assert [comment.body for comment in issue.comments] == ["Half of it works."]


def test_the_mail_of_a_comment_quotes_its_hidden_line_and_is_an_answer_all_the_same(
    field: Field,
) -> None:
    asked(field)
    source = field.raw(1)[0]["body"]
    assert github_marker.split_marker(source)[1] is not None
    quoted = "".join(f"> {line}".rstrip() + "\n" for line in source.split("\n"))
    comment = field.say(1, f"SQLite\n\nOn Sun, bob ***@***.***> wrote:\n\n{quoted}")
    field.sync()
    assert field.reactions(comment) == ["+1"]


def test_a_sync_that_a_person_types_asks_github_however_soon_it_is(field: Field) -> None:
    field.github.issue("Blink")
    field.sync()
    field.clock.wait(-10)  # as soon as the last list
    comment = field.say(1, "/agent status")
    field.sync()
    assert field.reactions(comment) == ["+1"]


def test_a_label_with_the_sign_of_a_mention_assigns_and_is_removed_with_the_assignment(
    field: Field,
) -> None:
    field.github.issue("Blink")
    field.ghp("agent-heartbeat --status idle", agent="worker-1")
    field.github.act(ADMIN, "POST", "issues/1/labels", {"labels": ["agent:@worker-1"]})
    field.sync()
    assert field.house().tracker.get(1).assignees == ("worker-1",)
    field.say(1, "/agent assign worker-2")
    field.sync()
    assert field.labels(1) == ["agent:worker-2"]
