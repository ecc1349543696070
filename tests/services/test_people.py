"""Who is taken for an agent, and what it may not be."""

import pytest

from ghp_agents.errors import RefusedError
from ghp_agents.services import people

SESSION = {"CLAUDE_CODE_SESSION_ID": "1a2b3c4d"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False), (SESSION, True), ({"GHP_AGENT": "worker-1"}, True), ({"GHP_AGENT": ""}, False),
        ({**SESSION, "GHP_PERSON": "1"}, False), ({**SESSION, "GHP_PERSON": "0"}, True),
    ],
)  # fmt: skip
def test_a_session_or_a_name_is_an_agents(environ: dict[str, str], expected: bool) -> None:
    assert people.is_agent(environ) is expected


@pytest.mark.parametrize(
    ("name", "mine"), [("@me", None), ("@me", "worker-1"), ("lead", "worker-1")]
)
def test_an_agent_is_nobody_who_decides(name: str, mine: str | None) -> None:
    with pytest.raises(RefusedError) as caught:
        people.refuse(SESSION, name, mine, ["lead"])
    assert "GHP_PERSON" not in f"{caught.value} {caught.value.hint}"
    people.refuse({}, name, mine, ["lead"])


@pytest.mark.parametrize(("name", "mine"), [("worker-2", "worker-1"), ("lead", "lead")])
def test_other_agents_and_itself_it_may_be(name: str, mine: str) -> None:
    people.refuse(SESSION, name, mine, ["lead"])


def test_only_people_are_told_how_to_act_as_themselves() -> None:
    assert people.instead(SESSION, "answers it") == "A person answers it, or an orchestrator."
    assert people.instead({}, "answers it") == (
        "A person answers it as themselves: add `--as @me`."
    )
