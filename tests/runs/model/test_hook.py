"""What our own client tells its hooks: what the model has used reaches the agent's presence."""

import os
from pathlib import Path

import pytest

from ghp_agents.runs.model.answer import ModelAnswer
from ghp_agents.runs.model.hook import ModelHook
from tests.support.hooks import log, presence, set_up
from tests.support.house import CHECKOUT


@pytest.mark.slow
def test_what_the_model_uses_is_its_agents(repo: Path) -> None:
    set_up(repo)
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "GHP_BACKGROUND": "0"}
    hook = ModelHook(repo, "0123456789ab", env)
    hook.event("session_start", model="m")
    assert "usage" not in presence(repo)
    for tokens in (100, 300):
        hook.count("m", ModelAnswer()._replace(tokens_in=tokens, tokens_out=7, cost=0.25))
        hook.used("read", {"path": "README.md"}, "text")
    hook.event("session_end")
    assert presence(repo)["usage"] == {
        "model": "m",
        "spent": [{"issue": None, "usd": 0.5, "inputTokens": 400, "outputTokens": 14}],
    }
    assert log(repo) == []


def test_an_endpoint_that_counts_nothing_reports_nothing(repo: Path) -> None:
    set_up(repo)
    hook = ModelHook(repo, "0123456789ab", {**os.environ, "PYTHONPATH": str(CHECKOUT)})
    hook.event("session_start", model="m")
    hook.count("m", ModelAnswer())
    hook.event("session_end")
    assert "usage" not in presence(repo)
