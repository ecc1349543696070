"""The overview on a terminal: one line per agent, at any width and height."""

from typing import Any

import pytest

from ghp_agents.cli.printing.tables import cells
from ghp_agents.cli.views.status_screen import Line, screen, summary
from ghp_agents.presence.liveness import Liveness
from ghp_agents.reports.overview import (
    AgentFacts,
    AgentGroup,
    AgentRow,
    Need,
    NeedKind,
    Overview,
    Totals,
    overview,
)

QUESTION = Need(NeedKind.QUESTION, "JSON or TOML?", "high", 720.0, "E-0911aaaa", "E-0911")
TEAM = (
    AgentRow(
        "claude-232b", Liveness.ACTIVE, "implementing", (QUESTION,), 3, "Make the client generic",
        6.0, branch="agent/3", worktree="3-generic", leases=1, action="Fixing mypy errors",
    ),
    AgentRow(
        "worker-2", Liveness.ACTIVE, "reviewing",
        (Need(NeedKind.CONFLICT, "_urlparse.py", id="#32", short="#32"),), 2,
        "The pool leaks a stream", 60.0, is_here=False, clone="8af54207f624", pull=32,
    ),
    AgentRow(
        "codex-7", Liveness.DEAD, "testing", (Need(NeedKind.DEAD, "2 unsaved files", age=2460.0),),
        7, "Fix the flaky test", 2460.0,
    ),
    AgentRow("codex-1", Liveness.ACTIVE, "testing", (), 1, "Replace the URL parser", 10.0,
             action="412 passed so far"),
    AgentRow("codex-2", Liveness.STALE, "planning", (), 9, "Ünïcode 日本語ドメイン hosts", 400.0),
    AgentRow("gemini-1", Liveness.ACTIVE, "idle", last_seen=7_300.0, action="Started"),
)  # fmt: skip
ALL = Overview(TEAM, Totals(6, 2, 3, 1, 1, 1, 1, 6, 4.0))


def plain(lines: list[Line]) -> list[str]:
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def crowd(number: int, **fields: Any) -> Overview:
    rows = [
        AgentRow(f"worker-{n}", Liveness.ACTIVE, "testing", last_seen=1.0) for n in range(number)
    ]
    return Overview(tuple(row._replace(**fields) for row in rows), Totals(number, number))


def test_each_agent_has_one_line_and_who_needs_a_person_is_first() -> None:
    assert plain(screen(ALL, 88)) == [
        "6 agents · 3 need you · 2 working · 1 stale · 1 dead              news 4s ago · 6 clones",
        "NEEDS YOU",
        "? claude-232b  #3  Make the client generic   asks (high)  12m  E-0911  JSON or TOML?",
        "! worker-2     #2  The pool leaks a stream   conflict      1m  #32     _urlparse.py",
        "✗ codex-7      #7  Fix the flaky test        dead         41m          2 unsaved files",
        "WORKING",
        "  codex-1      #1  Replace the URL parser    testing      10s          412 passed so far",
        "~ codex-2      #9  Ünïcode 日本語ドメイン …  stale         6m",
        "IDLE",
        "  gemini-1                                   idle          2h          Started",
        "  hidden: worktree, branch, leases (--plain)",
    ]


def test_at_60_columns_the_last_columns_are_hidden_and_named() -> None:
    assert plain(screen(ALL, 60)) == [
        "6 agents · 3 need you · 2 working · 1 stale · 1 dead",
        "                                      news 4s ago · 6 clones",
        "NEEDS YOU",
        "? claude-232b  #3  Make the clien…  asks (high)  12m  E-0911",
        "! worker-2     #2  The pool leaks…  conflict      1m  #32",
        "✗ codex-7      #7  Fix the flaky …  dead         41m",
        "WORKING",
        "  codex-1      #1  Replace the UR…  testing      10s",
        "~ codex-2      #9  Ünïcode 日本語…  stale         6m",
        "IDLE",
        "  gemini-1                          idle          2h",
        "  hidden: detail, worktree, branch, leases (--plain)",
    ]


def test_a_narrow_summary_takes_more_lines_and_loses_nothing() -> None:
    used_up = ALL._replace(totals=ALL.totals._replace(budget="The budget is used up."))
    assert plain(summary(used_up, 60)) == [
        "6 agents · 3 need you · 2 working · 1 stale · 1 dead",
        "budget used up                        news 4s ago · 6 clones",
    ]
    for width in range(24, 100):
        whole = " · ".join(plain(summary(used_up, width))).split()
        assert " ".join(whole).replace(" · news", " news") == (
            "6 agents · 3 need you · 2 working · 1 stale · 1 dead · budget used up"
            " news 4s ago · 6 clones"
        )


def test_the_last_line_counts_the_hidden_columns_if_it_has_no_room_for_their_names() -> None:
    assert plain(screen(ALL, 60, 9))[-1] == "  … 3 more (--all) · 4 columns hidden (--plain)"
    assert plain(screen(ALL, 40, 9))[-1] == "  … 3 more (--all) · 7 hidden (--plain)"
    assert plain(screen(ALL, 80, 9))[-1] == (
        "  … 2 more (--all) · hidden: worktree, branch, leases (--plain)"
    )


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 160, 200])
@pytest.mark.parametrize("height", [6, 8, 24, None])
def test_no_line_is_wider_than_the_terminal_and_the_prompt_fits_below(
    width: int, height: int | None
) -> None:
    for shown in (screen(ALL, width, height), screen(crowd(30), width, height)):
        assert max(cells(line) for line in plain(shown)) <= width
        assert height is None or len(shown) < height


def test_thirty_agents_in_24_rows_are_listed_as_far_as_there_is_room_and_the_others_counted() -> (
    None
):
    shown = plain(screen(crowd(30), 80, 24))
    assert (len(shown), shown[0], shown[-1]) == (
        23,
        "30 agents · 30 working",
        "  … 10 more (--all)",
    )
    assert len(plain(screen(crowd(30), 80))) == 32


def test_who_needs_a_person_is_listed_before_there_is_no_room() -> None:
    rows = (*(TEAM[0]._replace(name=f"asks-{n}") for n in range(3)), *crowd(30).agents)
    shown = plain(screen(Overview(rows, Totals(33, 30, 3)), 80, 10))
    assert [line[:8] for line in shown] == [
        "33 agent", "NEEDS YO", "? asks-0", "? asks-1", "? asks-2", "WORKING",
        "  worker", "  worker", "  … 28 m",
    ]  # fmt: skip


def test_a_long_name_is_cut_in_its_middle_because_names_differ_at_their_ends() -> None:
    rows = tuple(
        AgentRow(f"codex-backend-for-the-parser-{n:04}", Liveness.ACTIVE, "testing") for n in (1, 2)
    )
    shown = plain(screen(Overview(rows, Totals(2, 2)), 60))
    assert [line.split()[0] for line in shown[2:]] == [
        "codex-backe…-parser-0001",
        "codex-backe…-parser-0002",
    ]


def test_a_waiting_agent_says_for_whom() -> None:
    waits = AgentRow(
        "worker-1", Liveness.ACTIVE, "blocked", waits_for=(("worker-2", "#1"), ("worker-3", "#4"))
    )
    assert plain(screen(Overview((waits,), Totals(1, 1)), 100))[-1] == (
        "  worker-1  blocked  waits for worker-2, which has #1 and 1 more"
    )


def test_while_the_remote_is_asked_the_summary_says_so() -> None:
    assert plain(screen(ALL, 120, loading=True))[0].endswith("asking for news … · 6 clones")


def test_control_characters_in_others_text_do_not_reach_a_line() -> None:
    bad = "\x1b[31mred\x9b\n\u202etxt"
    row = AgentRow("eve", Liveness.ACTIVE, bad, title=bad, issue=1, action=bad, branch=bad,
                   worktree=bad)  # fmt: skip
    for line in plain(screen(Overview((row,), Totals(1, 1)), 200)):
        assert line.isprintable()
        assert "\u202e" not in line


def test_nobody_is_a_summary_alone() -> None:
    assert plain(screen(overview((), AgentFacts()), 80)) == ["0 agents"]


def test_the_groups_are_those_of_the_overview() -> None:
    assert [row.group for row in TEAM] == [
        *[AgentGroup.NEEDS_YOU] * 3, *[AgentGroup.WORKING] * 2, AgentGroup.IDLE,
    ]  # fmt: skip
