"""The key `runs`: wrong values are named, and a repository chooses no endpoint."""

import json

import pytest

from ghp_agents.settings import schema
from ghp_agents.settings.runs_schema import trusted

OPENAI = {"url": "http://gtx:11434/v1", "model": "qwen", "keyEnv": "KEY", "context": 4096}


def test_a_person_names_the_endpoint_and_a_repository_does_not() -> None:
    text = json.dumps({"agents": {"runs": {"openai": OPENAI, "newer": 1, "sandbox": "auto"}}})
    endpoint = {"url": OPENAI["url"], "model": "qwen", "key_env": "KEY", "context": 4096}
    assert schema.values("/home/me/config.json", text)["runs"] == {
        "openai": endpoint, "newer": 1, "sandbox": "auto",
    }  # fmt: skip
    assert schema.values("/repo/.ghp/config.json", text)["runs"] == {"newer": 1}
    assert trusted({}, is_persons=False) == {}


@pytest.mark.parametrize(
    ("openai", "reason"),
    [
        ({"url": "file:///etc"}, "`agents.runs.openai.url`: "),
        ({"url": "https://me:pw@host/v1"}, "`agents.runs.openai.url`: "),
        ({"model": "--model"}, "`agents.runs.openai.model`: "),
        ({"keyEnv": "A B"}, "`agents.runs.openai.keyEnv`: "),
        ({"context": 7}, "`agents.runs.openai.context`: "),
        ({"modle": "x"}, "`agents.runs.openai.modle`: extra inputs are not permitted"),
        ("x", "`agents.runs.openai`: "),
    ],
)
def test_a_wrong_value_is_named(openai: object, reason: str) -> None:
    (fault,) = schema.faults(json.dumps({"agents": {"runs": {"openai": openai}}}))
    assert fault.reason.startswith(reason)
