"""Commits that were taken out of the main branch, and branches that would bring them back.

A branch that began before main was rewritten still has the commit, such as a secret. Git sees no
conflict when it is merged. So it needs a person's word. What main had is told by this clone's
reflog, by the merges on record, and by the commits at which agents' branches began, in all clones.
"""

from collections.abc import Sequence
from shlex import quote

from ghp_agents.core.errors import UnapprovedError
from ghp_agents.core.ids import AGENT_BRANCHES, count, issue_of_branch, listed
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.escalations.verdict import NO, YES, persons_verdict
from ghp_agents.git import worktree
from ghp_agents.git.own_work import reflog
from ghp_agents.git.worktree import Commit
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.hotpath.quoting import file, phrase
from ghp_agents.ports import Context
from ghp_agents.pulls import local_pulls
from ghp_agents.pulls.branches import branch_records
from ghp_agents.state import known_branches
from ghp_agents.state.cause import TAKEN_OUT
from ghp_agents.workspace import Workspace

SHOWN = 3  # commits that are named
ANYBODY = "anybody"  # asks for a branch that names no agent


def taken_out(ctx: Context, base: str, trunk: str) -> frozenset[str]:
    """The commits that the main branch `base` had, and has no more at `trunk`."""
    tips = [tip for tip in former_tips(ctx, base) if tip != trunk]
    return worktree.beside(ctx.ws.folder, tips, trunk) if tips else frozenset()


def refuse(
    ctx: Context, base: str, trunk: str, branch: str, head: str,
    old: frozenset[str] | None = None,
) -> None:  # fmt: skip
    """Refuse a branch at `head` with commits that were taken out of the main branch `base`, which
    is at `trunk` now, until a person has agreed to exactly these. `old` is what `taken_out` said.
    Raises UnapprovedError."""
    old = taken_out(ctx, base, trunk) if old is None else old
    removed = worktree.among(ctx.ws.folder, head, trunk, old) if old else []
    if not removed:
        if old:
            _settle(ctx, branch, base)
        return
    names = listed([f"{x.oid[:12]} {phrase(x.subject)}" for x in removed], SHOWN)
    still = "is" if len(removed) == 1 else "are"
    what = (
        f"{file(base)} was rewritten: {count(len(removed), 'commit')} that {still} still in "
        f"{file(branch)} {'was' if still == 'is' else 'were'} removed from it: {names}."
    )
    text = f"{what} May {file(branch)} bring this back to {file(base)}?"
    about = (branch, base, *(commit.oid for commit in removed))
    issue = issue_of_branch(branch)
    question = Question(_asking(branch), text, issue, (YES, NO), TAKEN_OUT, about)
    pending = escalation.ask_once(ctx, question, "high").escalation
    while pending.is_over:  # it was taken out of the branch once
        question = question._replace(text=f"{text} It came back after {pending.name}.")
        pending = escalation.ask_once(ctx, question, "high").escalation
    verdict = persons_verdict(pending)
    if verdict == YES:
        return
    place = known_branches.where(ctx.ws)
    onto = f"{place.name}/{base}" if place else base
    raise UnapprovedError(
        f"{what} Nothing was changed"
        + (f", and a person refused it: {pending.name}." if verdict else "."),
        hint=f"Take it out of the branch: `git rebase --onto {quote(onto)} {removed[0].oid[:12]}`. "
        f"Then send the branch: `ghp agent-finish`. If it shall come back, a person runs `ghp "
        f"agent-answer {pending.name} {YES}`.",
    )


def still_in(ctx: Context, base: str, head: str) -> list[Commit]:
    """The commits that were taken out of the main branch `base`, as this clone knows it, and that
    `head` has, the newest first. Raises GitError."""
    trunk = known_branches.known_tip(ctx.ws, base)
    old = taken_out(ctx, base, trunk) if trunk else frozenset[str]()
    return worktree.among(ctx.ws.folder, head, trunk, old) if old else []


def _settle(ctx: Context, branch: str, base: str) -> None:
    """Record for the other clones, which do not have the branch, that it is without the commits."""
    from ghp_agents.leases import settled_questions  # few branches have such a question

    for pending in escalation.present_questions(ctx.world):
        if pending.question.kind == TAKEN_OUT and pending.question.about[:2] == (branch, base):
            escalation.settle(ctx, pending, settled_questions.without(branch, base))


def former_tips(ctx: Context, base: str) -> list[str]:
    """The commits that the main branch is known to have been at, here and in other clones."""
    snapshot = ctx.store.snapshot()
    pulls = local_pulls.read_all(snapshot)
    merged = [x.pull.merged_as for x in pulls if x.pull.merged_as and x.pull.base == base]
    records = branch_records.read_records(snapshot.files(branch_records.FOLDER))[0]
    begun = [entry.began_at for entry in records if entry.main == base and entry.began_at]
    return [*dict.fromkeys([*_seen_here(ctx.ws, base), *merged, *begun])]


def _seen_here(ws: Workspace, base: str) -> Sequence[str]:
    place = known_branches.where(ws)
    ref = known_branches.tracking(place, base) if place else known_branches.HEADS + base
    moves = [*reflog(ws.common_dir / "logs" / ref)][-worktree.REFLOG :]
    return [oid for before, after, _ in moves for oid in (before, after) if oid.strip("0")]


def _asking(branch: str) -> str:
    """The agent in whose name a person is asked: the branch's, whoever asks."""
    prefix = next((x for x in AGENT_BRANCHES if branch.startswith(x)), "")
    name = branch.removeprefix(prefix).partition("/")[0] if prefix else ""
    return name if is_name(name) else ANYBODY
