"""The doctor's check of the configuration files."""

from collections.abc import Iterator

from ghp_agents.core.finding import Finding, error, ok, warning
from ghp_agents.workspace import Workspace

LAST_VALUES = "Fix the file; until then the last values that could be read stay in force."


def check(ws: Workspace) -> Iterator[Finding]:
    """Report errors in the configuration files, with their lines, and unknown keys."""
    from ghp_agents.settings import schema, unknown_keys

    existing = [path for path in ws.config_files() if path.is_file()]
    reported: list[str] = []
    for path in existing:
        if path.stat().st_size > schema.LONGEST:
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        for fault in schema.faults(text):
            place = f"{path}, line {fault.line}: {fault.reason}."
            reported.append(place)
            yield error("config", place, LAST_VALUES)
        for key in unknown_keys.unknown_keys(text):
            meant = f"Did you mean `{key.meant}`?" if key.meant else "Is it from a newer version?"
            place = f"{path}, line {key.line}: unknown setting `{key.key}`."
            yield warning("config-key", place, meant)
    settings = ws.settings
    for trouble in settings.unreadable:
        if trouble not in reported:
            yield error("config", trouble, LAST_VALUES)
    if settings.unreadable:
        return
    if not settings.stale_after <= settings.dead_after <= settings.gone_after:
        order = "Set `agents.staleAfter` ≤ `deadAfter` ≤ `goneAfter`"
        yield warning(
            "config",
            f"{order}, or agents are dead before they are stale.",
            "Change them in .ghp/config.json.",
        )
    names = " and ".join(map(str, existing)) or "the defaults (there is no .ghp/config.json)"
    yield ok("config", f"Settings: {names}")
