"""The commits of a handed-over branch: pushed, or else stored with the handoff as a pack."""

import hashlib

from ghp_agents.core import secret_scan
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AGENT_BRANCHES, one_line
from ghp_agents.git import pack, worktree, worktree_admin
from ghp_agents.git.default_branch import USUAL
from ghp_agents.handoffs import record
from ghp_agents.handoffs.evidence import Branch
from ghp_agents.handoffs.handoff import NOTHING, Carried, Handoff, PackedCommits, size_text
from ghp_agents.handoffs.missing_commits import storing
from ghp_agents.ports import Context, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.state import remote_branches
from ghp_agents.state.default_branch import trunk
from ghp_agents.state.remote import PushOutcome
from ghp_agents.workspace import Workspace

LIMIT = 20_000_000  # bytes of a pack; hosts refuse files above 100 MB


def carry(ctx: Context, branch: Branch, receiver: str, *, push: bool) -> Carried:
    """Push a branch for `receiver`; if that is impossible or not wanted, pack what no remote has.
    An agent of this clone needs neither."""
    if not branch.unsent:
        return NOTHING
    why = _push(ctx.ws, branch) if push else ""
    if push and not why:
        return Carried(is_pushed=True)
    if _is_here(ctx, receiver):
        return NOTHING
    try:
        return _pack(ctx.ws, branch)._replace(why=why)
    except GhpError as error:
        reason = f"{why}; not stored with the handoff: {one_line(str(error), 200)}"
        return Carried(why=reason, left=branch.unsent)


def _push(ws: Workspace, branch: Branch) -> str:
    """Push a branch, fast-forward only; never the main branch. Returns why that was impossible."""
    name = branch.name
    if not name or not branch.head or name in (*USUAL, trunk(ws)):
        return ": a handoff pushes no main branch"
    try:
        pushed = remote_branches.push(ws, branch.head, name, expected=None)
    except GhpError as error:
        return f": {one_line(str(error), 200)}"
    return "" if pushed.answer is PushOutcome.DONE else f": {one_line(pushed.words, 200)}"


def _is_here(ctx: Context, agent: str) -> bool:
    """Return whether an agent works in this clone, which then has all its commits."""
    views = presence.list_agents(ctx, ctx.store.snapshot(), processes=False)
    return any(view.name == agent and view.is_here for view in views)


def _pack(ws: Workspace, branch: Branch) -> Carried:
    main = trunk(ws)
    base = remote_branches.known_tip(ws, main) if main else ""
    content = pack.take_pack(ws.folder, branch.head, base, LIMIT, _why_unsafe)
    sha = hashlib.sha256(content).hexdigest()
    packed = PackedCommits(base, len(content), sha, branch.unsent or 0)
    return Carried(packed=packed, content=content)


def _why_unsafe(new_path: str, added: bytes) -> str | None:
    """Return why a commit must not be stored, as for uncommitted work."""
    if new_path and secret_scan.is_made_for_secrets(new_path):
        return "a commit adds a file that usually holds secrets"
    secret = secret_scan.find(new_path) or secret_scan.find(added.decode("utf-8", "replace"))
    return f"a commit seems to hold {secret}" if secret else None


def unpack(ws: Workspace, store: StateStore, handoff: Handoff) -> str:
    """Add the stored commits of a handoff to this clone, if it lacks them; another handoff may
    store them. Returns why that is impossible; empty if it has them now."""
    if worktree.has_commit(ws.folder, handoff.head):
        return ""
    whys = [_unpack(ws, store, stored) for stored in storing(store, handoff)]
    if "" in whys:
        return ""
    return whys[0] if whys else "they are not stored with the handoff"


def _unpack(ws: Workspace, store: StateStore, handoff: Handoff) -> str:
    """Add the commits that are stored with this very handoff. Returns why that is impossible."""
    packed = handoff.commits
    if packed is None or worktree.has_commit(ws.folder, handoff.head):
        return ""
    files = store.snapshot().files(record.patch_folder_of(handoff))
    content = files.get(record.pack_path_of(handoff), b"")
    if not content:
        return "this clone has not fetched them"
    if len(content) > LIMIT:
        return f"the stored pack is larger than {size_text(LIMIT)}"
    if hashlib.sha256(content).hexdigest() != packed.digest:
        return "the stored pack does not match its checksum"
    if packed.base and not worktree.has_commit(ws.folder, packed.base):
        return f"they are based on {packed.base[:12]}, which this clone does not have"
    try:
        pack.add_pack(ws.folder, str(ws.common_dir), content, handoff.head, packed.base)
    except GhpError as error:
        return one_line(str(error), 200)
    return "" if worktree.has_commit(ws.folder, handoff.head) else "the stored pack lacks them"


def create_branch(ws: Workspace, handoff: Handoff) -> bool:
    """Create the branch of a handoff at its head, unless there is one. Returns whether it did.

    Others choose the name, so only branches of agents are created, never another ref.
    """
    if not (handoff.branch or "").startswith(AGENT_BRANCHES):
        return False
    zero = "0" * len(handoff.head)
    return worktree_admin.set_branch(ws.folder, handoff.branch or "", handoff.head, zero)
