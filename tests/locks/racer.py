"""A racer: a process that claims the issues that it is told, by the command itself.

Its arguments are a folder and an agent. Each line on standard input is an issue; it is
claimed by `agent-claim` in this process, as `ghp` would run it, with git processes of its own, and
what came of it is a line on standard output. It lives for many races, so that a round takes the
time of its claims and not that of starting Python.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support import fork_server
from tests.support.fork_server import Forked
from tests.support.ghp import Result, invoke


def start(folder: Path, agent: str) -> Forked:
    """Start a racer, an agent in the clone at `folder`."""
    return fork_server.start("tests.locks.racer", [str(folder), agent])


def race(racers: Mapping[str, Forked], issue: int) -> dict[str, Result]:
    """All claim the issue at once; what came of it for each, by name."""
    for racer in racers.values():
        racer.stdin.write(f"{issue}\n")
    for racer in racers.values():  # they all stand ready: one write lets each of them go
        racer.stdin.flush()
    return {name: _told(racer) for name, racer in racers.items()}


def _told(racer: Forked) -> Result:
    return Result(*json.loads(racer.stdout.readline()))


def stop(racers: Sequence[Forked]) -> None:
    """Let them go home."""
    for racer in racers:
        racer.stdin.close()
    for racer in racers:
        with racer:
            racer.wait(timeout=60)


warm_up = fork_server.import_all


def main() -> None:
    """Claim what is named, until nothing more is."""
    folder, agent = Path(sys.argv[1]), sys.argv[2]
    out = sys.stdout
    for line in sys.stdin:
        result = invoke(["agent-claim", line.strip(), "--as", agent], folder)
        out.write(json.dumps(result) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
