"""What upstream's `ghp` notes of agents, whatever is in its files."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.integrations.upstream_ghp import records as rules
from ghp_agents.integrations.upstream_ghp.records import Noted, Role

AGENT = {
    "id": "3f9a", "issueNumber": 86, "issueTitle": "Read files", "pid": 0, "port": 4001,
    "worktreePath": "/w/86-read", "branch": "ada/86-read", "status": "running",
    "startedAt": "2026-01-25T10:00:00Z", "lastSeen": "2026-01-25T10:30:00Z",
    "currentAction": "Editing a.py", "waitingForInput": False,
}  # fmt: skip
STAGE = {
    "issueNumber": 86, "issueTitle": "Read files", "branch": "ada/86-read",
    "worktreePath": "/w/86-read", "stage": "needs_attention", "previousStage": "working",
    "stageEnteredAt": "2026-01-25T10:20:00Z", "registeredAt": "2026-01-25T10:00:00Z",
}  # fmt: skip
NOTED = Noted(
    "/w/86-read", "ada/86-read", 86, "Read files", "running", "", "Editing a.py", False,
    "2026-01-25T10:30:00Z",
)  # fmt: skip


def registry(*agents: Any) -> list[Noted]:
    document = {"version": 1, "agents": dict(enumerate(agents)), "updatedAt": "x"}
    return rules.registry(json.loads(json.dumps(document)))


def test_an_agent_of_the_registry() -> None:
    assert registry(AGENT) == [NOTED]
    (waiting,) = registry({**AGENT, "waitingForInput": True})
    assert (waiting.status, waiting.waits) == ("waiting", True)
    (starting,) = registry({**AGENT, "lastSeen": None})
    assert starting.at == "2026-01-25T10:00:00Z"


def test_a_stage_of_the_pipeline() -> None:
    assert rules.pipeline({"86": STAGE}) == [
        Noted(
            "/w/86-read", "ada/86-read", 86, "Read files", stage="needs_attention",
            at="2026-01-25T10:20:00Z",
        )
    ]  # fmt: skip


def test_a_role_of_the_shell_hook() -> None:
    document = {"worker-1": {"lastSeen": "2026-01-25T10:30:00-07:00", "status": "active"}, "odd": 5}
    assert rules.roles(document) == [Role("worker-1", "active", "2026-01-25T10:30:00-07:00")]


def test_what_is_noted_of_one_worktree_is_one() -> None:
    old = NOTED._replace(at="2026-01-25T09:00:00Z", status="stopped")
    stages = rules.pipeline(
        {"86": STAGE, "9": {**STAGE, "worktreePath": "/w/9/", "issueNumber": 9}}
    )
    assert rules.together([NOTED, old], stages) == [
        NOTED._replace(stage="needs_attention"),
        stages[1],
    ]


def test_what_names_no_place_is_left_out() -> None:
    assert rules.together([Noted(issue=86)], []) == []


PRESENCES = {
    "worker-1": {"worktree": "86-read", "branch": "ada/86-read"},
    "worker-2": {"worktree": "9-x", "branch": "ada/9-x"},
    "worker-3": {"worktree": "other", "branch": "ada/9-x"},
}


@pytest.mark.parametrize(
    ("noted", "agent"),
    [
        (NOTED, "worker-1"),
        (NOTED._replace(worktree="/w/86-read/"), "worker-1"),
        (NOTED._replace(worktree=""), "worker-1"),
        (NOTED._replace(worktree="/w/nowhere", branch=""), ""),
        (Noted(worktree="/w/9-x", branch="ada/86-read"), "worker-2"),
        (Noted(branch="ada/9-x"), ""),  # two have it checked out: one of them is elsewhere
        (Noted(), ""),
    ],
)
def test_an_agent_is_known_by_its_worktree_and_else_by_its_branch(noted: Noted, agent: str) -> None:
    assert rules.agent_of(noted, PRESENCES) == agent


@pytest.mark.parametrize(
    ("noted", "agent", "says"),
    [
        (NOTED, "worker-1", "worker-1 on #86: running, Editing a.py."),
        (NOTED._replace(status="waiting", waits=True, stage="working"), "",
         "#86: stage working, waiting for a person's input, Editing a.py."),
        (Noted(branch="b"), "", "b: nothing more."),
        (Noted(), "", "somebody: nothing more."),
    ],
)  # fmt: skip
def test_whose_word_it_is_is_said(noted: Noted, agent: str, says: str) -> None:
    assert rules.sentence(noted, agent) == f"Upstream ghp reports for {says}"


@pytest.mark.parametrize("document", [[], None, 5, "x", {"agents": []}, {"agents": 5}])
def test_what_is_no_registry_is_told(document: object) -> None:
    with pytest.raises(ValueError, match="not an object"):
        rules.registry(document)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*AGENT, *STAGE, "agents", "x"]), inner, max_size=6)
    ),
    max_leaves=20,
)


@pytest.mark.slow
@given(anything, anything)
def test_whatever_is_in_the_files_it_is_words_or_an_error_that_is_known(
    first: object, second: object
) -> None:
    records: list[list[Noted]] = []
    for read, document in (
        (rules.registry, {"agents": {"a": first}}),
        (rules.pipeline, {"b": second}),
    ):
        records.append(read(document))
    for noted in rules.together(*records):
        text = rules.sentence(noted, rules.agent_of(noted, PRESENCES))
        assert text.isprintable()
        assert len(text) < 1_000
