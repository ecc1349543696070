"""A hook carries out a command that a sandbox stopped; only such a command, and for its agent."""

import json
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks.batch import UNRECORDED
from ghp_agents.hooks.carried_command import parse
from tests.support.ghp import invoke
from tests.support.hooks import SILENT, call, context, payload, presence, set_up

FAILED = f"Error: {UNRECORDED}[Errno 30] Read-only file system: '/home/ann/.local'.\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ghp agent-lease src/", ["agent-lease", "--", "src/"]),
        ("  /a/b/ghp agent-lease 'a b' \"c d\" 2>&1 ", ["agent-lease", "--", "a b", "c d"]),
        (
            "ghp agent-escalate 'Why $HOME; `ls`?' --option=yes --option 'no way' --wait",
            ["agent-escalate", "--option=yes", "--option=no way", "--", "Why $HOME; `ls`?"],
        ),
        (
            "python3 -P -m ghp_agents agent-escalate --timeout 9 --as w-1 -- --why?",
            None,  # `?` is a pattern of the shell
        ),
        (
            "python3 -P -m ghp_agents agent-escalate --timeout 9 --as w-1 -- '--why?'",
            ["agent-escalate", "--", "--why?"],
        ),
        ("ghp agent-release L-3f9a", ["agent-release", "--", "L-3f9a"]),
    ],
)
def test_one_simple_command_of_few_kinds_is_understood(
    command: str, words: list[str] | None
) -> None:
    assert parse(command, "w-1") == words


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ghp",
        "ghp agent-claim 1",
        "ghp agent-answer E-1 yes",
        "ghp agent-lease src/ --as w-2",
        "ghp agent-lease src/ --for w-2",
        "ghp agent-lease src/ --strict",
        "ghp agent-escalate 'How?' --context /etc/passwd",
        "ghp agent-escalate -",
        "ghp agent-escalate -- -",
        "ghp agent-lease src/ && rm -rf .",
        "ghp agent-lease src/; echo code $?",
        "ghp agent-lease src/ | tee out",
        "ghp agent-lease src/ > out",
        "ghp agent-lease $(ls)",
        'ghp agent-lease "$(ls)"',
        'ghp agent-lease "`ls`"',
        "ghp agent-lease `ls`",
        "ghp agent-lease src/*",
        "ghp agent-lease ~/x",
        "ghp agent-lease src/\nghp agent-lease docs/",
        "ghp agent-lease 'src/\ndocs/'",
        "ghp agent-lease src/ &",
        "ghp agent-lease a\\ b",
        "ghp agent-lease 'a",
        "X=1 ghp agent-lease src/",
        "sudo ghp agent-lease src/",
        "cat ghp agent-lease src/",
        "python evil.py ghp_agents agent-lease src/",
        f"ghp agent-lease {'a' * 20_000}",
    ],
)
def test_all_else_is_left_alone(command: str) -> None:
    assert parse(command, "w-1") is None


def ran(repo: Path, command: str, printed: str, **more: Any) -> dict[str, Any]:
    return payload(
        "codex-PostToolUse-Bash", repo, tool_input={"command": command}, tool_response=printed,
        **more,
    )  # fmt: skip


@pytest.fixture
def begun(repo: Path) -> Path:
    """A repository in which worker-1's session has begun."""
    set_up(repo)
    call("codex", payload("codex-SessionStart-startup", repo), repo)
    return repo


@pytest.mark.slow
def test_a_question_that_a_sandbox_stopped_is_asked_once_and_its_agent_reads_so(
    begun: Path,
) -> None:
    stopped = ran(begun, "ghp agent-escalate 'How wide is a tab?' --wait", FAILED)
    texts = [context(call("codex", stopped, begun)) for _ in range(2)]
    assert texts[0].startswith(
        "Your sandbox let `agent-escalate` write nothing, so this session's hook ran it outside:\n"
        "✓ Asked E-"
    )
    questions = json.loads(invoke("agent-escalations --json", begun).out)
    assert [(x["agent"], x["question"]) for x in questions] == [("worker-1", "How wide is a tab?")]
    assert questions[0]["id"][:12] in texts[1]


def test_a_refused_lease_says_who_has_the_file(begun: Path) -> None:
    assert invoke("agent-lease src/ --as worker-2", begun).code == 0
    text = context(call("codex", ran(begun, "ghp agent-lease src/a.py", FAILED), begun))
    assert "ran it outside; it failed with code 3:\n" in text
    assert "worker-2" in text


def test_what_was_recorded_or_comes_from_a_part_of_the_agent_is_not_carried_out(
    begun: Path,
) -> None:
    command = "ghp agent-escalate 'How?'"
    for stopped in (
        ran(begun, command, "E-1\n"),
        ran(begun, command, FAILED, agent_id="a1"),
        ran(begun, f"{command}; true", FAILED),
    ):
        assert call("codex", stopped, begun) == SILENT
    assert json.loads(invoke("agent-escalations --json", begun).out) == []


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("ghp agent-heartbeat --status testing --action 'Runs the tests'", "testing"),
        ("ghp agent-heartbeat --status testing --as worker-2", "planning"),
        ("ghp agent-heartbeat --status testing; true", "planning"),
        ("ghp agent-heartbeat --status Odd!", "planning"),
    ],
)
@pytest.mark.sample(2)
def test_a_heartbeat_counts_though_the_sandbox_lets_it_write_nothing(
    begun: Path, command: str, status: str
) -> None:
    invoke("agent-heartbeat --status planning --as worker-1", begun)
    assert call("codex", ran(begun, command, ""), begun) == SILENT
    fields = presence(begun)
    assert fields["status"] == status
    if status == "testing":
        assert fields["lastAction"] == "Runs the tests"
