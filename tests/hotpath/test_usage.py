"""What an agent has used grows by what its client's counters grow by."""

from typing import Any

import pytest

from ghp_agents.hotpath import usage
from ghp_agents.hotpath.usage import ISSUES, Reading

NOW = 1_000_000.0


class Agent:
    """A presence, and what its machine remembers of it, through readings at different times."""

    def __init__(self) -> None:
        self.record: dict[str, Any] = {"issue": 1}
        self.local: dict[str, Any] = {}
        self.now = NOW

    def tokens(self, number: int, session: str = "s1", *, is_base: bool = False) -> bool:
        reading = Reading("transcript", {"inputTokens": number})
        return self._count(reading, session, None, is_base)

    def usd(self, amount: float, session: str = "s1", pid: int = 7) -> bool:
        return self._count(Reading("statusline", {"usd": amount}, of_process=True), session, pid)

    def _count(
        self, reading: Reading, session: str, pid: int | None, is_base: bool = False
    ) -> bool:
        return usage.count(
            self.record, self.local, reading, session, pid, self.now, is_base=is_base
        )

    @property
    def spent(self) -> Any:
        return self.record.get("usage", {}).get("spent")


@pytest.fixture
def agent() -> Agent:
    return Agent()


def test_only_what_a_counter_has_grown_by_is_added(agent: Agent) -> None:
    agent.tokens(100)
    agent.tokens(100)
    agent.tokens(130)
    assert agent.spent == [{"issue": 1, "inputTokens": 130}]


def test_the_growth_belongs_to_the_issue_that_the_agent_has(agent: Agent) -> None:
    agent.tokens(100)
    agent.record["issue"] = 2
    agent.tokens(150)
    agent.record["issue"] = None
    agent.tokens(151)
    assert agent.spent == [
        {"issue": 1, "inputTokens": 100},
        {"issue": 2, "inputTokens": 50},
        {"issue": None, "inputTokens": 1},
    ]


def test_older_issues_are_joined_and_nothing_is_lost(agent: Agent) -> None:
    for issue in range(1, ISSUES + 3):
        agent.record["issue"] = issue
        agent.tokens(100 * issue)
    tokens = {entry["issue"]: entry["inputTokens"] for entry in agent.spent}
    assert tokens == {None: 200, 3: 100, 4: 100, 5: 100, 6: 100}


def test_another_session_counts_from_zero(agent: Agent) -> None:
    agent.tokens(100)
    agent.tokens(30, "s2")
    assert agent.spent == [{"issue": 1, "inputTokens": 130}]


def test_a_session_with_a_past_counts_from_what_it_has(agent: Agent) -> None:
    assert agent.tokens(100, is_base=True), "it must be written, or the past counts later"
    assert agent.spent is None
    agent.tokens(110)
    agent.tokens(120, is_base=True)
    assert agent.spent == [{"issue": 1, "inputTokens": 20}]


def test_an_older_report_that_comes_later_adds_nothing(agent: Agent) -> None:
    for amount in (1.0, 0.9, 1.1):
        agent.usd(amount)
    assert agent.spent == [{"issue": 1, "usd": 1.1}]


def test_the_counter_of_a_process_may_go_on_in_its_next_session(agent: Agent) -> None:
    agent.usd(1.0)
    agent.usd(1.5, "after-clear")
    assert agent.spent == [{"issue": 1, "usd": 1.5}]


def test_the_counter_of_a_process_may_start_again_in_its_next_session(agent: Agent) -> None:
    agent.usd(1.0)
    agent.usd(0.25, "after-clear")
    assert agent.spent == [{"issue": 1, "usd": 1.25}]


@pytest.mark.parametrize(("amount", "total"), [(1.5, 1.5), (0.25, 1.25)])
def test_a_session_that_is_resumed_goes_on_or_starts_again(
    agent: Agent, amount: float, total: float
) -> None:
    agent.usd(1.0)
    agent.usd(amount, pid=8)
    assert agent.spent == [{"issue": 1, "usd": total}]


def test_a_change_is_written_for_a_cent_or_after_30_seconds(agent: Agent) -> None:
    assert agent.usd(0.001)
    written = dict(agent.record), dict(agent.local)
    for seconds, amount, is_due in (
        (0, 0.001, False), (29, 0.01, False), (30, 0.001, False), (30, 0.002, True),
        (0, 0.011, True), (-1, 0.002, True),
    ):  # fmt: skip
        agent.record, agent.local = map(dict, written)
        agent.now = NOW + seconds
        assert agent.usd(amount) is is_due, (seconds, amount)


def test_the_model_and_the_context_are_those_of_the_last_report(agent: Agent) -> None:
    for model, context in (("opus", 12), ("\x1b[31m" + "x" * 99, 40), ("", 101)):
        reading = Reading("statusline", {}, model=model, context=context)
        usage.count(agent.record, agent.local, reading, "s1", None, NOW)
    assert agent.record["usage"] == {"model": "[31m" + "x" * 55, "context": 40}


@pytest.mark.parametrize(
    "odd", [-1, float("nan"), float("inf"), "9", True, None, 1e12, [], 10**400]
)
def test_what_is_no_amount_counts_as_not_reported(agent: Agent, odd: Any) -> None:
    reading = Reading("transcript", {"usd": odd, "outputTokens": 5, "other": 7})
    usage.count(agent.record, agent.local, reading, "s1", None, NOW)
    assert agent.spent == [{"issue": 1, "outputTokens": 5}]


@pytest.mark.parametrize(
    "odd",
    [
        1, [], {"spent": 1}, {"spent": [1, {"issue": "x", "usd": 1}, {"issue": 1, "usd": "x"}]},
    ],
)  # fmt: skip
def test_an_odd_file_of_ours_is_repaired(agent: Agent, odd: Any) -> None:
    agent.record["usage"], agent.local["usage"] = odd, odd
    agent.tokens(5)
    assert agent.spent == [{"issue": 1, "inputTokens": 5}]


def test_a_presence_stays_small(agent: Agent) -> None:
    counters = dict.fromkeys(usage.COUNTERS, 99_999_999)
    for issue in range(100_000, 100_050):
        agent.record["issue"] = issue
        reading = Reading("transcript", counters, model="m" * 500, context=99)
        usage.count(agent.record, agent.local, reading, f"s{issue}", None, NOW)
    assert len(str(agent.record["usage"])) < 1_300
