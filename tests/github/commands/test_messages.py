"""Commands in words."""

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.github.commands.messages import (
    PLAIN,
    assigned,
    help_with,
    marker,
    mistaken,
    refused,
    stop,
)
from ghp_agents.github.commands.parse import NOTHING, Command, Mistake, read
from ghp_agents.issues.comment_commands import DONE, REFUSED, Act, Obeyed


def test_help_says_what_was_wrong_and_how_it_is_done() -> None:
    wrong = [mistaken(Mistake("/agent fly", "'fly' is not a command"))]
    assert help_with(wrong) == (
        """\
Not executed:

- `/agent fly`: 'fly' is not a command

<details><summary>What people with write access can write</summary>

```
/agent assign NAME       give the issue to an agent
/agent stop              stop the work until /agent assign or /agent retry
/agent retry             back to the queue, and reset the number of attempts
/agent answer ID TEXT    answer a question: /agent answer E-3f9a Use SQLite
/agent status            update the comment with the issue's state
```

Each is a paragraph of its own. A reply that quotes a question answers it, also by e-mail. If only
one question is open, any other comment answers it.

</details>"""
    )
    assert help_with([mistaken(Mistake(PLAIN, "why"))]).startswith(
        "Not taken as an answer:\n\n- `a comment`: why\n"
    )
    assert marker(7) != marker(8)


def test_help_is_no_command_itself_and_calls_nobody() -> None:
    wrong = [refused(Command("assign", "`@ada`\n/agent stop"), "@ada <!-- x -->\n/agent stop")]
    text = help_with(wrong)
    assert read(text)._replace(plain="") == NOTHING
    assert "@ada <" not in text
    assert "<!-- x" not in text


def test_what_was_refused_is_said_in_a_line() -> None:
    assert refused(Command("answer", "E-1", "long\ntext"), "no\nsuch question") == Act(
        "answer", "/agent answer E-1", REFUSED, "no such question"
    )


def test_an_agent_is_told_by_whom_and_what_to_do() -> None:
    act = Act("stop", "/agent stop", DONE, "told", "worker-1", 2)
    who = Actor('@"ada"\n', True)
    obeyed = Obeyed(7, 12, who, (act,), Timestamp("t"), 1, CloneId("c"))
    assert stop(obeyed) == (
        "Person «@-ada-» told you on GitHub to stop working on #12. Stop now: save your work with "
        "`ghp agent-handoff --issue 12`, then run `ghp agent-release 12`."
    )
    assert assigned(12, "ghp agent-start 12") == (
        "Somebody with write access assigned issue #12 to you. Show it with `ghp "
        "agent-issue show 12`; start with `ghp agent-start 12`."
    )
