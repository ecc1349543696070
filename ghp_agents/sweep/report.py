"""A sweep's acts as lines, for people and scripts: what was or would be done."""

from ghp_agents.core.clock import ago
from ghp_agents.sweep.actions import ActionResult
from ghp_agents.sweep.messages import SweepLine
from ghp_agents.sweep.plan import (
    STALE_LABEL,
    Absorb,
    Act,
    Close,
    EndLease,
    Finish,
    Free,
    FreeRight,
    Held,
    Prune,
    Recall,
    Tell,
    Warn,
)
from ghp_agents.sweep.service import SweepResult


def lines(swept: SweepResult) -> list[SweepLine]:
    """Return a line for each act of a sweep, in order."""
    return [_line(outcome) for outcome in swept.outcomes]


def _line(outcome: ActionResult) -> SweepLine:
    act = outcome.act
    held: Held | None = getattr(act, "held", None)
    return SweepLine(
        kind=type(act).__name__.lower(),
        issue=act.unfinished.issue if isinstance(act, Finish) else getattr(act, "issue", None),
        agent=held.holder if held else "",
        to=act.to.name if isinstance(act, Free) and act.to else "",
        done=outcome.done,
        failed=outcome.failed,
        text=outcome.text or _planned(act),
    )


def _planned(act: Act) -> str:
    """Describe what would be done."""
    match act:
        case Warn(held=held):
            return f"comment that {held.holder} has been silent for {ago(held.silent)}"
        case Recall(held=held):
            why = f"{held.holder} is not silent" if held else "no silent agent holds it"
            return f"remove the label {STALE_LABEL}: {why}"
        case Free(held=held, to=to, gives_up=gives_up):
            then = f"give it to {to.name}" if to else "put it back in the queue"
            then = "ask a person" if gives_up else then
            return f"{held.holder} has been {held.state} for {ago(held.silent)}: {then}"
        case Finish():
            return "finish what an earlier sweep began"
        case Close(held=held):
            return f"release the claim of {held.holder}: the issue is closed"
        case EndLease(lease):
            return f"end the lease of {lease.what} by {lease.holder}, which is gone"
        case FreeRight(held):
            return f"release {held.lock.name} of {held.holder}, which is {held.state}"
        case Absorb(clone):
            return f"merge clone {clone.tip.clone}, silent for {ago(clone.silent)}, into this one"
        case Prune(orphan):
            goes = orphan.kind == "worktree" and orphan.tip
            branch = f"; also its merged branch {orphan.branch}" if goes else ""
            return f"remove {orphan.kind} {orphan.name}: {orphan.why}; {orphan.removable}{branch}"
        case Tell():
            return act.text
