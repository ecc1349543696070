"""Whether a person is at work is told by the environment."""

import pytest

from ghp_agents.core.person import agent_here


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({}, None),
        ({"GHP_AGENT": "worker-1"}, "GHP_AGENT"),
        ({"GHP_AGENT": ""}, None),
        ({"CLAUDE_CODE_SESSION_ID": "x"}, "CLAUDE_CODE_SESSION_ID"),
        ({"CODEX_THREAD_ID": "x"}, "CODEX_THREAD_ID"),
        ({"COPILOT_CLI": "1"}, "COPILOT_CLI"),
        ({"GHP_SESSION": "x", "GHP_PERSON": "1"}, None),
        ({"GHP_SESSION": "x", "GHP_PERSON": "0"}, "GHP_SESSION"),
    ],
)
def test_an_agents_session_has_its_variables(environ: dict[str, str], variable: str | None) -> None:
    assert agent_here({**environ, "GHP_ANCESTORS": "0"}) == variable
