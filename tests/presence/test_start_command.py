"""The `ghp agent-start` in a text works as it is printed."""

import pytest

from ghp_agents.presence import start_command


@pytest.mark.parametrize(
    ("agent", "kind", "command"),
    [
        ("w1", "", "ghp agent-start 3 --as w1"),
        ("w1", "codex", "ghp agent-start 3 --as w1 --run codex"),
        ("w1", "; rm -rf /", "ghp agent-start 3 --as w1"),
        ("$(evil)", "claude", "ghp agent-start 3 --as NAME --run claude"),
    ],
)
def test_a_command_names_a_known_client_and_no_name_of_others_words(
    agent: str, kind: str, command: str
) -> None:
    assert start_command.of_agent(3, agent, kind) == command
