"""The labels that mean something, and how they look."""

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.github.labels import (
    agent_of,
    appearance,
    is_priority,
    of_agent,
    priority_of,
    standard,
)


@pytest.mark.parametrize(
    ("label", "agent"),
    [
        ("agent:worker-1", "worker-1"),
        ("Agent:Worker-1", "worker-1"),
        ("agent:@worker-1", "worker-1"),
        ("agent:@@worker-1", None),
        ("agent:stale", None),
        ("AGENT:needs-human", None),
        ("agent:ask-ann", None),  # by this repository's configuration
        ("agent:", None),
        ("agent:../x", None),
        ("agent:two words", None),
        ("agents", None),
        ("bug", None),
    ],
)
def test_a_label_gives_an_issue_to_an_agent(label: str, agent: str | None) -> None:
    assert agent_of(label, ["agent:ask-ann"]) == agent


@pytest.mark.parametrize(("name", "why"), [
    ("stale", "The label agent:stale on GitHub has another meaning"),
    ("ask-ann", "The label agent:ask-ann on GitHub has another meaning"),
    ("a" * 45, "aaaaaaaaaaaaaaaaaaaa… would be too long for GitHub: at most 44"),
])  # fmt: skip
def test_a_name_that_no_label_can_say_is_refused(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        of_agent(name, ["agent:ask-ann"])
    assert of_agent("a" * 44) == "agent:" + "a" * 44


def test_the_most_urgent_of_several_labels_counts() -> None:
    assert priority_of(["priority:low", "Priority:HIGH", "priority:whatever"]) == "high"
    assert priority_of(["bug"]) is None
    assert [is_priority(x) for x in ("priority:low", "PRIORITY:low", "priority:x", "low")] == [
        True, True, False, False
    ]  # fmt: skip


def test_labels_of_ours_have_colours_and_others_have_none() -> None:
    assert appearance("agent:worker-1") == (
        "agent:worker-1", "1d76db", "For worker-1; set by people with write access"
    )  # fmt: skip
    assert appearance("needs:rust") == (
        "needs:rust",
        "bfdadc",
        "For agents with this capability",
    )
    assert appearance("bug") is None
    for label in standard():
        assert len(label.color) == 6
        assert int(label.color, 16) >= 0
        assert len(label.name) <= 50
        assert 0 < len(label.description) <= 100  # GitHub's limit
    assert {"agent:stale", "agent:needs-human", "priority:high", "epic"} <= {
        label.name for label in standard()
    }
