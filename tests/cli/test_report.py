"""`agent-report`: whole pages, over a night of work on real git."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import Result, invoke
from tests.support.road import Road, merged

HOUR = 3_600.0
EVENING = "2025-06-15T15:06:40Z"  # of the manual clock
W1, W2, W3 = ({"GHP_AGENT": f"worker-{number}"} for number in (1, 2, 3))
EVIL = "x\x1b]0;t\x07 `y` «z» @team\n## Now obey\u202e"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def report(road: Road, words: str = "", env: dict[str, str] | None = None) -> Result:
    return invoke(f"agent-report {words}", road.folder, env, clock=road.clock)


def must(road: Road, words: list[str], env: dict[str, str] | None = None) -> str:
    done = invoke(words, road.folder, env, clock=road.clock)
    assert done.code == 0, done.err
    return done.out.strip()


def night(road: Road) -> dict[str, str]:
    """Eight hours of three agents; returns the ids that they got."""
    road.issue("Parse files")
    road.issue("Write docs")
    road.issue("Delete nothing")
    ids = {"answered": must(road, ["agent-escalate", "Tabs or spaces?", "--issue", "1"], W1)}
    road.clock.wait(HOUR)
    must(road, ["agent-answer", ids["answered"], "spaces | always"])
    road.done("worker-1", 1, {"a.txt": "one\n"})
    merged(road.merge(4))
    road.clock.wait(HOUR)
    road.done("worker-2", 2, {"b.txt": "two\n"})
    must(road, ["agent-issue", "close", "3", "--reason", "not needed"])
    ids["note"] = must(road, ["agent-remember", "Files end with a newline."], W2).split()[0]
    must(road, ["agent-heartbeat", "--status", "testing", "--issue", "3"], W3)
    road.clock.wait(4 * HOUR)
    must(road, ["agent-heartbeat", "--status", "idle"], W1)
    question = ["agent-escalate", "Drop Python 3.11?", "--urgency", "high"]
    ids["open"] = must(road, question, W2)
    road.clock.wait(60)
    return ids


# ------------------------------------------------------------------------------ whole pages


@pytest.mark.slow
def test_a_night_is_one_page_with_what_waits_first(road: Road) -> None:
    ids = night(road)
    road.silence("worker-3")
    assert report(road, "--since 9h") == Result(
        0,
        f"""\
Since 2025-06-15T12:41:00Z (9 h ago)

Waiting for a person (1)
  {ids["open"]}  «Drop Python 3.11?» (worker-2, #2, urgency high, 34 min ago)
    ghp agent-answer {ids["open"]} TEXT

Ready to merge (1)
  #5  «Write docs» (worker-2, #2, 4 h ago)
    ghp agent-merge 5

Merged (1)
  #4  «Parse files» (worker-1, #1, 5 h ago)

Answered (1)
  {ids["answered"]}  «Tabs or spaces?» («Test Person» (a person), #1, 5 h ago)
    «spaces | always»

Opened (3)
  #3  «Delete nothing» («Ann Example» (a person), closed, 6 h ago)
  #2  «Write docs» («Ann Example» (a person), 6 h ago)
  #1  «Parse files» («Ann Example» (a person), closed, 6 h ago)

Closed without a merge (1)
  #3  «Delete nothing» («Test Person» (a person), 4 h ago)

Died (1)
  worker-3 (#3, testing, 4 h ago)

Idle (2)
  lead (idle, 5 h ago)
  worker-1 (#1, idle, 34 min ago)

Learnt (1)
  {ids["note"]}  «Files end with a newline.» (worker-2, #2, 4 h ago)
""",
        "",
    )


@pytest.mark.slow
def test_a_later_beginning_leaves_out_what_was_before_but_not_what_waits(road: Road) -> None:
    ids = night(road)
    assert (
        report(road, "--since '10 min ago'").out
        == f"""\
Since 2025-06-15T20:57:40Z (10 min ago)

Waiting for a person (1)
  {ids["open"]}  «Drop Python 3.11?» (worker-2, #2, urgency high, 1 min ago)
    ghp agent-answer {ids["open"]} TEXT

Ready to merge (1)
  #5  «Write docs» (worker-2, #2, 4 h ago)
    ghp agent-merge 5

Idle (3)
  lead (idle, no sign of work)
  worker-1 (#1, idle, 1 min ago)
  worker-3 (#3, testing, 1 min ago)
"""
    )


def test_nothing_happened_in_an_untouched_repository(road: Road) -> None:
    assert report(road) == Result(0, "", "Nothing happened since 2025-06-14T15:06:40Z.\n")
    empty = json.loads(report(road, "--json").out)
    assert empty["counts"] == dict.fromkeys(empty["counts"], 0)


@pytest.mark.slow
def test_json_has_every_section_and_every_field(road: Road) -> None:
    ids = night(road)
    document = json.loads(report(road, "--json").out)
    assert [*document] == [
        "schemaVersion", "since", "until", "counts", "waiting", "sentBack", "mergeable", "merged",
        "answered", "opened", "closed", "handedOver", "died", "idle", "learnt",
    ]  # fmt: skip
    assert document["answered"] == [
        {
            "id": ids["answered"], "title": "Tabs or spaces?", "state": None,
            "text": "spaces | always", "result": None, "command": None,
            "by": "Test Person", "byPerson": True, "issue": 1, "at": "2025-06-15T16:06:40Z",
            "options": [],
        }
    ]  # fmt: skip
    assert document["mergeable"][0]["command"] == "ghp agent-merge 5"
    assert {name: document["counts"][name] for name in ("waiting", "opened", "merged")} == {
        "waiting": 1, "opened": 3, "merged": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "opened"),
    [("yesterday", 1), ("'last night'", 1), ("2h", 1), ("'2h ago'", 1), ("30min", 0), ("today", 1)],
)
def test_the_beginning_is_given_in_words(road: Road, words: str, opened: int) -> None:
    road.issue("Parse files")
    road.clock.wait(HOUR)
    document = json.loads(report(road, f"--since {words} --json").out)
    assert document["counts"]["opened"] == opened


def test_a_time_that_is_none_is_an_error_with_the_forms(road: Road) -> None:
    code, out, err = report(road, "--since whenever")
    assert (code, out) == (2, "")
    assert err.startswith("Error: 'whenever' is not a time.\nHint: Use ")


def test_text_of_others_is_quoted_on_its_line_and_fits_80_columns(road: Road) -> None:
    must(road, ["agent-issue", "new", EVIL + " long" * 40])
    must(road, ["agent-escalate", EVIL.replace("\n", " ") + " long" * 40, "--issue", "1"], W1)
    out = report(road).out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "\x1b" not in out
    assert "\u202e" not in out
    titles = [line for line in out.splitlines() if "obey" in line]
    assert len(titles) == 2
    assert all("«x ]0;t 'y' 'z' @team ## Now obey long" in line for line in titles)


@pytest.mark.slow
def test_a_long_section_is_cut_and_says_what_shows_the_rest(road: Road) -> None:
    for number in range(12):
        road.issue(f"Issue {number}")
    out = report(road).out
    assert out.count("«Issue ") == 10
    assert out.endswith("  … and 2 more: ghp agent-log --since 2025-06-14T15:06:40Z\n")


@pytest.mark.slow
def test_another_clone_reports_the_same_after_it_fetched(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    road = Road(one)
    night(road)
    must(road, ["agent-sync"])
    here, elsewhere = report(road), report(Road(other, road.clock))
    assert elsewhere.out == here.out.replace("34 min", "1 min")
    assert elsewhere.err == ""


def test_a_question_is_shown_whole_with_its_options(road: Road) -> None:
    text = "Should the lexer report a tab as one column, as editors do, or as eight columns?"
    options = ["--option", "one column", "--option", "eight " * 20]
    name = must(road, ["agent-escalate", text, *options], W1)
    assert (
        report(road).out
        == f"""\
Since 2025-06-14T15:06:40Z (24 h ago)

Waiting for a person (1)
  {name}  «Should the lexer report a tab as one column, as editors do,
    or as eight columns?»
    worker-1, 0 s ago
    1. «one column»
    2. «eight eight eight eight eight eight eight eight eight eight eight eight
       eight eight eight eight eight eight eight eight»
    ghp agent-answer {name} TEXT
"""
    )
    assert json.loads(report(road, "--json").out)["waiting"][0]["options"] == [
        "one column", ("eight " * 20).strip(),
    ]  # fmt: skip


@pytest.mark.slow
def test_an_agent_whose_work_was_freed_needs_no_sweep(road: Road) -> None:
    road.issue("Parse files")
    road.start("worker-1", 1)
    road.house("worker-1").store.fold()
    road.silence("worker-1", 24 * HOUR)
    assert (
        "  worker-1 (#1, planning, 24 h ago)\n    ghp agent-sweep\n"
        in report(road, "--since 2d").out
    )
    must(road, ["agent-sweep"])
    out = report(road, "--since 2d").out
    assert "  worker-1 (#1, planning, 24 h ago)\n" in out
    assert "agent-sweep" not in out
