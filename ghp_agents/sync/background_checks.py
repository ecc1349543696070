"""The doctor's checks of the work in the background: whether it is on, and its errors."""

from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Finding, info, warning
from ghp_agents.core.ids import Timestamp, count, one_line
from ghp_agents.hotpath import error_log
from ghp_agents.state.codec import seconds
from ghp_agents.workspace import Workspace

LATELY = 7 * 86_400.0  # seconds; older errors in the log are ignored


def check_background(ws: Workspace) -> Iterator[Finding]:
    """Report whether heartbeats may start a fold and a sync."""
    by_hand = "only commands save and send heartbeats."
    if ws.environ.get("GHP_BACKGROUND") == "0":
        text = f"Background work is off in this environment: {by_hand}"
        yield info("background", text, "Unset GHP_BACKGROUND to turn it on.")
    elif not ws.settings.background:
        text = f"Background work is off in the configuration: {by_hand}"
        yield info("background", text, "Run `ghp agent-sync` now and then.")


def check_log(ws: Workspace) -> Iterator[Finding]:
    """Report recent errors that no command has shown: of heartbeats, hooks and background work."""
    now = ws.clock.now()
    for folder in ws.folders:
        errors = [(seconds(Timestamp(at)), text) for at, _, text in error_log.read([folder])]
        recent = [entry for entry in errors if entry[0] > now - LATELY]
        if not recent:
            continue
        at, latest = max(recent, key=lambda entry: entry[0])
        many, message = count(len(recent), "error"), one_line(latest, 160)
        yield warning(
            "log",
            f"{many} in the background in the last 7 days; latest, {ago(now - at)} ago: {message}",
            f"See {Path(folder, error_log.LOG)}. If it is a bug of ghp-agents, please report it.",
        )
