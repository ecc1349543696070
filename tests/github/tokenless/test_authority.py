"""What a record may ask of a clone with a token."""

import pytest

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.github.tokenless.authority import allowed
from ghp_agents.github.tokenless.request import WriteRequest
from ghp_agents.issues.issue import NO_CHANGE, IssueChange
from ghp_agents.pulls.pull import NewPull

ME, ANN = Actor("worker-1"), Actor("Ann Example", is_person=True)
PULL = NewPull("agent/x", "main", "0" * 40, "T", issue=4)
NO_CLAIM = "worker-1 does not have the claim, and is neither a person nor an orchestrator"


def asked(kind: str, by: Actor = ME, **change: object) -> WriteRequest:
    at = Timestamp("2026-01-02T03:04:05Z")
    plain = WriteRequest("0" * 12, kind, 1, CloneId("a" * 12), at, by, 4)
    pull = PULL if kind == "pull" else None
    return plain._replace(change=IssueChange(**change), pull=pull)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "holder"),
    [
        (asked("comment"), None),
        (asked("create", title="New", add_labels=("bug",)), None),
        (asked("create", title="New", add_assignees=("worker-1",)), None),
        (asked("change", state="closed", add_labels=("bug",)), "worker-1"),
        (asked("change", add_assignees=("worker-1",)), "worker-1"),
        (asked("change", add_assignees=("worker-1",), remove_assignees=("worker-2",)), "worker-1"),
        (asked("change", remove_assignees=("worker-1",)), ""),
        (asked("change", add_assignees=("worker-2",), remove_assignees=("worker-1",)), "worker-2"),
        (asked("pull"), "worker-1"),
        (asked("change", ANN, add_assignees=("worker-2",), title="T"), "worker-3"),
        (asked("change", Actor("boss"), add_assignees=("worker-2",)), ""),
        (asked("pull", ANN), None),
    ],
)
def test_what_shows_ones_own_work_or_comes_from_who_decides_is_sent(
    request_: WriteRequest, holder: str | None
) -> None:
    assert allowed(request_, holder, ["boss"]) == (request_.change, "")


@pytest.mark.parametrize(
    ("request_", "holder", "why"),
    [
        (asked("change", state="closed"), "worker-2", NO_CLAIM),
        (asked("change", state="closed"), None, NO_CLAIM),
        (asked("change", add_assignees=("worker-1",)), "", NO_CLAIM),
        (asked("change", add_assignees=("worker-2",)), "worker-1", NO_CLAIM),
        (asked("change", remove_assignees=("worker-2",)), "", NO_CLAIM),
        (asked("pull"), "worker-2", "worker-1 does not have the claim"),
        (
            asked("create", title="T", add_assignees=("worker-2",)),
            None,
            "an agent assigns new issues to itself only",
        ),
    ],
)
def test_an_agent_gives_nobody_work_and_ends_nobodys(
    request_: WriteRequest, holder: str | None, why: str
) -> None:
    change, reason = allowed(request_, holder, ["boss"])
    assert reason == why
    assert change in (NO_CHANGE, IssueChange())


def test_what_the_lock_confirms_is_shown_and_the_rest_is_left_out() -> None:
    both = asked("change", add_assignees=("worker-2",), remove_assignees=("worker-1",), title="T")
    shown = IssueChange(add_assignees=("worker-2",), remove_assignees=("worker-1",))
    assert allowed(both, "worker-2", []) == (shown, NO_CLAIM)
