"""Where an agent with several issues may edit after it lost one: the branch decides."""

from collections.abc import Mapping
from typing import Any

import pytest

from ghp_agents.hotpath.policy import Verdict, decide
from tests.support.rulings import EARLIER, book, case

CLAIMS: dict[str, list[Any]] = {
    "12": ["worker-2", 1, 5, EARLIER, "worker-1 is dead", "takeover", False],
    "13": ["worker-1", 1, 1, EARLIER, "", "claim", False],
    "14": ["worker-2", 1, 1, EARLIER, "", "claim", False],
    "15": [None, 1, 3, EARLIER, "merged by #16", "merged", False],
}
LOST = {"issue": 12, "generation": 4, "epoch": 1}
WORKS = {"issue": 13, "generation": 1, "epoch": 1, "local": {"former": {"12": 4, "15": 2}}}
IDLE = {"issue": None, "epoch": 1, "local": {"former": {"12": 4}}}
OF_12, OF_13 = "agent/worker-1/12-parse", "agent/worker-1/13-lex"
OF_14, OF_15 = "agent/worker-2/14-print", "agent/worker-1/15-read"


def verdict(presence: Mapping[str, Any], branch: str | None) -> Verdict:
    request = case(presence=presence)
    request.branch = lambda: branch
    return decide(book(claims=CLAIMS), "a.py", request)


@pytest.mark.parametrize(
    ("presence", "branch", "lost"),
    [
        (LOST, OF_13, 0),
        (LOST, OF_12, 12), (LOST, OF_14, 12), (LOST, "main", 12), (LOST, None, 12),
        (LOST | {"epoch": 0}, OF_13, 12),
        (WORKS, OF_13, 0), (WORKS, OF_14, 0), (WORKS, "main", 0), (WORKS, None, 0),
        (WORKS, OF_12, 12), (WORKS, OF_15, 15),
        (WORKS | {"local": {"former": {"12": 6}}}, OF_12, 0),
        (WORKS | {"local": {}}, OF_12, 0),
        (IDLE, OF_12, 12), (IDLE, "main", 0),
        (LOST | {"local": {"former": {"15": 2}}}, OF_15, 15),
    ],
)  # fmt: skip
def test_the_branch_decides_which_claim_counts(
    presence: Mapping[str, Any], branch: str | None, lost: int
) -> None:
    result = verdict(presence, branch)
    assert (result.word, result.kind) == (("deny", "fenced") if lost else ("allow", ""))
    assert f"#{lost}" in result.why if lost else not result.why


def test_an_agent_that_lost_an_issue_reads_of_another_that_it_holds() -> None:
    result = verdict(WORKS, OF_15)
    assert (result.holder, result.since, result.why, result.next) == (
        None, EARLIER, "Your work on #15 is done: «merged by #16».",
        "Further work on it needs a new issue. You still hold #13: "
        '`cd "$(ghp agent-where 13)"`.',
    )  # fmt: skip


def test_an_agent_without_former_claims_needs_no_branch() -> None:
    request = case(presence={"issue": 13, "generation": 1, "epoch": 1})
    request.branch = lambda: pytest.fail("the branch was read")
    assert decide(book(claims=CLAIMS), "a.py", request).word == "allow"
