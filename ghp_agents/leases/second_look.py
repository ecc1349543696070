"""Strict leases whose holders look dead: taking one over needs two looks.

A claim taken over by mistake costs work. A strict lease taken over by mistake lets two holders
use what must have one. So the first look is only noted. A second look, with news in between, must
find the same.
"""

from collections.abc import Mapping

from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.first_seen import first_seen
from ghp_agents.core.json_file import first_seen_file
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import SECOND_LOOK, Liveness, is_confirmed
from ghp_agents.state import observed
from ghp_agents.state.presence import position

HINT = (
    "Taking over a strict lease needs a second check. Run `ghp agent-sync` after "
    f"{SECOND_LOOK:g} seconds, then try again."
)


def unconfirmed(ctx: Context, met: Mapping[str, tuple[Lock, HolderView]]) -> list[Lock]:
    """Of locks that others hold: those whose holders look dead, but did not at an earlier look.

    Notes this look. A holder that is seen alive is no longer in doubt.
    """
    file, now = first_seen_file(ctx.ws.cache_dir / observed.DOUBTS), ctx.ws.steady()
    previous = file.read()
    doubts = {name: doubt for name, doubt in previous.items() if name not in met}
    unsure: list[Lock] = []
    for name, (lock, sight) in met.items():
        if sight.lives or _stopped_here(sight):
            continue
        doubts |= first_seen(previous, {name: _revision(lock, sight)}, now)
        if not is_confirmed(doubts[name], now, _news(ctx, sight)):
            unsure.append(lock)
    if doubts != previous:
        file.write(doubts)
    return unsure


def _stopped_here(sight: HolderView) -> bool:
    """Whether it is an agent of this clone that reported itself stopped."""
    view = sight.view
    return view is not None and view.is_here and view.liveness is Liveness.STOPPED


def _revision(lock: Lock, sight: HolderView) -> str:
    """The version of the lock and of its holder's presence; any change resets the doubt."""
    at = position(sight.view.presence) if sight.view else ()
    return " ".join(map(str, (lock.revision, *at)))


def _news(ctx: Context, sight: HolderView) -> float | None:
    """When news of the holder last came; None for an agent of this clone, which has files."""
    if sight.view is not None and sight.view.is_here:
        return None
    return presence.news_at(ctx) or 0.0
