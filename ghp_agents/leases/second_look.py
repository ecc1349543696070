"""Strict leases whose holders look dead: it takes two looks to take one over.

Whoever takes a claim by mistake costs work. What a strict lease guards may not bear two at once, so
the first look is only noted, and a second one, with news in between, must find the same.
"""

import json
from collections.abc import Mapping

from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core import files
from ghp_agents.hotpath import fastjson
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import StateStore
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import SECOND_LOOK, Doubt, Liveness, is_confirmed
from ghp_agents.state.presence import position
from ghp_agents.workspace import Workspace

DOUBTS = "doubts.json"
HINT = (
    f"One look is not enough to take a strict lease over. Run `ghp agent-sync` in {SECOND_LOOK:g} "
    "seconds or later, and try again."
)


def unconfirmed(
    ws: Workspace, store: StateStore, met: Mapping[str, tuple[Lock, HolderView]]
) -> list[Lock]:
    """Of rights that others hold: those whose holders look dead, but did not at an earlier look.

    Notes this look. Who is seen alive is not in doubt any more.
    """
    had, now = _read(ws), ws.steady()
    doubts = {name: doubt for name, doubt in had.items() if name not in met}
    found: list[Lock] = []
    for name, (right, sight) in met.items():
        if sight.lives or _said_so_here(sight):
            continue
        doubt, what = had.get(name), _revision(right, sight)
        if doubt is None or doubt.revision != what or doubt.since > now:
            doubt = Doubt(what, now)
        doubts[name] = doubt
        if not is_confirmed(doubt, now, _news(ws, store, sight)):
            found.append(right)
    if doubts != had:
        _write(ws, doubts)
    return found


def _said_so_here(sight: HolderView) -> bool:
    """Whether an agent of this clone has stopped, by its own word."""
    view = sight.view
    return view is not None and view.is_here and view.liveness is Liveness.STOPPED


def _revision(right: Lock, sight: HolderView) -> str:
    """The right and its holder as they are: whoever moves is not the one that was doubted."""
    at = position(sight.view.presence) if sight.view else ()
    return " ".join(map(str, (right.revision, *at)))


def _news(ws: Workspace, store: StateStore, sight: HolderView) -> float | None:
    """When the holder was last heard of; None of one of this clone, whose own files tell."""
    if sight.view is not None and sight.view.is_here:
        return None
    return presence.news_at(ws, store) or 0.0


def _read(ws: Workspace) -> dict[str, Doubt]:
    found: dict[str, Doubt] = {}
    for name, fields in (fastjson.read_object(str(ws.cache_dir / DOUBTS)) or {}).items():
        match fields:
            case [str(revision), int() | float() as since]:
                found[name] = Doubt(revision, since)
    return found


def _write(ws: Workspace, doubts: Mapping[str, Doubt]) -> None:
    try:
        files.write_atomically(ws.cache_dir / DOUBTS, json.dumps(doubts).encode())
    except OSError:
        return  # then nothing is ever confirmed: strict leases are not taken over here
