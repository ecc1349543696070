"""After tools have run: what was done is in the presence, and news is told once."""

from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hotpath import news_flag as bell
from tests.support.consent import anyone_steals
from tests.support.ghp import invoke
from tests.support.hooks import SESSION, SILENT, call, context, log, payload, presence, set_up


def batch(repo: Path, *calls: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return payload("claude-PostToolBatch", repo, tool_calls=list(calls), **changes)


def bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": ""}


def begun(repo: Path) -> Path:
    """A repository in which worker-1's session has begun."""
    set_up(repo)
    context(call("claude", payload("claude-SessionStart-startup", repo), repo))
    return repo


def test_what_was_done_is_in_the_presence(repo: Path) -> None:
    begun(repo)
    before = presence(repo)
    assert call("claude", payload("claude-PostToolBatch", repo), repo) == SILENT
    after = presence(repo)
    assert (after["lastAction"], after["seq"]) == ("Edited new.txt", before["seq"] + 1)
    assert call("claude", batch(repo, bash("TOKEN=abc make test")), repo) == SILENT
    assert presence(repo)["lastAction"] == "Ran make test"
    assert log(repo) == []


@pytest.mark.slow
def test_what_says_nothing_leaves_the_last_action_as_it_is(repo: Path) -> None:
    begun(repo)
    call("claude", batch(repo, bash("make")), repo)
    for calls in ([], [bash("cd /")], [{"tool_name": 7}]):
        assert call("claude", batch(repo, *calls), repo) == SILENT
        assert presence(repo)["lastAction"] == "Ran make"


def test_an_agent_whose_beginning_was_missed_is_registered(repo: Path) -> None:
    set_up(repo, None)
    assert call("claude", payload("claude-PostToolBatch", repo), repo) == SILENT
    fields = presence(repo, "claude-0001")
    assert (fields["kind"], fields["epoch"], fields["session"], fields["lastAction"]) == (
        "claude", 1, SESSION, "Edited new.txt",
    )  # fmt: skip


def test_subagents_act_as_their_agent(repo: Path) -> None:
    begun(repo)
    event = batch(repo, bash("make lint"), agent_id="a1", agent_type="general-purpose")
    assert call("claude", event, repo) == SILENT
    assert presence(repo)["lastAction"] == "Ran make lint"
    assert [path.name for path in (repo / ".git/ghp/agents").glob("*.json")] == ["worker-1.json"]


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ("codex", {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash"}),
        (
            "gemini",
            {
                "hook_event_name": "AfterTool",
                "session_id": "s",
                "tool_name": "run_shell_command",
            },
        ),
        (
            "cursor",
            {"hook_event_name": "postToolUse", "conversation_id": "s", "tool_name": "Shell"},
        ),
        (
            "opencode",
            {"hook_event_name": "tool.execute.after", "session_id": "s", "tool_name": "bash"},
        ),
        ("copilot", {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash"}),
        ("pi", {"hook_event_name": "tool_result", "session_id": "s", "tool_name": "bash"}),
        (
            "qwen",
            {
                "hook_event_name": "PostToolUse",
                "session_id": "s",
                "tool_name": "run_shell_command",
            },
        ),
    ],
)
def test_every_client_is_followed(repo: Path, client: str, message: dict[str, Any]) -> None:
    set_up(repo)
    given = {"cwd": str(repo), "tool_input": {"command": "make test"}}
    assert call(client, message | given, repo) == SILENT
    fields = presence(repo)
    assert (fields["kind"], fields["session"], fields["lastAction"]) == (
        client,
        "s",
        "Ran make test",
    )
    assert log(repo) == []


# ----------------------------------------------------------------------------------- news


def answered(repo: Path, text: str = "SQLite") -> str:
    """worker-1 asked something, and a person has answered; the number of the question."""
    question = invoke("agent-escalate 'Which database?' --as worker-1", repo)
    name = question.out.split()[0]
    assert invoke(["agent-answer", name, text, "--as", "@me"], repo).code == 0
    return name


@pytest.mark.slow
def test_a_tool_of_qwen_takes_no_news_but_the_request_after_it_does(repo: Path) -> None:
    """The tool may be a sub-agent's, and nothing tells."""
    begun(repo)
    answered(repo)
    message = {"session_id": SESSION, "cwd": str(repo)}
    tool = {"hook_event_name": "PostToolUse", "tool_name": "glob", "tool_input": {}}
    asks = {"hook_event_name": "UserPromptSubmit", "prompt": ""}
    assert call("qwen", message | tool, repo) == SILENT
    assert "SQLite" in context(call("qwen", message | asks, repo))
    assert call("qwen", message | asks, repo) == SILENT


@pytest.mark.slow
def test_an_answer_is_told_once_and_as_what_it_is(repo: Path) -> None:
    begun(repo)
    name = answered(repo)
    lines = context(call("claude", batch(repo, bash("make")), repo)).splitlines()
    assert lines[0] == "ghp-agents has news for this agent:"
    assert lines[1].startswith(f"Answer to your question {name}, by person «Test Person», ")
    assert lines[2:] == [
        "Question: «Which database?»",
        "```",
        "SQLite",
        "```",
        "End of the answer by person «Test Person».",
    ]
    assert call("claude", batch(repo, bash("make")), repo) == SILENT
    assert log(repo) == []


def test_an_answer_to_another_is_not_told(repo: Path) -> None:
    begun(repo)
    question = invoke("agent-escalate 'Which colour?' --as worker-2", repo)
    invoke(["agent-answer", question.out.split()[0], "red", "--as", "@me"], repo)
    assert call("claude", batch(repo, bash("make")), repo) == SILENT


@pytest.mark.slow
def test_an_answer_from_another_clone_rings_after_the_sync(repo: Path, clones: Any) -> None:
    one, two = clones(2)
    begun(one)
    question = invoke("agent-escalate 'Which database?' --as worker-1", one)
    invoke("agent-sync", one)
    invoke("agent-init", two)
    invoke("agent-sync", two)
    assert invoke(["agent-answer", question.out.split()[0], "SQLite", "--as", "@me"], two).code == 0
    invoke("agent-sync", two)
    assert call("claude", batch(one, bash("make")), one) == SILENT
    invoke("agent-sync", one)
    assert "\nSQLite\n" in context(call("claude", batch(one, bash("make")), one))
    invoke("agent-sync", one)
    assert call("claude", batch(one, bash("make")), one) == SILENT


@pytest.mark.slow
def test_who_was_replaced_is_told_once_after_a_batch_and_again_at_each_prompt(repo: Path) -> None:
    anyone_steals()
    begun(repo)
    invoke("agent-issue new 'Parse the input' --as @me", repo)
    assert invoke("agent-claim 1 --as worker-1", repo).code == 0
    stolen = invoke("agent-claim 1 --steal --reason urgent --as worker-2", repo)
    assert stolen.code == 0, stolen
    text = context(call("claude", batch(repo, bash("make")), repo))
    assert "Your claim of #1 was taken: worker-2 has held it since " in text
    assert "urgent" in text
    assert call("claude", batch(repo, bash("make")), repo) == SILENT
    for _ in range(2):
        again = context(call("claude", payload("claude-UserPromptSubmit", repo), repo))
        assert "Your claim of #1 was taken: worker-2 has held it since " in again
    assert log(repo) == []


@pytest.mark.slow
def test_a_bell_without_news_is_silent_and_rings_once(repo: Path) -> None:
    begun(repo)
    folders = [str(repo / ".git/ghp")]
    bell.set_flag(folders, "worker-1")
    assert call("claude", batch(repo, bash("make")), repo) == SILENT
    assert not bell.is_set(folders, "worker-1")


@pytest.mark.slow
def test_a_client_that_could_not_tell_keeps_the_news(repo: Path) -> None:
    begun(repo)
    answered(repo)
    cursor = {
        "hook_event_name": "beforeSubmitPrompt", "conversation_id": SESSION, "cwd": str(repo),
    }  # fmt: skip
    assert call("cursor", cursor, repo) == SILENT
    assert "SQLite" in context(call("claude", batch(repo, bash("make")), repo))
