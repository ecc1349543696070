"""Strict leases whose holders look dead: taking one over needs two looks.

A claim taken over by mistake costs work. A strict lease taken over by mistake lets two holders
use what must have one. So the first look is only noted. A second look, with news in between, must
find the same.
"""

import json
from collections.abc import Mapping

from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core import files
from ghp_agents.hotpath import fastjson
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import SECOND_LOOK, Doubt, Liveness, is_confirmed
from ghp_agents.state.presence import position
from ghp_agents.workspace import Workspace

DOUBTS = "doubts.json"
HINT = (
    f"One look is not enough to take a strict lease over. Run `ghp agent-sync` in {SECOND_LOOK:g} "
    "seconds or later, and try again."
)


def unconfirmed(ctx: Context, met: Mapping[str, tuple[Lock, HolderView]]) -> list[Lock]:
    """Of locks that others hold: those whose holders look dead, but did not at an earlier look.

    Notes this look. A holder that is seen alive is no longer in doubt.
    """
    previous, now = _read(ctx.ws), ctx.ws.steady()
    doubts = {name: doubt for name, doubt in previous.items() if name not in met}
    unsure: list[Lock] = []
    for name, (right, sight) in met.items():
        if sight.lives or _stopped_here(sight):
            continue
        doubt, revision = previous.get(name), _revision(right, sight)
        if doubt is None or doubt.revision != revision or doubt.since > now:
            doubt = Doubt(revision, now)
        doubts[name] = doubt
        if not is_confirmed(doubt, now, _news(ctx, sight)):
            unsure.append(right)
    if doubts != previous:
        _write(ctx.ws, doubts)
    return unsure


def _stopped_here(sight: HolderView) -> bool:
    """Whether it is an agent of this clone that reported itself stopped."""
    view = sight.view
    return view is not None and view.is_here and view.liveness is Liveness.STOPPED


def _revision(right: Lock, sight: HolderView) -> str:
    """The version of the lock and of its holder's presence; any change resets the doubt."""
    at = position(sight.view.presence) if sight.view else ()
    return " ".join(map(str, (right.revision, *at)))


def _news(ctx: Context, sight: HolderView) -> float | None:
    """When news of the holder last came; None for an agent of this clone, which has files."""
    if sight.view is not None and sight.view.is_here:
        return None
    return presence.news_at(ctx.ws, ctx.store) or 0.0


def _read(ws: Workspace) -> dict[str, Doubt]:
    doubts: dict[str, Doubt] = {}
    for name, fields in (fastjson.read_object(str(ws.cache_dir / DOUBTS)) or {}).items():
        match fields:
            case [str(revision), int() | float() as since]:
                doubts[name] = Doubt(revision, since)
    return doubts


def _write(ws: Workspace, doubts: Mapping[str, Doubt]) -> None:
    try:
        files.write_atomically(ws.cache_dir / DOUBTS, json.dumps(doubts).encode())
    except OSError:
        return  # without a writable cache, strict leases are never taken over here
