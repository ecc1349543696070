"""All that this clone can say about one pull request, and its diff."""

from contextlib import suppress
from typing import NamedTuple

from ghp_agents.core.errors import NotFoundError, RefusedError
from ghp_agents.git import merge, worktree
from ghp_agents.git import process as git
from ghp_agents.git.process import GitError
from ghp_agents.handoffs import returned
from ghp_agents.handoffs.returned import Return
from ghp_agents.leases import settled_questions
from ghp_agents.ports import Context
from ghp_agents.pulls.branches import rewritten_main
from ghp_agents.pulls.merging import record_review
from ghp_agents.pulls.pull import Pull, Review
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.cause import QUESTION
from ghp_agents.workspace import Workspace

# A person's settings must not change the diff or run a program.
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")


class PullDetails(NamedTuple):
    """A pull request, how often it was sent back, its reviews, and whether it fits its base."""

    pull: Pull
    returns: tuple[tuple[Return, int], ...]  # each with its round, oldest first
    reviews: tuple[Review, ...]  # oldest first
    conflicts: tuple[str, ...] | None  # with the base as last fetched; None: unknown or not open
    removed: tuple[str, ...] = ()  # its commits that were taken out of the base
    waits_for: tuple[str, ...] = ()  # open questions of this program about its issue


def read_details(ctx: Context, number: int) -> PullDetails:
    """Read a pull request and what was recorded about it. Raises NotFoundError, UnknownError."""
    pull = ctx.forge.get(number)
    files = ctx.store.snapshot().files(returned.folder_of(pull.number))
    returns, _ = returned.read_returns(files)
    rounds = tuple((entry, returned.round_of(returns, entry)) for entry in returns)
    reviews = tuple(record_review.read_reviews(ctx, pull))
    conflicts = _conflicts(ctx.ws, pull)
    removed = _removed(ctx, pull) if conflicts is not None else ()
    return PullDetails(pull, rounds, reviews, conflicts, removed, _questions(ctx, pull))


def _removed(ctx: Context, pull: Pull) -> tuple[str, ...]:
    with suppress(GitError):
        return tuple(x.oid for x in rewritten_main.still_in(ctx, pull.base, pull.head))
    return ()


def _questions(ctx: Context, pull: Pull) -> tuple[str, ...]:
    """The program's open questions about the issue: until they are answered, the work may wait."""
    if pull.state != "open" or pull.issue is None:
        return ()
    return tuple(
        x.name
        for x in settled_questions.read(ctx.world)
        if x.is_open and x.question.kind != QUESTION and x.question.issue == pull.issue
    )


def _conflicts(ws: Workspace, pull: Pull) -> tuple[str, ...] | None:
    if pull.state != "open":
        return None
    with suppress(RefusedError):  # nobody agreed to the remote
        base = branches.known_tip(ws, pull.base)
        if base and pull.head and worktree.has_commit(ws.folder, pull.head):
            return merge.conflicts(ws.folder, ws.common_dir, base, pull.head)
    return None


def diff(ctx: Context, pull: Pull) -> bytes:
    """Return git's diff of what the branch changed since it left its base. Fetches what is missing.

    Raises NotFoundError if a commit is nowhere, UnknownError if the remote cannot be reached.
    """
    base = _base(ctx.ws, pull)
    if not base:
        branches.tips(ctx.ws, pull.branch, pull.base)
        base = _base(ctx.ws, pull)
    if not base or pull.merged_as == pull.head:
        raise _unknown(pull)
    args = ["diff", *_PLAIN, f"{base}...{pull.head}", "--"]
    return git.run_gitpython(ctx.ws.folder, ctx.ws.git_dir, *args)


def _base(ws: Workspace, pull: Pull) -> str:
    """Return the commit to compare with: the tip of the base, or what it was before the merge.
    Empty if a commit is missing here."""
    base = f"{pull.merged_as}^1" if pull.merged_as else branches.known_tip(ws, pull.base)
    is_here = bool(base) and worktree.has_commit(ws.folder, base)
    return base if is_here and worktree.has_commit(ws.folder, pull.head) else ""


def _unknown(pull: Pull) -> NotFoundError:
    head = pull.head[:12]
    if pull.merged_as == pull.head:
        return NotFoundError(
            f"Cannot tell what #{pull.number} changed: it was merged without a record of its base.",
            hint=f"`git log -p {head}` shows its commits, the newest first.",
        )
    return NotFoundError(
        f"Cannot show the diff of #{pull.number}: commit {head} or its base is not in this clone.",
        hint=f"`git show {pull.merged_as[:12]}` shows its merge, after a `git fetch`."
        if pull.merged_as
        else "Its author can push it again with `ghp agent-finish`.",
    )
