"""The results: a table for people, JSON for programs, a page for the documentation."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.figure import Figure, count

COLUMNS = ("ROW", "WHAT", "MEASURED", "BOUND", "", "FROM")
RESULTS = Path(__file__).parent / "results/latest.json"


def cells(figure: Figure) -> tuple[str, ...]:
    """One line of the table."""
    sign = "≥" if figure.at_least else "≤"
    bound = "" if figure.bound is None else f"{sign} {count(figure.bound)}"
    measured = f"{count(figure.measured)} {figure.unit}"
    return figure.row, figure.name, measured, bound, figure.verdict, figure.note


def table(figures: Sequence[Figure]) -> str:
    """All figures, aligned."""
    lines = [COLUMNS, *map(cells, figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    padded = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    return "\n".join(padded)


def broken(figures: Sequence[Figure], *, quick: bool) -> list[Figure]:
    """The figures whose bound does not hold; for a quick run only those with the bound 0."""
    return [figure for figure in figures if not figure.holds and (figure.bound == 0 or not quick)]


def document(
    figures: Sequence[Figure], machine: Mapping[str, Any], at: str, *, quick: bool
) -> dict[str, Any]:
    """The results file: figures, date and machine."""
    return {
        "schemaVersion": 1,
        "at": at,
        "quick": quick,
        "machine": dict(machine),
        "holds": all(figure.holds for figure in figures),
        "figures": [figure.as_json() for figure in figures],
    }


def write(path: Path, results: Mapping[str, Any]) -> None:
    """Write the results file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
