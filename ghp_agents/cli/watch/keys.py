"""Which keys apply to an agent. Pure."""

from collections.abc import Sequence

from textual.content import Content

from ghp_agents.presence.service import LIVING
from ghp_agents.reports.overview import AgentRow


def can_stop(row: AgentRow) -> bool:
    """Whether there is something to stop: it lives, or it holds an issue."""
    return row.liveness in LIVING or row.issue is not None


def hints(row: AgentRow | None, width: int, *, is_detail: bool = False) -> Content:
    """The keys that apply, as many as fit; the last ones are left out first."""
    always = [("?", "help"), ("Esc", "back") if is_detail else ("q", "quit")]
    applying: list[tuple[str, str]] = []
    if row is not None:
        applying = [
            *([("a", "answer")] if row.question else []),
            *([] if is_detail else [("⏎", "details")]),
            *([("s", "stop")] if can_stop(row) else []),
            # It may have a worktree in this clone, or a pull request.
            *([("o", "open")] if row.is_here or row.pull is not None else []),
            *([] if is_detail else [("/", "filter")]),
        ]
    shown = applying
    while _line([*shown, *always]).cell_length > width and shown:
        shown = shown[:-1]
    return _line([*shown, *always]).truncate(width)


def _line(keys: Sequence[tuple[str, str]]) -> Content:
    parts = [Content.assemble((key, "bold"), (f" {what}", "dim")) for key, what in keys]
    return Content("  ").join(parts)
