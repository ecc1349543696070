"""Tables fit the terminal, or say so with fewer columns."""

import io
import sys
from collections.abc import Sequence
from types import FrameType

import pytest
from rich.console import Console

from ghp_agents.cli.printing.tables import FittingTable, cells, fitted

COLUMNS = ("AGENT", "STATUS", "LABELS", "BRANCH", "LAST ACTION")
ROWS = [
    ("worker-1", "implementing", "", "agent/worker-1/147-report-the-place", "«Ran the tests»"),
    ("worker-2", "idle", "", "main", ""),
]


def on_terminal(width: int, rows: Sequence[Sequence[str]] = ROWS) -> str:
    written = io.StringIO()
    table = FittingTable(COLUMNS, rows, ())
    Console(width=width, file=written).print(table)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def test_a_table_that_fits_has_all_columns() -> None:
    assert (
        on_terminal(100)
        == """\
AGENT     STATUS        LABELS  BRANCH                               LAST ACTION
worker-1  implementing          agent/worker-1/147-report-the-place  «Ran the tests»
worker-2  idle                  main"""
    )


def test_a_table_that_does_not_fit_leaves_out_empty_columns() -> None:
    assert (
        on_terminal(80)
        == """\
AGENT     STATUS        BRANCH                               LAST ACTION
worker-1  implementing  agent/worker-1/147-report-the-place  «Ran the tests»
worker-2  idle          main"""
    )


def test_the_last_column_of_a_narrow_table_has_its_own_lines() -> None:
    long = [(*ROWS[0][:4], "«Ran the tests of the lexer and of the parser»"), ROWS[1]]
    assert (
        on_terminal(60, long)
        == """\
AGENT     STATUS        BRANCH
    LAST ACTION
worker-1  implementing  agent/worker-1/147-report-the…
    «Ran the tests of the lexer and of the parser»
worker-2  idle          main"""
    )
    assert all(len(line) <= 30 for line in on_terminal(30, long).splitlines())


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("short", 5, "short"), ("shorter", 5, "shor…"), ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("x", 0, ""), ("xy", 1, "…"),
    ],
)  # fmt: skip
def test_a_line_never_wraps(text: str, room: int, shown: str) -> None:
    assert fitted(text, room) == shown
    assert cells(shown) <= room


def test_cutting_looks_at_each_character_a_few_times() -> None:
    calls = 0

    def count(frame: FrameType, event: str, called: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is cells.__code__

    sys.setprofile(count)
    try:
        fitted("日" * 1_000, 80)
    finally:
        sys.setprofile(None)
    assert 1 < calls <= 100
