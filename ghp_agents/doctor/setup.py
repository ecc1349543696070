"""Set up a repository, and remove everything again; the explanations before each."""

import json
from collections.abc import Callable, Sequence
from functools import partial

from ghp_agents.core import user_file
from ghp_agents.core.clock import ago
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName
from ghp_agents.core.remote_url import host_of, is_public
from ghp_agents.git import process as git
from ghp_agents.state.admin_port import Probe, PublishPlan, RemoteRef, Step, StoreAdmin
from ghp_agents.workspace import Workspace, agent_named_in

KEEP_HOME = '"agents": {"push": false} in .ghp/config.json'


def explain(sharing: PublishPlan) -> list[str]:
    """Return lines that say what is pushed where, and who can read it."""
    if sharing.remote is None:
        return [f"Nothing leaves this clone: {sharing.why_not}."]
    host = host_of(sharing.address)
    public = f"; if it is public on {host}, everybody" if is_public(host) else ""
    width = max(len(ref) for ref, _ in sharing.refs)
    refs = [f"  {ref.ljust(width)}  {what}" for ref, what in sharing.refs]
    return [
        f"Clones share state through {sharing.remote} ({sharing.address}). What is pushed there:",
        *refs,
        "It contains agents' names, status and branches, and the files and lines that they "
        "change. It also contains questions, answers, issues, leases, handoffs with "
        "uncommitted work, and people's names from git. Paths are relative to the repository. "
        "Absolute paths and host names appear only if somebody writes them.",
        f"Who can read it: everybody who can read the repository{public}.",
        f"To keep everything in this clone, set {KEEP_HOME}.",
    ]


def limits(ws: Workspace) -> str:
    """Return what is impossible here without a worktree; empty if there is one."""
    if ws.place.toplevel is not None:
        return ""
    return (
        "This repository has no worktree. Issues, claims, questions and leases by --name work. "
        "To lease and check files, create a worktree (`git worktree add`)."
    )


def probe_line(probe: Probe) -> str:
    """Describe a probe's result in words."""
    if probe.taken is None:
        return f"Could not ask {probe.remote} whether it accepts our refs: {probe.words}"
    if not probe.taken:
        return f"{probe.remote} rejects our refs: {probe.words}"
    kept = f" ({probe.words})" if probe.words else ""
    return f"{probe.remote} accepts our refs under {probe.place}{kept}"


def needs_probe(ground: StoreAdmin) -> bool:
    """Return whether the remote must still be asked if it accepts our refs."""
    if ground.sharing().remote is None:
        return False
    last = ground.last_probe()
    return last is None or not last.taken


def to_make(
    ws: Workspace,
    ground: StoreAdmin,
    *,
    agent: AgentName | None,
    config: bool,
    rename: Callable[[AgentName], object],
) -> list[Step]:
    """Return the missing steps; none if the repository is set up."""
    steps = ground.missing()
    path = ws.root / ".ghp/config.json"
    if config and not path.exists():
        what = f"{path.relative_to(ws.root)} (edit and commit it)"
        content = json.dumps({"agents": {}}, indent=2).encode() + b"\n"
        act = partial(user_file.rewrite, path, None, content)
        steps.append(Step("write", "Wrote", what, act))
    if agent and agent_named_in(ws.git_dir) != agent:
        what = f"this worktree's agent {agent}"
        steps.append(Step("name", "Named", what, partial(rename, agent)))
    return steps


def refuse_losses(ground: StoreAdmin, *, force: bool) -> None:
    """Raise RefusedError if something exists nowhere else."""
    lost = ground.losses()
    if not lost or force:
        return
    raise RefusedError(
        f"Only this clone has {' and '.join(lost)}; removing would delete it.",
        hint=f"{how_to_keep(ground)}, or use --force to delete it.",
    )


def how_to_keep(ground: StoreAdmin) -> str:
    """Return how to save first what exists nowhere else."""
    if ground.sharing().remote is None:
        return "There is no remote to send it to: first copy the folder .git/ghp"
    return "First send it with `ghp agent-sync`"


def ref_lines(refs: Sequence[RemoteRef], now: float) -> list[str]:
    """Return a line for each of our refs on the remote: its owner, and its last write."""
    width = max((len(ref.name) for ref in refs), default=0)
    lasts = (f", last wrote {ago(now - x.last)} ago" if x.last is not None else "" for x in refs)
    return [f"{x.name.ljust(width)}  {x.about}{last}" for x, last in zip(refs, lasts, strict=True)]


def kept(ws: Workspace) -> list[str]:
    """Return a line that the user's configuration stays; none without one."""
    path = ws.root / ".ghp/config.json"
    if not path.exists():
        return []
    listed = git.run(["ls-files", "--", ".ghp/config.json"], cwd=ws.root)
    is_tracked = listed.code == 0 and bool(listed.text)
    why = "git tracks it, for all clones" if is_tracked else "it is yours"
    return [f".ghp/config.json: {why}"]
