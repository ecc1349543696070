"""Commits of agents on the default branch that came there neither by the queue nor by a person.

Git's guard refuses them, but git can be told to run no hook. What is left are git's logs of refs in
this clone: a commit was created in an agent's worktree, or under an agent's name, and main moved to
it. Where a client's hook saw an agent's command do it, that counts, too (`hooks/shell_writes.py`).
It is no finding if the queue merged the commit, or if a person's worktree moved main to it. The
button of a host never moves main to a commit that was created here.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.finding import Finding, warning
from ghp_agents.core.ids import listed
from ghp_agents.core.json_file import JsonFile
from ghp_agents.git import ref_log, refs, worktree, worktree_admin
from ghp_agents.git.default_branch import USUAL
from ghp_agents.git.ref_log import RefMove
from ghp_agents.hotpath import heartbeat
from ghp_agents.hotpath.quoting import named, phrase
from ghp_agents.ports import Context
from ghp_agents.pulls import local_pulls
from ghp_agents.pulls.merging.merge_lock import NAME as MERGING
from ghp_agents.state.default_branch import trunk
from ghp_agents.workspace import Workspace, agent_named_in

CODE = "past-queue"  # of the doctor's check
FOUND = "past-queue.json"  # in the folder of caches
SHOWN_S = 7 * 86_400.0  # seconds that a finding is shown
SHOWN = 5  # commits of one agent
MOST = 100  # findings that are kept; linked worktrees that are looked at
NOTES = "main-moves"  # beside agents' presence, by hooks
NOTES_MOST = 131_072  # bytes


class PastQueue(NamedTuple):
    """A commit that an agent brought to the default branch past the queue."""

    commit: str
    agent: str
    subject: str
    seen: float = 0.0  # seconds; when this was seen first


class _Logs(NamedTuple):
    """What git's logs of this clone say."""

    main: str
    here: Sequence[RefMove]  # of the branch in this clone
    remote: Sequence[RefMove]  # of the branch on remotes, as known here
    agents: Mapping[str, Sequence[Path]]  # git folders of agents' worktrees
    others: Sequence[Path]  # those of all other worktrees


def find(ctx: Context) -> list[PastQueue]:
    """What came to the default branch past the queue, and was seen first within a week. Git is
    started only if there may be something."""
    ws, file = ctx.ws, _file(ctx.ws)
    before, logs, now = file.read(), _read(ws), ws.clock.now()
    items = {x.commit: x._replace(seen=now) for x in _candidates(ctx, logs)}
    items |= {item.commit: item for item in before}  # the times of commits are the agents'
    left = [*items.values()][-MOST:]
    remaining = _unexplained(ctx, logs.main, left) if left else []
    if remaining != before:
        file.write(remaining)
    return [item for item in remaining if item.seen >= now - SHOWN_S]


def warnings(items: Sequence[PastQueue]) -> Iterator[tuple[str, str]]:
    """What a person should know of each agent, and what to do."""
    for agent in dict.fromkeys(item.agent for item in items):
        mine = [item for item in items if item.agent == agent]
        words = [f"{item.commit[:12]} {phrase(item.subject)}" for item in mine]
        yield (
            f"{named(agent)} brought commits to the default branch past the queue: "
            f"{listed(words, SHOWN)}.",
            f"Look at them: `git show {mine[-1].commit[:12]}`. `git revert` takes one back.",
        )


def check(ctx: Context) -> Iterator[Finding]:
    """The doctor's check."""
    yield from (warning(CODE, *words) for words in warnings(find(ctx)))


def _read(ws: Workspace) -> _Logs:
    common = ws.common_dir
    heads = common / "logs/refs/heads"
    usual = next((name for name in USUAL if (heads / name).exists()), USUAL[0])
    main = ws.settings.trunk or usual
    agents: dict[str, list[Path]] = {}
    others = [common]
    for folder in sorted((common / "worktrees").glob("*"))[:MOST]:
        name = agent_named_in(folder)
        (agents.setdefault(name, []) if name else others).append(folder)
    remote = [_log(common, f"refs/remotes/{name}/{main}") for name in _remotes(ws)]
    here = _log(common, f"refs/heads/{main}")
    return _Logs(main, here, [*itertools.chain(*remote)], agents, others)


def _remotes(ws: Workspace) -> list[str]:
    try:
        return refs.remotes(ws.common_dir)
    except refs.UnreadableRefsError:
        return []


def _log(git_dir: Path, ref: str) -> list[RefMove]:
    return ref_log.read(git_dir / "logs" / ref)


def _candidates(ctx: Context, logs: _Logs) -> Iterator[PastQueue]:
    moved = {move.new: move for move in reversed((*logs.here, *logs.remote))}
    for agent, folders in logs.agents.items():
        for move in (move for folder in folders for move in _log(folder, "HEAD")):
            if move.creates and move.new in moved and not _is_by_hand(logs, move.new):
                yield PastQueue(move.new, agent, move.subject)
    for commit, agent in _notes(ctx.ws, logs.main):
        if commit in moved:
            yield PastQueue(commit, agent, moved[commit].subject)
    created = [move for move in logs.here if move.creates]
    pushed = [move for move in logs.remote if move.why == "update by push"]
    signed = [move for move in (*created, *pushed) if heartbeat.is_name(move.by)]
    names = {*logs.agents, *_claimants(ctx)} if signed else set[str]()
    for move in signed:
        if move.by in names:
            yield PastQueue(move.new, move.by, move.subject)


def _is_by_hand(logs: _Logs, commit: str) -> bool:
    """Whether a worktree that is no agent's moved the branch to a commit, and did not get it from
    the remote."""
    here = next((move for move in logs.here if move.new == commit), None)
    if here is None or not any(here in _log(folder, "HEAD") for folder in logs.others):
        return False
    pushed = next((move for move in logs.remote if move.new == commit), None)
    return pushed is None or (here.at <= pushed.at and not here.arrives)


def _claimants(ctx: Context) -> set[str]:
    return {x.holder for x in ctx.world.claims.values() if x.holder and not x.is_person}


def _notes(ws: Workspace, main: str) -> Iterator[tuple[str, str]]:
    for folder in ws.folders:
        try:
            with Path(folder, NOTES).open(encoding="utf-8", errors="replace") as file:
                lines = file.read(NOTES_MOST).splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, rest = line.partition(" ")
            agent, _, commit = rest.partition(" ")
            if name == main and heartbeat.is_name(agent):
                yield commit, agent


def _unexplained(ctx: Context, main: str, items: Sequence[PastQueue]) -> list[PastQueue]:
    """Those that are on the branch, and that the queue did not merge and is not merging."""
    if (trunk(ctx.ws) or main) != main:
        return []
    pulls = [x.pull for x in local_pulls.read_all(ctx.store.snapshot())]
    is_merging = any(lock.holder for lock in ctx.locks.known(MERGING))
    merged = {pull.merged_as for pull in pulls}
    merged |= {pull.head for pull in pulls if pull.merged_as or is_merging}
    folder = ctx.ws.folder
    places = [f"refs/heads/{main}", *(f"refs/remotes/{name}/{main}" for name in _remotes(ctx.ws))]
    tips = {worktree_admin.tip(folder, place) for place in places} - {""}
    on_main = [item for item in items if item.commit not in merged]
    return [x for x in on_main if any(worktree.contains(folder, tip, x.commit) for tip in tips)]


def _file(ws: Workspace) -> JsonFile[list[PastQueue]]:
    return JsonFile(ws.cache_dir / FOUND, _decode, list)


def _decode(data: Any) -> list[PastQueue]:
    return [
        PastQueue(str(commit), str(agent), str(subject), float(seen))
        for commit, agent, subject, seen in data[:MOST]
    ]
