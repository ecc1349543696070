"""A name says that its value is secret, in every form of assignment; other names do not."""

import pytest

from ghp_agents.core.named_secrets import values

VALUE = "kX9#mPq2vL"


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in values(text, text.lower())]


@pytest.mark.parametrize(
    "text",
    ["password: {}", "| password | {} |", "**Password:** {}", "password -> {}", "password: |\n  {}",
     "- name: DB_PASSWORD\n  value: {}", 'db_password: str = "{}"', 'setPassword("{}")',
     "Use {} as the password.", '<input type="password" value="{}">'],
)  # fmt: skip
def test_the_value_and_nothing_else_is_named(text: str) -> None:
    assert found(text.replace("{}", VALUE)) == [VALUE]


@pytest.mark.parametrize("name", ["next_token", "pageToken", "AWS::IAM::AccessKey", "public_key"])
def test_a_name_that_gives_no_access_has_no_secret(name: str) -> None:
    assert found(f'"{name}": "9fKq27LmZx81aBcD4eFg"') == []


def test_two_values_in_a_line_are_two_secrets() -> None:
    assert found(f"password={VALUE}; token={VALUE}b") == [VALUE, f"{VALUE}b"]
