"""Tables fit the terminal, or say so with fewer columns."""

import io
from collections.abc import Sequence

from rich.console import Console

from ghp_agents.cli.printing.tables import FittingTable

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
