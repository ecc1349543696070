"""Refuse changes on their way to main that touch paths others hold, by the remote's present state.

The edit hook is not enough: it does not see edits by shell commands, and a lease may be granted
after the edit.
"""

from collections.abc import Sequence

from ghp_agents.claims import holder_liveness
from ghp_agents.core import globs
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.guard import evaluate
from ghp_agents.hotpath import policy
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.leases.world import PATHS, holder_of
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, StateStore

LISTED = 10


def refuse(
    ctx: Context,
    author: Actor,
    paths: Sequence[str],
    *,
    by: Actor | None = None,
    fetch: bool = True,
) -> tuple[str, ...]:
    """Refuse a change by `author` of paths that another holds; return warnings.

    A person who finishes or merges is only warned of ordinary leases, but refused for strict ones.
    `by` merges the change; None: the author finishes it here. Without `fetch`, `fetch_leases` just
    ran. Raises RefusedError, UnknownError."""
    if fetch:
        fetch_leases(ctx.store)
    agent = None if author.is_person else AgentName(author.name)
    verdicts = evaluate.judge(ctx, agent, paths, author=by and author)
    held = [verdict for verdict in verdicts if verdict.why]
    if held and (by or author).is_person:
        strict = _strict(ctx, author, [verdict.path for verdict in held])
        refused = [x for x in held if x.kind == policy.LEASE and x.path in strict]
    else:
        refused = [verdict for verdict in held if verdict.is_refused]
    if refused:
        raise _refusal(refused)
    return tuple(verdict.why for verdict in held[:LISTED]) + _more(held)


def fetch_leases(store: StateStore) -> None:
    """Fetch all leases and presence. Raises UnknownError if the remote does not answer, because
    strict leases cannot be ignored."""
    report = store.sync(push=False)
    if report.remote and not report.fetched:
        raise UnknownError(
            f"Cannot tell whether others hold the changed files: {report.remote} does not "
            f"answer ({report.trouble}).",
            hint="Run the same command again when it is reachable.",
        )


def _strict(ctx: Context, author: Actor, paths: Sequence[str]) -> set[str]:
    """The paths on which another, live holder has a strict lease."""
    held = [x for x in ctx.locks.known(PATHS) if x.holder is not None and holder_of(x) != author]
    holders = holder_liveness.holders_of(ctx, held) if held else {}
    fold = ctx.ws.git_value("core.ignorecase") == "true"
    living = [x for x in held if holders[x.name].lives and not _is_over(ctx, x)]
    return {path for x in living for path in globs.select(x.patterns, paths, fold=fold)}


def _is_over(ctx: Context, lock: Lock) -> bool:
    return holder_liveness.is_over(ctx.ws, lock, ctx.locks.clone)


def _refusal(verdicts: Sequence[Verdict]) -> RefusedError:
    reasons = [verdict.why for verdict in verdicts[:LISTED]]
    hints = dict.fromkeys(verdict.next or _next(verdict) for verdict in verdicts[:LISTED])
    return RefusedError("\n".join([*reasons, *_more(verdicts)]), hint="\n".join(hints))


def _next(verdict: Verdict) -> str:
    """The hint for a person: the decision itself never refuses people, so it has no hint."""
    return f"Ask {verdict.holder} to release it; `ghp agent-leases` shows when it expires."


def _more(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    more = len(verdicts) - LISTED
    files = "file is" if more == 1 else "files are"
    return (f"{more} more {files} held by others.",) if more > 0 else ()
