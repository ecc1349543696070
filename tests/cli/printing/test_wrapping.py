"""Long messages on a terminal break between words, and never inside a command."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.cli.printing.tables import cells
from ghp_agents.cli.printing.wrapping import at_home, wrapped, wrapped_page

HINT = (
    "Work on something else (`ghp agent-claim --next`) or ask a person (`ghp agent-escalate …`). "
    "A person can give it to you: `ghp agent-release 1 --to worker-2`."
)


def test_lines_break_between_words_and_a_command_stays_whole() -> None:
    assert wrapped(HINT, 60, taken=len("Hint: ")).splitlines() == [
        "Work on something else (`ghp agent-claim --next`) or",  # with "Hint: " before it
        "ask a person (`ghp agent-escalate …`). A person can give it",
        "to you: `ghp agent-release 1 --to worker-2`.",
    ]


def test_a_command_after_a_colon_stays_whole() -> None:
    assert wrapped("Asked E-1. To answer: ghp agent-answer E-1 TEXT", 40) == (
        "Asked E-1. To answer:\nghp agent-answer E-1 TEXT"
    )
    assert wrapped("Start your agent there: cd a/b && claude. It reads it.", 30) == (
        "Start your agent there:\ncd a/b && claude. It reads it."
    )


def test_the_home_folder_is_short_where_a_shell_knows_it() -> None:
    assert at_home("cd /home/ann/a b (/home/ann/c)", "/home/ann") == "cd ~/a b (~/c)"
    unchanged = "'/home/ann/a b' /home/anna/c /mnt/home/ann/d"
    assert at_home(unchanged, "/home/ann") == unchanged
    for home in ("", "/", "relative", "/home/ann/"):
        assert at_home("/home/ann/a /b relative/c", home) == "/home/ann/a /b relative/c"


def test_what_fits_stays_as_it_is() -> None:
    table = "a   b\n  c  d  \n"
    assert wrapped(table, 8) == table
    assert wrapped("Hurry up.", 15, taken=6) == "Hurry up."


def test_a_terminal_that_does_not_say_its_width_breaks_the_lines_itself() -> None:
    assert wrapped(HINT, 0) == HINT


def test_a_line_goes_on_below_its_own_indent() -> None:
    assert wrapped("Two things:\n  - the first of them\n  - no", 16) == (
        "Two things:\n  - the first of\n  them\n  - no"
    )


def test_what_is_longer_than_a_line_is_left_to_the_terminal() -> None:
    command = "`ghp agent-lease src/a/very/long/path.py --wait`"
    assert wrapped(f"Wait: {command}, or ask.", 24) == f"Wait:\n{command},\nor ask."
    assert wrapped(command, 24, taken=6) == command
    assert wrapped("`ghp agent-status`", 20, taken=6) == "\n`ghp agent-status`"


def test_wide_characters_take_two_columns() -> None:
    assert wrapped("日本語 ドメイン", 14) == "日本語\nドメイン"
    assert wrapped("日本語 ドメイン", 15) == "日本語 ドメイン"


def test_a_lone_backtick_is_a_character_like_others() -> None:
    assert wrapped("it`s a `b c` or ` d e", 9) == "it`s a\n`b c` or\n` d e"


PIECES = st.lists(st.sampled_from(["a", "b1", "日", "`", "`x y`", " ", "  ", "\n", "«é»", "."]))


@given(PIECES.map("".join), st.integers(1, 30), st.integers(0, 10))
def test_no_character_is_lost_and_only_a_single_word_is_wider(
    text: str, columns: int, taken: int
) -> None:
    shown = wrapped(text, columns, taken)
    assert "".join(shown.split()) == "".join(text.split())
    for line in shown.split("\n")[1:]:
        command = re.sub(r"(?<!\w)`[^`]+`(?!\w)", "x", line)
        assert cells(line) <= columns or len(command.split()) <= 1 or line in text.split("\n")


def test_an_item_of_a_page_goes_on_below_its_text_and_code_stays_as_it_is() -> None:
    page = "\n".join(
        [
            "## Next steps",
            "1. Blocked by #1: wait until it is closed.",
            "  → ghp agent-merge 2 --unchecked",
            "```text",
            "a line of code that is longer than the page",
            "```",
            "Read docs/a/rather/long/path.md now.",
            "- > Answer what you know of it.",
            "  worktree: /home/dana/.ghp/worktrees/1-parse",
            "  needs: an answer soon → ghp agent-answer E-1",
        ]
    )
    assert wrapped_page(page, 24, "/home/dana").splitlines() == [
        "## Next steps",
        "1. Blocked by #1: wait",
        "   until it is closed.",
        "  → ghp agent-merge 2 --unchecked",
        "```text",
        "a line of code that is longer than the page",
        "```",
        "Read",
        "docs/a/rather/long/path.md",
        "now.",
        "- > Answer what you know",
        "  > of it.",
        "  worktree: ~/.ghp/worktrees/1-parse",
        "  needs: an answer soon",
        "  → ghp agent-answer E-1",
    ]
