"""The page `docs/bench.md`: the last figures, how to get them again, and what each row does."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.report import cells

HEAD = """\
# Benchmarks

`make bench` measures this again (`python -m bench [NAME…] [--quick]`); it ends with 1 if a bound
does not hold, and writes `bench/results/latest.json`. This page is written by
`python -m bench --page docs/bench.md`. Figures are ratios within one run on one machine: what is
compared runs in turn, round by round, and the best of each is taken, so that a busy moment meets
both sides.
"""


def write(path: Path, figures: Sequence[Figure], facts: Mapping[str, Any], at: str) -> None:
    """Write the page."""
    machine = ", ".join(f"{name} {value}" for name, value in facts.items())
    sections = [HEAD, f"Measured {at[:10]}: {machine}.\n", _table(figures), _rows(figures)]
    path.write_text("\n".join(sections), encoding="utf-8")


def _table(figures: Sequence[Figure]) -> str:
    head = "| row | what | measured | bound | | from |\n|---|---|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(cells(figure))} |\n" for figure in figures)


def _rows(figures: Sequence[Figure]) -> str:
    modules = [
        import_module(f"bench.{row}") for row in dict.fromkeys(figure.row for figure in figures)
    ]
    sections = [f"- **{m.__name__.partition('.')[2]}**: {_one_line(m.__doc__)}\n" for m in modules]
    return "## What the rows do\n\n" + "".join(sections)


def _one_line(docstring: str | None) -> str:
    return " ".join((docstring or "").split())
