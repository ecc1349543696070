"""Who is taken for an agent, and what it may not be."""

import pytest

from ghp_agents.presence import people

SESSION = {"CLAUDE_CODE_SESSION_ID": "1a2b3c4d"}


@pytest.mark.parametrize(("name", "mine"), [("worker-2", "worker-1"), ("lead", "lead")])
def test_other_agents_and_itself_it_may_be(name: str, mine: str) -> None:
    people.refuse(SESSION, name, mine, ["lead"])


def test_only_people_are_told_how_to_act_as_themselves() -> None:
    assert people.instead(SESSION, "answers it") == "Only a person or an orchestrator answers it."
    assert people.instead({}, "answers it") == ("A person answers it with `--as @me`.")
