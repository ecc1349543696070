"""Handlers of plug-ins: each hears every event that matches its pattern, at least once.

They run in the background process, after it has exchanged records. A first look hands out nothing:
what happened before the plug-in came is not new.
"""

from collections.abc import Sequence
from functools import partial

from ghp_agents.core.json_file import JsonFile
from ghp_agents.hotpath import error_log
from ghp_agents.parts.plugin import Handler, attempt, load
from ghp_agents.ports import Context
from ghp_agents.state.ledger import Cursor, LedgerEntry, LedgerReader, decode_cursor
from ghp_agents.workspace import Workspace

CURSOR = "plugin-events.json"  # in the clone's cache: up to where events were handed out


def hand_out(ctx: Context) -> None:
    """Call the handlers for what came since the last look. An error is logged, and stops none."""
    plugins = load(ctx.ws.settings.plugins).plugins
    named = [(name, handler) for name, plugin in plugins.items() for handler in plugin.handlers]
    if not named:
        return
    file: JsonFile[Cursor | None] = JsonFile(ctx.ws.cache_dir / CURSOR, decode_cursor, lambda: None)
    cursor = file.read()
    reader = LedgerReader(ctx.store, cursor or ())
    entries = reader.read()
    if cursor is not None:
        for name, handler in named:
            _call(ctx.ws, name, handler, [x for x in entries if handler.hears(x.event)])
    file.write(reader.cursor)


def _call(ws: Workspace, name: str, handler: Handler, entries: Sequence[LedgerEntry]) -> None:
    import asyncio

    def wait(entry: LedgerEntry) -> None:
        asyncio.run(asyncio.wait_for(handler.function(entry), handler.seconds))

    for entry in entries:
        _, problem = attempt(partial(wait, entry))
        if problem:
            words = f"the plug-in {name}, of {entry.event} {entry.id}: {problem}"
            error_log.log_error(RuntimeError(words), str(ws.folder), ws.environ, where="plug-in")
