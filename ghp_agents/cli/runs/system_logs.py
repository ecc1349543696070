"""What the supervisors of a clone do, the errors of this program here, and the times of a run."""

from collections.abc import Iterable
from contextlib import suppress

from ghp_agents.cli import output
from ghp_agents.core.clock import to_seconds
from ghp_agents.hotpath import error_log
from ghp_agents.runs import folder, stream
from ghp_agents.runs.logs import system_log, times
from ghp_agents.runs.logs.system_log import SystemLine
from ghp_agents.runs.record import RunRecord
from ghp_agents.wiring import App

LOOK_EVERY = 0.5  # seconds
SHOWN_BEFORE = 20  # lines before those that are followed
STAMP = 20  # characters of a time: 2026-12-31T23:59:59Z


def errors(app: App, limit: int | None) -> None:
    """Print the errors of supervisors, hooks and the background, oldest first."""
    kept = [line for line in system_log.read(app.ws) if line.error]
    hidden = [
        SystemLine(at, f"{where}: {text}" if where else text, error=True)
        for at, where, text in error_log.read(app.ws.folders)
    ]
    lines = sorted([*kept, *hidden], key=lambda line: line.at)
    if not lines:
        output.say("No errors are known here.")
    _print(lines[-limit:] if limit else lines)


def follow(app: App, *, only_errors: bool) -> None:
    """Print what supervisors did last, and then what they do, until Ctrl-C."""
    earlier = [line for line in system_log.read(app.ws) if line.error or not only_errors]
    _print(earlier[-SHOWN_BEFORE:])
    try:
        for line in system_log.follow(app.ws, lambda: app.ws.clock.wait(LOOK_EVERY)):
            _print([line] if line.error or not only_errors else [])
    except KeyboardInterrupt:
        return


def replay(app: App, run: RunRecord) -> None:
    """Print what a run did, with the time since it began; `·` marks what its supervisor did."""
    began, acts = to_seconds(run.at), list[tuple[float, str]]()
    for line in system_log.read(app.ws):
        if line.run == run.name:
            with suppress(ValueError):
                acts.append((max(0.0, to_seconds(line.at) - began), f"· {line.text}"))
    printed, last = list[tuple[float, str]](), 0.0
    for seconds, text in times.timed_lines(folder.of(app.ws, run.id)):
        last = last if seconds is None else seconds
        if shown := stream.shown(text):
            printed.append((last, shown.text))
    for seconds, text in sorted([*acts, *printed], key=lambda pair: pair[0]):
        time = f"{int(seconds) // 60}:{int(seconds) % 60:02}"
        output.data(f"{time:>6}  {output.clean(text)}")
    output.flush()


def _print(lines: Iterable[SystemLine]) -> None:
    for line in lines:
        output.data(f"{output.clean(line.at[:STAMP])}  {output.clean(line.text)}")
    output.flush()
