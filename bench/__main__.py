"""`python -m bench [NAME...]`: measure what must be fast or small, against its bounds."""

import argparse
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

from bench import machine, page, report
from bench.figure import Figure
from bench.place import Place, temporary

ROWS = (
    *(
        "beat",
        "light",
        "messages",
        "floods",
        "crowd",
        "reading",
        "fold",
        "clones",
        "growth",
        "aging",
        "contention",
        "idle",
        "team",
        "watching",
        "work",
    ),
    *(
        "claims",
        "dispatch",
        "queue",
        "guard",
        "conflicts",
        "effect",
        "across",
        "authority",
        "replay",
        "requests",
        "clients",
    ),
    "knowledge",
)


def main() -> int:
    """Run the requested rows; return 1 if a bound does not hold."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _end)
    if arguments.seed is not None:
        return _replay_seed(arguments.seed)
    rows = [row for row in ROWS if not arguments.names or row in arguments.names]
    with temporary(quick=arguments.quick) as place:
        figures = [figure for row in rows for figure in _run(place, row)]
        facts = machine.facts() | _pip(place)
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    results = report.document(figures, facts, at, quick=arguments.quick)
    report.write(arguments.json, results)
    if arguments.page:
        page.write(arguments.page, figures, facts, at)
    print(report.table(figures))
    return 1 if report.broken(figures, quick=arguments.quick) else 0


def _replay_seed(seed: int) -> int:
    """Replay one schedule of the row `authority`."""
    from bench import authority

    with temporary(quick=True):
        broken = authority.again(seed)
    print(broken or f"Seed {seed} breaks no law.")
    return 1 if broken else 0


def _end(number: int, _: object) -> None:
    """Exit normally, so that the temporary folder is removed."""
    sys.exit(128 + number)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"rows: {', '.join(ROWS)}")
    parser.add_argument("--json", type=Path, default=report.RESULTS, help="where results go")
    parser.add_argument("--page", type=Path, help="write the page of figures, docs/bench.md")
    parser.add_argument(
        "--quick", action="store_true", help="few rounds: shows that all runs, and proves no speed"
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="play that schedule of the row authority again"
    )
    arguments = parser.parse_args()
    unknown = sorted({*arguments.names} - {*ROWS})
    if unknown:
        parser.error(f"there is no row {unknown[0]!r}; rows are {', '.join(ROWS)}")
    return arguments


def _run(place: Place, row: str) -> list[Figure]:
    started = time.monotonic()
    figures: list[Figure] = import_module(f"bench.{row}").measure(place)
    place.say(f"{row}: {len(figures)} figures in {time.monotonic() - started:.0f} s")
    return figures


def _pip(place: Place) -> dict[str, str]:
    return {"pip": place.installed.pip} if "installed" in vars(place) else {}


if __name__ == "__main__":
    sys.exit(main())
