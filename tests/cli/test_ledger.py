"""`agent-log` as people and scripts call it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.cli.views.ledger import LogPage
from ghp_agents.core.ids import Timestamp
from ghp_agents.state.ledger import LedgerEntry
from tests.support.clock import ManualClock
from tests.support.ghp import CHECKOUT, invoke
from tests.support.thorough import mostly_slow
from tests.support.timelines import HOUR, START, entry

Clones = Callable[[int], list[Path]]
AS = {"GHP_AGENT": "worker-1"}


def test_an_untouched_repository_has_no_ledger(repo: Path) -> None:
    assert invoke("agent-log", repo) == (0, "", "No events yet.\n")
    assert invoke("agent-log --json", repo) == (0, "[]\n", "")


def test_what_happened_is_told_in_order_by_whom_and_about_what(repo: Path) -> None:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    invoke("agent-issue assign 1 worker-1", repo)
    invoke(["agent-escalate", "Tabs or spaces?", "--issue", "1"], repo, AS)
    lines = invoke("agent-log --issue 1", repo).out.splitlines()
    texts = [line.split("  ", 1)[1] for line in lines]
    assert texts[0] == "«Test Person» (a person)  issue-new #1: «Parse the input»"
    assert texts[1] == "«Test Person» (a person)  issue-assign #1: «+worker-1»"
    assert texts[2].startswith("worker-1  escalate E-")
    assert texts[2].endswith(" #1: «Tabs or spaces?»")


def shown(*entries: LedgerEntry, columns: int = 60) -> list[str]:
    return ["".join(text for text, _ in line) for line in LogPage(columns).lines(entries)]


def test_on_a_terminal_times_are_local_days_have_headings_and_lines_are_wrapped() -> None:
    long = "Report the place of a syntax error with its line, its column and the text around it"
    assert shown(  # in the tests, clocks are 5:45 ahead of UTC
        entry(0, "issue-new", "Ada", "#1", issue=1, text="One", is_person=True),
        entry(0, "claim", "worker-1", "#2", issue=2, via="claude 1a2b3c4d"),
        entry(3 * HOUR, "escalate", "worker-1", "E-1", issue=2, text=long),
        entry(0, "sweep", "Ada", "1", is_person=True)._replace(at=Timestamp("soon")),
    ) == [
        "Sun 15 Jun 2025",
        "21:45:00  «Ada» (a person)  issue-new #1: «One»",
        "21:45:00  worker-1 (via claude 1a2b3c4d)  claim #2",
        "",
        "Mon 16 Jun 2025",
        "00:45:00  worker-1  escalate E-1 #2: «Report the place of a",
        "          syntax error with its line, its column and the",
        "          text around it»",
        "",
        "At an unknown time",
        "          «Ada» (a person)  sweep 1",
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [1, 40, 60, 80, 120, 200])
def test_every_line_fits_the_terminal_whatever_others_wrote(columns: int) -> None:
    evil = "x\x1b]0;t\x07 «z» " + "y" * 500
    lines = shown(
        entry(0, evil, evil, evil, issue=10**15, text=evil, via=evil),
        entry(0, "answer", evil, "", is_person=True, text=evil),
        columns=columns,
    )
    assert all(line.isprintable() and len(line) <= max(40, columns) for line in lines)


@pytest.mark.slow
def test_lines_of_two_clones_are_in_the_order_of_their_times(clones: Clones) -> None:
    one, two = clones(2)
    for clone, at, title in ((two, 60, "Second"), (one, 0, "First")):  # one's clock is slow
        invoke("agent-sync", clone, clock=ManualClock(START + at))
        invoke(["agent-issue", "new", title], clone, clock=ManualClock(START + at))
        invoke("agent-sync", clone, clock=ManualClock(START + at))
    invoke("agent-sync", two, clock=ManualClock(START + 90))
    entries = json.loads(invoke("agent-log --json", two).out)
    assert [entry["text"] for entry in entries] == ["Second", "First"]
    out = invoke("agent-log", two).out
    assert out.index("First") < out.index("Second")
    assert invoke("agent-log -n 1", two).out.count("Second") == 1


def test_an_issue_is_named_as_everywhere_else(repo: Path) -> None:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    invoke(["agent-issue", "new", "Write the output"], repo)
    identity = json.loads(invoke("agent-issue show 1 --json", repo).out)["id"]
    by_number = invoke("agent-log --issue 1", repo)
    assert by_number.out.count("\n") == 1
    for name in ("#1", f"I-{identity[:4]}", identity):
        assert invoke(["agent-log", "--issue", name], repo) == by_number
    assert invoke("agent-log --issue 9", repo) == (0, "", "No matching events.\n")


def test_of_an_unknown_agent_it_says_so(repo: Path) -> None:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    assert invoke("agent-log --agent nobody", repo) == (
        0, "", "No events by 'nobody': nobody of that name is known here.\n"
    )  # fmt: skip
    code, _, err = invoke("agent-log --issue abc", repo)
    assert (code, err.splitlines()[0]) == (1, "Error: There is no issue abc.")


def test_json_has_every_field(repo: Path) -> None:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    (entry,) = json.loads(invoke("agent-log --json", repo).out)
    assert list(entry) == [
        "schemaVersion",
        "at", "event", "actor", "isPerson", "object", "issue", "generation", "text", "id",
        "clock", "clone", "via",
    ]  # fmt: skip
    assert (entry["actor"], entry["isPerson"], entry["issue"]) == ("Test Person", True, 1)


def test_it_can_be_asked_for_less(repo: Path) -> None:
    for title in ("One", "Two", "Three"):
        invoke(["agent-issue", "new", title], repo)
    invoke("agent-status --set testing", repo, AS)
    events = [entry["event"] for entry in json.loads(invoke("agent-log --json -n 2", repo).out)]
    assert events == ["issue-new", "presence"]
    assert invoke("agent-log --agent worker-1", repo).out.count("\n") == 1
    assert invoke("agent-log --event issue-new", repo).out.count("\n") == 3
    assert invoke("agent-log --since 1h", repo).out.count("\n") == 4
    assert invoke("agent-log --agent nobody", repo).out == ""


def test_a_time_that_is_none_is_refused(repo: Path) -> None:
    code, out, err = invoke("agent-log --since someday", repo)
    assert (code, out) == (2, "")
    assert err.startswith("Error: 'someday' is not a time.\nHint: Use 2026-01-25T10:30:00Z")


def test_an_event_that_there_is_not_is_refused_and_the_one_meant_is_named(repo: Path) -> None:
    code, out, err = invoke("agent-log --event issue-closed", repo)
    assert (code, out) == (2, "")
    assert err.startswith(
        "Error: There is no event 'issue-closed'.\n"
        "Hint: Did you mean issue-close? Known: ack, answer, checkpoint, "
    )
    code, _, err = invoke("agent-log --event bogus", repo)
    assert (code, "Did you mean" in err) == (2, False)
    assert invoke("agent-log --event steal", repo).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", mostly_slow(["", "--json"], every=2))
def test_it_follows_what_happens_next_until_it_is_interrupted(repo: Path, form: str) -> None:
    for title in ("One", "Two", "Three"):
        invoke(["agent-issue", "new", title], repo)
    words = f"agent-log --event issue-new -n 1 --follow {form}".split()
    follower = subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", *words],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with follower:
        assert follower.stdout is not None
        texts = [follower.stdout.readline()]
        for title in ("Four", "Five"):
            invoke(["agent-issue", "new", title], repo)
            invoke(["agent-issue", "comment", "1", title], repo)
            texts.append(follower.stdout.readline())
        follower.send_signal(signal.SIGINT)
        rest = follower.stdout.read()
    titles = (
        [json.loads(line)["text"] for line in texts] if form else [t.split()[-1] for t in texts]
    )
    shown = "{}" if form else "«{}»"  # for programs as it is, for readers as a quotation
    assert titles == [shown.format(title) for title in ("Three", "Four", "Five")]
    assert (rest, follower.returncode) == ("", 0)


def test_forced_colours_are_shown_in_a_pipe(repo: Path) -> None:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    plain = invoke("agent-log", repo).out
    painted = invoke("agent-log", repo, {"FORCE_COLOR": "1"}).out
    assert painted != plain
    assert re.sub(r"\x1b\[[0-9]*m", "", painted) == plain
