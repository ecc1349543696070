"""The command lines of clients, and of commands that a person types."""

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.runs.runners import RUNNERS, find

FIELDS = {"prompt": "Do {session} it; rm -rf /", "prompt_file": "/p", "session": "s-1"}


@pytest.mark.parametrize("name", RUNNERS)
def test_a_prompt_is_one_argument_and_is_not_read_again(name: str) -> None:
    words = RUNNERS[name].command(FIELDS)
    assert words[0] == RUNNERS[name].words[0]
    assert FIELDS["prompt"] in words or "/p" in words
    assert not any(word in ("", "{args}") for word in words)


def test_the_session_goes_on_where_the_client_can() -> None:
    resumed = {
        name: runner.command(FIELDS, resumes=True)
        for name, runner in RUNNERS.items()
        if runner.resume
    }
    assert [*resumed] == ["claude", "codex", "gemini", "opencode", "cursor", "openai"]
    assert all("s-1" in words for words in resumed.values())


def test_a_client_gets_the_keys_of_its_own_models_only() -> None:
    assert RUNNERS["claude"].keeps == (
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
    )  # fmt: skip
    assert RUNNERS["codex"].keeps == ("OPENAI_API_KEY", "CODEX_API_KEY")
    assert RUNNERS["openai"].keeps == ()
    assert "CLAUDE_CODE_OAUTH_TOKEN" not in RUNNERS["opencode"].keeps
    assert "CURSOR_API_KEY" in find("my-agent {prompt}").keeps


def test_options_and_limits_go_to_the_client() -> None:
    fields = {**FIELDS, "turns": "9", "cost": "1.50"}
    words = RUNNERS["claude"].command(fields, ["--model", "opus"])
    assert words[-6:] == ["--max-turns", "9", "--max-budget-usd", "1.50", "--model", "opus"]
    assert RUNNERS["codex"].command(fields, ["-m", "x"])[-3:] == ["-m", "x", FIELDS["prompt"]]


def test_any_command_can_be_a_runner() -> None:
    runner = find("/opt/my-agent --task '{prompt_file}' --say={prompt}")
    assert runner.name == "my-agent"
    words = runner.command(FIELDS, ["-v"])
    assert words == ["/opt/my-agent", "--task", "/p", f"--say={FIELDS['prompt']}", "-v"]


@pytest.mark.parametrize("text", ["", "claud", "my-agent task", "x '{prompt}"])
def test_a_command_that_gets_no_prompt_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        find(text)
    assert "claude, claude-bg, codex, gemini" in refused.value.hint
