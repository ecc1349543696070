"""An error in a command line: what is wrong, what may have been meant, and how it is right."""

from pathlib import Path

import pytest

from tests.support.ghp import invoke

NEW = "Example: `ghp agent-issue new 'Write the docs' --blocked-by 3 --body -`."


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ("agent-issue new", "`ghp agent-issue new` needs a title.", NEW),
        ("agent-issue new --body", "`ghp agent-issue new`: --body needs a value.", NEW),
        ("agent-issue new T --frob", "`ghp agent-issue new` has no option --frob.", NEW),
        (
            "agent-issue new T --lable bug",
            "`ghp agent-issue new` has no option --lable.",
            "Did you mean --label?",
        ),
        (
            "agent-issue new T --priority hgh",
            "Wrong value for --priority: 'hgh' is not one of 'critical', 'high', 'medium', 'low'.",
            "Did you mean high?",
        ),
        ("agent-issue new T U V", "`ghp agent-issue new` does not take 'U V'.", NEW),
        (
            "agent-plugin",
            "`ghp agent-plugin` needs the name of a client.",
            "Example: `ghp agent-plugin claude`.",
        ),
        (
            "agent-log -n many",
            "Wrong value for --limit: 'many' is not a whole number.",
            "Example: `ghp agent-log --issue 12 --since yesterday`.",
        ),
        ("--frob", "`ghp` has no option --frob.", ""),
        ("--frob=\x1b[31m", "`ghp` has no option --frob.", ""),
    ],
)
def test_a_wrong_command_line_is_an_error_with_a_hint_and_no_usage_lines(
    repo: Path, words: str, error: str, hint: str
) -> None:
    result = invoke(words, repo)
    command = (
        "ghp"
        if words.startswith("--")
        else " ".join(word for word in words.split()[:2] if word.startswith(("agent-", "new")))
    )
    path = command if command == "ghp" else f"ghp {command}"
    full = f"{hint} `{path} --help` lists all options.".lstrip()
    assert result == (2, "", f"Error: {error}\nHint: {full}\n")


def test_a_group_without_a_command_prints_its_help(repo: Path) -> None:
    code, out, err = invoke("agent-issue", repo)
    assert (code, out, err.splitlines()[0]) == (
        2, "", "Usage: ghp agent-issue [OPTIONS] COMMAND [ARGS]..."
    )  # fmt: skip
