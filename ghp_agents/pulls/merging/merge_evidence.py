"""Check that `agent-finish` sent a pull request for the issue's holder. If not, a person decides.

Anyone with push access can open a pull request. The merge runs with the merger's permissions, so
the queue takes only work of agents whose claim is on record.
"""

from collections.abc import Mapping, Sequence

from ghp_agents.core.errors import RefusedError, UnapprovedError
from ghp_agents.core.ids import AgentName, one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.escalations.verdict import NO, YES, persons_verdict
from ghp_agents.git import merge, worktree
from ghp_agents.git import process as git
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.pulls.merging.merge_trial import Merger, TrialLook
from ghp_agents.pulls.pull import Pull
from ghp_agents.settings import rights
from ghp_agents.state.cause import CHOICE

MERGES = 50  # merges of the default branch into the branch since it was sent


def require(
    who: Merger,
    pull: Pull,
    tried: TrialLook,
    *,
    by_name: bool,
    histories: Mapping[str, Sequence[Lock]] | None = None,
) -> None:
    """Refuse a merge without evidence: in the queue always; by name unless a person merges or
    has approved exactly this commit. `histories` are those of claims, just fetched. Raises
    RefusedError, UnknownError."""
    why = doubt(who, pull, tried, histories)
    if not why or rights.decides_merge(who.me.actor, by_name=by_name):
        return
    if not by_name:
        raise RefusedError(
            f"{why}.",
            hint=f"A person can review it and merge it by its number: {pull.number}.",
        )
    _ask(who, pull, tried.head, why)


def doubt(
    who: Merger,
    pull: Pull,
    tried: TrialLook,
    histories: Mapping[str, Sequence[Lock]] | None = None,
) -> str:
    """Return why the branch may not be the holder's work; empty if it is. The claim may have
    ended since, but nobody else may have taken it."""
    if pull.sent is None:
        return "`agent-finish` did not send it"
    by = pull.sent.by
    if not is_branch_as_sent(who, pull.sent.head, tried):
        return f"its branch moved after `agent-finish` sent it for {one_line(by.name, 80)}"
    if pull.issue is None:
        return "it belongs to no issue"
    name = claim_name(pull.issue)
    history = who.me.ctx.locks.history(name) if histories is None else histories.get(name, ())
    held = [x for x in history if x.holder is not None]
    if history and history[-1].is_disputed:
        return f"two agents claimed #{pull.issue}, and no person has released it yet"
    if not held:
        return f"nobody ever claimed #{pull.issue}"
    last = held[-1]
    if (last.holder, last.is_person) == by:
        return ""
    return f"{one_line(by.name, 80)} sent it, but {last.holder} claimed #{pull.issue} last"


def is_branch_as_sent(who: Merger, sent: str, tried: TrialLook) -> bool:
    """Return whether the branch is as it was sent, apart from clean merges of the default branch:
    a merge, or the host, updates a branch like that."""
    folder, head = who.ws.folder, tried.head
    for _ in range(MERGES):
        if head == sent:
            return True
        args = ["rev-parse", f"{head}^{{tree}}", f"{head}^@"]
        tree, *parents = git.check(args, cwd=folder).text.split()
        if len(parents) != 2 or not worktree.contains(folder, tried.trunk, parents[1]):
            return False
        result = merge.merge(folder, who.ws.ghp_dir, parents[0], parents[1])
        if result.conflicts or result.oid != tree:
            return False
        head = parents[0]
    return False


def _ask(who: Merger, pull: Pull, head: str, why: str) -> None:
    """Ask people about this commit, once. Raises RefusedError unless one has agreed."""
    me = who.me
    text = f"May pull request #{pull.number} be merged at {head[:12]}? The doubt: {why}."
    question = Question(
        AgentName(me.name), text, pull.issue, (YES, NO), CHOICE, (f"pull/{pull.number}",)
    )
    approval = escalation.ask_once(me.ctx, question, "high").escalation
    verdict = persons_verdict(approval)
    if verdict == YES:
        return
    state = "has refused it" if verdict == NO else "has not approved it yet"
    raise UnapprovedError(
        f"#{pull.number} needs approval by a person, because {why}. A person {state}: "
        f"{approval.name}.",
        hint="Merge other work meanwhile. After the answer, run the same command again.",
    )
