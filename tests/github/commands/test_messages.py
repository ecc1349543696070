"""Commands in words."""

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.github.commands.messages import assigned, help_with, marker, mistaken, refused, stop
from ghp_agents.github.commands.parse import NOTHING, Command, Mistake, read
from ghp_agents.issues.comment_commands import DONE, REFUSED, Act, Obeyed


def test_help_says_what_was_wrong_and_how_it_is_done() -> None:
    wrong = [mistaken(Mistake("/agent fly", "'fly' is not a command"))]
    assert help_with(7, wrong) == (
        "Not executed:\n"
        "\n"
        "- `/agent fly`: 'fly' is not a command\n"
        "\n"
        "A command must be a paragraph of its own in a comment. People with write access can use "
        "these:\n"
        "\n"
        "```\n"
        "/agent assign NAME       give the issue to an agent\n"
        "/agent stop              stop the work until /agent assign or /agent retry\n"
        "/agent retry             back to the queue, and reset the number of attempts\n"
        "/agent answer ID TEXT    answer a question: /agent answer E-3f9a Use SQLite\n"
        "/agent status            update the comment with the issue's state\n"
        "```\n"
        "\n"
        "A reply that quotes a question also answers it.\n"
        "\n"
        "<!-- ghp:command 7 -->"
    )
    assert marker(7) != marker(8)


def test_help_is_no_command_itself_and_calls_nobody() -> None:
    wrong = [refused(Command("assign", "`@ada`\n/agent stop"), "@ada <!-- x -->\n/agent stop")]
    text = help_with(7, wrong)
    assert read(text) == NOTHING
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
    assert assigned(12) == (
        "Somebody with write access assigned issue #12 to you. Show it with `ghp "
        "agent-issue show 12`; start with `ghp agent-start 12`."
    )
