"""What our commands' commands may know, and what of their output may be shown."""

import pytest

from ghp_agents.model.surroundings import for_commands, shown


def test_tokens_and_the_repository_of_a_hook_are_left_out() -> None:
    given = {
        "PATH": "/bin", "GITHUB_TOKEN": "x", "GH_TOKEN": "x", "GH_ENTERPRISE_TOKEN": "x",
        "GITHUB_ENTERPRISE_TOKEN": "x", "GIT_DIR": "/elsewhere", "GIT_INDEX_FILE": "/index",
        "GIT_AUTHOR_NAME": "Ann", "NPM_TOKEN": "kept",
    }  # fmt: skip
    assert for_commands(given) == {"PATH": "/bin", "GIT_AUTHOR_NAME": "Ann", "NPM_TOKEN": "kept"}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("\x1b[31mred\x1b[0m\r\n\x1b]0;title\x07done\n", "red\ndone"),
        ("50 %\r100 %\n", "50 %\n100 %"),
        ("bell\x07", "bell�"),
        ("key: correct horse.", "key: ***."),
        ("short: abc", "short: abc"),
        ("AKIAABCDEFGHIJKLMNOP", "[an AWS key was taken out]"),
        ("https://ann:pass@host/x", "https://***@host/x"),
    ],
)
def test_secrets_and_control_sequences_are_not_shown(output: str, expected: str) -> None:
    environ = {"DEPLOY_API_KEY": "correct horse", "PIN_SECRET": "abc", "HOME": "/home"}
    assert shown(output, environ) == expected
