"""Paths that others hold, in a change on its way to the trunk: the decision of the edit hook, on
what the remote says now.

A shell edits what a hook never sees, and a lease may have come after the edit.
"""

from collections.abc import Sequence

from ghp_agents.claims import holder_liveness
from ghp_agents.core import globs
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.git import process as git
from ghp_agents.guard import evaluate
from ghp_agents.hotpath import policy
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.leases.service import PATHS, holder_of
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import IssueTracker, LockService, StateStore
from ghp_agents.workspace import Workspace

LISTED = 10


def refuse(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    author: Actor,
    paths: Sequence[str],
    *,
    by: Actor | None = None,
) -> tuple[str, ...]:
    """Refuse a change by `author` of what another holds. A person, who finishes or merges, is told
    of ordinary leases, in the words that are answered; a strict lease holds for people, too. `by`
    merges the change; None: its author finishes it here. Raises RefusedError, UnknownError."""
    fetch_leases(store)
    agent = None if author.is_person else AgentName(author.name)
    verdicts = evaluate.judge(ws, store, leaser, tracker, agent, paths, author=by and author)
    against = [each for each in verdicts if each.why]
    if against and (by or author).is_person:
        strict = _strict(ws, store, leaser, author, [each.path for each in against])
        barred = [each for each in against if each.kind == policy.LEASE and each.path in strict]
    else:
        barred = [each for each in against if each.is_refused]
    if barred:
        raise _refusal(barred)
    return tuple(each.why for each in against[:LISTED]) + _more(against)


def fetch_leases(store: StateStore) -> None:
    """Fetch all leases and who lives. Raises UnknownError: what a remote may say of a strict lease
    cannot be left out."""
    report = store.sync(push=False)
    if report.remote and not report.fetched:
        raise UnknownError(
            f"Whether others hold what was changed is not known: {report.remote} does not answer "
            f"({report.trouble}).",
            hint="Run the same command again when it can be reached.",
        )


def _strict(
    ws: Workspace, store: StateStore, leaser: LockService, author: Actor, paths: Sequence[str]
) -> set[str]:
    """Those of the paths to which another, who lives, has a right over all clones."""
    held = [x for x in leaser.known(PATHS) if x.holder is not None and holder_of(x) != author]
    seen = holder_liveness.holders_of(ws, store, held) if held else {}
    fold = git.config(ws.folder, "core.ignoreCase") == "true"
    living = [x for x in held if seen[x.name].lives and not _is_over(ws, x, leaser)]
    return {path for x in living for path in globs.select(x.patterns, paths, fold=fold)}


def _is_over(ws: Workspace, right: Lock, leaser: LockService) -> bool:
    return holder_liveness.is_over(ws, right, leaser.clone)


def _refusal(verdicts: Sequence[Verdict]) -> RefusedError:
    whys = [each.why for each in verdicts[:LISTED]]
    nexts = dict.fromkeys(each.next or _next(each) for each in verdicts[:LISTED])
    return RefusedError("\n".join([*whys, *_more(verdicts)]), hint="\n".join(nexts))


def _next(verdict: Verdict) -> str:
    """What a person can do, whom the decision itself never refuses."""
    return f"Ask {verdict.holder} to give it back; `ghp agent-leases` shows until when it is held."


def _more(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    more = len(verdicts) - LISTED
    return (f"And {more} more files that others hold.",) if more > 0 else ()
