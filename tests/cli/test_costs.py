"""`agent-report --cost`: whole pages and JSON."""

import json
from pathlib import Path

import pytest

from ghp_agents.cli.views.costs import money, tokens
from tests.support.ghp import Result, invoke
from tests.support.road import Road
from tests.support.usage import use

NONE = dict.fromkeys(
    ["usd", "apiSeconds", "inputTokens", "cachedTokens", "outputTokens", "linesAdded",
     "linesRemoved", "turns", "runSeconds"]
)  # fmt: skip


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def report(road: Road, words: str = "") -> Result:
    return invoke(f"agent-report --cost {words}", road.folder, clock=road.clock)


def work(road: Road) -> None:
    """Three agents on two issues; the client of one reports nothing."""
    road.issue("Parse files")
    road.issue("Write docs")
    for agent, issue in (("worker-1", 1), ("worker-2", 2), ("worker-3", 2)):
        words = f"agent-heartbeat --as {agent} --status testing --issue {issue}"
        assert invoke(words, road.folder, clock=road.clock).code == 0
    use(
        road.folder, "worker-1", "claude-opus", usd=12.344, apiSeconds=754.2,
        inputTokens=3_400_000, cachedTokens=2_992_000, outputTokens=41_200, linesAdded=12,
    )  # fmt: skip
    invoke("agent-heartbeat --as worker-1 --issue 0", road.folder, clock=road.clock)
    use(road.folder, "worker-1", "claude-opus", usd=0.001)
    use(road.folder, "worker-2", "gpt-5.5", inputTokens=9_000, cachedTokens=0, outputTokens=950)


def test_money_tokens_and_time_by_agent_and_by_issue(road: Road) -> None:
    work(road)
    assert report(road) == Result(
        0,
        """\
Since 2025-06-14T15:06:40Z (24 h ago)

AGENT     COST    INPUT  CACHED  OUTPUT  API TIME  CLIENT  MODEL
worker-1  $12.35  3.4M   88%     41k     12 min    shell   claude-opus
worker-2  -       9.0k   0%      950     -         shell   gpt-5.5
total     $12.35  3.4M   88%     42k     12 min

ISSUE  COST    INPUT  CACHED  OUTPUT  API TIME  AGENTS    TITLE
#1     $12.34  3.4M   88%     41k     12 min    worker-1  «Parse files»
#2     -       9.0k   0%      950     -         worker-2  «Write docs»
other  <$0.01  -      -       -       -         worker-1
""",
        "Not reported by worker-3 (shell).\nCOST is what the clients estimate, at list prices.\n",
    )


def test_json_has_null_for_what_is_not_reported(road: Road) -> None:
    work(road)
    document = json.loads(report(road, "--json").out)
    assert [*document] == ["schemaVersion", "since", "until", "total", "agents", "issues"]
    assert document["agents"][2] == {"agent": "worker-3", "client": "shell", "model": None, **NONE}
    assert document["issues"][1] == {
        "issue": 2, "title": "Write docs", "agents": ["worker-2"], "notReportedBy": ["worker-3"],
        **NONE, "inputTokens": 9_000, "cachedTokens": 0, "outputTokens": 950,
    }  # fmt: skip


def test_an_untouched_repository_has_no_costs(road: Road) -> None:
    assert report(road) == Result(0, "", "No agent worked since 2025-06-14T15:06:40Z.\n")


def test_where_no_client_reports_anything_no_table_is_shown(road: Road) -> None:
    invoke("agent-heartbeat --as worker-1 --status testing", road.folder, clock=road.clock)
    assert report(road) == Result(
        0, "Since 2025-06-14T15:06:40Z (24 h ago)\n", "Not reported by worker-1 (shell).\n"
    )


def test_a_model_from_elsewhere_is_one_clean_word(road: Road) -> None:
    work(road)
    path = road.folder / ".git/ghp/agents/worker-2.json"
    record = json.loads(path.read_bytes())
    record["usage"]["model"] = "\x1b[31mred\nline " + "x" * 200
    path.write_text(json.dumps(record))
    out = report(road).out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) < 100


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (9_960, "10.0k"), (3_400_000, "3.4M"), (2e9, "2.0G")],
)
def test_tokens_are_short(number: int, text: str) -> None:
    assert tokens(number) == text


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "$0.00"), (0.004, "<$0.01"), (0.006, "$0.01"), (1_234.5, "$1,234.50")]
)
def test_money_has_cents(usd: float, text: str) -> None:
    assert money(usd) == text


def test_the_page_of_an_agent_says_what_it_used(road: Road) -> None:
    work(road)
    shown = {
        name: invoke(f"agent-status {name}", road.folder, clock=road.clock).out.splitlines()
        for name in ("worker-1", "worker-2", "worker-3")
    }
    assert shown["worker-1"][7:9] == [
        "  model: claude-opus",
        "  used: $12.35, 3.4M tokens in (88% cached), 41k out, 12 min of API time",
    ]
    assert shown["worker-2"][-3] == "  used: 9.0k tokens in (0% cached), 950 out"
    assert shown["worker-3"][-3] == "  used: not reported"


def test_an_amount_that_is_hostile_is_not_shown(road: Road) -> None:
    work(road)
    use(road.folder, "worker-3", "\x1b[31mred", usd=-1, inputTokens=float("inf"))
    shown = invoke("agent-status worker-3", road.folder, clock=road.clock).out
    assert "  used: not reported\n" in shown
    assert "\x1b" not in shown
