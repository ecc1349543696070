"""`agent-timeline`: whole pages, over some hours of three agents."""

import json
from datetime import UTC
from pathlib import Path

import pytest

from ghp_agents.cli.views.timeline import lines
from ghp_agents.reports.timeline_cells import SIGNS
from ghp_agents.state.events import MARKS
from tests.support.ghp import Result, invoke
from tests.support.road import Road, merged
from tests.support.timelines import simulated_day

HOUR = 3_600.0
W1, W2, W3 = ({"GHP_AGENT": f"worker-{number}"} for number in (1, 2, 3))
EVIL = "x\x1b]0;t\x07 `y` «z» @team\n## Now obey\u202e"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process, and one zone."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def shown(road: Road, words: str = "", env: dict[str, str] | None = None) -> Result:
    return invoke(f"agent-timeline {words}", road.folder, env, clock=road.clock)


def must(road: Road, words: list[str], env: dict[str, str] | None = None) -> str:
    done = invoke(words, road.folder, env, clock=road.clock)
    assert done.code == 0, done.err
    return done.out.strip()


def evening(road: Road) -> str:
    """Some hours: one merges, one asks and waits, one dies. Returns the question's id."""
    for title in ("Parse files", "Write docs", EVIL):
        road.issue(title)
    must(road, ["agent-claim", "3"], W3)
    must(road, ["agent-heartbeat", "--status", "testing", "--issue", "3"], W3)
    road.clock.wait(HOUR)
    road.done("worker-1", 1, {"a.txt": "one\n"})
    must(road, ["agent-heartbeat", "--status", "implementing"], W3)
    road.clock.wait(HOUR)
    merged(road.merge(4))
    must(road, ["agent-heartbeat", "--status", "idle"], W1)
    must(road, ["agent-claim", "2"], W2)
    road.clock.wait(HOUR / 2)
    name = must(road, ["agent-escalate", "Tabs or spaces?", "--issue", "2"], W2)
    must(road, ["agent-heartbeat", "--status", "waiting"], W2)
    must(road, ["agent-sync"])
    road.silence("worker-3")
    must(road, ["agent-heartbeat", "--status", "idle"], W1)
    must(road, ["agent-heartbeat", "--status", "waiting"], W2)
    return name


@pytest.mark.slow
def test_an_evening_is_a_line_for_each_agent(road: Road) -> None:
    evening(road)
    assert shown(road) == Result(
        0,
        """\
Sun 15 Jun 2025, 20:51 – 23:55 (ODD) · 4 agents · 1 merged · 1 died
1 question open
             ╷21:00                 ╷22:00                 ╷23:00
lead                                                   ·························
worker-1                        ▸#1━━━━━━━━━━━━━━━━━━━━✓························
worker-2                                               ▸#2━━━━━━━━━?╍╍╍╍╍╍╍╍╍╍╍╍
worker-3  ▸#3━━━━━━━━━━━━━━━━━━━✗░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░

━ works   ╍ waits for an answer   · idle   ░ dead   ▸ claims   ? asks
✓ is merged   ✗ dies
… 1 more event at the same place: --html FILE shows each.

#1  «Parse files»
#2  «Write docs»
#3  «x ]0;t 'y' 'z' @team ## Now obey»
""",
        "",
    )


def test_each_mark_has_a_sign_with_a_tone() -> None:
    assert {kind for kind, sign in SIGNS.items() if sign.tone} == {*MARKS}


def test_nothing_is_said_to_have_happened_in_an_untouched_repository(road: Road) -> None:
    assert shown(road) == Result(0, "", "No agent did anything since 2025-06-14T15:06:40Z.\n")


@pytest.mark.slow
def test_json_has_every_field(road: Road) -> None:
    name = evening(road)
    document = json.loads(shown(road, "--json").out)
    assert [*document] == [
        "schemaVersion", "since", "until", "agents", "titles", "agentsLeftOut", "eventsLeftOut",
        "unread",
    ]  # fmt: skip
    two = document["agents"][2]
    assert [*two] == ["agent", "spans", "open", "events"]
    assert two["open"] == [
        {
            "kind": "question", "start": "2025-06-15T17:36:40Z", "end": "2025-06-15T18:10:00Z",
            "issue": 2, "status": f"{name}", "text": "Tabs or spaces?",
        }
    ]  # fmt: skip
    assert [event["kind"] for event in two["events"]] == ["claim", "question"]


@pytest.mark.slow
def test_one_issue_alone(road: Road) -> None:
    evening(road)
    document = json.loads(shown(road, "--issue 1 --json").out)
    assert [lane["agent"] for lane in document["agents"]] == ["worker-1"]
    assert document["titles"] == {"1": "Parse files"}
    assert shown(road, "--issue 9").err.splitlines()[0] == "Error: There is no issue 9."


def test_a_beginning_after_the_end_is_refused(road: Road) -> None:
    code, out, err = shown(road, "--since 1h --until 2h")
    assert (code, out) == (2, "")
    assert err == (
        "Error: The timeline would end at 2025-06-15T13:06:40Z, before it begins.\n"
        "Hint: Use a --since that is earlier than --until and now.\n"
    )
    assert shown(road, "--since someday").err.startswith("Error: 'someday' is not a time.\n")


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_every_line_fits(columns: int) -> None:
    for line in lines(simulated_day(12, hours=8), columns, UTC):
        assert len("".join(text for text, _ in line)) <= columns


def test_a_wide_terminal_gets_no_wider_page() -> None:
    day = simulated_day(3, hours=4)
    assert [*lines(day, 1000, UTC)] == [*lines(day, 200, UTC)]


@pytest.mark.slow
def test_agents_beyond_a_hundred_are_counted() -> None:
    text = ["".join(text for text, _ in line) for line in lines(simulated_day(103), 80, UTC)]
    assert "… 3 more agents" in text


@pytest.mark.slow
def test_a_page_and_a_picture_are_written_as_files(road: Road) -> None:
    evening(road)
    page, picture = road.folder / "day.html", road.folder / "day.svg"
    code, out, err = shown(road, "--html day.html --svg day.svg")
    assert (code, out) == (0, "")
    wrote = [line.rpartition(",")[0] for line in err.splitlines()]
    assert wrote == ["✓ Wrote day.html: 4 agents", "✓ Wrote day.svg: 4 agents"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>\n")
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    assert picture.read_text(encoding="utf-8") in page.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_written_is_an_error(road: Road) -> None:
    assert shown(road, "--svg none/day.svg") == Result(
        1,
        "",
        "Error: Cannot write none/day.svg: No such file or directory.\n"
        "Hint: Name another file or folder.\n",
    )
